"""Failures among the candidates of a question: off in ordinary answers, found by their error, or asked for by their
tag. Those that were not met for long are left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..text import failures
from ..text.error_lines import signatures

if TYPE_CHECKING:
    from .catalogue import Catalogue
    from .question import Question
    from .snapshot import Snapshot


def beside(snapshot: Snapshot, question: Question, candidates: Catalogue) -> Catalogue:
    """The candidates, and the failures that the question asks for. Raises as ``Snapshot.candidates``."""
    filters = question.filters
    tags = list(filters.labels.get("tags") or ())
    is_asked = failures.TAG in tags
    lines = set[str]() if is_asked else signatures(question.asked)
    if filters.status is not None or not (is_asked or lines):
        return candidates
    labels = {**filters.labels, "tags": tags if is_asked else [*tags, failures.TAG]}
    rows = snapshot.candidates(replace(filters, status=failures.STATUS, labels=labels))
    found = snapshot.memories(rows.number.tolist())
    found = [each for each in found if failures.is_current(each, question.ranking.as_of)]
    wanted = found if is_asked else failures.same(found, lines, part=True)
    if not wanted:
        return candidates
    numbers = np.concatenate([candidates.number, np.array([each.number for each in wanted], np.int64)])
    return snapshot.catalogue.take(np.isin(snapshot.catalogue.number, numbers))
