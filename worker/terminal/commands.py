"""The commands of the memory and of the program: from parsed arguments to an envelope. Views print it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import get_args

from bridge import trust
from bridge.interface import envelope
from bridge.memory import LISTS, STATUS_WORDS, Status, values_of
from bridge.search import following, listing, waiting_jobs
from bridge.settings import load, table, user_file
from bridge.user_settings import require_effect, write_user_file
from jobs import clock, files
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.spelling import nearest

from ..wording import cut
from .output import Envelope, warn
from .process_commands import require_positive, target, workspace_and_settings, workspace_of

# --- start and see ---


def demo(args: argparse.Namespace) -> Envelope:
    """Play the demo; returns its measurements."""
    from .demo import demo as play

    return play(load(), keep=args.keep, quiet=args.json, graph=args.graph)


def setup(args: argparse.Namespace) -> Envelope:
    """Verify the default model, or fetch the one that was chosen instead; returns its folder. Or add extras; returns
    which were added and which were there.

    ``unused`` is the folder of the former default model, which earlier versions fetched, if it is there for nothing.
    """
    if args.graph or args.team:
        from . import setup_extras

        wanted = [setup_extras.GRAPH] * args.graph + [setup_extras.TEAM] * args.team
        added = {extra.name: setup_extras.add(extra) for extra in wanted}
        return envelope.success(
            added=[name for name, is_new in added.items() if is_new],
            present=[name for name, is_new in added.items() if not is_new],
        )
    from bridge.embedding import local_models, model_files

    from .model_command import fetch

    in_force = load()
    chosen = local_models.LOCAL_MODELS.get(in_force.embedding.identity, local_models.ENGLISH)
    former = model_files.model_folder(in_force.cache_folder)
    if chosen is local_models.ENGLISH:
        model_files.verify_default()
        folder = model_files.DEFAULT_FOLDER
    else:
        folder = fetch(chosen, in_force, Path(args.source) if args.source else None)
    is_unused = former != folder and former.exists()
    return envelope.success(model=chosen.name, model_folder=str(folder), unused=str(former) if is_unused else None)


def settings(args: argparse.Namespace) -> Envelope:
    """All settings with their values and sources."""
    _, in_force = workspace_and_settings(args, anywhere=True)
    return envelope.success(settings=[row.__dict__ for row in table(in_force)])


def settings_set(args: argparse.Namespace) -> Envelope:
    """Set one setting in the user's ``config.toml``; ``value`` is as it is shown.

    Raises JobError: ARGUMENT_INVALID for an unknown setting and for one that would not take effect, SETTING_INVALID for
    a wrong value, and what writing the file raises.
    """
    _, in_force = workspace_and_settings(args, anywhere=True)
    rows = {row.name: row for row in table(in_force) if row.name != "config_dir"}  # which says where the file is
    given = args.name.strip()
    name = next((row.name for row in rows.values() if given.upper() == row.variable), given.lower())
    if name not in rows:
        near = nearest(given.lower(), rows)
        also = f" Did you mean {near[0]}?" if near else ""
        raise JobError(
            "ARGUMENT_INVALID", f"There is no setting {given!r}.{also}", remediation="See: cognee-memory settings."
        )
    value = sys.stdin.readline().strip() if args.value == "-" else args.value
    wanted = getattr(load({name: value}), name)
    wanted = str(wanted) if isinstance(wanted, Path) else wanted
    path = user_file(in_force)
    require_effect(in_force, {name: wanted}, path)
    write_user_file(path, {name: wanted})
    shown = next(row for row in table(load()) if row.name == name)
    return envelope.success(name=name, variable=shown.variable, value=shown.value, file=str(path))


def trust_workspace(args: argparse.Namespace) -> Envelope:
    """Mark the workspace as trusted by this user."""
    workspace = workspace_of(args)
    trust.adopt(workspace, load().config_folder, trusted=True)
    return envelope.success(workspace=str(workspace.root), trusted=True)


def status(args: argparse.Namespace) -> Envelope:
    """The overview of worker, queue and memory."""
    from ..admin.overview import overview

    return envelope.success(**overview(*workspace_and_settings(args)))


def completion(args: argparse.Namespace) -> Envelope:
    """The script that installs completion in a shell."""
    from .completion import script

    return envelope.success(shell=args.shell, script=script(args.shell))


# --- memories ---


def _memory_of(args: argparse.Namespace) -> Workspace:
    """The workspace whose memories a command reads. In a team, what its copy here may lack is said on stderr.

    Raises JobError as ``trust.open_workspace`` and ``following.note``.
    """
    workspace, _ = workspace_and_settings(args)
    if (note := following.note(workspace, clock.now())) is not None:
        warn(f"Note: {note}")
    return workspace


def mcp(args: argparse.Namespace) -> Envelope:
    """Serve an agent over stdin and stdout; this process ends when the agent disconnects."""
    from ..mcp.server import serve
    from ..version import VERSION
    from .worktree_note import worktree_note

    try:
        workspace = workspace_of(args)
    except JobError as error:
        if error.code != "WORKSPACE_NOT_CHOSEN":  # which the agent is told, so that the user hears of it
            raise
        serve(error, VERSION)
    serve(workspace, VERSION, worktree_note(workspace) if args.workspace is None else None)


def memories_list(args: argparse.Namespace) -> Envelope:
    """A page of memories, newest first. ``next`` is the value of ``--after`` for the next page.

    Raises JobError: ARGUMENT_INVALID when the limit or the status is wrong.
    """
    workspace = _memory_of(args)
    require_positive(args.limit)
    words = {word.lower(): status for word, status in STATUS_WORDS.items()}
    status = None if args.status is None else words.get(args.status.lower())
    if args.status is not None and status is None:
        raise JobError("ARGUMENT_INVALID", f"There is no status {args.status!r}; one of {', '.join(get_args(Status))}.")
    topic_id = None if args.topic_id is None else listing.topic_id_of(workspace, args.topic_id)
    listed = {name: values_of(getattr(args, name)) for name in LISTS}
    waiting = waiting_jobs.warnings(workspace)
    lines, total = listing.page(workspace, args.limit, before=args.after, topic_id=topic_id, status=status, **listed)
    shown = lines[: args.limit]
    follows = shown[-1]["memory_number"] if len(lines) > args.limit else None
    return envelope.success(memories=shown, total=total, next=follows, warnings=waiting)


def memories_open(args: argparse.Namespace) -> Envelope:
    """The open questions and next steps, by topic. Raises JobError: ARGUMENT_INVALID, TOPIC_NOT_FOUND."""
    from bridge.search.open_items import open_items

    workspace = _memory_of(args)
    require_positive(args.limit)
    topic_id = None if args.topic_id is None else listing.topic_id_of(workspace, args.topic_id)
    waiting = waiting_jobs.warnings(workspace)
    items = open_items(workspace, topic_id)
    return envelope.success(items=items[: args.limit], total=len(items), warnings=waiting)


def memories_show(args: argparse.Namespace) -> Envelope:
    """One memory with its text."""
    workspace = _memory_of(args)
    return envelope.success(memory=listing.memory(workspace, args.memory))


def topics(args: argparse.Namespace) -> Envelope:
    """All topics, largest first, each with the title of its newest memory."""
    workspace = _memory_of(args)
    waiting = waiting_jobs.warnings(workspace)
    found = listing.topics(workspace)
    if args.limit is None:
        return envelope.success(topics=found, warnings=waiting)
    require_positive(args.limit)
    shown = found[: args.limit]
    return envelope.success(topics=shown, warnings=[*cut(len(shown), len(found), "--limit", ()), *waiting])


def history(args: argparse.Namespace) -> Envelope:
    """The compactions, newest first. Raises JobError: ARGUMENT_INVALID when the limit is wrong."""
    workspace = _memory_of(args)
    require_positive(args.limit)
    topic_id = None if args.topic_id is None else listing.topic_id_of(workspace, args.topic_id)
    return envelope.success(compactions=listing.history(workspace, args.limit, topic_id))


def export(args: argparse.Namespace) -> Envelope:
    """Write the export to ``--out``; returns the counts.

    Without ``--out`` the export is on stdout, and messages go to stderr. Raises JobError: ARGUMENT_INVALID when the
    file cannot be written, or for ``--json`` without ``--out``; TOPIC_NOT_FOUND for a topic without memories.
    """
    from bridge.transfer import export as exports

    from ..version import VERSION

    workspace = _memory_of(args)
    now = clock.iso(clock.now())
    topics = [listing.topic_id_of(workspace, topic) for topic in args.topic_id] if args.topic_id else None
    if args.out in (None, "-"):
        if args.json:
            raise JobError("ARGUMENT_INVALID", "--json goes with --out: without it, the export itself is on stdout.")
        envelope.claim_stdout()
        try:
            return envelope.success(
                out=None, counts=exports.write(workspace, VERSION, now, envelope.write, topics=topics)
            )
        except BrokenPipeError:  # the reader has closed the pipe, such as "| head"
            return envelope.success(out=None, counts=None)
    out = target(workspace, args.out)
    try:
        with files.replacing(out) as file:
            counts = exports.write(workspace, VERSION, now, file.write, topics=topics)
            size = file.tell()
    except OSError as error:
        raise JobError("ARGUMENT_INVALID", f"{out} cannot be written: {error.strerror}.") from error
    return envelope.success(out=str(out), counts=counts, bytes=size)
