"""Conflicts between decisions: each kind is found, and what narrows, adds or speaks of something else is left alone."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from bridge.conflicts import between, find

DATA = Path(__file__).resolve().parents[1] / "data"
PRECISION, RECALL = 0.9, 0.75


def labelled(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


# --- the labelled sets: the rules were written with the one, and not changed for the other ---


@pytest.mark.parametrize("name", ["conflicts_dev", "conflicts_unseen"])
def test_labelled_pairs_are_told_apart_precisely_rather_than_eagerly(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = labelled(name)
    found = [between(str(pair["earlier"]), str(pair["later"])) is not None for pair in pairs]
    right = sum(f and bool(pair["conflict"]) for f, pair in zip(found, pairs, strict=True))
    precision, recall = right / sum(found), right / sum(bool(pair["conflict"]) for pair in pairs)
    with capsys.disabled():
        print(f"\n{name}: {len(pairs)} pairs, precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= PRECISION
    assert recall >= RECALL


def test_the_labelled_pairs_are_of_every_kind_and_not_lopsided() -> None:
    for name in ("conflicts_dev", "conflicts_unseen"):
        pairs = labelled(name)
        kinds = {pair["kind"] for pair in pairs if pair["conflict"]}
        assert kinds == {"negation", "choice", "value", "toggle", "reversal"}
        assert 0.3 < sum(bool(pair["conflict"]) for pair in pairs) / len(pairs) < 0.7


# --- each kind ---


@pytest.mark.parametrize(
    ("earlier", "later", "kind"),
    [
        ("Commit generated files", "Generated files are never committed", "negation"),
        ("Don’t cache search results", "Cache search results for five minutes", "negation"),
        ("Plain HTTP is allowed on loopback", "Plain HTTP is forbidden on loopback", "toggle"),
        ("Uploads are limited to 20MB", "Limit uploads to 0.5 GB", "value"),
        ("Poll every 90 seconds", "Poll every minute", "value"),
        ("Write the exporter in Python", "The exporter is written in Rust", "choice"),
        ("Turn on strict mode", "Turn off strict mode", "toggle"),
        ("Back up the archive before it is signed", "Sign the archive before it is backed up", "toggle"),
        ("Use Redis for sessions", "Redis was replaced by Memcached for sessions", "reversal"),
        ("Use Redis for sessions", "Drop Redis", "reversal"),
        ("Secrets live in a file", "Secrets are read from the vault, not from a file", "reversal"),
        ("Search is case sensitive", "Search is case insensitive", "toggle"),
        ("The nightly build starts at 02:00", "The nightly build starts at 04:30", "value"),
        ("Retry each job 3 times", "Retry each job 5 times", "value"),
        ("Ship the beta weekly", "We reversed the decision to ship the beta weekly", "reversal"),
    ],
)
def test_a_conflict_is_found_and_named(earlier: str, later: str, kind: str) -> None:
    found = between(earlier, later)
    assert found is not None
    assert found.kind == kind
    assert 0.5 <= found.confidence <= 1


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Retry uploads", "Do not retry uploads on Fridays"),  # an exception
        ("Cache pages", "Cache pages for five minutes"),  # a detail
        ("Cache pages for 60 s", "Cache pages for one minute"),  # the same
        ("The limit is 20 MB", "The limit for admins is 50 MB"),  # a narrower case
        ("Use Redis for sessions", "Drop Redis from the CI image"),  # another place
        ("Use Redis for sessions", "Use Redis for rate limits"),  # another purpose
        ("Use Python for the exporter", "Use Poetry for the exporter"),  # other kinds of things
        ("Use Python 3.11 for the worker", "Use TypeScript for the extension"),
        ("Never delete backups without asking", "Delete backups after asking"),
        ("Sign before stapling", "Sign before uploading"),
        ("Write drafts to one table in the audit log", "Write drafts to one table in the mailer"),
        ("Phase 1 uses SQLite", "Phase 2 uses Postgres"),
        ("Decision 7", "Decision 8"),
        ("Cache local files", "Cache remote files"),
        ("Log uploads by id and never by content", "Limit uploads to 40 MB"),
        ("Keep the tests", "Delete the temporary files"),
        ("", "Do not retry"),
        ("!!!", "???"),
        ("Wir nutzen Postgres für die Warteschlange", "Wir nutzen SQLite nicht"),
        ("キューにはPostgresを使う", "キューにはSQLiteを使う"),
    ],
)
def test_what_narrows_adds_or_speaks_of_something_else_is_no_conflict(earlier: str, later: str) -> None:
    assert between(earlier, later) is None


@pytest.mark.parametrize("pair", labelled("conflicts_dev"), ids=lambda pair: str(pair["earlier"])[:40])
def test_a_statement_does_not_conflict_with_itself(pair: dict[str, object]) -> None:
    for text in (str(pair["earlier"]), str(pair["later"])):
        assert between(text, text) is None
        assert between(text, text.upper()) is None
        assert between(text, f"{text}.") is None


# --- many texts ---


def test_texts_of_one_memory_are_not_held_against_each_other() -> None:
    texts = ["Retry five times", "Retry three times"]
    assert find(texts, ["a", "a"]) == []
    assert [(pair.earlier, pair.later) for pair in find(texts, ["a", "b"])] == [(0, 1)]


def test_many_texts_are_compared_like_two() -> None:
    pairs = labelled("conflicts_dev")
    texts = [str(pair[side]) for pair in pairs for side in ("earlier", "later")]
    found = {(pair.earlier, pair.later): pair.found for pair in find(texts, [str(n) for n in range(len(texts))])}
    wanted = {
        (a, b): conflict
        for b in range(len(texts))
        for a in range(b)
        if (conflict := between(texts[a], texts[b])) is not None
    }
    assert found == wanted
    assert found


def test_nothing_is_found_among_nothing() -> None:
    assert find([], []) == []
    assert find(["", "…"], ["a", "b"]) == []


@pytest.mark.parametrize("text", ["from mov to " * 20_000, "instead of " * 20_000, "a" * 500_000, "no " * 100_000])
def test_a_text_of_any_length_takes_no_time(text: str) -> None:
    began = time.process_time()
    between(text, text)
    assert time.process_time() - began < 5


def test_statements_that_are_long_lists_take_no_time_either() -> None:
    texts = ["; ".join(f"use {letter}{n}" for letter in "abcdefghijklmnopqrstuvwxyz" * 3) for n in range(60)]
    began = time.process_time()
    find(texts, [str(n) for n in range(len(texts))])
    assert time.process_time() - began < 8, "it takes next to nothing"
