"""How well embedding models and a reranker find what a user marked: the memories that helped with a question.

The real search answers each question, over a copy of the store with the vectors of the model. Feedback itself counts
for nothing in it, since it would bring the marked memory up with every model.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from jobs.errors import JobError
from jobs.layout import Workspace

from ..embedding.config import EmbeddingConfig
from ..embedding.factory import create
from ..reranking.config import RerankConfig
from ..store.opening import reader_of, trial_copy
from .question import parse_question
from .retrieval import rank
from .second_stage import SecondStage
from .snapshot import open_snapshot

DEPTH = 5
FOLDER_PREFIX = "cognee-memory-trial-"


class Marked(NamedTuple):
    """A question, and the number of a memory that helped with it."""

    query: str
    number: int


def marked(workspace: Workspace) -> list[Marked]:
    """The questions of the feedback ``helpful``, as far as the memory is visible and not superseded.

    Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY.
    """
    with reader_of(workspace).lists() as lists:
        if lists is None:
            return []
        found, before = [], None
        while page := lists.page(500, before=before):
            before = page[-1].number
            found += [
                Marked(given.query, memory.number)
                for memory in page
                if memory.metadata.status != "Superseded"
                for given in lists.feedback(memory.id)
                if given.verdict == "helpful" and given.query
            ]
    return list(dict.fromkeys(found))


def ranks(
    workspace: Workspace,
    model: EmbeddingConfig,
    questions: Sequence[Marked],
    now: datetime,
    reranking: RerankConfig | None = None,
) -> list[list[int | None]]:
    """For each question the rank of its memory, 1..DEPTH, or None: with the model alone and, if there is one, also with
    the reranker.

    Raises JobError as ``open_snapshot`` and the embedder, and MODEL_UNUSABLE where the reranker gives no scores.
    """
    with TemporaryDirectory(prefix=FOLDER_PREFIX) as folder:
        copy = trial_copy(workspace, Path(folder) / "trial", create(model, bulk=True))
        snapshot = None if copy is None else open_snapshot(copy)
        if snapshot is None:
            return [[None] * len(questions)]
        embedder = create(model, stays=True)
        try:
            stages: list[SecondStage | None] = [None]
            if reranking is not None:
                from ..reranking.factory import create as create_reranker

                stages.append(SecondStage(create_reranker(reranking), reranking.hits))
            found = []
            for second in stages:
                places: list[int | None] = []
                for each in questions:
                    asked = parse_question({"query": each.query, "max_results": DEPTH, "feedback_weight": 0.0}, now)
                    hits = [memory.number for memory, _ in rank(snapshot, asked, embedder, second).hits]
                    places.append(hits.index(each.number) + 1 if each.number in hits else None)
                if second is not None and second.has_failed:
                    why = second.warnings[0].partition(": ")[2]
                    raise JobError("MODEL_UNUSABLE", "The reranker gives no scores.", remediation=why)
                found.append(places)
            return found
        finally:
            snapshot.close()
