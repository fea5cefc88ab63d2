"""The command ``migrate``: submits the job and prints the outcome of each text, or of an undo."""

from __future__ import annotations

import argparse

from ...documents import migrate as document
from ...wording import counted
from ..command_line import CommandLineBuilder, in_markdown
from ..job_commands import add_job_command, submit_job, without_none
from ..output import Envelope, notes, say, show_blocks
from ..process_commands import workspace_and_settings


def add_migrate(builder: CommandLineBuilder) -> None:
    """Add ``migrate``."""
    parser = add_job_command(
        builder,
        "migrate",
        ["cognee-memory migrate --dry-run", "cognee-memory migrate"],
        run=run,
    )
    parser.add_argument("--dry-run", action="store_true", help="show what each text would become, and change nothing")
    parser.add_argument("--limit", type=int, metavar="N", help="migrate at most N texts, the oldest first")
    in_markdown(parser)
    parser.add_argument("--undo", metavar="RECEIPT", help="undo a migration; its result names the receipt")


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope."""
    workspace, settings = workspace_and_settings(args)
    payload = {"dry_run": args.dry_run, "limit": args.limit, "undo": args.undo}
    return submit_job(args, workspace, settings, "migrate", without_none(payload))


def show(answer: Envelope) -> None:
    """Print the outcome of each text, the failures first, or the result of an undo."""
    result = answer["result"]
    if "undone" in result:
        say(f"{counted(result['undone'], 'memory')} undone.")
        for kept in result["kept"]:
            say(f"  left  {kept['memory_id']}: {kept['reason']}")
        return
    show_blocks(document.texts(result))
    say(document.counts(result))
    notes(result["warnings"])
    if result["dry_run"]:
        more = " Take them over: cognee-memory migrate" if result["migrated"] else ""
        say(f"Nothing was changed.{more}")
    elif result["migrated"]:
        say(f"Undo: cognee-memory migrate --undo {result['receipt']}")
