"""The commands ``retrieve``, ``explain`` and ``context``. They have their own module so that they start fast."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from bridge.argument_table import NO_BUDGET
from bridge.interface.arguments import explain_values, question_values
from bridge.search.query_client import ask_for

if TYPE_CHECKING:
    from .output import Envelope


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


def explain(args: argparse.Namespace) -> Envelope:
    """The parts of the scores."""
    return _parsed(ask_for("explain", args.workspace, explain_values(args)))


def context(args: argparse.Namespace) -> Envelope:
    """A block of matching notes within a token budget."""
    return _parsed(ask_for("context", args.workspace, question_values(args)))


def _parsed(data: bytes) -> Envelope:
    answer: Envelope = json.loads(data)
    return answer
