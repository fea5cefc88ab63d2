"""The command ``ingest``: submits the job and, with ``--wait``, prints the stored memory."""

from __future__ import annotations

from bridge.interface.arguments import add_ingest_options
from bridge.interface.submission import payload_of
from jobs.errors import JobError

from ...wording import counted
from .. import job_views
from ..command_line import Given, added, command, option, waits
from ..job_commands import submit_job
from ..output import Envelope, say


@command(
    "ingest",
    [
        'ingest "Billing keeps its data in PostgreSQL."',
        'ingest --topic Database --context "Which one?" --decision "PostgreSQL." --wait',
        "ingest --summary-json summary.json --wait",
    ],
    needs="starts",
    show=job_views.show,
)
@option(
    "messages MESSAGE",
    "one text: a decision, or a summary if it is long (- for stdin); two: what the user and the assistant said",
    nargs="*",
)
@added(add_ingest_options)
@waits(default=False)
def ingest(args: Given) -> Envelope:
    """Submit the job; returns its envelope. Raises as ``payload_of``; and JobError: ARGUMENT_INVALID for a third
    message."""
    if len(args.messages) > 2:
        message = f"A conversation has two messages, and {len(args.messages)} texts were given."
        raise JobError("ARGUMENT_INVALID", message, remediation="Put each text in quotes.")
    args.user_message, args.assistant_message = [*args.messages, None, None][:2]
    payload = payload_of(args)
    return submit_job(args, "ingest", payload, job_id=args.job_id)


def show_ingest(result: Envelope) -> None:
    """Print the result of an ingest job or a status change."""
    topic = f" of {result['topic_id']}" if result["topic_id"] else ""
    known = " It was known already." if result.get("duplicate") else ""
    say(f"Memory #{result['memory_number']}{topic} is {result['status'] or 'stored'}.{known}")
    say(f"  id  {result['memory_id']}")
    redacted = result.get("redactions")
    if redacted and redacted["total"]:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in redacted["kinds"].items())
        say(f"{counted(redacted['total'], 'likely secret')} left out of it: {kinds}.")
