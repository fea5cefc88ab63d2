"""What a time in a question does to the answer: over a real store, with a tiny embedder."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from questions import answer_to

from bridge.memory import Content, Memory, Metadata
from bridge.settings import Settings
from bridge.store.store import Store
from jobs import clock
from jobs.layout import Workspace
from worker.terminal.hits import time_read

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
STORED = "2026-11-20T11:00:00Z"
ALL = Settings(relevance_floor=0.0)

Answer = dict[str, Any]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Three decisions about one subject, and one about another; days are those of UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    found = Workspace(tmp_path)
    found.memory.mkdir(mode=0o700)
    store = Store(found, FakeEmbedder(dimensions=64))
    store.add(
        [
            (dated("march", "Retries of the uploader are three.", "2026-03-10T10:00:00Z"), None),
            (dated("june", "Retries of the uploader are five.", "2026-06-10T10:00:00Z"), None),
            (dated("now", "Retries of the uploader are seven.", "2026-11-18T10:00:00Z"), None),
            (dated("lunch", "Soup is served at noon.", "2026-03-11T10:00:00Z"), None),
        ],
        STORED,
    )
    store.close()
    return found


def dated(memory_id: str, context: str, created_at: str) -> Memory:
    metadata = Metadata(status="Active", topic_id=memory_id, created_at=created_at)
    return Memory(memory_id, 0, "summary", metadata, STORED, Content("Note", context))


def ask(workspace: Workspace, query: str, verb: Any = "retrieve", **arguments: Any) -> Answer:
    settings = arguments.pop("settings", ALL)
    return answer_to(workspace, FakeEmbedder(dimensions=64), NOW, settings, verb, query=query, **arguments)


def ids(answer: Answer) -> list[str]:
    return [hit["memory_id"] for hit in answer["results"]]


def test_memories_of_the_time_rank_higher_and_the_others_stay(workspace: Workspace) -> None:
    answer = ask(workspace, "retries of the uploader in March")
    assert ids(answer)[0] == "march"
    assert set(ids(answer)) == {"march", "june", "now", "lunch"}
    assert answer["ranking"]["time"] == {
        "phrase": "in March", "since": "2026-03-01T00:00:00Z", "until": "2026-04-01T00:00:00Z", "used": "preference",
    }  # fmt: skip
    assert ids(ask(workspace, "retries of the uploader in June"))[0] == "june"
    assert time_read(answer["ranking"]) == [
        '"in March": memories dated from 2026-03-01 and before 2026-04-01 rank higher; --time-phrase off ignores it'
    ]


def test_as_a_filter_only_memories_of_the_time_are_hits(workspace: Workspace) -> None:
    answer = ask(workspace, "retries of the uploader in March", time_phrase="filter")
    assert set(ids(answer)) == {"march", "lunch"}
    assert answer["ranking"]["time"]["used"] == "filter"
    narrowed = ask(workspace, "retries in March", time_phrase="filter", since="2026-03-11")
    assert ids(narrowed) == ["lunch"], "since still holds"


def test_switched_off_the_words_are_words(workspace: Workspace) -> None:
    by_argument = ask(workspace, "retries of the uploader in March", time_phrase="off")
    assert "time" not in by_argument["ranking"]
    recency = {hit["memory_id"]: hit["recency_multiplier"] for hit in by_argument["results"]}
    assert recency["now"] > recency["june"] > recency["march"], "by age"
    setting = Settings(relevance_floor=0.0, time_phrase="off")
    assert ask(workspace, "retries of the uploader in March", settings=setting) == by_argument


def test_a_question_without_a_time_has_the_same_answer_however_times_are_used(workspace: Workspace) -> None:
    answers = [ask(workspace, "retries of the uploader", time_phrase=use) for use in ("off", "prefer", "filter")]
    assert answers[0] == answers[1] == answers[2]
    assert "time" not in answers[0]["ranking"]


@pytest.mark.parametrize(
    ("query", "first", "used"),
    [
        ("what did we decide most recently about retries of the uploader", "now", "newest"),
        ("what was the first decision about retries of the uploader", "march", "oldest"),
    ],
)
def test_the_newest_and_the_oldest_are_those_of_the_memories_that_fit(
    workspace: Workspace, query: str, first: str, used: str
) -> None:
    answer = ask(workspace, query, preset="contract")
    assert ids(answer)[0] == first
    assert answer["ranking"]["time"]["used"] == used
    dates = {"now": "2026-11-18T10:00:00Z", "march": "2026-03-10T10:00:00Z"}
    assert answer["ranking"]["time"]["since" if used == "newest" else "until"] == dates[first]


def test_an_event_changes_nothing_and_the_answer_says_so(workspace: Workspace) -> None:
    query = "retries of the uploader before the release"
    answer, without = ask(workspace, query), ask(workspace, query, time_phrase="off")
    assert answer["results"] == without["results"]
    assert answer["ranking"].pop("time") == {
        "phrase": "before the release", "since": None, "until": None, "used": "nothing",
    }  # fmt: skip
    assert answer == without


def test_a_question_about_a_time_alone_gives_all_of_it(workspace: Workspace) -> None:
    answer = ask(workspace, "what did we decide in March?", settings=Settings())
    assert set(ids(answer)) == {"march", "lunch"}
    assert answer["ranking"]["relevance_floor"] == 0.0


@pytest.mark.parametrize("query", ["uploader retries in March", "most recently, which uploader retries", "first note"])
def test_explain_gives_each_score_digit_for_digit(workspace: Workspace, query: str) -> None:
    hits = ask(workspace, query)["results"]
    explained = ask(workspace, query, "explain", ids=[1, 2, 3, 4], limit=1)
    ranking = explained["metadata"]["ranking"]
    totals = {item["id"]: item["score"]["total"] for item in explained["items"]}
    assert totals == {hit["memory_number"]: hit["score"] for hit in hits}
    since, until = (ranking["time"][name] for name in ("since", "until"))
    for hit in hits:
        made = clock.parse(hit["created_at"])
        bounds = [
            *([] if since is None else [(clock.parse(since) - made).total_seconds() / 86_400]),
            *([] if until is None else [(made - clock.parse(until)).total_seconds() / 86_400]),
        ]
        age, floor = max(0.0, *bounds, 0.0), ranking["recency_floor"]
        recency = floor + (1 - floor) * 0.5 ** (age / ranking["half_life_days"])
        assert hit["recency_multiplier"] == pytest.approx(recency, rel=1e-9)
        assert float(f"{hit['semantic_score'] * hit['recency_multiplier']:.10g}") == hit["score"]


def test_context_uses_the_time_as_well(workspace: Workspace) -> None:
    answer = ask(workspace, "retries of the uploader in June", "context")
    assert answer["memories"][0]["memory_id"] == "june"
    assert answer["ranking"]["time"]["used"] == "preference"


def test_dateparser_is_imported_for_a_date_only() -> None:
    code = (
        "import sys; from datetime import UTC, datetime; from bridge.search.question import parse_question;"
        "now = datetime(2026, 11, 20, tzinfo=UTC); found = lambda: sorted({'dateparser', 'bridge.text.time_phrase'}"
        " & set(sys.modules)); parse_question({'query': 'which retries does the uploader have?'}, now);"
        "print(found()); parse_question({'query': 'the last page'}, now); print(found());"
        "parse_question({'query': 'retries in March'}, now); print(found())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "[]", "['bridge.text.time_phrase']", "['bridge.text.time_phrase', 'dateparser']",
    ]  # fmt: skip
