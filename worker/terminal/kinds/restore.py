"""The command ``restore``: submits the job that undoes a compaction and prints the restored memories."""

from __future__ import annotations

import argparse

from bridge.search import listing

from ...wording import counted
from ..command_line import CommandLineBuilder
from ..job_commands import add_job_command, submit_for_target
from ..output import Envelope, say
from ..process_commands import workspace_and_settings

_WHY_LEFT = {
    "forgotten": "it was forgotten",
    "status_changed": "its status was changed since",
    "merged": "another record in force has merged it as well",
}


def add_restore(builder: CommandLineBuilder) -> None:
    """Add ``restore``."""
    parser = add_job_command(
        builder,
        "restore",
        ["cognee-memory restore 12"],
        run=run,
    )
    parser.add_argument("decision_record_id", metavar="RECORD", help="the decision record's id or number")


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope. Raises as ``submit_for_target``."""
    workspace, settings = workspace_and_settings(args)
    payload = {"decision_record_id": listing.id_of(workspace, args.decision_record_id)}
    return submit_for_target(args, workspace, settings, "restore", payload)


def show(answer: Envelope) -> None:
    """Print the withdrawn record, the restored memories and the skipped ones."""
    result = answer["result"]
    number = f" #{result['memory_number']}" if result["memory_number"] else ""
    back = counted(len(result["restored"]), "memory")
    say(f"The record{number} of {result['topic_id']} is withdrawn; {back} {_are(len(result['restored']))} back.")
    for memory_id in result["restored"]:
        say(f"  back  {memory_id}")
    for skipped in result["skipped"]:
        say(f"  left  {skipped['memory_id']}: {_WHY_LEFT[skipped['reason']]}")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
