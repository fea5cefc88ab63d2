"""The command ``ask``: submits the job and prints the answer with the memories it is based on."""

from __future__ import annotations

import argparse
import re

from ..command_line import CommandLineBuilder
from ..job_commands import add_job_command, submit_job, without_none
from ..output import Envelope, notes, say, table
from ..process_commands import workspace_and_settings
from ..questions import question

# cognee's marks around the text of a node, and a node without a text.
_MARK = re.compile(r"^__node_content_(?:start|end)__\n?", re.MULTILINE)
_EMPTY_NODE = re.compile(r"^Node: [^\n]*\n__node_content_start__\nNone\n__node_content_end__\n*", re.MULTILINE)


def add_ask(builder: CommandLineBuilder) -> None:
    """Add ``ask``."""
    parser = add_job_command(
        builder,
        "ask",
        ['cognee-memory ask "How do the services depend on each other?"'],
        more="With a language model, it answers in prose; without one, it returns the context from the graph.",
        run=run,
    )
    question(parser, "question", "the question")
    parser.add_argument(
        "--top-k",
        "--limit",
        type=int,
        metavar="N",
        help="number of results to take from the graph (default 10, 1 to 100)",
    )


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope."""
    workspace, settings = workspace_and_settings(args)
    return submit_job(args, workspace, settings, "ask", without_none({"question": args.question, "top_k": args.top_k}))


def show(answer: Envelope) -> None:
    """Print the answer and its memories; without a language model, the memories and then the graph's context."""
    result = answer["result"]
    if result["answer"]:
        say(result["answer"])
        say()
    elif not result["context"]:
        say("The knowledge graph has nothing that matches the question.")
    if result["memories"]:
        say("Based on:")
        rows = [
            (f"#{memory['memory_number']}", memory["title"][:60], memory["status"] or "[Legacy]")
            for memory in result["memories"]
        ]
        table(("memory", "title", "status"), rows, wraps=("title",))
    notes(result["warnings"])
    if result["context"] and not result["answer"]:
        say()
        say(readable_context(result["context"]))


def readable_context(context: str) -> str:
    """The context of the graph without cognee's marks and without the nodes that have no text."""
    return _MARK.sub("", _EMPTY_NODE.sub("", context)).strip()
