"""Retrieval: from a question to ranked hits. Synchronous and fast: cognee is never imported.

Works with and without a worker, and while one writes. Run as a script it keeps the positional arguments
of the retrieval contract: workspace, query, max_results, max_tokens, half_life_days, include_superseded.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __package__ in (None, ""):  # python bridge/retrieve.py
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    __package__ = "bridge"

from collections.abc import Callable, Sequence
from typing import Any

from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace, find_workspace

from . import answer, hits, trust
from .arguments import retrieve_arguments
from .database import failing_clearly
from .embedder import Embedder, EmbeddingConfig, create
from .memory import Memory
from .packing import pack
from .question import Question, ask
from .ranking import LEXICAL_WEIGHT, VECTOR_WEIGHT, Factors, factors, order_key
from .search import Candidate, Snapshot, open_snapshot
from .settings import Settings
from .traces import trace

# Rough float32 scores only rule out what cannot reach the floor; the margin outweighs their rounding.
_ROUNDING_MARGIN = 1e-4

_embedders: dict[EmbeddingConfig, Embedder] = {}


def query_embedder(settings: Settings) -> Embedder:
    """The embedder for queries, made once a process."""
    config = settings.embedding
    if config not in _embedders:
        _embedders[config] = create(config, bulk=False)
    return _embedders[config]


@failing_clearly()
def retrieve(
    workspace: Workspace,
    question: Question,
    settings: Settings,
    embedder: Callable[[Settings], Embedder] = query_embedder,
) -> dict[str, Any]:
    """The answer in the retrieval contract's shape.

    An empty or never-used workspace is a success without results. Raises EMBEDDER_MISMATCH, MODEL_MISSING,
    STORE_NEWER, STORE_UNREADABLE.
    """
    snapshot = open_snapshot(workspace)
    if snapshot is None:
        return _answer(question, [], 0, None)
    try:
        if snapshot.embedder_identity is None or snapshot.memory_count == 0:
            return _answer(question, [], 0, None)
        model = embedder(settings)
        if snapshot.embedder_identity != model.identity:
            raise JobError(
                "EMBEDDER_MISMATCH",
                f"The store was made with {snapshot.embedder_identity}; the settings name {model.identity}.",
            )
        ranked = rank(snapshot, question, model)
    finally:
        snapshot.close()
    packed = pack(ranked[: question.max_results], hits.summary_text, model.count_tokens, question.max_tokens)
    found = [hits.hit(*entry) for entry in packed]
    return _answer(question, found, len(ranked), model.tokenizer_name, snapshot.warnings)


def rank(snapshot: Snapshot, question: Question, embedder: Embedder) -> list[tuple[Memory, Factors]]:
    """Every memory that is relevant enough, best first."""
    candidates = snapshot.candidates(question.filters)
    if not candidates:
        return []
    lexical = snapshot.lexical_scores(question.query)
    query = embedder.embed([question.query])[0]
    rough = snapshot.rough_vector_scores(query, candidates)
    floor = question.relevance_floor * snapshot.weight  # known once both halves were read
    reachable: list[tuple[Candidate, float]] = []
    for candidate, best in zip(candidates, rough, strict=True):
        words = lexical.get(candidate.number, 0.0)
        # The whole is a passage as well, so the best passage bounds the vector score from above.
        if VECTOR_WEIGHT * max(0.0, best) + LEXICAL_WEIGHT * words + _ROUNDING_MARGIN >= floor:
            reachable.append((candidate, words))
    memories = {memory.number: memory for memory in snapshot.memories([c.number for c, _ in reachable])}
    found = []
    for candidate, words in reachable:
        relevance = snapshot.relevance(query, candidate, words)
        if relevance.semantic_score >= floor:
            memory = memories[candidate.number]
            found.append((memory, factors(memory, relevance, question.ranking)))
    found.sort(key=lambda pair: order_key(*pair))
    if question.legacy == "append":
        found.sort(key=lambda pair: pair[0].kind == "legacy")
    return found


def _answer(
    question: Question,
    results: list[dict[str, Any]],
    considered: int,
    tokenizer: str | None,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    ranking = question.ranking
    return answer.success(
        results=results,
        result_count=len(results),
        total_results=considered,
        total_tokens=sum(found["tokens"] for found in results),
        half_life_days=ranking.half_life_days,
        include_superseded=question.include_superseded_reason is not None,
        include_superseded_reason=question.include_superseded_reason,
        as_of=clock.iso(ranking.as_of),
        ranking={
            "preset": question.preset,
            "mode": ranking.mode,
            "half_life_days": ranking.half_life_days,
            "recency_floor": ranking.recency_floor,
            "alpha": ranking.alpha,
            "relevance_floor": question.relevance_floor,
        },
        tokenizer=tokenizer,
        warnings=[*question.warnings, *warnings],
    )


def respond(path: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
    """The whole way from raw arguments to an answer; an error is an answer too."""
    try:
        workspace = find_workspace(path, Path.cwd())
        settings = trust.settings_of(workspace)
        return retrieve(workspace, ask(arguments, settings, clock.now()), settings)
    except JobError as error:
        return answer.failure(error, results=[], total_results=0, total_tokens=0)
    except Exception as error:
        print(trace(error), file=sys.stderr)  # noqa: T201 - for whoever reports it
        return answer.failure(answer.unexpected(error), results=[], total_results=0, total_tokens=0)


def main(argv: Sequence[str] | None = None) -> int:
    """The script: one JSON object on stdout; exit status 0, 1 (failed) or 2 (wrong usage)."""
    try:
        path, arguments = retrieve_arguments(sys.argv[1:] if argv is None else list(argv))
        answer.claim_stdout()
    except JobError as error:
        found = answer.failure(error, results=[], total_results=0, total_tokens=0)
    else:
        found = respond(path, arguments)
    answer.send(found)
    return answer.exit_code(found)


if __name__ == "__main__":
    sys.exit(main())
