"""The commands ``retrieve``, ``explain`` and ``context``. They have their own module so that they start fast."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from bridge.interface.arguments import explain_values, question_values
from bridge.search.query_client import ask_for

if TYPE_CHECKING:
    from .output import Envelope


def retrieve(given: argparse.Namespace) -> Envelope:
    """The memories that match the query."""
    return _parsed(ask_for("retrieve", given.workspace, question_values(given)))


def explain(given: argparse.Namespace) -> Envelope:
    """The parts of the scores."""
    return _parsed(ask_for("explain", given.workspace, explain_values(given)))


def context(given: argparse.Namespace) -> Envelope:
    """A block of matching notes within a token budget."""
    return _parsed(ask_for("context", given.workspace, question_values(given)))


def _parsed(data: bytes) -> Envelope:
    answer: Envelope = json.loads(data)
    return answer
