"""Summaries of an imagined project and questions to them, as many as wanted, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

PARTS = (
    "the sync engine",
    "the invoice renderer",
    "the import wizard",
    "token renewal",
    "the search index",
    "the tray helper",
    "the release pipeline",
    "crash reporting",
    "the settings page",
    "rate limiting",
    "the audit log",
    "offline edits",
    "the migration runner",
    "file uploads",
    "the webhook sender",
    "time zones",
    "the permissions model",
    "the cache layer",
)
PROBLEMS = (
    "lost its place after a restart",
    "was slow with ten thousand rows",
    "showed stale totals",
    "failed without a message",
    "retried for ever when the server said no",
    "kept a file handle open",
    "ordered results differently on each machine",
    "sent the same request twice",
    "used more memory than the whole editor",
    "broke on paths with spaces",
)
CAUSES = (
    "a lock was taken in two orders",
    "the clock was read twice",
    "a default had changed",
    "an index was missing",
    "the callback ran on another thread",
    "the header was dropped by the proxy",
    "a test fixture hid the real value",
    "the schema allowed null",
    "the retry had no jitter",
    "two writers shared one file",
)
_CHOICES = (
    "Write {noun} to an append-only table",
    "Move {noun} behind one interface",
    "Keep {noun} in memory for {n} minutes",
    "Limit {noun} to {n} at a time",
    "Store {noun} as UTC with the offset beside it",
    "Reject {noun} larger than {n} MiB",
    "Log {noun} by id and never by content",
    "Rename `{ident}` to `{ident}_v{n}`",
    "Drop support for {noun} before version {n}",
    "Call `{ident}()` from the main loop alone",
)
NOUNS = ("entries", "sessions", "uploads", "drafts", "tokens", "events", "rows", "snapshots", "messages", "patches")
VERBS = ("load", "flush", "merge", "parse", "render", "resolve", "check", "apply", "split", "encode")
REASONS = (
    "It is the only place where both ids are known.",
    "A wrong value there cannot be repaired afterwards.",
    "The cost shows up in every request otherwise.",
    "Users noticed the difference within a day.",
    "It can be taken back without a migration.",
    "The other way needs a second round trip.",
)


def choices(dice: random.Random, count: int, ident: str) -> Iterator[str]:
    """Beginnings of decisions, each of another kind."""
    for choice in dice.sample(_CHOICES, count):
        yield choice.format(noun=dice.choice(NOUNS), n=dice.randint(2, 60), ident=ident)


def summaries(count: int, seed: int = 7, newest: datetime | None = None) -> list[dict[str, Any]]:
    """``count`` ingest payloads of about 120 words: two or three sentences, three decisions, two reasons, steps."""
    dice = random.Random(seed)
    newest = newest or datetime(2026, 11, 1, tzinfo=UTC)
    found = []
    for number in range(count):
        part, other = dice.sample(PARTS, 2)
        ident = f"{dice.choice(VERBS)}_{dice.choice(NOUNS)}"
        context = (
            f"We looked at {part} because it {dice.choice(PROBLEMS)} in build {number}. The reason was that"
            f" {dice.choice(CAUSES)}, which only shows when {other} is busy. The error E{1000 + number} names the"
            f" place, and the fix touches `{ident}` in src/{part.split()[-1]}/{ident}.py."
        )
        decisions = [f"{choice} in {dice.choice(PARTS)}." for choice in choices(dice, 3, ident)]
        created = newest - timedelta(hours=3 * (count - number))
        found.append(
            {
                "summary": {
                    "topic": f"{part.removeprefix('the ').capitalize()} {number % 40}",
                    "context": context,
                    "decisions": decisions,
                    "rationale": dice.sample(REASONS, 2),
                    "open_questions": [f"Does {other} need the same change before release {number % 12}?"],
                    "next_steps": [f"Add a test for `{ident}` with {dice.randint(3, 90)} {dice.choice(NOUNS)}."],
                    "references": [f"src/{part.split()[-1]}/{ident}.py", f"#{200 + number}"],
                    "session_id": f"2026-session-{number // 4}",
                    "plan_id": f"{number % 9 + 1:03d}",
                    "created_at": created.isoformat(),
                }
            }
        )
    return found


def questions(count: int, seed: int = 3) -> list[str]:
    """As people ask: about a problem, a cause, a choice, an error, an identifier."""
    dice = random.Random(seed)
    found = []
    for _ in range(count):
        part = dice.choice(PARTS)
        ident = f"{dice.choice(VERBS)}_{dice.choice(NOUNS)}"
        (choice,) = choices(dice, 1, ident)
        found.append(
            dice.choice(
                (
                    f"why was it that {part} {dice.choice(PROBLEMS)}?",
                    f"which part was wrong because {dice.choice(CAUSES)}",
                    f"did we decide to {choice[0].lower()}{choice[1:]} in {part}?",
                    f"error E{dice.randint(1000, 1999)}",
                    f"what touches {ident}",
                    f"open questions about {part} before release {dice.randint(0, 11)}",
                )
            )
        )
    return found
