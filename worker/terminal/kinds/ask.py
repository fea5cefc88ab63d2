"""The command ``ask``: submits the job and prints the answer with the memories it is based on."""

from __future__ import annotations

import argparse

from ..job_commands import given_of, submit_job
from ..output import Envelope, notes, say, table
from ..process_commands import opened


def run(given: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope."""
    workspace, settings = opened(given)
    return submit_job(given, workspace, settings, "ask", given_of({"question": given.question, "top_k": given.top_k}))


def show(found: Envelope) -> None:
    """Print the answer, or the context from the graph when there is no language model, and its memories."""
    result = found["result"]
    say(result["answer"] or result["context"] or "The knowledge graph holds nothing that fits the question.")
    if result["memories"]:
        say()
        say("It rests on:")
        rows = [
            (f"#{memory['memory_number']}", memory["title"][:60], memory["status"] or "[Legacy]")
            for memory in result["memories"]
        ]
        table(("memory", "title", "status"), rows, wraps=("title",))
    notes(result["warnings"])
