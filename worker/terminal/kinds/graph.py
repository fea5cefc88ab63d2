"""The command ``graph``: submits the job and writes the picture of the knowledge graph to a file."""

from __future__ import annotations

import argparse

from jobs import files
from jobs.errors import JobError

from ...wording import counted
from ..command_line import CommandLineBuilder
from ..job_commands import add_job_command, submit_job
from ..output import Envelope, say
from ..process_commands import target, workspace_and_settings


def add_graph(builder: CommandLineBuilder) -> None:
    """Add ``graph``."""
    parser = add_job_command(
        builder,
        "graph",
        ["cognee-memory graph --out graph.html"],
        run=run,
    )
    parser.add_argument("--out", metavar="FILE", help="the output file (default: in the workspace's memory folder)")


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job and copy the picture to ``--out``; returns its envelope.

    Raises JobError: ARGUMENT_INVALID when ``--out`` cannot be written or is used with ``--no-wait``.
    """
    workspace, settings = workspace_and_settings(args)
    if args.out is None:
        return submit_job(args, workspace, settings, "graph", {})
    out = target(workspace, args.out)
    if not args.wait or not out.parent.is_dir():
        why = "--out needs the picture, so wait for it." if not args.wait else f"{out} is no place for a file."
        raise JobError("ARGUMENT_INVALID", why)
    done = submit_job(args, workspace, settings, "graph", {})
    try:
        files.replace(out, workspace.picture.read_bytes())
    except OSError as error:
        raise JobError("ARGUMENT_INVALID", f"{out} cannot be written: {error.strerror}.") from error
    return {**done, "out": str(out)}


def show(answer: Envelope) -> None:
    """Print the path of the picture and what it contains."""
    result = answer["result"]
    nodes, edges = counted(result["nodes"], "node"), counted(result["edges"], "edge")
    say(f"{answer.get('out') or result['path']}: {nodes}, {edges}")
    if result["memories_left_out"]:
        newest = counted(result["memories"], "memory")
        say(f"It shows the newest {newest}; {result['memories_left_out']:,} older left out.")
