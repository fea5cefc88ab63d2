"""Times in questions: which words are one, which dates they have, and what they do to the answer."""

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from fake_embedder import FakeEmbedder
from questions import answer_to
from shelf import Shelf, summary

from bridge.memory import Memory
from bridge.search.period import period_of
from bridge.settings import Settings
from bridge.text.time_phrase import TimePhrase, find_time_phrase
from bridge.text.time_words import time_languages
from jobs import clock
from jobs.layout import Workspace
from worker.terminal.hits import time_read

NOW = datetime(2026, 11, 20, 12, tzinfo=ZoneInfo("Europe/Berlin"))  # a Friday


def phrase_of(question: str) -> TimePhrase | None:
    languages = time_languages(question)
    return find_time_phrase(question, languages) if languages else None


def days_of(question: str, now: datetime = NOW) -> tuple[str, str] | None:
    """The first day and the day after the last one; ``-`` where the period is open."""
    phrase = phrase_of(question)
    period = period_of(phrase, now) if phrase else None
    if period is None:
        return None
    start, end = (f"{day:%Y-%m-%d}" if day else "-" for day in (period.start, period.end))
    return start, end


TIMES = [
    ("what did we decide last week about the queue?", ("2026-11-09", "2026-11-16")),
    ("what broke yesterday", ("2026-11-19", "2026-11-20")),
    ("what did we fix in March?", ("2026-03-01", "2026-04-01")),
    ("what did we choose in December", ("2025-12-01", "2026-01-01")),
    ("what happened on 3 March?", ("2026-03-03", "2026-03-04")),
    ("why was it done on March 3rd 2025", ("2025-03-03", "2025-03-04")),
    ("notes of 2026-03-03", ("2026-03-03", "2026-03-04")),
    ("why did we drop redis two months ago", ("2026-09-05", "2026-10-05")),
    ("what failed three days ago", ("2026-11-17", "2026-11-18")),
    ("a few days ago we discussed caching", ("2026-11-15", "2026-11-20")),
    ("what came up in the last 3 days?", ("2026-11-17", "2026-11-20")),
    ("what came up in the past two months", ("2026-09-20", "2026-11-20")),
    ("what changed since the spring", ("2026-03-01", "-")),
    ("what did we do last summer", ("2026-06-01", "2026-09-01")),
    ("what did we do last winter", ("2025-12-01", "2026-03-01")),
    ("what did we decide between March and May?", ("2026-03-01", "2026-06-01")),
    ("what did we decide from November to March", ("2025-11-01", "2026-04-01")),
    ("what did we do this year on search", ("2026-01-01", "2027-01-01")),
    ("what did we choose in 2025?", ("2025-01-01", "2026-01-01")),
    ("decisions from last quarter", ("2026-07-01", "2026-10-01")),
    ("what was decided in Q4 2025", ("2025-10-01", "2026-01-01")),
    ("what did we say on Friday about CI", ("2026-11-13", "2026-11-14")),
    ("last weekend's outage", ("2026-11-14", "2026-11-16")),
    ("what was agreed before last Monday", ("-", "2026-11-16")),
    ("how do merchants log in until March?", None),  # no verb of the past
    ("how had merchants logged in until March?", ("-", "2026-04-01")),
    ("what did we agree on after March", ("2026-04-01", "-")),
    ("what did we agree on from March on", ("2026-03-01", "-")),
    ("was haben wir letzte Woche beschlossen?", ("2026-11-09", "2026-11-16")),
    ("was haben wir gestern zu Redis entschieden", ("2026-11-19", "2026-11-20")),
    ("welchen Cache nahmen wir vor zwei Monaten?", ("2026-09-05", "2026-10-05")),
    ("was war im März das Problem", ("2026-03-01", "2026-04-01")),
    ("was beschlossen wir am 3. März?", ("2026-03-03", "2026-03-04")),
    ("was ist seit März neu?", ("2026-03-01", "-")),
    ("qu'avons-nous décidé la semaine dernière ?", ("2026-11-09", "2026-11-16")),
    ("qu'est-ce qu'on a décidé hier ?", ("2026-11-19", "2026-11-20")),
    ("pourquoi ce cache il y a deux mois ?", ("2026-09-05", "2026-10-05")),
    ("qu'a-t-on choisi en mars ?", ("2026-03-01", "2026-04-01")),
    ("quel bug le 3 mars ?", ("2026-03-03", "2026-03-04")),
]


@pytest.mark.parametrize(("question", "days"), TIMES)
def test_a_time_has_the_dates_that_a_person_means(question: str, days: tuple[str, str] | None) -> None:
    assert days_of(question) == days


ORDERS_AND_EVENTS = [
    ("what did we decide most recently about auth?", "latest", "most recently"),
    ("what's the latest on the migration", "latest", "the latest on"),
    ("when did we last discuss caching", "latest", "did we last"),
    ("was haben wir zuletzt zum Login entschieden", "latest", "zuletzt"),
    ("the first time we used SQLite", "earliest", "the first time"),
    ("what did we originally decide about tokens", "earliest", "originally"),
    ("what changed before the release?", "event", "before the release"),
]


