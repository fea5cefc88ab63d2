"""What each command does: from parsed arguments to an envelope. Nothing is printed here."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bridge import answer, listing, trust
from bridge.settings import Settings, load, table
from bridge.submission import payload_of, read_json_argument, submit
from jobs import spool
from jobs.ids import new_job_id
from jobs.layout import Workspace
from jobs.model import SCHEMA_VERSION

from . import process_commands, questions, queue_commands
from .process_commands import Envelope, opened, worker_of, workspace_of


def run(given: argparse.Namespace) -> Envelope:
    """Carry a command out. Raises JobError."""
    verb = getattr(given, "verb", None)
    return _COMMANDS[given.command if verb is None else f"{given.command} {verb}"](given)


# --- start and see ---


def demo(given: argparse.Namespace) -> Envelope:
    from .demo import demo as play

    return play(load(), keep=given.keep, quiet=given.json)


def setup(given: argparse.Namespace) -> Envelope:
    from .setup_view import provision_with_bar

    folder = provision_with_bar(load().cache_folder, Path(given.source) if given.source else None)
    return answer.success(model_folder=str(folder))


def settings(given: argparse.Namespace) -> Envelope:
    _, found = opened(given)
    return answer.success(settings=[row.__dict__ for row in table(found)])


def trust_workspace(given: argparse.Namespace) -> Envelope:
    workspace = workspace_of(given)
    trust.adopt(workspace, load().config_folder, trusted=True)
    return answer.success(workspace=str(workspace.root), trusted=True)


def status(given: argparse.Namespace) -> Envelope:
    workspace, _ = opened(given)
    return answer.success(
        workspace=str(workspace.root),
        worker=worker_of(workspace),
        memory=listing.counts(workspace),
        waiting_in_inbox=len(spool.inbox(workspace.spool)) if workspace.spool.root.is_dir() else 0,
    )


# --- jobs ---


def ingest(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    given.user_message, given.assistant_message = [*given.messages, None, None][:2]
    payload = payload_of(given)
    return _submit(given, workspace, found, "ingest", payload, job_id=given.job_id)


def submit_file(given: argparse.Namespace) -> Envelope:
    from jobs.check import check
    from jobs.payloads import JobFile

    workspace, found = opened(given)
    job = read_json_argument(given.file)
    if job.keys().isdisjoint(("job_id", "jobId")):
        job["job_id"] = new_job_id()
    if job.keys().isdisjoint(("schema_version", "schemaVersion")):
        job["schema_version"] = SCHEMA_VERSION
    fields = check(JobFile, job).model_dump(exclude_none=True, exclude={"schema_version"})
    return _submit(given, workspace, found, fields.pop("kind"), fields.pop("payload"), **fields)


def rebuild(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    return _submit(given, workspace, found, "rebuild", {"what": given.what})


def set_status(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    payload = {"memory_id": given.memory_id, "status": given.status}
    return _submit(given, workspace, found, "set_status", payload)


def _submit(
    given: argparse.Namespace,
    workspace: Workspace,
    found: Settings,
    kind: str,
    payload: dict[str, Any],
    **fields: Any,
) -> Envelope:
    fields.setdefault("submitted_by", "cli")
    return submit(
        workspace, found, kind, payload,
        start=not given.no_start, wait=given.wait, wait_seconds=given.timeout, **fields,
    )  # fmt: skip


# --- memories ---


def mcp(given: argparse.Namespace) -> Envelope:
    """Serve an agent until it goes; the process ends there."""
    from bridge.mcp_server import serve

    from .version import VERSION

    serve(workspace_of(given), VERSION)


def memories_list(given: argparse.Namespace) -> Envelope:
    workspace, _ = opened(given)
    return answer.success(memories=listing.memories(workspace, given.limit, given.topic_id))


def memories_show(given: argparse.Namespace) -> Envelope:
    workspace, _ = opened(given)
    return answer.success(memory=listing.memory(workspace, given.memory))


def topics(given: argparse.Namespace) -> Envelope:
    workspace, _ = opened(given)
    return answer.success(topics=listing.topics(workspace))


_COMMANDS: dict[str, Callable[[argparse.Namespace], Envelope]] = {
    "demo": demo,
    "setup": setup,
    "settings": settings,
    "trust": trust_workspace,
    "status": status,
    **process_commands.COMMANDS,
    "ingest": ingest,
    "submit": submit_file,
    "rebuild": rebuild,
    **queue_commands.COMMANDS,
    **questions.COMMANDS,
    "mcp": mcp,
    "memories list": memories_list,
    "memories show": memories_show,
    "memories set-status": set_status,
    "topics": topics,
}
