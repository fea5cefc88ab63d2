"""Misspelt words of a question: they are searched for as the memories spell them, and every answer says so."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from shelf import Shelf, summary

from benchmarks import judged
from bridge.embedding.config import EmbeddingConfig
from bridge.settings import Settings

TEXTS = {
    "forecast": "The forecast counts holidays as Sundays, and says so.",
    "labels": "Labels are printed in the shop. The layer above them is foil.",
    "database": "The database is backed up by src/backup/nightly.py every night.",
    "provider": "Payments go through one provider; confirmation takes a minute.",
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Shelf:
    embedder = judged.embedder(EmbeddingConfig(cache_dir=model_cache))
    found = Shelf(tmp_path_factory.mktemp("spelling"), embedder, Settings())
    return found.add(*(summary(name, text) for name, text in TEXTS.items()))


def answer(shelf: Shelf, verb: Any = "retrieve", **arguments: Any) -> dict[str, Any]:
    found = shelf._ask(verb, **arguments)
    assert found["success"], found
    return found


def searched_for(shelf: Shelf, query: str) -> str | None:
    found: str | None = answer(shelf, query=query)["ranking"].get("searched_for")
    return found


@pytest.mark.parametrize(
    ("query", "searched"),
    [
        ("forcast of holidys", "forecast of holidays"),  # a missing letter each
        ("Forecaast?", "forecast?"),  # one too much
        ("how are lables printed", "how are labels printed"),  # two in the wrong order
        ("which databese", "which database"),  # a wrong one
        ("comfirmaton of payments", "confirmation of payments"),  # two errors in a long word
        ("the providr's fee", "the provider's fee"),
    ],
)
def test_a_misspelt_word_is_searched_for_as_the_memories_have_it(shelf: Shelf, query: str, searched: str) -> None:
    assert searched_for(shelf, query) == searched


@pytest.mark.parametrize(
    "query",
    [
        "forecasting a holiday",  # other forms are found as they are
        "which lawyer wrote the contract",  # a word of English, though “layer” is near
        "furicost",  # three errors
        "prvdier",  # two errors in a short word
        "`forcast`",
        "src/bakcup/nightli.py",
        "forcast_holidys",
        "forcasT42",
    ],
)
def test_other_words_are_searched_for_as_they_are(shelf: Shelf, query: str) -> None:
    assert searched_for(shelf, query) is None


def test_the_answer_is_that_to_the_right_spelling_digit_for_digit_on_every_way(shelf: Shelf) -> None:
    right, wrong = (answer(shelf, query=query) for query in ("forecast of holidays", "forcast of holidys"))
    assert right["results"] == wrong["results"] != []
    warning = "searched for forecast, holidays: no memory has forcast, holidys"
    assert wrong["warnings"] == [*right["warnings"], warning]
    explained = answer(shelf, "explain", query="forcast of holidys", ids=[1, 2, 3, 4])
    totals = {item["id"]: item["score"]["total"] for item in explained["items"]}
    assert all(totals[hit["memory_number"]] == hit["score"] for hit in wrong["results"])
    assert totals == {
        item["id"]: item["score"]["total"]
        for item in answer(shelf, "explain", query="forecast of holidays", ids=[1, 2, 3, 4])["items"]
    }
    assert explained["items"][0]["matches"]["query_terms"] == ["forecast", "holidays"]
    context = answer(shelf, "context", query="forcast of holidys")
    assert context["context"] == answer(shelf, "context", query="forecast of holidays")["context"]
    for metadata in (explained["metadata"], context):
        assert warning in metadata["warnings"]
        assert metadata["ranking"]["searched_for"] == "forecast of holidays"


class Quarters(FakeEmbedder):
    """Counts a token for each four letters."""

    def count_tokens(self, text: str) -> int:
        return -(-len(text) // 4)


class Estimating(Quarters):
    tokenizer_name = "estimate: characters / 4"


@pytest.mark.parametrize(("embedder", "searched"), [(Quarters, "forecast"), (Estimating, None)])
def test_where_tokens_are_estimated_nothing_is_replaced(
    tmp_path: Path, embedder: type[FakeEmbedder], searched: str | None
) -> None:
    """The tokenizer tells common words from others."""
    shelf = Shelf(tmp_path, embedder(), Settings()).add(*(summary(name, text) for name, text in TEXTS.items()))
    assert searched_for(shelf, "forcast") == searched


def test_without_the_index_of_words_nothing_is_replaced(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, Quarters()).add(summary("forecast", TEXTS["forecast"]))
    with closing(sqlite3.connect(shelf.workspace.memory_db)) as connection, connection:
        connection.execute("DROP TABLE words")
    found = answer(shelf, query="forcast")
    assert "searched_for" not in found["ranking"]
    assert found["warnings"][0].startswith("The full-text index is damaged or missing")