@pytest.mark.parametrize(("question", "kind", "text"), ORDERS_AND_EVENTS)
def test_an_order_or_an_event_is_recognised(question: str, kind: str, text: str) -> None:
    phrase = phrase_of(question)
    assert (phrase.kind, phrase.text) == (kind, text)


NO_TIMES = [
    "may we ship a modified client?",
    "who may see it in the logs",
    "do the couriers march on?",
    "python 3.12 or march 2.4",
    "which second index is built?",
    "what does the second half of a token mean",
    "where is today's standup held?",
    "docker latest tag",
    "the latest version of Node",
    "the most recent call last",
    "least recently used cache eviction",
    "what is due in March?",
    "what must be finished before March?",
    "which release ships next month?",
    "do we deploy on Friday?",
    "do we deploy on Fridays?",
    "is the database copied on Sunday?",
    "Spring Boot config in spring security",
    "how many rows fit in 2048 bytes",
    "a row from 2025 rows",
    "see #2025 in v2025.1",
    'why does the log say "yesterday"?',
    "is there a retry after 3 days",
    "which file comes first",
    "how long is the last page in the list",
    "how do I fall back",
    "Wo ist hier der Server?",
    "what happened last week and in March",  # two times: which one is meant?
    "what was decided next week",
    f"what broke yesterday? {'x ' * 200}",  # a pasted text
]


@pytest.mark.parametrize("question", NO_TIMES)
def test_words_that_look_like_a_time_are_none(question: str) -> None:
    assert days_of(question) is None
    phrase = phrase_of(question)
    assert phrase is None or phrase.kind not in ("latest", "earliest", "event")


def test_a_day_begins_at_midnight_of_the_asker_also_when_the_clocks_change() -> None:
    phrase = phrase_of("what broke yesterday")
    found = period_of(phrase, datetime(2026, 10, 26, 0, 30, tzinfo=ZoneInfo("Europe/Berlin")))
    days = [found.start.isoformat(), found.end.isoformat()]
    assert days == ["2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"]


def test_a_question_without_a_word_of_time_needs_no_patterns() -> None:
    assert time_languages("which retry policy do we use for the uploader?") == []
    assert time_languages("what did we decide last week?") == ["en"]
    assert time_languages("Was haben wir gestern gemacht?") == ["de"]


TIMES_ALONE = [
    ("what happened in October", False),
    ("what have we decided in October?", False),
    ("im Oktober", False),
    ("was ist im Oktober passiert", False),
    ("was haben wir letzte Woche gemacht", False),
    ("que s'est-il passé en octobre", False),
    ("qu'avons-nous décidé en octobre ?", False),
    ("what did we decide about Redis in October", True),
    ("was haben wir im Oktober über Redis beschlossen", True),
    ("que faire de Redis en octobre", True),
]


@pytest.mark.parametrize(("question", "has_subject"), TIMES_ALONE)
def test_a_question_of_a_time_alone_has_no_subject(question: str, has_subject: bool) -> None:
    assert find_time_phrase(question).has_subject is has_subject


# --- asked time ---


ROOT = Path(__file__).resolve().parents[2]
ASKED = datetime(2026, 11, 20, 12, tzinfo=UTC)
STORED = "2026-11-20T11:00:00Z"
ALL = Settings(relevance_floor=0.0)

Answer = dict[str, Any]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Three decisions about one subject, and one about another; days are those of UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    said = {"march": "three", "june": "five", "now": "seven"}
    dates = {"march": "2026-03-10T10:00:00Z", "june": "2026-06-10T10:00:00Z", "now": "2026-11-18T10:00:00Z"}
    about = [dated(name, f"Retries of the uploader are {said[name]}.", at) for name, at in dates.items()]
    return Shelf(tmp_path).add(*about, dated("lunch", "Soup is served at noon.", "2026-03-11T10:00:00Z")).workspace


def dated(memory_id: str, context: str, created_at: str) -> Memory:
    return summary(memory_id, context, topic="Note", created_at=created_at)


def ask(workspace: Workspace, query: str, verb: Any = "retrieve", **arguments: Any) -> Answer:
    settings = arguments.pop("settings", ALL)
    return answer_to(workspace, FakeEmbedder(dimensions=64), ASKED, settings, verb, query=query, **arguments)


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


NEWEST_AND_OLDEST = [
    ("what did we decide most recently about retries of the uploader", "now", "newest"),
    ("what was the first decision about retries of the uploader", "march", "oldest"),
]


@pytest.mark.parametrize(("query", "first", "used"), NEWEST_AND_OLDEST)
def test_newest_and_oldest_are_of_memories_that_fit(workspace: Workspace, query: str, first: str, used: str) -> None:
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
