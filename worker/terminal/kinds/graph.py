"""The command ``graph``: submits the job and writes the picture of the knowledge graph to a file."""

from __future__ import annotations

import argparse

from jobs import files
from jobs.errors import JobError

from ...wording import counted
from ..job_commands import submit_job
from ..output import Envelope, say
from ..process_commands import opened, target


def run(given: argparse.Namespace) -> Envelope:
    """Submit the job and copy the picture to ``--out``; returns its envelope.

    Raises JobError: ARGUMENT_INVALID when ``--out`` cannot be written or is used with ``--no-wait``.
    """
    workspace, settings = opened(given)
    if given.out is None:
        return submit_job(given, workspace, settings, "graph", {})
    out = target(workspace, given.out)
    if not given.wait or not out.parent.is_dir():
        why = "--out needs the picture, so wait for it." if not given.wait else f"{out} is no place for a file."
        raise JobError("ARGUMENT_INVALID", why)
    done = submit_job(given, workspace, settings, "graph", {})
    try:
        files.replace(out, workspace.picture.read_bytes())
    except OSError as error:
        raise JobError("ARGUMENT_INVALID", f"{out} cannot be written: {error.strerror}.") from error
    return {**done, "out": str(out)}


def show(found: Envelope) -> None:
    """Print the path of the picture and what it contains."""
    result = found["result"]
    nodes, edges = counted(result["nodes"], "node"), counted(result["edges"], "edge")
    say(f"{found.get('out') or result['path']}: {nodes}, {edges}")
    if result["memories_left_out"]:
        newest = counted(result["memories"], "memory")
        say(f"It shows the newest {newest}; {result['memories_left_out']:,} older left out.")
