"""The commands ``retrieve``, ``explain`` and ``context``. What they do not need for a program's answer is imported when
it is shown, so that they start fast."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from bridge.argument_table import NO_BUDGET
from bridge.interface.arguments import Words, add_explain_options, add_question_options, explain_values, question_values
from bridge.search.query_client import ask_for

from .command_line import CommandLineBuilder

if TYPE_CHECKING:
    from .output import Envelope


def add_retrieve(builder: CommandLineBuilder) -> None:
    """Add ``retrieve``."""
    parser = builder.command(
        "retrieve",
        [
            'cognee-memory retrieve "Which database do we use?"',
            'cognee-memory retrieve "deployment" --since 2026-10-01 --max-results 10',
            'cognee-memory retrieve "deployment" --text',
        ],
        functions=(retrieve, show_retrieve),
    )
    question(parser, "query", "the query, as a sentence or as words")
    parser.add_argument("--text", action="store_true", help="show the whole text of each hit, not its best passages")
    passages = "with --json, also the passages of each hit that match best"
    parser.add_argument("--best-passages", action="store_true", help=passages)
    add_question_options(parser, "token budget of the answer (default: none; with --json 2000)")


def retrieve(args: argparse.Namespace) -> Envelope:
    """The memories that match the query.

    For people it adds the best passages of each hit, the ``query``, whose words are marked, and ``whole``: whether to
    show the whole texts. The token budget is for models, so people get all hits unless they give one.
    """
    values = question_values(args)
    if args.json:
        asked = {"best_passages": True} if args.best_passages else {}
        return _parsed(ask_for("retrieve", args.workspace, values | asked))
    if values["max_tokens"] is None:
        values["max_tokens"] = NO_BUDGET
    answer = _parsed(ask_for("retrieve", args.workspace, values | {"best_passages": True}))
    return {**answer, "query": args.query, "whole": args.text}


def show_retrieve(answer: Envelope) -> None:
    """Print the hits and the warnings."""
    from . import hits

    hits.retrieve(answer)


def add_explain(builder: CommandLineBuilder) -> None:
    """Add ``explain``."""
    parser = builder.command(
        "explain",
        ['cognee-memory explain "Which database do we use?"', "cognee-memory explain --id 12 13"],
        functions=(explain, show_explain),
    )
    question(parser, "query", "the query that found the memories", nargs="*")
    add_explain_options(parser)


def explain(args: argparse.Namespace) -> Envelope:
    """The parts of the scores."""
    return _parsed(ask_for("explain", args.workspace, explain_values(args)))


def show_explain(answer: Envelope) -> None:
    """Print the parts of each score."""
    from . import hits

    hits.explain(answer)


def add_context(builder: CommandLineBuilder) -> None:
    """Add ``context``."""
    parser = builder.command(
        "context",
        ['cognee-memory context "Which database do we use?" --max-tokens 800'],
        functions=(context, show_context),
    )
    question(parser, "query", "the query, as a sentence or as words")
    add_question_options(parser)


def context(args: argparse.Namespace) -> Envelope:
    """A block of matching notes within a token budget."""
    return _parsed(ask_for("context", args.workspace, question_values(args)))


def show_context(answer: Envelope) -> None:
    """Print only the block, to be pasted."""
    from . import hits

    hits.context(answer)


def question(parser: argparse.ArgumentParser, name: str, text: str, nargs: str = "+") -> None:
    """Add a question of several words."""
    parser.add_argument(name, action=Words, nargs=nargs, metavar="QUESTION", help=f"{text}; quotes are not necessary")


def _parsed(data: bytes) -> Envelope:
    answer: Envelope = json.loads(data)
    return answer
