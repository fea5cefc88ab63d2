"""Failures among the candidates of a question: off in ordinary answers, found by their error, or asked for by their
tag. Those that were not met for long are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..memory import FAILURE
from ..store.catalogue import STATUSES

if TYPE_CHECKING:
    from .catalogue import Catalogue
    from .question import Question
    from .snapshot import Snapshot

_DRAFT = STATUSES.index("Draft")


def beside(snapshot: Snapshot, question: Question, candidates: Catalogue) -> Catalogue:
    """The candidates, and the failures that the question asks for. Raises as ``Snapshot.candidates``."""
    filters, tags = question.filters, list(question.filters.labels.get("tags") or ())
    if filters.status is not None or not (snapshot.catalogue.status == _DRAFT).any():
        return candidates
    from ..text import error_lines, failures  # only these questions wait for it

    lines = set[str]() if FAILURE in tags else error_lines.signatures(question.asked)
    if not (lines or FAILURE in tags):
        return candidates
    labels = {**filters.labels, "tags": list({*tags, FAILURE})}
    rows = snapshot.candidates(filters._replace(status=failures.STATUS, labels=labels))
    found = [
        each for each in snapshot.memories(rows.number.tolist()) if failures.is_current(each, question.ranking.as_of)
    ]
    wanted = failures.same(found, lines, part=True) if lines else found
    numbers = [*candidates.number, *(each.number for each in wanted)]
    return snapshot.catalogue.take(np.isin(snapshot.catalogue.number, numbers)) if wanted else candidates
