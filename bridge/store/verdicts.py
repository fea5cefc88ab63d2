"""Verdicts in memory.db: the last word on two statements, of which somebody said which one holds.

A statement is named by its memory's id and the digest of its words, so that a verdict outlives numbers and rebuilds. A
language model's verdict, which has a confidence, gives way to anybody else's, whenever that was given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING, NamedTuple

from .catalogue import Replacement, Settlement

if TYPE_CHECKING:
    from .values import KnownPair, PairVerdict

_COLUMNS = 'older, older_sha256, newer, newer_sha256, verdict, reason, "by", at, job_id, confidence'
_KEY = "older = ? AND older_sha256 = ? AND newer = ? AND newer_sha256 = ?"
_OF_PAIRS = (
    "SELECT os.number, os.passage, ns.number, ns.passage, verdict, max(coalesce(o.dated, 0), coalesce(n.dated, 0)),"
    ' confidence, "by", at, reason,'
    " CASE verdict WHEN 'older' THEN o.status WHEN 'newer' THEN n.status END IN ('Superseded', 'Draft') FROM verdicts"
    " CROSS JOIN memories AS o ON o.id = older CROSS JOIN memories AS n ON n.id = newer"
    " CROSS JOIN statements AS os ON os.number = o.number AND os.sha256 = older_sha256"
    " CROSS JOIN statements AS ns ON ns.number = n.number AND ns.sha256 = newer_sha256"
    " WHERE o.hidden = 0 AND n.hidden = 0 ORDER BY confidence IS NULL, rtrim(at, 'Z')"
)


class OfPair(NamedTuple):
    """A verdict on two statements, each as a memory's number and the index of its passage. ``since``: when the later
    of the two was said, in seconds since 1970. ``confidence``: of a language model; None for anybody else."""

    older: int
    older_passage: int
    newer: int
    newer_passage: int
    verdict: str
    since: float
    said: Settlement
    confidence: float | None = None


def settled(found: Sequence[Replacement], verdicts: Sequence[OfPair]) -> list[Replacement]:
    """The pairs that were found, save for those on which there is a verdict: of these the last one counts, whichever
    of the two it calls the newer. One that is undecided leaves what was found."""
    last = {_pair(each): each for each in verdicts}
    said = {pair: each for pair, each in last.items() if each.verdict != "undecided"}
    return [
        *(pair for pair in found if _pair(pair) not in said),
        *(_settled(each) for each in said.values()),
    ]


def unsaid(found: Sequence[Replacement], verdicts: Sequence[OfPair]) -> list[Replacement]:
    """The pairs that were found and on which there is no verdict, not even that they are undecided."""
    said = {_pair(each) for each in verdicts}
    return [pair for pair in found if _pair(pair) not in said]


def _pair(each: Replacement | OfPair) -> frozenset[tuple[int, int]]:
    return frozenset(((each.older, each.older_passage), (each.newer, each.newer_passage)))


def _settled(each: OfPair) -> Replacement:
    older, newer = each[:2], each[2:4]
    fell, holds = (newer, older) if each.verdict == "older" else (older, newer)
    probability = 0.0 if each.said.is_suspended else _probability(each.verdict, each.confidence)
    return Replacement(*fell, *holds, probability, each.since, each.said)


def _probability(verdict: str, confidence: float | None) -> float:
    """That the one replaced the other, by a verdict."""
    if verdict == "both":
        return 0.0
    return 1.0 if confidence is None else confidence


def of_pairs(connection: Connection) -> list[OfPair]:
    """The verdicts on the statements of visible memories that were compared, the one that counts last."""
    found = connection.execute(_OF_PAIRS)
    return [
        OfPair(a, passage, b, other, verdict, since, Settlement(by, at, reason, bool(is_suspended)), confidence)
        for a, passage, b, other, verdict, since, confidence, by, at, reason, is_suspended in found
    ]


def of_all(connection: Connection) -> Iterator[PairVerdict]:
    """All verdicts."""
    from .values import PairVerdict  # not at the top: a question needs the pairs alone

    return (PairVerdict(*row) for row in connection.execute(f"SELECT {_COLUMNS} FROM verdicts"))  # noqa: S608 - a constant


def between(connection: Connection, memory_ids: Sequence[str]) -> Iterator[KnownPair]:
    """What was said of the statements of these memories; of each pair, what counts."""
    from .values import KnownPair

    found = connection.execute(
        "SELECT older, older_sha256, newer, newer_sha256, verdict, confidence, reason FROM verdicts WHERE older IN"
        " (SELECT value FROM json_each(?1)) AND newer IN (SELECT value FROM json_each(?1))"
        " ORDER BY confidence IS NULL, rtrim(at, 'Z')",
        (json.dumps(list(memory_ids)),),
    )
    last = {frozenset((row[:2], row[2:4])): row for row in found}
    for older, older_sha256, newer, newer_sha256, verdict, confidence, reason in last.values():
        if verdict != "undecided":
            sides = [(older, older_sha256), (newer, newer_sha256)]
            fell, holds = reversed(sides) if verdict == "older" else sides
            yield KnownPair(fell, holds, _probability(verdict, confidence), is_said=True, reason=reason)


def give(connection: Connection, given: PairVerdict) -> None:
    """Store a verdict on two known memories, unless one that counts more is there: a later one, or anybody's against a
    language model's. Inside a transaction."""
    connection.execute(
        f"INSERT INTO verdicts ({_COLUMNS}) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10"  # noqa: S608 - a constant
        " WHERE EXISTS (SELECT 1 FROM memories WHERE id = ?1) AND EXISTS (SELECT 1 FROM memories WHERE id = ?3)"
        " ON CONFLICT (older, older_sha256, newer, newer_sha256) DO UPDATE SET verdict = excluded.verdict,"
        ' reason = excluded.reason, "by" = excluded."by", at = excluded.at, job_id = excluded.job_id,'
        " confidence = excluded.confidence WHERE (excluded.confidence IS NULL, rtrim(excluded.at, 'Z'))"
        " >= (verdicts.confidence IS NULL, rtrim(verdicts.at, 'Z'))",
        (*_key(given), given.verdict, given.reason, given.by, given.at, given.job_id, given.confidence),
    )


def clear_words(connection: Connection, given: PairVerdict) -> None:
    """Delete the reason and the name of a verdict; a language model keeps its name. Inside a transaction."""
    name = "CASE WHEN confidence IS NULL THEN 'person' ELSE \"by\" END"
    connection.execute(f'UPDATE verdicts SET reason = NULL, "by" = {name} WHERE {_KEY}', _key(given))  # noqa: S608


def _key(given: PairVerdict) -> tuple[str, str, str, str]:
    return given.older, given.older_sha256, given.newer, given.newer_sha256
