"""The command ``rebuild``: submits the job and prints what was rebuilt from memory.db."""

from __future__ import annotations

import argparse

from ...wording import counted
from ..command_line import CommandLineBuilder
from ..job_commands import add_job_command, submit_job
from ..output import Envelope, say
from ..process_commands import workspace_and_settings


def add_rebuild(builder: CommandLineBuilder) -> None:
    """Add ``rebuild``."""
    parser = add_job_command(
        builder,
        "rebuild",
        ["cognee-memory rebuild --what index"],
        run=run,
    )
    parser.add_argument("--what", choices=["index", "graph", "both"], default="both", help="default: both")


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope."""
    workspace, settings = workspace_and_settings(args)
    return submit_job(args, workspace, settings, "rebuild", {"what": args.what})


def show(answer: Envelope) -> None:
    """Print the counts of what was rebuilt."""
    result = answer["result"]
    parts = (("memories", "memory", "in the index"), ("passages", "passage", "embedded"),
             ("graph_memories", "memory", "in the graph"))  # fmt: skip
    done = [f"{counted(result[name], noun)} {where}" for name, noun, where in parts if name in result]
    say(f"Rebuilt in {result['seconds']:,.1f} s: {', '.join(done)}.")
