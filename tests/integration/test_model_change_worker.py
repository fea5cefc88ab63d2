"""A change of the embedding model while questions are asked and memories come in, with a real worker."""

import os
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import Place, until

from bridge.embedding.local_models import ENGLISH, MULTILINGUAL
from bridge.store import opening

pytestmark = pytest.mark.cognee

MEMORIES = 30
GERMAN = "Wie lange werden Sicherungen aufbewahrt?"


def summary(topic: str, context: str) -> dict[str, Any]:
    return {"summary": {"topic": topic, "context": context, "decisions": [f"{topic} is owned by team {topic[-1]}"]}}


@pytest.fixture(scope="module")
def stored(both_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the default model. The first memory answers the German question."""
    base = tmp_path_factory.mktemp("stored")
    found = Place(base, COGNEE_MEMORY_CACHE_DIR=str(both_models))
    with found.worker():
        texts = [
            "Backups are kept for thirty days.",
            *(f"Page {n} of the manual is on shelf {n}." for n in range(MEMORIES)),
        ]
        jobs = [found.submit("ingest", summary(f"Subject {n}", text)) for n, text in enumerate(texts)]
        for job in jobs:
            assert found.ended(job).state == "succeeded"
    return base


@pytest.fixture
def place(stored: Path, both_models: Path, tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path, COGNEE_MEMORY_CACHE_DIR=str(both_models))
    shutil.copytree(stored, tmp_path, dirs_exist_ok=True)
    yield found
    found.cli("worker", "stop")


def model_of(place: Place) -> str | None:
    return opening.embedder_of(place.workspace)


def ask(place: Place, question: str) -> dict[str, Any]:
    """The answer to a question, without a relevance floor: in another language it may be low."""
    answer = place.json("retrieve", question, "--relevance-floor", "0")
    assert answer["success"], answer
    return answer


def findings(place: Place) -> list[Any]:
    """What the job ``check`` finds, which reads every store."""
    done = place.ended(place.submit("check", {}))
    return done.result["findings"]


def embedded(place: Place) -> int:
    """How many texts the new model has embedded by now."""
    with closing(sqlite3.connect(place.workspace.memory_db)) as connection:
        query = "SELECT count(*) FROM embeddings WHERE model = ?"
        return int(connection.execute(query, (MULTILINGUAL.identity,)).fetchone()[0])


def warns(answer: dict[str, Any]) -> bool:
    return any("earlier embedding model" in warning for warning in answer["warnings"])


def test_one_command_changes_the_model_while_the_store_answers_and_grows(place: Place) -> None:
    assert "thirty days" not in ask(place, GERMAN)["results"][0]["text"]
    chosen = place.json("model", "use", "multilingual")
    assert (chosen["identity"], chosen["store"]) == (MULTILINGUAL.identity, ENGLISH.identity)
    added = place.submit("ingest", summary("Lighthouse", "The lighthouse keeper counts ships at dawn."))
    place.in_state(added, "succeeded")
    during = ask(place, "lighthouse keeper counts ships")
    assert during["results"][0]["topic"] == "Lighthouse"
    assert warns(during) or model_of(place) == MULTILINGUAL.identity
    assert place.ended(chosen["job_id"]).state == "succeeded"
    after = ask(place, GERMAN)
    assert not warns(after)
    assert "thirty days" in after["results"][0]["text"]
    assert ask(place, "lighthouse keeper counts ships")["results"][0]["topic"] == "Lighthouse"
    state = place.json("model", "status")
    assert (state["state"], state["store"], state["job_id"]) == ("ready", MULTILINGUAL.identity, None)
    assert findings(place) == []


def test_a_worker_that_finds_a_store_of_an_earlier_model_embeds_it_and_goes_on_after_a_kill(place: Place) -> None:
    place.environment |= {"EMBEDDING_PROVIDER": MULTILINGUAL.provider, "EMBEDDING_MODEL": MULTILINGUAL.model}
    assert warns(ask(place, "backups"))  # no worker has looked at it yet
    with place.worker():
        job = until(lambda: place.json("model", "status")["job_id"], "the worker has begun a rebuild")
        place.executing(job)
        until(lambda: embedded(place), "a part is embedded")
        child = until(lambda: (place.heartbeat().get("child") or {}).get("pid"), "a child works")
        os.kill(child, signal.SIGKILL)
        assert warns(ask(place, "backups")) or model_of(place) == MULTILINGUAL.identity
        assert place.ended(job).state == "succeeded"
        assert model_of(place) == MULTILINGUAL.identity
        assert "thirty days" in ask(place, GERMAN)["results"][0]["text"]
        assert findings(place) == []
        assert [row["job_id"] for row in place.json("jobs", "list", "--kind", "rebuild")["jobs"]] == [job]
