"""Times in questions: which words are one, and which dates they have."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from bridge.search.period import period_of
from bridge.text.time_phrase import TimePhrase, find_time_phrase
from bridge.text.time_words import time_languages

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


@pytest.mark.parametrize(
    ("question", "days"),
    [
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
    ],
)
def test_a_time_has_the_dates_that_a_person_means(question: str, days: tuple[str, str] | None) -> None:
    assert days_of(question) == days


@pytest.mark.parametrize(
    ("question", "kind", "text"),
    [
        ("what did we decide most recently about auth?", "latest", "most recently"),
        ("what's the latest on the migration", "latest", "the latest on"),
        ("when did we last discuss caching", "latest", "did we last"),
        ("was haben wir zuletzt zum Login entschieden", "latest", "zuletzt"),
        ("the first time we used SQLite", "earliest", "the first time"),
        ("what did we originally decide about tokens", "earliest", "originally"),
        ("what changed before the release?", "event", "before the release"),
    ],
)
def test_an_order_or_an_event_is_recognised(question: str, kind: str, text: str) -> None:
    phrase = phrase_of(question)
    assert phrase is not None
    assert (phrase.kind, phrase.text) == (kind, text)


@pytest.mark.parametrize(
    "question",
    [
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
    ],
)
def test_words_that_look_like_a_time_are_none(question: str) -> None:
    assert days_of(question) is None
    phrase = phrase_of(question)
    assert phrase is None or phrase.kind not in ("latest", "earliest", "event")


def test_a_day_begins_at_midnight_of_the_asker_also_when_the_clocks_change() -> None:
    phrase = phrase_of("what broke yesterday")
    assert phrase is not None
    found = period_of(phrase, datetime(2026, 10, 26, 0, 30, tzinfo=ZoneInfo("Europe/Berlin")))
    assert found is not None
    assert found.start is not None
    assert found.end is not None
    days = [found.start.isoformat(), found.end.isoformat()]
    assert days == ["2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"]


def test_a_question_without_a_word_of_time_needs_no_patterns() -> None:
    assert time_languages("which retry policy do we use for the uploader?") == []
    assert time_languages("what did we decide last week?") == ["en"]
    assert time_languages("Was haben wir gestern gemacht?") == ["de"]


@pytest.mark.parametrize(
    ("question", "has_subject"),
    [
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
    ],
)
def test_a_question_of_a_time_alone_has_no_subject(question: str, has_subject: bool) -> None:
    phrase = find_time_phrase(question)
    assert phrase is not None
    assert phrase.has_subject is has_subject
