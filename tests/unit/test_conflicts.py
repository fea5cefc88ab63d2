"""Conflicts between decisions: each kind is found, and what narrows, adds or speaks of something else is left alone."""

import json
import time
from pathlib import Path

import pytest
from fake_embedder import FakeEmbedder

from benchmarks.conflicts import compare
from bridge.compaction.conflicts import FoundConflict, find_conflicts
from bridge.compaction.labels import are_of_two_things
from bridge.embedding.local_models import ENGLISH
from bridge.embedding.model_files import DEFAULT_FOLDER
from bridge.embedding.onnx import OnnxEmbedder
from bridge.search.standings import DISPUTED
from bridge.standing import judge

DATA = Path(__file__).resolve().parents[1] / "data"
# What the judge that compares memories when they are stored reaches. The goal was 0.9 and 0.75 on pairs that neither
# rules nor weights were made with; docs/benchmarks.md tells how far it is met.
REACHED = {"conflicts_dev": (0.88, 0.65), "conflicts_unseen": (0.9, 0.47)}


def origins(*memories: str) -> list[frozenset[str]]:
    return [frozenset({memory}) for memory in memories]


def labelled(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


# --- the labelled sets: rules and weights were made with the one, and not changed for the other ---


@pytest.mark.parametrize("name", REACHED)
def test_labelled_pairs_are_told_apart_precisely_not_eagerly(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = labelled(name)
    embedder = OnnxEmbedder(ENGLISH, DEFAULT_FOLDER)
    said = judge.replaces([(str(pair["earlier"]), str(pair["later"])) for pair in pairs], embedder.embed)
    found = [probability >= DISPUTED for probability in said]
    right = sum(f and bool(pair["conflict"]) for f, pair in zip(found, pairs, strict=True))
    precision, recall = right / sum(found), right / sum(bool(pair["conflict"]) for pair in pairs)
    with capsys.disabled():
        print(f"\n{name}: {len(pairs)} pairs, precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= REACHED[name][0]
    assert recall >= REACHED[name][1]


@pytest.mark.parametrize("name", REACHED)
def test_the_rules_alone_name_nothing_that_is_no_conflict(name: str) -> None:
    found = [pair for pair in labelled(name) if compare(str(pair["earlier"]), str(pair["later"])) is not None]
    assert all(pair["conflict"] for pair in found)
    short = [pair for pair in labelled(name) if pair["part"] == "short" and pair["conflict"]]
    assert sum(pair["part"] == "short" for pair in found) >= 0.8 * len(short)


# --- each kind ---


FOUND_CONFLICTS = [
    ("Commit generated files", "Generated files are never committed", "negation"),
    ("Don’t cache search results", "Cache search results for five minutes", "negation"),
    ("Plain HTTP is allowed on loopback", "Plain HTTP is forbidden on loopback", "toggle"),
    ("Uploads are limited to 20MB", "Limit uploads to 0.5 GB", "value"),
    ("Python 3.11 is required", "Python 3.12 is required", "value"),
    ("Write the exporter in Python", "The exporter is written in Rust", "choice"),
    ("Turn on strict mode", "Turn off strict mode", "toggle"),
    ("Back up the archive before it is signed", "Sign the archive before it is backed up", "toggle"),
    ("Use Redis for sessions", "Redis was replaced by Memcached for sessions", "reversal"),
    ("Use Redis for sessions", "Drop Redis", "reversal"),
    ("Secrets live in a file", "Secrets are read from the vault, not from a file", "reversal"),
    ("Search is case sensitive", "Search is case insensitive", "toggle"),
    ("The nightly build starts at 02:00", "The nightly build starts at 04:30", "value"),
    ("Every night 3 backups are made", "Every night 5 backups are made", "value"),
    ("Ship the beta weekly", "We reversed the decision to ship the beta weekly", "reversal"),
    ("Push in batches; MAX_PUSH_BATCH is 200", "MAX_PUSH_BATCH is 100, because one proxy answered 413", "value"),
    ("retry_limit: 3", "retry_limit = 5", "value"),
]


@pytest.mark.parametrize(("earlier", "later", "kind"), FOUND_CONFLICTS)
def test_a_conflict_is_found_and_named(earlier: str, later: str, kind: str) -> None:
    found = compare(earlier, later)
    assert found.kind == kind
    assert 0.5 <= found.confidence <= 1


NO_CONFLICTS = [
    ("Retry uploads", "Do not retry uploads on Fridays"),  # an exception
    ("Cache pages", "Cache pages for five minutes"),  # a detail
    ("Cache pages for 60 s", "Cache pages for one minute"),  # the same
    ("The limit is 20 MB", "The limit for admins is 50 MB"),  # a narrower case
    ("Use Redis for sessions", "Drop Redis from the CI image"),  # another place
    ("Use Redis for sessions", "Use Redis for rate limits"),  # another purpose
    ("Use Python for the exporter", "Use Poetry for the exporter"),  # other kinds of things
    ("Use Python 3.11 for the worker", "Use TypeScript for the extension"),
    ("Never delete backups without asking", "Delete backups after asking"),
    ("Write drafts to one table in the audit log", "Write drafts to one table in the mailer"),
    ("Gate 3 is closed on Sundays", "Gate 5 is closed on Sundays"),
    ("Decision 7", "Decision 8"),
    ("Python 3.11", "Python 3.12"),  # names of two things, and nothing said of either
    ("Cache local files", "Cache remote files"),
    ("Log uploads by id and never by content", "Limit uploads to 40 MB"),
    ("Keep the tests", "Delete the temporary files"),
    ("", "Do not retry"),
    ("Wir nutzen Postgres für die Warteschlange", "Wir nutzen SQLite nicht"),
    ("キューにはPostgresを使う", "キューにはSQLiteを使う"),
    # alike, and different in more than the decision
    ("Cache rendered pages", "Do not cache rendered pages for logged-in users"),  # an exception
    ("Access tokens live 15 minutes", "Refresh tokens live 30 days"),  # another one of its kind
    ("Whether projects are archived is decided later", "Projects are never archived"),  # an answer
    ("The sensor in room 12 reports every minute", "The sensor in room 14 reports every minute"),
    ("Refunds over 500 euros need a second signature", "Refunds under 50 euros do not need a signature"),
    ("The debug toolbar is on in development", "The debug toolbar is off in production"),
]


@pytest.mark.parametrize(("earlier", "later"), NO_CONFLICTS)
def test_what_narrows_adds_or_speaks_of_something_else_is_no_conflict(earlier: str, later: str) -> None:
    assert compare(earlier, later) is None


def test_a_statement_does_not_conflict_with_itself() -> None:
    texts = [str(pair[side]) for pair in labelled("conflicts_dev") for side in ("earlier", "later")]
    pairs = [(text, same) for text in texts for same in (text, f"{text}.", text.upper())]
    assert [pair for pair in pairs if compare(*pair) is not None] == []


# --- many texts ---


def places(pairs: list[FoundConflict]) -> list[tuple[int, int]]:
    return [(pair.earlier, pair.later) for pair in pairs]


def test_texts_of_one_memory_are_not_held_against_each_other() -> None:
    texts = ["Retry five times", "Retry three times"]
    assert find_conflicts(texts, origins("a", "a")) == []
    assert places(find_conflicts(texts, origins("a", "b"))) == [(0, 1)]


def test_of_several_in_a_row_each_is_held_against_the_one_before_it() -> None:
    texts = [f"Retry {times} times" for times in (5, 3, 7, 9)]
    assert places(find_conflicts(texts, origins(*"abcd"))) == [(0, 1), (1, 2), (2, 3)]


def test_many_texts_are_compared_like_two() -> None:
    texts = [str(pair[side]) for pair in labelled("conflicts_dev") for side in ("earlier", "later")][:64]
    found = {
        (pair.earlier, pair.later): pair.found for pair in find_conflicts(texts, origins(*map(str, range(len(texts)))))
    }
    reached = [{index} for index in range(len(texts))]
    for b in range(len(texts)):
        for a in range(b):
            if (a, b) in found:
                reached[b] |= reached[a]
        for a in range(b):
            alone = compare(texts[a], texts[b])
            assert ((a, b) in found) <= (alone is not None)
            assert (alone is not None) <= (a in reached[b]), f"{texts[a]} | {texts[b]}"
    assert len(found) > 30


def test_nothing_is_found_among_nothing() -> None:
    assert find_conflicts([], []) == []
    assert find_conflicts(["", "…"], origins("a", "b")) == []


@pytest.mark.parametrize("text", ["from mov to " * 20_000, "instead of " * 20_000, "a" * 500_000, "no " * 100_000])
def test_a_text_of_any_length_takes_no_time(text: str) -> None:
    began = time.process_time()
    compare(text, text)
    assert time.process_time() - began < 5


def test_statements_that_are_long_lists_take_no_time_either() -> None:
    texts = ["; ".join(f"use {letter}{n}" for letter in "abcdefghijklmnopqrstuvwxyz" * 3) for n in range(60)]
    began = time.process_time()
    find_conflicts(texts, origins(*map(str, range(len(texts)))))
    assert time.process_time() - began < 8, "it takes next to nothing"


def test_hundreds_of_decisions_about_one_thing_take_no_time() -> None:
    texts = [f"Use the retry limit of {n} for uploads of the worker" for n in range(600)]
    began = time.process_time()
    found = find_conflicts(texts, origins(*map(str, range(len(texts)))))
    assert time.process_time() - began < 5, "it takes next to nothing"
    assert places(found) == [(n, n + 1) for n in range(599)]


PRO = "The Pro plan costs 99 EUR a month for 5,000 parcels."


AGREEING = [
    (PRO, "The Pro plan stays at 99 EUR."),
    (PRO, "We keep the Pro plan at 99 EUR."),
    (PRO, "The Pro plan continues to cost 99 EUR."),
    (PRO, "The price of the Pro plan is unchanged: 99 EUR."),
    (PRO, "The Pro plan costs 99 EUR."),
    ("Der Pro-Tarif kostet 99 EUR im Monat für 5.000 Pakete.", "Der Pro-Tarif bleibt bei 99 EUR."),
    ("Der Pro-Tarif kostet 99 EUR im Monat für 5.000 Pakete.", "Der Pro-Tarif kostet weiterhin 99 EUR."),
    ("Le plan Pro coûte 99 EUR par mois pour 5 000 colis.", "Le plan Pro reste à 99 EUR."),
    ("Logs are kept for 14 days, metrics for 30 days.", "Logs stay at 14 days."),
    ("El plan Pro cuesta 99 EUR al mes por 5.000 paquetes.", "El plan Pro sigue en 99 EUR."),
]


@pytest.mark.parametrize(("earlier", "later"), AGREEING)
def test_what_says_that_an_amount_is_as_it_was_agrees(earlier: str, later: str) -> None:
    assert compare(earlier, later) is None
    assert judge.replaces([(earlier, later)], FakeEmbedder(64).embed) < [DISPUTED]


OTHERWISE = [
    (PRO, "The Pro plan costs 119 EUR a month for 5,000 parcels; the old price was 99 EUR.", "value"),
    ("Logs are kept for 14 days, metrics for 30 days.", "Logs are kept for 30 days.", "value"),
]


@pytest.mark.parametrize(("earlier", "later", "kind"), OTHERWISE)
def test_what_stays_otherwise_conflicts(earlier: str, later: str, kind: str) -> None:
    assert compare(earlier, later).kind == kind


NUMBERED = [
    ("Room 12 has 30 seats", "Room 14 has 40 seats"),
    ("Phase 1 of the move is done by Ana.", "Phase 2 of the move is done by Bert."),
    ("Client A gets its reports in Excel", "Client B gets a dashboard"),
    ("The v1 API pages with offset and limit.", "v2 uses cursors"),
    ("web-1 runs Redis 7", "web-2 runs Redis 8"),
    ("Sensor 7 listens on port 9007", "Sensor 8 listens on port 9008"),
    ("Flat 3 owes 200 euros", "Flat 4 owes 310 euros"),
    ("Keep the seeds of shelf 3 at 5 degrees", "Keep the seeds of shelf 4 at 8 degrees"),
]


@pytest.mark.parametrize(("earlier", "later"), NUMBERED)
def test_statements_of_two_numbered_things_neither_conflict_nor_replace_each_other(earlier: str, later: str) -> None:
    assert compare(earlier, later) is None
    assert judge.replaces([(earlier, later)], FakeEmbedder(64).embed) == [0.0]


MAY_CONFLICT = [
    ("Room 12 is the archive.", "Room 14 is the archive"),
    ("Use 4 spaces in code", "Use 2 spaces here"),
    ("We run Postgres 15 on Hetzner", "We run Postgres 16 at home"),
    ("Keep 1 copy", "Keep 3 copies in two places"),
    ("Spend 4 hours on it", "Spend 6 hours on reviews"),
    ("Seat 4 guests", "Seat 6 guests in summer"),
    ("Deploy it on node 3", "Deploy it on node 4 at night"),
    ("Use C for the firmware", "Use Rust for the firmware"),
]


@pytest.mark.parametrize(("earlier", "later"), MAY_CONFLICT)
def test_what_begins_with_an_amount_or_says_the_same_of_another_may_conflict(earlier: str, later: str) -> None:
    assert not are_of_two_things(earlier, later)
