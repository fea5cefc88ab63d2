"""The language model asked about decisions that may contradict each other, with cognee's real client and a scripted
server: what is sent, what is kept of each answer, and what a failure leaves.
"""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cognee_forks import EndedByItself, Fork, Forks
from harness import PATIENCE, Place, sql, until
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


@pytest.fixture(scope="module")
def process(model: LlmServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fork]:
    place = Place(tmp_path_factory.mktemp("judge"), **model.environment())
    with Forks(place, with_model=True, asks=True, delivers=False).start() as fork:
        yield fork


def disputed(thing: str, note: str = "") -> list[dict[str, Any]]:
    """Two decisions about a thing, of two dates, that may contradict each other: each as a payload."""
    said = (1, "The {} is closed on Mondays"), (2, "The {} is open on Mondays")
    return [
        {"summary": {"topic": f"The {thing}", "context": f"We spoke of the {thing}. {note}",
                     "decisions": [text.format(thing)], "source_created_at": f"2026-10-0{day}T10:00:00Z"}}
        for day, text in said
    ]  # fmt: skip


def dispute(process: Fork, *things: str) -> None:
    """Store such decisions, and compare them."""
    before = len(doubtful(process.place))
    tasks = [process.task("ingest", payload) for thing in things for payload in disputed(thing)]
    assert all("result" in outcome for outcome in process.run("ingest", *tasks))
    process.ask("compare")
    assert len(doubtful(process.place)) >= before + len(things)


def dispute_through(place: Place, *things: str, note: str = "") -> None:
    """The same by its worker."""
    before = len(doubtful(place))
    jobs = [place.submit("ingest", payload) for thing in things for payload in disputed(thing, note)]
    assert {place.ended(job).state for job in jobs} == {"succeeded"}
    statement = "SELECT (SELECT count(*) FROM memories) = (SELECT count(*) FROM statements WHERE passage = 0)"
    until(lambda: sql(place.workspace.memory_db, statement)[0][0], "the decisions are compared")
    assert len(doubtful(place)) >= before + len(things)


def doubtful(place: Place) -> list[Any]:
    with reader_of(place.workspace).lists() as lists:
        return [] if lists is None else lists.unsaid()


def pairs_of(place: Place, thing: str) -> list[tuple[str, str | None, str | None]]:
    return [(each["state"], each["holds"], each["by"]) for each in reviewed(place, thing)]


def reviewed(place: Place, thing: str) -> list[dict[str, Any]]:
    """The pairs of the two decisions about a thing."""
    found = review.pairs(place.workspace, all_of_them=True)
    return [each for each in found if thing in each["older"]["statement"] and thing in each["newer"]["statement"]]


def test_what_the_model_is_sure_of_is_kept_with_its_name_and_asked_once(process: Fork, model: LlmServer) -> None:
    dispute(process, "gate")
    count = len(doubtful(process.place))
    result = process.result("judge", {})
    assert (result["newer"], result["calls"]) == (count, 1)
    assert pairs_of(process.place, "gate") == [("replaced", "newer", "openai/test-model")]
    (request,) = model.requests
    assert [word in request.user for word in ("closed on Mondays", "open on Mondays", "2026-10-02", "We spoke")] == [
        True, True, True, False,
    ]  # fmt: skip
    assert process.result("judge", {})["calls"] == 0
    assert len(model.requests) == 1, "no pair is asked about twice"


UNSURE = [
    ("ferry", "both", 0.9, "both", "both"),
    ("orchard", "earlier", 0.99, "disputed", None),  # the dates say which one is the newer
    ("library", "later", 0.75, "disputed", None),
]


@pytest.mark.parametrize(("thing", "stands", "confidence", "state", "holds"), UNSURE)
def test_an_answer_that_is_unsure_or_turns_the_dates_around_leaves_the_pair_disputed(
    process: Fork, model: LlmServer, thing: str, stands: str, confidence: float, state: str, holds: str | None
) -> None:
    dispute(process, thing)
    model.answers[FORM] = verdicts(stands, confidence)
    process.result("judge", {})
    assert [each[:2] for each in pairs_of(process.place, thing)] == [(state, holds)]
    process.result("judge", {})
    assert len(model.requests) == 1, "each is asked once, whatever the answer was"


