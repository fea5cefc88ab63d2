"""The language model asked about decisions that may contradict each other, with cognee's real client and a scripted
server: what is sent, what is kept of each answer, and what a failure leaves.
"""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import PATIENCE, Place, until
from llm_server import Garbage, Hang, LlmServer, Malformed, Request, Status, Step

from bridge.search import review
from bridge.store.opening import reader_of

FORM = "Verdicts"
SECRET = "ghp_" + "a1B2" * 9
THINGS = (
    "gate", "ferry", "kiln", "orchard", "library", "museum", "harbour", "bakery", "tower", "garden", "cinema", "pool",
    "market", "station", "bridge", "school", "theatre", "stable", "mill", "forge", "archive", "chapel", "depot",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _as_new(model: LlmServer) -> None:
    model.reset()
    model.answers[FORM] = verdicts("later")


def verdicts(stands: str, confidence: float = 0.95, only: Callable[[int], bool] = lambda _: True) -> Any:
    """An answer for the pairs of a request of which ``only`` says so by their number."""

    def answer(request: Request) -> dict[str, Any]:
        pairs = json.loads(request.user[request.user.index("{") :])["pairs"]
        given = {"stands": stands, "kind": "value", "confidence": confidence}
        return {"verdicts": [{"pair": pair["pair"], **given} for pair in pairs if only(pair["pair"])]}

    return answer


def place_of(base: Path, model: LlmServer, cache: Path, **more: str) -> Place:
    return Place(base, COGNEE_MEMORY_CACHE_DIR=str(cache), **model.environment(), **more)


@pytest.fixture(scope="module")
def place(model: LlmServer, model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """With a worker that does not ask by itself."""
    made = place_of(tmp_path_factory.mktemp("judge"), model, model_cache, COGNEE_MEMORY_REVIEW_WITH_LLM="0")
    with made.worker():
        yield made


def dispute(place: Place, *things: str, note: str = "") -> None:
    """Two decisions about each thing, of two dates, that may contradict each other, and until they are compared."""
    before = len(doubtful(place))
    jobs = [
        place.submit("ingest", {"summary": {
            "topic": f"The {thing}", "context": f"We spoke of the {thing}. {note}", "decisions": [said.format(thing)],
            "source_created_at": f"2026-10-0{day}T10:00:00Z",
        }})
        for thing in things
        for day, said in ((1, "The {} is closed on Mondays"), (2, "The {} is open on Mondays"))
    ]  # fmt: skip
    for job in jobs:
        assert place.ended(job).state == "succeeded"
    until(lambda: all_compared(place), "the decisions are compared")
    assert len(doubtful(place)) >= before + len(things)


def all_compared(place: Place) -> bool:
    with closing(sqlite3.connect(place.workspace.memory_db)) as connection:
        query = "SELECT (SELECT count(*) FROM memories) = (SELECT count(*) FROM statements WHERE passage = 0)"
        return bool(connection.execute(query).fetchone()[0])


def doubtful(place: Place) -> list[Any]:
    with reader_of(place.workspace).lists() as lists:
        return [] if lists is None else lists.unsaid()


def asked(place: Place) -> dict[str, Any]:
    """The outcome of a job."""
    record = place.ended(place.submit("judge", {})).as_dict()
    assert record["state"] == "succeeded", record
    found: dict[str, Any] = record["result"]
    return found


def tried(place: Place, job: str) -> dict[str, Any] | None:
    """The record of a job of which an attempt has failed."""
    record = place.record(job)
    return record.as_dict() if record is not None and record.error else None


def pairs_of(place: Place, thing: str) -> list[tuple[str, str | None, str | None]]:
    return [(each["state"], each["holds"], each["by"]) for each in reviewed(place, thing)]


def reviewed(place: Place, thing: str) -> list[dict[str, Any]]:
    """The pairs of the two decisions about a thing."""
    found = review.pairs(place.workspace, all_of_them=True)
    return [each for each in found if thing in each["older"]["statement"] and thing in each["newer"]["statement"]]


def test_what_the_model_is_sure_of_is_kept_with_its_name_and_asked_once(place: Place, model: LlmServer) -> None:
    dispute(place, "gate")
    result = asked(place)
    assert (result["newer"], result["calls"]) == (1, 1)
    assert pairs_of(place, "gate") == [("replaced", "newer", "openai/test-model")]
    (request,) = model.requests
    assert [word in request.user for word in ("closed on Mondays", "open on Mondays", "2026-10-02", "We spoke")] == [
        True, True, True, False,
    ]  # fmt: skip
    assert asked(place)["calls"] == 0
    assert len(model.requests) == 1, "neither is a pair asked twice nor cognee loaded for nothing"


UNSURE = [
    ("ferry", "both", 0.9, "both", "both"),
    ("kiln", "both", 0.6, "disputed", None),
    ("orchard", "earlier", 0.99, "disputed", None),  # the dates say which one is the newer
    ("library", "later", 0.75, "disputed", None),
]


@pytest.mark.parametrize(("thing", "stands", "confidence", "state", "holds"), UNSURE)
def test_an_answer_that_is_unsure_or_turns_the_dates_around_leaves_the_pair_disputed(
    place: Place, model: LlmServer, thing: str, stands: str, confidence: float, state: str, holds: str | None
) -> None:
    dispute(place, thing)
    model.answers[FORM] = verdicts(stands, confidence)
    asked(place)
    assert [each[:2] for each in pairs_of(place, thing)] == [(state, holds)]
    asked(place)
    assert len(model.requests) == 1, "each is asked once, whatever the answer was"


def test_a_persons_verdict_wins_over_the_models_and_can_be_taken_back(place: Place, model: LlmServer) -> None:
    dispute(place, "museum")
    asked(place)
    (name,) = (each["pair"] for each in reviewed(place, "museum"))
    said = place.cli("review", name, "both").stdout
    assert "both hold, said person" in said
    assert f"To take it back: cognee-memory review {name} undecided" in said
    assert pairs_of(place, "museum") == [("both", "both", "person")]
    place.cli("review", name, "undecided")
    assert pairs_of(place, "museum") == [("disputed", None, None)]
    asked(place)
    assert len(model.requests) == 1, "what somebody took back, the model is not asked again"


def test_pairs_that_an_answer_leaves_out_are_asked_once_more(place: Place, model: LlmServer) -> None:
    dispute(place, "harbour", "bakery", "tower", "cinema")
    count = len(doubtful(place))
    model.answers[FORM] = verdicts("later", only=lambda pair: pair % 2 == 0)
    result = asked(place)
    assert [request.user.count('"pair"') for request in model.requests] == [count, count - count // 2]
    assert result["newer"] + result["undecided"] == count
    assert result["undecided"] > 0
    assert doubtful(place) == []


FAILURES = [
    ("garden", [Garbage()], "LLM_FAILED"),
    ("pool", [Malformed(), Malformed()], "LLM_FAILED"),
    ("market", [Status(401)], "LLM_KEY_REFUSED"),
    ("station", [Status(429, retry_after=3600)], "RATE_LIMITED"),
]


@pytest.mark.parametrize(("thing", "steps", "code"), FAILURES)
def test_after_a_failure_pairs_wait(place: Place, model: LlmServer, thing: str, steps: list[Step], code: str) -> None:
    """Nothing is kept, and the next attempt asks about them."""
    dispute(place, thing)
    left = doubtful(place)
    model.then(*steps)
    job = place.submit("judge", {}, max_attempts=1)
    record = until(lambda: tried(place, job), "the attempt has failed")
    assert record["error"]["code"] == code
    assert doubtful(place) == left
    assert len(model.requests) == len(steps)
    if record["state"] != "failed":
        place.cli("jobs", "cancel", job)
    assert asked(place)["newer"] == len(left)


def test_what_the_provider_refuses_for_its_words_stays_disputed_and_unasked(place: Place, model: LlmServer) -> None:
    dispute(place, "bridge")
    count = len(doubtful(place))
    model.then(Status(400, message="maximum context length", code="context_length_exceeded"))
    assert asked(place)["undecided"] == count
    assert pairs_of(place, "bridge") == [("disputed", None, None)]
    assert asked(place)["calls"] == 0


def test_a_worker_asks_by_itself_also_after_a_kill(model: LlmServer, model_cache: Path, tmp_path: Path) -> None:
    """Where nobody turned it off; what its budget leaves waits.

    The store is older than redaction: what is sent has neither a secret nor anything that nobody asked about."""
    place = place_of(tmp_path, model, model_cache, COGNEE_MEMORY_LLM_CALLS_PER_DAY="2")
    told = {name: place.environment.pop(name) for name in ("LLM_API_KEY", "LLM_ENDPOINT")}
    off = {"COGNEE_MEMORY_REVIEW_WITH_LLM": "0", "COGNEE_MEMORY_REDACT_SECRETS": "0"}
    place.environment |= told | off
    with place.worker():
        dispute(place, f"gate {SECRET}", *THINGS[1:], note="Nobody asked about Zephyr.")
    for name in (*told, *off):
        del place.environment[name]
    with place.worker():
        dispute(place, "lighthouse")
    assert model.requests == [], "turned off, and then without a model"
    count = len(doubtful(place))
    assert count > 20, "more than one call takes"
    place.environment |= told
    model.then(Hang())
    with place.worker() as worker:
        model.wait_for(1, PATIENCE)
        worker.kill()
    model.release()
    assert len(doubtful(place)) == count
    with place.worker():
        until(lambda: len(doubtful(place)) == count - 20 or None, "the model has been asked")
        until(lambda: "retrying: LLM_BUDGET_SPENT" in place.cli("status").stdout, "the rest waits")
        assert "1 job retrying: LLM_BUDGET_SPENT  (1 judge" in place.cli("status").stdout
    assert len(model.requests) == 2
    kept = [each for each in review.pairs(place.workspace, all_of_them=True) if each["state"] == "replaced"]
    assert {(each["holds"], each["by"]) for each in kept} == {("newer", "openai/test-model")}
    assert len(kept) == 20
    sent = json.dumps([request.body for request in model.requests])
    assert [word in sent for word in ("on Mondays", "gate [REDACTED", SECRET, "Zephyr")] == [True, True, False, False]


_ASKER = """
import sys
from pathlib import Path
from bridge.graph.open_stores import Stores
from bridge.settings import load
from jobs.layout import Workspace
workspace = Workspace(Path(sys.argv[1]))
workspace.memory.mkdir(mode=0o700)
print(Stores(workspace, load()).asker("a").func.__name__)
"""


def test_a_process_whose_first_use_of_cognee_is_the_language_model_can_ask_it(tmp_path: Path) -> None:
    told = {
        "LLM_PROVIDER": "openai",
        "LLM_MODEL": "gpt-4o-mini",
        "LLM_API_KEY": "sk-x",
        "LLM_ENDPOINT": "http://[::1]/v1",
    }
    done = subprocess.run(
        [sys.executable, "-c", _ASKER, str(tmp_path)], env=os.environ | told, capture_output=True, text=True
    )
    assert done.stdout.strip().endswith("ask"), done.stderr
