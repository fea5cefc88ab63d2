"""The command ``ingest``: submits the job and, with ``--wait``, prints the stored memory."""

from __future__ import annotations

import argparse

from bridge.interface.arguments import add_ingest_options
from bridge.interface.submission import payload_of
from jobs.errors import JobError

from ...wording import counted
from .. import job_views
from ..command_line import CommandLineBuilder, waiting
from ..job_commands import submit_job
from ..output import Envelope, say
from ..process_commands import workspace_and_settings


def add_ingest(builder: CommandLineBuilder) -> None:
    """Add ``ingest``."""
    parser = builder.command(
        "ingest",
        [
            'cognee-memory ingest "Billing keeps its data in PostgreSQL."',
            'cognee-memory ingest --topic Database --context "Which one?" --decision "PostgreSQL." --wait',
            "cognee-memory ingest --summary-json summary.json --wait",
        ],
        needs="starts",
        functions=(run, job_views.show),
    )
    parser.add_argument(
        "messages",
        nargs="*",
        metavar="MESSAGE",
        help="one text: a decision, or a summary if it is long (- for stdin); two: what the user and the assistant said",
    )
    add_ingest_options(parser)
    waiting(parser, default=False)


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope. Raises as ``payload_of``; and JobError: ARGUMENT_INVALID for a third
    message."""
    workspace, settings = workspace_and_settings(args)
    if len(args.messages) > 2:
        message = f"A conversation has two messages, and {len(args.messages)} texts were given."
        raise JobError("ARGUMENT_INVALID", message, remediation="Put each text in quotes.")
    args.user_message, args.assistant_message = [*args.messages, None, None][:2]
    payload = payload_of(args)
    return submit_job(args, workspace, settings, "ingest", payload, job_id=args.job_id)


def show(answer: Envelope) -> None:
    """Print the result of an ingest job or a status change."""
    result = answer["result"]
    topic = f" of {result['topic_id']}" if result["topic_id"] else ""
    known = " It was known already." if result.get("duplicate") else ""
    say(f"Memory #{result['memory_number']}{topic} is {result['status'] or 'stored'}.{known}")
    say(f"  id  {result['memory_id']}")
    redacted = result.get("redactions")
    if redacted and redacted["total"]:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in redacted["kinds"].items())
        say(f"{counted(redacted['total'], 'likely secret')} left out of it: {kinds}.")
