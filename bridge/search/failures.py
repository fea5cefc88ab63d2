"""Failures among the candidates of a question: off in ordinary answers, found by their error, or asked for by their
tag. Those that were not met for long are left out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..memory import FAILURE

if TYPE_CHECKING:
    from .catalogue import Catalogue
    from .question import Question
    from .snapshot import Snapshot

# What a line of an error has: few questions, so that most need not load what reads such lines.
_MAY_HAVE_ERROR = re.compile(
    r"error|exception|fail|fatal|panic|n[o']t\b|un(?:able|defined|known|recogni|supported)|illegal|invalid|no such"
    r"|no matches|no rule|denied|already|refused|timed out|missing|needed|\d:\d",
    re.IGNORECASE,
)


def beside(snapshot: Snapshot, question: Question, candidates: Catalogue) -> Catalogue:
    """The candidates, and the failures that the question asks for. Raises as ``Snapshot.candidates``."""
    filters, tags = question.filters, list(question.filters.labels.get("tags") or ())
    if filters.status is not None or not (FAILURE in tags or _MAY_HAVE_ERROR.search(question.asked)):
        return candidates
    from ..text import error_lines, failures

    lines = set[str]() if FAILURE in tags else error_lines.signatures(question.asked)
    if not (lines or FAILURE in tags):
        return candidates
    labels = {**filters.labels, "tags": list({*tags, FAILURE})}
    rows = snapshot.candidates(replace(filters, status=failures.STATUS, labels=labels))
    found = [
        each for each in snapshot.memories(rows.number.tolist()) if failures.is_current(each, question.ranking.as_of)
    ]
    wanted = failures.same(found, lines, part=True) if lines else found
    numbers = np.concatenate([candidates.number, np.array([each.number for each in wanted], np.int64)])
    return snapshot.catalogue.take(np.isin(snapshot.catalogue.number, numbers)) if wanted else candidates
