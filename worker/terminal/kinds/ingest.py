"""The command ``ingest``: submits the job and, with ``--wait``, prints the stored memory."""

from __future__ import annotations

import argparse

from bridge.interface.submission import payload_of

from ...wording import counted
from ..job_commands import submit_job
from ..output import Envelope, say
from ..process_commands import opened


def run(given: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope. Raises as ``payload_of``."""
    workspace, settings = opened(given)
    given.user_message, given.assistant_message = [*given.messages, None, None][:2]
    payload = payload_of(given)
    return submit_job(given, workspace, settings, "ingest", payload, job_id=given.job_id)


def show(found: Envelope) -> None:
    """Print the result of an ingest job or a status change."""
    result = found["result"]
    topic = f" of {result['topic_id']}" if result["topic_id"] else ""
    known = " It was known already." if result.get("duplicate") else ""
    say(f"Memory #{result['memory_number']}{topic} is {result['status'] or 'stored'}.{known}")
    say(f"  id  {result['memory_id']}")
    redacted = result.get("redactions")
    if redacted and redacted["total"]:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in redacted["kinds"].items())
        say(f"{counted(redacted['total'], 'likely secret')} left out of it: {kinds}.")
