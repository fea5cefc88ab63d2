"""The command ``forget``: asks for confirmation, submits the job and prints what was removed. It cannot be undone."""

from __future__ import annotations

import argparse

from bridge.search import listing
from jobs.errors import JobError

from ...wording import counted
from .. import output as terminal
from ..command_line import CommandLineBuilder
from ..job_commands import add_job_command, require_targets, submit_job, without_none
from ..output import Envelope, notes, say
from ..process_commands import workspace_and_settings


def add_forget(builder: CommandLineBuilder) -> None:
    """Add ``forget``."""
    parser = add_job_command(
        builder,
        "forget",
        ["cognee-memory forget 12 13", "cognee-memory forget --topic-id auth --yes"],
        more="This cannot be undone.",
        run=run,
    )
    parser.add_argument("memory_ids", nargs="*", metavar="ID", help="ids or numbers of memories")
    parser.add_argument("--topic-id", metavar="TOPIC", help="all memories of a topic: its id or its exact title")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job after the user has confirmed it; returns its envelope.

    Raises JobError: ARGUMENT_INVALID unless either memories or a topic are named, NOT_CONFIRMED; and as
    ``require_targets``.
    """
    workspace, settings = workspace_and_settings(args)
    if bool(args.memory_ids) == (args.topic_id is not None):
        raise JobError("ARGUMENT_INVALID", "Name the memories, or with --topic-id a topic; not both.")
    ids = [listing.id_of(workspace, wanted) for wanted in args.memory_ids]
    topic_id = None if args.topic_id is None else listing.topic_id_of(workspace, args.topic_id)
    payload = without_none({"memory_ids": ids or None, "topic_id": topic_id})
    require_targets(workspace, "forget", payload)
    if not args.yes:
        titles = listing.titles(workspace, ids, topic_id)
        unconfirmed = "Forgetting cannot be undone; not confirmed."
        terminal.confirm(args.json, titles, "memory", "Forget for good, wherever they lie?", unconfirmed)
    return submit_job(args, workspace, settings, "forget", payload)


def show(answer: Envelope) -> None:
    """Print the counts of what was forgotten, rebuilt and removed."""
    result = answer["result"]
    say(f"{counted(len(result['forgotten']), 'memory')} forgotten")
    for name, noun, what in (
        ("records_rebuilt", "decision record", "rebuilt from the remaining memories"),
        ("records_removed", "decision record", "removed, of which too little remained"),
        ("revived", "memory", "given the former status again"),
    ):
        if result[name]:
            say(f"{counted(len(result[name]), noun)} {what}")
    its = "its" if result["jobs_scrubbed"] == 1 else "their"
    say(f"{counted(result['jobs_scrubbed'], 'job')} lost {its} texts,"
        f" {counted(result['jobs_ended'], 'waiting job')} ended,"
        f" {counted(result['files_removed'], 'file')} removed")  # fmt: skip
    notes(result["warnings"])
