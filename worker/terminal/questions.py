"""The commands ``retrieve``, ``explain`` and ``context``. What they do not need for a program's answer is imported when
it is shown, so that they start fast."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bridge.argument_table import ARGUMENTS, EXPLAIN_ARGUMENTS, NO_BUDGET
from bridge.interface.arguments import Words, add_explain_options, add_question_options, given_values
from bridge.search.query_client import ask_for

from .command_line import Decorator, Given, Show, added, command, option

if TYPE_CHECKING:
    from .output import Envelope


def question(name: str, text: str, nargs: str = "+") -> Decorator:
    """A question of several words."""
    return option(f"{name} QUESTION", f"{text}; quotes are not necessary", action=Words, nargs=nargs)


def _hits(name: str) -> Show:
    """The view of that name in ``hits``."""

    def show(answer: Envelope) -> None:
        from . import hits

        getattr(hits, name)(answer)

    return show


@command(
    "retrieve",
    [
        'retrieve "Which database do we use?"',
        'retrieve "deployment" --since 2026-10-01 --max-results 10',
        'retrieve "deployment" --text',
    ],
    show=_hits("retrieve"),
)
@question("query", "the query, as a sentence or as words")
@option("--text", "show the whole text of each hit, not its best passages")
@option("--best-passages", "with --json, also the passages of each hit that match best")
@added(lambda parser: add_question_options(parser, "token budget of the answer (default: none; with --json 2000)"))
def retrieve(args: Given) -> Envelope:
    """The memories that match the query.

    For people it adds the best passages of each hit, the ``query``, whose words are marked, and ``whole``: whether to
    show the whole texts. The token budget is for models, so people get all hits unless they give one.
    """
    values = given_values(args, ARGUMENTS)
    if args.json:
        asked = {"best_passages": True} if args.best_passages else {}
        return _parsed(ask_for("retrieve", args.workspace, values | asked))
    if values["max_tokens"] is None:
        values["max_tokens"] = NO_BUDGET
    answer = _parsed(ask_for("retrieve", args.workspace, values | {"best_passages": True}))
    return {**answer, "query": args.query, "whole": args.text}


@command("explain", ['explain "Which database do we use?"', "explain --id 12 13"], show=_hits("explain"))
@question("query", "the query that found the memories", nargs="*")
@added(add_explain_options)
def explain(args: Given) -> Envelope:
    """The parts of the scores."""
    return _parsed(ask_for("explain", args.workspace, given_values(args, EXPLAIN_ARGUMENTS)))


@command("context", ['context "Which database do we use?" --max-tokens 800'], show=_hits("context"))
@question("query", "the query, as a sentence or as words")
@added(add_question_options)
def context(args: Given) -> Envelope:
    """A block of matching notes within a token budget."""
    return _parsed(ask_for("context", args.workspace, given_values(args, ARGUMENTS)))


def _parsed(data: bytes) -> Envelope:
    answer: Envelope = json.loads(data)
    return answer
