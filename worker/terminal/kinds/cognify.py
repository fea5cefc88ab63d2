"""The command ``cognify``: submits the job and prints what the language model extracted."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.search import listing
from jobs.errors import JobError
from jobs.layout import Workspace

from ...wording import counted
from ..command_line import CommandLineBuilder
from ..job_commands import add_job_command, submit_job, without_none
from ..output import Envelope, say
from ..process_commands import workspace_and_settings


def add_cognify(builder: CommandLineBuilder) -> None:
    """Add ``cognify``."""
    parser = add_job_command(
        builder,
        "cognify",
        ["cognee-memory cognify", "cognee-memory cognify --memory 12 13"],
        more="It calls the configured language model, whose provider may charge for it.",
        run=run,
    )
    parser.add_argument(
        "texts", nargs="*", metavar="TEXT", help="raw texts (default: all raw memories not yet processed)"
    )
    parser.add_argument(
        "--path", dest="paths", metavar="FILE", nargs="+", action="extend", help="files in the workspace"
    )
    parser.add_argument(
        "--memory", dest="memory_ids", metavar="ID", nargs="+", action="extend", help="ids or numbers of memories"
    )


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope. Raises JobError: ARGUMENT_INVALID when texts, files and memories are
    mixed."""
    workspace, settings = workspace_and_settings(args)
    payload: dict[str, Any] = {"texts": args.texts or None}
    if args.paths:
        payload["paths"] = [_inside(workspace, path) for path in args.paths]
    if args.memory_ids:
        payload["memory_ids"] = [listing.id_of(workspace, wanted) for wanted in args.memory_ids]
    if sum(value is not None for value in payload.values()) > 1:
        raise JobError("ARGUMENT_INVALID", "Give texts, or --path, or --memory; not several of them.")
    return submit_job(args, workspace, settings, "cognify", without_none(payload))


def _inside(workspace: Workspace, path: str) -> str:
    """The workspace-relative form of a path that is relative to the current folder. A path outside is unchanged; the
    job rejects it."""
    root, meant = Path(os.path.realpath(workspace.root)), Path.cwd() / path
    there = meant.parent.resolve() / meant.name  # a link is not followed here; the job refuses it
    return str(there.relative_to(root)) if there.is_relative_to(root) else path


def model_use(spent: Mapping[str, Any]) -> str:
    """The calls, tokens and cost of a language model: ``2 calls, 3,100 tokens ($0.0021)``."""
    cost = spent.get("cost_usd")
    dollars = "" if cost is None else f" (${cost:.4f})"
    return f"{counted(spent['calls'], 'call')}, {counted(spent['tokens'], 'token')}{dollars}"


def show(answer: Envelope) -> None:
    """Print the totals, the memories with their nodes and edges, and the failures."""
    result = answer["result"]
    say(
        f"cognee has looked into {counted(result['looked_into'], 'text')}: {counted(result['nodes'], 'node')} and"
        f" {counted(result['edges'], 'edge')}, for {model_use(result)} of the language model"
    )
    if result["before"]:
        say(f"{result['before']} had been looked into before")
    for memory in result["memories"]:
        source = f"  {memory['source']}" if memory["source"] else ""
        nodes, edges = counted(memory["nodes"], "node"), counted(memory["edges"], "edge")
        say(f"  #{memory['memory_number']}  {nodes}, {edges}{source}")
    for failure in result["failures"]:
        say(f"  left out: {failure['source'] or failure['memory_id']}: {failure['message']}")
