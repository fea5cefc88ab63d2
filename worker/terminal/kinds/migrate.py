"""The command ``migrate``: submits the job and prints the outcome of each text, or of an undo."""

from __future__ import annotations

import argparse

from ...wording import counted
from ..command_line import CommandLineBuilder
from ..job_commands import add_job_command, submit_job, without_none
from ..output import Envelope, notes, say, table
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
    rows = [
        (item["outcome"].replace("_", " "), f"#{item['memory_number']}" if item["memory_number"] else "",
         item["memory_type"] or "", (item["created_at"] or "")[:10], item["topic_id"] or "",
         (item["title"] or item["source"]["file"])[:48], item["reason"] or "")
        for item in result["items"]
        if item["outcome"] != "skipped"
    ]  # fmt: skip
    if rows:
        columns = ("", "memory", "kind", "of", "topic", "title", "why")
        table(columns, rows, right=("memory",), wraps=("topic", "title", "why"), optional_columns=("kind", "of"))
    if result["items_omitted"]:
        say(f"… and {result['items_omitted']} more")
    names = ("migrated", "already_migrated", "forgotten", "failed", "remaining")
    parts = [f"{result[name]} {name.replace('_', ' ')}" for name in names if result[name] or name == "migrated"]
    would_be = " would be" if result["dry_run"] else ""
    if result["found"]:
        say(f"{counted(result['found'], 'memory')} of earlier versions:{would_be} {', '.join(parts)}.")
    else:
        say("There are no memories of earlier versions.")
    if result["skipped"]:
        say(f"{counted(result['skipped'], 'other text')} of cognee's left alone.")
    notes(result["warnings"])
    if result["dry_run"]:
        more = " Take them over: cognee-memory migrate" if result["migrated"] else ""
        say(f"Nothing was changed.{more}")
    elif result["migrated"]:
        say(f"Undo: cognee-memory migrate --undo {result['receipt']}")
