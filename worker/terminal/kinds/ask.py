"""The command ``ask``: submits the job and prints the answer with the memories it is based on."""

from __future__ import annotations

import argparse

from ..job_commands import submit_job, without_none
from ..output import Envelope, notes, say, table
from ..process_commands import workspace_and_settings


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope."""
    workspace, settings = workspace_and_settings(args)
    return submit_job(args, workspace, settings, "ask", without_none({"question": args.question, "top_k": args.top_k}))


def show(answer: Envelope) -> None:
    """Print the answer, or the context from the graph when there is no language model, and its memories."""
    result = answer["result"]
    say(result["answer"] or result["context"] or "The knowledge graph has nothing that matches the question.")
    if result["memories"]:
        say()
        say("Based on:")
        rows = [
            (f"#{memory['memory_number']}", memory["title"][:60], memory["status"] or "[Legacy]")
            for memory in result["memories"]
        ]
        table(("memory", "title", "status"), rows, wraps=("title",))
    notes(result["warnings"])
