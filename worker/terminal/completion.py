"""Shell completion: offers commands, ids of jobs and topics, memory numbers, states, kinds and error codes.

It is imported only for a completion. Errors, such as a workspace of another user, give no suggestions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn, get_args

import argcomplete
from argcomplete.shell_integration import shellcode

from bridge import trust
from bridge.argument_table import ARGUMENTS
from bridge.search import listing
from jobs import clock, record_cache
from jobs.errors import ERRORS, JobError
from jobs.kinds import KIND_NAMES, PAIR_VERDICTS
from jobs.layout import Workspace
from jobs.rejected_files import rejections
from jobs.states import LIVE, VERBS, State

from ..admin.selection import job_rows
from ..wording import age, counted
from .output import clean

_MOST = 200  # suggestions from lists without a limit
_OF_VERB = {"wait": LIVE} | {name: verb.states for name, verb in VERBS.items()}

Found = dict[str, str] | list[str]
Completer = Callable[..., Found]


def script(shell: str) -> str:
    """The text that installs completion in ``shell``."""
    return str(shellcode(["cognee-memory"], shell=shell)).strip() + "\n"


def complete(parser: argparse.ArgumentParser) -> NoReturn:
    """Answer a completion request of the shell, then end this process."""
    for each in _every(parser):
        for action in each._actions:
            completer = _BY_OPTION.get(action.dest)
            if completer is not None and action.choices is None:
                action.completer = completer  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser, always_complete_options=False)
    raise SystemExit(0)


def _every(parser: argparse.ArgumentParser) -> Iterable[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for nested in action.choices.values():
                yield from _every(nested)


def _workspace(args: argparse.Namespace) -> Workspace:
    """Raises JobError: WORKSPACE_NOT_TRUSTED, WORKSPACE_MISSING."""
    return trust.open_workspace(getattr(args, "workspace", None), Path.cwd())[0]


def _reading(look: Callable[[Workspace, argparse.Namespace, str], Found]) -> Completer:
    def completer(parsed_args: argparse.Namespace, prefix: str = "", **_: Any) -> Found:
        try:
            return look(_workspace(parsed_args), parsed_args, prefix)
        except (JobError, OSError, ValueError):
            return []

    return completer


@_reading
def job_ids(workspace: Workspace, args: argparse.Namespace, prefix: str) -> Found:
    """The newest jobs with this prefix, with their states, limited to jobs that the subcommand can act on."""
    verb = getattr(args, "verb", None)
    states = _OF_VERB.get(str(verb), get_args(State))
    now = clock.now()
    fitting = (b for b in job_rows(workspace.spool) if b["state"] in states and b["job_id"].startswith(prefix))
    newest = record_cache.page(fitting, _MOST).jobs
    shown = {
        b["job_id"]: f"{b['state']} {b['kind'] or ''}, {age(b['finished_at'] or b['accepted_at'], now)} ago"
        for b in newest
    }
    if verb == "retry":
        shown |= {item["kept_as"]: item["error"]["code"] for item in rejections(workspace.spool, _MOST)[0]}
    return shown


@_reading
def topics(workspace: Workspace, _: argparse.Namespace, prefix: str) -> Found:
    """The topic ids with this prefix, with their titles and numbers of memories."""
    fitting = [topic for topic in listing.topics(workspace) if topic["topic_id"].startswith(prefix)][:_MOST]
    return {
        topic["topic_id"]: f"{clean(topic['title'])[:40]}, {counted(topic['memories'], 'memory')}" for topic in fitting
    }


@_reading
def memories(workspace: Workspace, _: argparse.Namespace, prefix: str) -> Found:
    """The newest memories' numbers, with their titles."""
    return {str(m["memory_number"]): clean(m["title"])[:40] for m in listing.memories(workspace, _MOST)}


@_reading
def records(workspace: Workspace, _: argparse.Namespace, prefix: str) -> Found:
    """The newest decision records' numbers, with their titles."""
    newest = listing.memories(workspace, 10 * _MOST)
    return {str(m["memory_number"]): clean(m["title"])[:40] for m in newest if m["memory_type"] == "decision_record"}


def states(prefix: str, **_: Any) -> Found:
    """States; several are separated by commas."""
    before = prefix.rpartition(",")[0]
    taken = before.split(",")
    return [f"{before},{state}" if before else state for state in get_args(State) if state not in taken]


def _words(*known: str) -> Completer:
    return lambda **_: list(known)


_BY_OPTION: dict[str, Completer] = {
    "job_id": job_ids,
    "job_ids": job_ids,
    "state": states,
    "kind": _words(*KIND_NAMES),
    "other": _words(*PAIR_VERDICTS),  # after a pair, the verdict comes in its place
    "error": _words(*ERRORS),
    "topic_id": topics,
    "named_topic": topics,
    "memory": memories,
    "memory_id": memories,
    "memory_ids": memories,
    "ids": memories,
    "decision_record_id": records,
    **{name: _words(*argument.choices) for name, argument in ARGUMENTS.items() if argument.choices},
}
