"""Builds the golden examples of memories, their texts and the answers to queries; it owns their times and ids."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from bridge.embedding.model_files import DEFAULT_FOLDER
from bridge.embedding.tokens import LocallyCounted, word_piece_tokenizer
from bridge.interface.answer_shapes import ContextSuccess, ExplainSuccess, RetrievalSuccess
from bridge.memory import Content, Memory, Metadata, References, TimeScope
from bridge.search import context, explanation, hits, question, ranking, retrieval
from bridge.search.explain_request import parse, problem
from bridge.search.known_memories import KnownMemory
from bridge.search.snapshot import Snapshot
from bridge.search.standings import Standings
from bridge.text.template import render, summary_text
from bridge.text.terms import Term
from jobs.layout import Workspace

TOKENIZER = word_piece_tokenizer(DEFAULT_FOLDER)
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PROJECT = cast(Path, PurePosixPath("/home/ada/uploader"))  # a POSIX path, so that the text is the same on every system


def job_id(number: int) -> str:
    """The fixed id with this number."""
    return f"0193c7a2-7f3a-7000-8000-{number:012d}"


def seconds(count: float) -> datetime:
    """The time this many seconds after noon."""
    return NOON + timedelta(seconds=count)


def _content() -> Content:
    return Content(
        topic="Retry policy of the uploader",
        context="The uploader gave up at the first 503.\nWe looked at how often the gateway is busy.",
        decisions=("Retry five times with exponential backoff", "Give up at once on 4xx"),
        rationale=("The gateway recovers within a minute",),
        open_questions=("Should the user see a countdown?",),
        next_steps=("Measure how many uploads are saved",),
        references=References(("src/upload/retry.ts",), ("plan-021",), ("fix/upload-retry",), ("#118",)),
        time_scope=TimeScope(start="2026-11-20T09:10:00Z", end="2026-11-20T10:05:00Z", turn_count=14),
    )


def _metadata(**other: Any) -> Metadata:
    known: dict[str, Any] = {
        "topic_id": "retry-policy-of-the-uploader",
        "session_id": "2026-11-20-morning",
        "plan_id": "plan-021",
        "status": "Active",
        "created_at": "2026-11-20T10:05:00Z",
        "updated_at": "2026-11-20T10:05:00Z",
    }
    return Metadata(**{**known, **other})


def memories() -> list[Memory]:
    """One memory of each kind."""
    stored = "2026-11-20T10:06:00Z"
    record = Content(
        topic="Storage of thumbnails",
        context="Thumbnails moved from the database to files beside the pictures.",
        decisions=("Keep thumbnails as files",),
        rationale=("The database had grown to 40 GB",),
        references=References(files=("src/thumbs/store.ts",)),
    )
    sources = (job_id(101), job_id(102))
    known = Metadata(
        topic_id="storage-of-thumbnails",
        status="DecisionRecord",
        created_at="2026-11-13T09:00:00Z",
        updated_at="2026-11-13T09:00:00Z",
        source_created_at="2026-11-12T17:30:00Z",
    )
    text = "User asked: Why do the tests need a display?\n\nAssistant answered: One of them opens a window."
    return [
        Memory("b5f3c8a0-53a5-5a52-8d7e-3f8a0a1f6c01", 42, "summary", _metadata(importance=0.8), stored, _content()),
        Memory("b5f3c8a0-53a5-5a52-8d7e-3f8a0a1f6c02", 17, "decision_record", known, stored, record, sources=sources),
        Memory("b5f3c8a0-53a5-5a52-8d7e-3f8a0a1f6c03", 3, "legacy", Metadata(), "2026-11-18T12:00:00Z", text=text),
    ]


QUESTION = {"query": "upload retry", "max_results": 10}


def scored(asked: question.Question) -> list[tuple[Memory, ranking.Factors]]:
    """The memories as hits, best first, with fixed values instead of the embedding model's scores."""
    measured = [(0.81, 0.74, 0.62), (0.52, 0.47, 0.2), (0.41, 0.36, 0.11)]
    hits_with_factors = [
        (memory, ranking.factors(memory, ranking.relevance(*values), asked.ranking))
        for memory, values in zip(memories(), measured, strict=True)
    ]
    return sorted(hits_with_factors, key=lambda pair: ranking.order_key(*pair))


def retrieval_mixed() -> RetrievalSuccess:
    """An answer with one hit of each kind."""
    asked = question.parse_question(QUESTION, NOON)
    packed = hits.pack(scored(asked), KnownMemory, TOKENIZER.count, asked.max_tokens, lambda _: ())
    return retrieval._answer(found(asked), [hits.hit(*entry) for entry in packed], LocallyCounted.tokenizer_name, [])


def found(asked: question.Question) -> retrieval.Ranked:
    """The ranked memories of the examples; none of them lost its place for its age."""
    ranked = scored(asked)
    return retrieval.Ranked(ranked, len(ranked), None, asked.relevance_floor, asked)


def block_of(asked: question.Question) -> context.Block:
    """The context block with all memories, packed with vectors that are all unlike."""
    unlike = SimpleNamespace(
        whole_text_vectors=lambda numbers: np.eye(len(numbers), dtype=np.float32),
        standings=Standings(),
        memories=list,
        in_code=lambda _: {},
    )
    return context.pack(cast(Snapshot, unlike), asked, found(asked), TOKENIZER.count)


def context_mixed() -> ContextSuccess:
    """A context block with all memories, the last one shortened."""
    asked = question.parse_question(QUESTION | {"max_tokens": 225}, NOON)
    return context._answer(block_of(asked), found(asked), LocallyCounted.tokenizer_name, [])


def explain_mixed() -> ExplainSuccess:
    """Two hits, the second also requested by id; a memory requested only by id; and an unknown id."""
    asked = parse(
        Workspace(PROJECT),
        QUESTION | {"ids": [17, 3, 99], "limit": 2, "include_pack_context": True, "max_tokens": 225},
        NOON,
    )
    subjects = [
        explanation._Subject(memory, rank if rank <= asked.limit else None, factors, factors.votes)
        for rank, (memory, factors) in enumerate(scored(asked.question), 1)
    ]
    terms = {42: [Term("", "upload"), Term("", "retry")]}
    items = [
        explanation._item(asked, asked.question.ranking, subject, terms, block_of(asked.question))
        for subject in subjects
    ]
    missing = problem("ids", "there is no memory 99", "NOT_FOUND")
    findings = explanation._Findings(subjects, asked.question.relevance_floor, asked.question)
    return explanation._answer(asked, items, [99], [missing], [], findings)


def templates() -> dict[str, str]:
    """The enriched texts, by the name of the template version."""
    _, record, _ = memories()
    return {
        "template-v1.0.md": render(_content(), _metadata()),
        "template-decision-record-v1.0.md": summary_text(record),
    }
