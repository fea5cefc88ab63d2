"""The commands about the knowledge graph, and their views: ``ask``, ``graph``, ``cognify`` and ``rebuild``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.search import listing
from jobs import files
from jobs.errors import JobError
from jobs.layout import Workspace

from ...wording import counted
from ..command_line import Given, option
from ..job_commands import job, submit_job, submits
from ..output import Envelope, notes, say, table
from ..process_commands import target, writing
from ..questions import question

# cognee's marks around the text of a node, and a node without a text.
_MARK = re.compile(r"^__node_content_(?:start|end)__\n?", re.MULTILINE)
_EMPTY_NODE = re.compile(r"^Node: [^\n]*\n__node_content_start__\nNone\n__node_content_end__\n*", re.MULTILINE)


@job(
    "ask",
    ['ask "How do the services depend on each other?"'],
    more="With a language model, it answers in prose; without one, it returns the context from the graph.",
)
@question("question", "the question")
@option("--top-k --limit N", "number of results to take from the graph (default 10, 1 to 100)", type=int)
def ask(args: Given) -> dict[str, Any]:
    """The question."""
    return {"question": args.question, "top_k": args.top_k}


def show_ask(result: Envelope) -> None:
    """Print the answer and its memories; without a language model, the memories and then the graph's context."""
    if result["answer"]:
        say(result["answer"])
        say()
    elif not result["context"]:
        say("The knowledge graph has nothing that matches the question.")
    if result["memories"]:
        say("Based on:")
        rows = [(f"#{memory['memory_number']}", memory["title"][:60], _status(memory)) for memory in result["memories"]]
        table(("memory", "title", "status"), rows, wraps=("title",))
    notes(result["warnings"])
    if result["context"] and not result["answer"]:
        say()
        say(readable_context(result["context"]))


def _status(memory: Envelope) -> str:
    """The memory's status, and what became of the decision by which it answers."""
    status, standing = memory["status"] or "[Legacy]", memory.get("standing", {"by": None})
    return f"{status}, {standing['state']} by #{standing['by']['memory_number']}" if standing["by"] else status


def readable_context(context: str) -> str:
    """The context of the graph without cognee's marks and without the nodes that have no text."""
    return _MARK.sub("", _EMPTY_NODE.sub("", context)).strip()


@submits("graph", ["graph --out graph.html"])
@option("--out FILE", "the output file (default: in the workspace's memory folder)")
def graph(args: Given) -> Envelope:
    """Submit the job and copy the picture to ``--out``; returns its envelope.

    Raises JobError: ARGUMENT_INVALID when ``--out`` cannot be written or is used with ``--no-wait``.
    """
    if args.out is None:
        return submit_job(args, "graph", {})
    out = target(args.place, args.out)
    if not args.wait or not out.parent.is_dir():
        why = "--out needs the picture, so wait for it." if not args.wait else f"{out} is no place for a file."
        raise JobError("ARGUMENT_INVALID", why)
    done = submit_job(args, "graph", {})
    with writing(out):
        files.replace(out, args.place.picture.read_bytes())
    return {**done, "out": str(out)}


def show_graph(result: Envelope) -> None:
    """Print the path of the picture and what it contains."""
    nodes, edges = counted(result["nodes"], "node"), counted(result["edges"], "edge")
    say(f"{result.get('out') or result['path']}: {nodes}, {edges}")
    if result["memories_left_out"]:
        newest = counted(result["memories"], "memory")
        say(f"It shows the newest {newest}; {result['memories_left_out']:,} older left out.")


@job(
    "cognify",
    ["cognify", "cognify --memory 12 13"],
    more="It calls the configured language model, whose provider may charge for it.",
)
@option("texts TEXT", "raw texts (default: all raw memories not yet processed)", nargs="*")
@option("--path FILE", "files in the workspace", dest="paths", nargs="+", action="extend")
@option("--memory ID", "ids or numbers of memories", dest="memory_ids", nargs="+", action="extend")
def cognify(args: Given) -> dict[str, Any]:
    """The texts, the files or the memories. Raises JobError: ARGUMENT_INVALID when these are mixed."""
    payload: dict[str, Any] = {"texts": args.texts or None}
    if args.paths:
        payload["paths"] = [_inside(args.place, path) for path in args.paths]
    if args.memory_ids:
        payload["memory_ids"] = [listing.id_of(args.place, wanted) for wanted in args.memory_ids]
    if sum(value is not None for value in payload.values()) > 1:
        raise JobError("ARGUMENT_INVALID", "Give texts, or --path, or --memory; not several of them.")
    return payload


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


def show_cognify(result: Envelope) -> None:
    """Print the totals, the memories with their nodes and edges, and the failures."""
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


@job("rebuild", ["rebuild --what index"])
@option("--what", "default: both", choices=["index", "graph", "both"], default="both")
def rebuild(args: Given) -> dict[str, str]:
    """What is made again."""
    return {"what": args.what}


def show_rebuild(result: Envelope) -> None:
    """Print the counts of what was rebuilt."""
    parts = (("memories", "memory", "in the index"), ("passages", "passage", "embedded"),
             ("graph_memories", "memory", "in the graph"))  # fmt: skip
    done = [f"{counted(result[name], noun)} {where}" for name, noun, where in parts if name in result]
    say(f"Rebuilt in {result['seconds']:,.1f} s: {', '.join(done)}.")
