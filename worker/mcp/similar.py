"""The memories that are about the same as a summary that an agent stores, and those that it may replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bridge import trust
from bridge.memory import slug
from jobs.errors import JobError
from jobs.layout import Workspace

from ..wording import shortened
from .questions import ask
from .reading import memory_of

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import RetrievalHit, RetrievalResponse

    from .answer_shapes import SimilarMemory

_MOST_DECISIONS = 20  # of a summary that are compared
_CLEARLY = 0.5  # of the semantic score, from which a memory is about the same matter


def similar_memories(workspace: Workspace, summary: Mapping[str, Any] | None) -> list[SimilarMemory]:
    """At most 3 memories that clearly are about what a summary decides, or finds out. None if they cannot be searched:
    what was sent is stored all the same."""
    if summary is None or summary.get("status") == "Draft":
        return []
    said = summary.get("decisions") or [summary["context"]]
    query = " ".join([summary["topic"], *said])[:1000]
    answer: RetrievalResponse = ask("retrieve", workspace, {"query": query, "max_results": 3, "best_passages": True})
    similar: list[SimilarMemory] = []
    for hit in answer["results"] if answer["success"] else ():
        passages = hit.get("best_passages") or []
        otherwise: list[str] = []
        with suppress(JobError):
            otherwise = _replaced(workspace, summary, hit, passages)
        if not passages or "fit" in hit or not (otherwise or hit["semantic_score"] >= _CLEARLY):
            continue
        similar.append(
            {
                "memory_number": hit["memory_number"],
                "date": hit["source_created_at"] or hit["created_at"],
                "says": shortened([*otherwise, *passages][0], 200),
                "says_otherwise": bool(otherwise),
            }
        )
    return similar


def _replaced(
    workspace: Workspace, summary: Mapping[str, Any], hit: RetrievalHit, passages: Sequence[str]
) -> list[str]:
    """Those of the passages that the decisions of a summary may replace: by the rules, and within the bounds, by which
    the store compares them once they are stored. Raises JobError as ``memory_of`` and the embedder do."""
    from bridge.search.query_client import embed
    from bridge.search.standings import DISPUTED
    from bridge.standing import judge
    from bridge.standing.comparison import SAME_OF_TWO_TOPICS, TOPICS_ALIKE

    said = list(summary.get("decisions") or ())[:_MOST_DECISIONS]
    if not said or not passages:
        return []
    topics = [summary["topic"], memory_of(workspace, {"memory_number": hit["memory_number"]})["title"]]
    texts = list(dict.fromkeys([*topics, *said, *passages]))
    vectors = embed(workspace, trust.settings_of(workspace), texts)
    row = {text: index for index, text in enumerate(texts)}

    def cosine(one: str, other: str) -> float:
        return float(vectors[row[one]] @ vectors[row[other]])

    is_same = hit["topic_id"] == (summary.get("topic_id") or slug(summary["topic"]))
    is_alike = cosine(*topics) >= TOPICS_ALIKE
    pairs = [
        (each, new)
        for each in passages
        for new in said
        if is_same or (is_alike and cosine(each, new) >= SAME_OF_TWO_TOPICS)
    ]
    found = judge.by_rules(pairs, lambda texts: vectors[[row[text] for text in texts]])
    return list(dict.fromkeys(each for (each, _), sure in zip(pairs, found, strict=True) if sure >= DISPUTED))
