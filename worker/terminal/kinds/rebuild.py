"""The command ``rebuild``: submits the job and prints what was rebuilt from memory.db."""

from __future__ import annotations

import argparse

from ...wording import counted
from ..job_commands import submit_job
from ..output import Envelope, say
from ..process_commands import opened


def run(given: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope."""
    workspace, settings = opened(given)
    return submit_job(given, workspace, settings, "rebuild", {"what": given.what})


def show(found: Envelope) -> None:
    """Print the counts of what was rebuilt."""
    result = found["result"]
    parts = (("memories", "memory", "in the index"), ("passages", "passage", "embedded"),
             ("graph_memories", "memory", "in the graph"))  # fmt: skip
    done = [f"{counted(result[name], noun)} {where}" for name, noun, where in parts if name in result]
    say(f"Made anew in {result['seconds']:,.1f} s: {', '.join(done)}.")
