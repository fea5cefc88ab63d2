"""The command ``feedback``: says whether a memory helped, and how many said so."""

from __future__ import annotations

import argparse

from bridge.search import listing

from ..job_commands import submit_for_target, without_none
from ..output import Envelope, say
from ..process_commands import workspace_and_settings


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
