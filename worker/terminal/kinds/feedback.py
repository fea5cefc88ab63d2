"""The command ``feedback``: says whether a memory helped, and how many said so."""

from __future__ import annotations

import argparse

from bridge.search import listing
from jobs.kinds import VERDICTS

from ..command_line import CommandLineBuilder
from ..job_commands import add_job_command, submit_for_target, without_none
from ..output import Envelope, say
from ..process_commands import workspace_and_settings


def add_feedback(builder: CommandLineBuilder) -> None:
    """Add ``feedback``."""
    parser = add_job_command(
        builder,
        "feedback",
        ["cognee-memory feedback 12 helpful", 'cognee-memory feedback 12 wrong --note "We use SQLite now."'],
        more="A later feedback of the same person replaces it; withdrawn takes it back. The memory itself stays.",
        run=run,
    )
    parser.add_argument("memory_id", metavar="ID|NUMBER", help="the memory's id or number")
    parser.add_argument("verdict", metavar="VERDICT", choices=VERDICTS, help=", ".join(VERDICTS))
    parser.add_argument("--note", metavar="TEXT", help="why, in a few words")
    parser.add_argument("--query", metavar="QUESTION", help="the question for which it was found")
    parser.add_argument("--by", metavar="NAME", help="who gives it (default: person)")


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope. Raises as ``submit_for_target``."""
    workspace, settings = workspace_and_settings(args)
    given = {"verdict": args.verdict, "query": args.query, "note": args.note, "by": args.by}
    payload = without_none({"memory_id": listing.id_of(workspace, args.memory_id), **given})
    return submit_for_target(args, workspace, settings, "feedback", payload)


def show(answer: Envelope) -> None:
    """Print the counts of the memory's feedback."""
    result = answer["result"]
    counts = result["feedback"]
    say(f"#{result['memory_number']}: {counts['helpful']} helpful, {counts['wrong']} wrong.")
