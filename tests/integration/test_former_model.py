"""A workspace of version 0.4.0, whose vectors are those of the model's full weights, under the present program: it
answers at once, and the worker embeds it again by itself."""

import sqlite3
from contextlib import closing
from pathlib import Path

from harness import Place, until
from job_copies import task

from bridge.embedding.factory import create
from bridge.embedding.local_models import ENGLISH_FULL
from bridge.operations.ingest import prepare
from bridge.store.store import Store
from jobs import clock


def made_by_an_earlier_version(place: Place, full_weights: Path, texts: list[str]) -> None:
    """Fills the workspace with memories as version 0.4.0 stored them."""
    former = create(ENGLISH_FULL.config(full_weights.parent))
    now = clock.iso(clock.now())
    store = Store(place.workspace, former)
    try:
        tasks = [
            task("ingest", {"summary_text": text, "topic_id": f"t{n}"}, f"old-{n}", at=now)
            for n, text in enumerate(texts)
        ]
        store.add([(prepare(each, store.workspace_id, now).memory, each.job_id) for each in tasks], now)
    finally:
        store.close()


def model_of(place: Place) -> str:
    with closing(sqlite3.connect(place.workspace.memory_db)) as connection:
        (identity,) = connection.execute("SELECT value FROM meta WHERE key = 'embedder'").fetchone()
        return str(identity)


def first(place: Place, query: str) -> str:
    answer = place.json("retrieve", query)
    assert answer["success"], answer
    return str(answer["results"][0]["summary_text"])


def test_a_workspace_of_an_earlier_version_answers_and_embeds_itself_again(tmp_path: Path, full_weights: Path) -> None:
    place = Place(tmp_path)
    assert place.json("doctor")["success"]  # the folders are this user's
    made_by_an_earlier_version(
        place, full_weights, ["Loans of books last four weeks.", "The cache is invalidated by hand."]
    )
    assert model_of(place) == ENGLISH_FULL.identity
    assert "four weeks" in first(place, "How long may I keep a book?")
    assert "MODEL_FORMER" in {each["code"] for each in place.json("doctor")["findings"]}
    with place.worker():
        job = place.submit("ingest", {"summary_text": "Reminders are sent on Mondays.", "topic_id": "mails"})
        assert place.ended(job).state == "succeeded"
        assert "Mondays" in first(place, "When do reminders go out?")
        until(lambda: model_of(place) != ENGLISH_FULL.identity, "the memories are embedded again")
        for query, wanted in {
            "How long may I keep a book?": "four weeks",
            "When do reminders go out?": "Mondays",
        }.items():
            assert wanted in first(place, query)
        (again,) = [each for each in place.json("jobs", "list")["jobs"] if each["kind"] == "rebuild"]
        assert place.ended(again["job_id"]).state == "succeeded"
    assert "MODEL_FORMER" not in {each["code"] for each in place.json("doctor")["findings"]}