def test_pairs_that_an_answer_leaves_out_are_asked_once_more(process: Fork, model: LlmServer) -> None:
    dispute(process, "harbour", "bakery", "tower", "cinema")
    count = len(doubtful(process.place))
    model.answers[FORM] = verdicts("later", only=lambda pair: pair % 2 == 0)
    result = process.result("judge", {})
    assert [request.user.count('"pair"') for request in model.requests] == [count, count - count // 2]
    assert result["newer"] + result["undecided"] == count
    assert result["undecided"] > 0
    assert doubtful(process.place) == []


FAILURES = [
    ("garden", [Garbage()], "LLM_FAILED"),
    ("pool", [Malformed(), Malformed()], "LLM_FAILED"),
    ("market", [Status(401)], "LLM_KEY_REFUSED"),
    ("station", [Status(429, retry_after=3600)], "RATE_LIMITED"),
]


@pytest.mark.parametrize(("thing", "steps", "code"), FAILURES)
def test_after_a_failure_pairs_wait(process: Fork, model: LlmServer, thing: str, steps: list[Step], code: str) -> None:
    """Nothing is kept, and the next attempt asks about them."""
    dispute(process, thing)
    left = doubtful(process.place)
    model.then(*steps)
    (outcome,) = process.run("judge", process.task("judge", {}))
    assert outcome["error"]["code"] == code
    assert doubtful(process.place) == left
    assert len(model.requests) == len(steps)
    assert process.result("judge", {})["newer"] == len(left)


def test_what_the_provider_refuses_for_its_words_stays_disputed_and_unasked(process: Fork, model: LlmServer) -> None:
    dispute(process, "bridge")
    count = len(doubtful(process.place))
    model.then(Status(400, message="maximum context length", code="context_length_exceeded"))
    assert process.result("judge", {})["undecided"] == count
    assert pairs_of(process.place, "bridge") == [("disputed", None, None)]
    assert process.result("judge", {})["calls"] == 0


def test_after_a_kill_while_the_model_thinks_the_pairs_are_asked_about_again(model: LlmServer, tmp_path: Path) -> None:
    forks = Forks(Place(tmp_path, **model.environment()), with_model=True, asks=True, delivers=False)
    fork = forks.start()
    dispute(fork, "mill")
    model.then(Hang())

    def kill() -> None:
        model.wait_for(1, PATIENCE)
        os.kill(fork.pid, signal.SIGKILL)

    threading.Thread(target=kill).start()
    with pytest.raises(EndedByItself):
        fork.result("judge", {})
    fork.kill()
    model.release()
    assert len(doubtful(forks.place)) == 1
    with forks.start() as fork:
        assert fork.result("judge", {})["newer"] == 1
    assert len(model.requests) == 2


def test_a_worker_asks_by_itself(model: LlmServer, tmp_path: Path) -> None:
    """Where nobody turned it off; what its budget leaves waits. For its child, to ask is the first use of cognee.

    The store is older than redaction: what is sent has neither a secret nor anything that nobody asked about."""
    place = Place(tmp_path, COGNEE_MEMORY_LLM_CALLS_PER_DAY="1", **model.environment())
    told = {name: place.environment.pop(name) for name in ("LLM_API_KEY", "LLM_ENDPOINT")}
    off = {"COGNEE_MEMORY_REVIEW_WITH_LLM": "0", "COGNEE_MEMORY_REDACT_SECRETS": "0"}
    place.environment |= told | off
    with place.worker():
        dispute_through(place, f"gate {SECRET}", *THINGS[1:], note="Nobody asked about Zephyr.")
    for name in (*told, *off):
        del place.environment[name]
    with place.worker():
        dispute_through(place, "lighthouse")
    assert model.requests == [], "turned off, and then without a model"
    count = len(doubtful(place))
    assert count > 20, "more than one call takes"
    place.environment |= told
    with place.worker():
        until(lambda: len(doubtful(place)) == count - 20 or None, "the model has been asked")
        until(lambda: "retrying: LLM_BUDGET_SPENT" in place.cli("status").stdout, "the rest waits")
        assert "1 job retrying: LLM_BUDGET_SPENT  (1 judge" in place.cli("status").stdout
        pair = next(
            each["pair"] for each in review.pairs(place.workspace, all_of_them=True) if each["state"] == "disputed"
        )
        said = place.cli("review", pair, "both").stdout
        assert "both hold, said person" in said
        assert f"To take it back: cognee-memory review {pair} undecided" in said
    assert len(model.requests) == 1
    kept = [each for each in review.pairs(place.workspace, all_of_them=True) if each["state"] == "replaced"]
    assert {(each["holds"], each["by"]) for each in kept} == {("newer", "openai/test-model")}
    assert len(kept) == 20
    sent = json.dumps([request.body for request in model.requests])
    assert [word in sent for word in ("on Mondays", "gate [REDACTED", SECRET, "Zephyr")] == [True, True, False, False]
