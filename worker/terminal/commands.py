"""The commands of the memory and of the program: from parsed arguments to an envelope. Views print it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from bridge import trust
from bridge.interface import envelope
from bridge.memory import STATUS_WORDS, Status
from bridge.search import listing
from bridge.settings import load, table
from bridge.store import compaction_history
from jobs import clock, files
from jobs.errors import JobError

from .output import Envelope
from .process_commands import opened, require_positive, target, workspace_of

# --- start and see ---


def demo(given: argparse.Namespace) -> Envelope:
    """Play the demo; returns its measurements."""
    from .demo import demo as play

    return play(load(), keep=given.keep, quiet=given.json)


def setup(given: argparse.Namespace) -> Envelope:
    """Provide the embedding model; returns its folder."""
    from .setup_view import provision_with_bar

    folder = provision_with_bar(load().cache_folder, Path(given.source) if given.source else None)
    return envelope.success(model_folder=str(folder))


def settings(given: argparse.Namespace) -> Envelope:
    """All settings with their values and sources."""
    _, in_force = opened(given)
    return envelope.success(settings=[row.__dict__ for row in table(in_force)])


def trust_workspace(given: argparse.Namespace) -> Envelope:
    """Mark the workspace as trusted by this user."""
    workspace = workspace_of(given)
    trust.adopt(workspace, load().config_folder, trusted=True)
    return envelope.success(workspace=str(workspace.root), trusted=True)


def status(given: argparse.Namespace) -> Envelope:
    """The overview of worker, queue and memory."""
    from ..admin.overview import overview

    return envelope.success(**overview(*opened(given)))


def completion(given: argparse.Namespace) -> Envelope:
    """The script that installs completion in a shell."""
    from .completion import script

    return envelope.success(shell=given.shell, script=script(given.shell))


# --- memories ---


def mcp(given: argparse.Namespace) -> Envelope:
    """Serve an agent over stdin and stdout; this process ends when the agent disconnects."""
    from ..mcp.server import serve
    from ..version import VERSION

    serve(workspace_of(given), VERSION)


def memories_list(given: argparse.Namespace) -> Envelope:
    """A page of memories, newest first. ``next`` is the value of ``--after`` for the next page.

    Raises JobError: ARGUMENT_INVALID when the limit or the status is wrong.
    """
    workspace, _ = opened(given)
    require_positive(given.limit)
    words = {word.lower(): status for word, status in STATUS_WORDS.items()}
    status = None if given.status is None else words.get(given.status.lower())
    if given.status is not None and status is None:
        raise JobError(
            "ARGUMENT_INVALID", f"There is no status {given.status!r}; one of {', '.join(get_args(Status))}."
        )
    lines, total = listing.page(workspace, given.limit, before=given.after, topic_id=given.topic_id, status=status)
    shown = lines[: given.limit]
    follows = shown[-1]["memory_number"] if len(lines) > given.limit else None
    return envelope.success(memories=shown, total=total, next=follows)


def memories_show(given: argparse.Namespace) -> Envelope:
    """One memory with its text."""
    workspace, _ = opened(given)
    return envelope.success(memory=listing.memory(workspace, given.memory))


def topics(given: argparse.Namespace) -> Envelope:
    """All topics, largest first."""
    workspace, _ = opened(given)
    return envelope.success(topics=listing.topics(workspace))


def history(given: argparse.Namespace) -> Envelope:
    """The compactions, newest first. Raises JobError: ARGUMENT_INVALID when the limit is wrong."""
    workspace, _ = opened(given)
    require_positive(given.limit)
    return envelope.success(compactions=compaction_history.history(workspace, given.limit, given.topic_id))


def export(given: argparse.Namespace) -> Envelope:
    """Write the export to ``--out``; returns the counts.

    Without ``--out`` the export is on stdout, and messages go to stderr. Raises JobError: ARGUMENT_INVALID when the
    file cannot be written, or for ``--json`` without ``--out``.
    """
    from bridge.transfer import export as exports

    from ..version import VERSION

    workspace, _ = opened(given)
    now = clock.iso(clock.now())
    if given.out in (None, "-"):
        if given.json:
            raise JobError("ARGUMENT_INVALID", "--json goes with --out: without it, the export itself is on stdout.")
        envelope.claim_stdout()
        try:
            return envelope.success(out=None, counts=exports.write(workspace, VERSION, now, envelope.put))
        except BrokenPipeError:  # the reader has closed the pipe, such as "| head"
            return envelope.success(out=None, counts=None)
    out = target(workspace, given.out)
    try:
        with files.replacing(out) as file:
            counts = exports.write(workspace, VERSION, now, file.write)
            size = file.tell()
    except OSError as error:
        raise JobError("ARGUMENT_INVALID", f"{out} cannot be written: {error.strerror}.") from error
    return envelope.success(out=str(out), counts=counts, bytes=size)
