"""What a warm process keeps of memories and words: it equals what the store says, and goes when that changes."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_embedder import FakeEmbedder

from bridge.embedding.config import EmbeddingConfig
from bridge.memory import Content, Memory, Metadata
from bridge.search.bounded_cache import BoundedCache
from bridge.search.lexical import Column, _summed
from bridge.search.reader import Reader
from bridge.store.change import StatusChange
from bridge.store.opening import reader_of
from bridge.store.store import Store
from bridge.text.terms import query_terms
from jobs.layout import Workspace

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
STORED = "2026-11-19T12:00:00Z"


def memory(number: int, text: str) -> Memory:
    known = Metadata(status="Active", created_at=STORED)
    return Memory(f"m{number}", 0, "summary", known, STORED, Content(f"Topic {number}", text))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    found = Workspace(tmp_path)
    found.memory.mkdir(mode=0o700)
    return found


def add(workspace: Workspace, *memories: Memory) -> None:
    store = Store(workspace, FakeEmbedder(dimensions=64))
    store.add([(each, None) for each in memories], STORED)
    store.close()


def reader(workspace: Workspace) -> Reader:
    embedder = FakeEmbedder(dimensions=64)
    return Reader(workspace, EmbeddingConfig(cache_dir=Path()), lambda _: embedder)


def ask(reader: Reader, query: str) -> dict[str, Any]:
    return dict(reader.answer("retrieve", {"query": query, "relevance_floor": 0.0, "max_tokens": 9000}, NOW))


TEXTS = ["The token is renewed twice.", "A renewed lease, abc1234def.", "Nobody renews tokens; max_job_bytes holds."]


def test_bm25_of_single_phrases_adds_up_to_that_of_the_whole_query_bit_for_bit(workspace: Workspace) -> None:
    add(workspace, *(memory(number, text) for number, text in enumerate([*TEXTS, *["Nothing."] * 9])))
    snapshot = reader_of(workspace).snapshot()
    assert snapshot is not None
    with closing(snapshot):
        for query in ("renewed token", "abc1234def89 lease renewed", "max_job_bytes renews tokens twice"):
            terms = query_terms(query)
            phrases = [phrase for term in terms for phrase in term.phrases]
            parts = [np.array(snapshot.bm25([phrase], (1.0, 1.0))).reshape(-1, 2) for phrase in phrases]
            summed = _summed([Column(part[:, 0].astype(np.int64), part[:, 1]) for part in parts])
            assert list(zip(*(column.tolist() for column in summed), strict=True)) == snapshot.bm25(terms, (1.0, 1.0))


def test_sums_are_the_same_where_numbers_have_large_gaps() -> None:
    near = [Column(np.array([3, 5]), np.array([0.1, 0.2])), Column(np.array([5, 9]), np.array([0.7, 0.4]))]
    far = [Column(column.windows**9, column.bm25) for column in near]
    assert _summed(far).windows.tolist() == [3**9, 5**9, 9**9]
    assert _summed(far).bm25.tolist() == _summed(near).bm25.tolist() == [0.1, 0.2 + 0.7, 0.4]


def test_an_answer_follows_additions_and_changes_of_status(workspace: Workspace) -> None:
    add(workspace, *(memory(number, text) for number, text in enumerate(TEXTS)))
    warm = reader(workspace)
    assert ask(warm, "renewed token") == ask(reader(workspace), "renewed token")
    add(workspace, memory(7, "The token is renewed three times."))
    assert ask(warm, "renewed token") == ask(reader(workspace), "renewed token")
    assert ask(warm, "renewed token")["result_count"] == 4
    store = Store(workspace, FakeEmbedder(dimensions=64))
    with store.change(STORED) as change:
        change.set_statuses([StatusChange("m0", "Superseded", STORED)])
    store.close()
    assert ask(warm, "renewed token") == ask(reader(workspace), "renewed token")
    assert "m0" not in [hit["memory_id"] for hit in ask(warm, "renewed token")["results"]]


def test_answers_about_a_long_memory_are_the_same_warm_cold_and_after_a_rebuild(workspace: Workspace) -> None:
    add(workspace, *(memory(number, text) for number, text in enumerate(TEXTS)))
    warm = reader(workspace)
    ask(warm, "renewed token")
    long = " ".join(f"Step {number} renewed nothing." for number in range(900))
    add(workspace, memory(7, f"{long} The badger renewed a token. {long}"), memory(8, "Another token."))
    before = ask(warm, "badger token")
    assert before == ask(reader(workspace), "badger token")
    assert before["results"][0]["memory_id"] == "m7"
    with closing(Store(workspace, FakeEmbedder(dimensions=64))) as store:
        store.rebuild_words()
    assert ask(warm, "badger token") == ask(reader(workspace), "badger token") == before


def test_a_cache_drops_the_least_recently_used_and_keeps_nothing_too_large() -> None:
    cache = BoundedCache[str, int](100)
    for place, name in enumerate("abc"):
        cache.put(name, place, 40)
        assert cache.get("a") is not None
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (0, None, 2)
    cache.put("a", 5, 101)
    assert (cache.get("a"), cache.bytes) == (None, 40)
