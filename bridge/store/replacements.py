"""Which statement may replace which, in memory.db: derived data, which can be dropped and made again from the texts.

A statement is a decision of a memory, named by the memory's number and the index of its passage
(``bridge/text/passages``). What is newer was decided by the dates when the pair was stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING

from . import database, verdicts
from .catalogue import Replacement

if TYPE_CHECKING:
    from .values import KnownPair

_JUDGE = "judge"
_FOUND = (
    "SELECT older, older_passage, newer, newer_passage, probability, coalesce(n.dated, 0) FROM replacements"
    " CROSS JOIN memories AS o ON o.number = older CROSS JOIN memories AS n ON n.number = newer"
    " WHERE o.hidden = 0 AND n.hidden = 0 AND coalesce(n.status, '') NOT IN ('Superseded', 'Draft')"
    " AND coalesce(o.status, '') <> 'Superseded'"  # that one stands below already, and is not asked about
    # Two decisions that one memory has beside each other both hold, though another one repeats one of them.
    " AND NOT EXISTS (SELECT 1 FROM statements AS a JOIN statements AS b USING (sha256)"
    " WHERE a.number = older AND b.number = newer AND a.passage AND b.passage"
    " AND (a.passage = older_passage OR b.passage = newer_passage))"
)
_BETWEEN = (
    "WITH named AS (SELECT id, number FROM memories WHERE id IN (SELECT value FROM json_each(?)))"
    " SELECT o.id, os.sha256, n.id, ns.sha256, probability FROM replacements"
    " JOIN named AS o ON o.number = older JOIN named AS n ON n.number = newer"
    " JOIN statements AS os ON os.number = older AND os.passage = older_passage"
    " JOIN statements AS ns ON ns.number = newer AND ns.passage = newer_passage ORDER BY probability, 1, 2, 3, 4"
)


def found(connection: Connection, least: float = 0.0) -> list[Replacement]:
    """The pairs of visible memories whose newer one counts, from the probability ``least`` on, and what was said of
    pairs, which wins."""
    pairs = [Replacement(*row) for row in connection.execute(_FOUND + " AND probability >= ?", (least,))]
    return verdicts.settled(pairs, verdicts.of_pairs(connection))


def unsaid(connection: Connection) -> list[Replacement]:
    """As ``found``, the pairs on which nobody was asked yet, the most probable first."""
    pairs = [Replacement(*row) for row in connection.execute(_FOUND)]
    return sorted(verdicts.unsaid(pairs, verdicts.of_pairs(connection)), key=lambda pair: (-pair.probability, pair))


def statements_of_older(connection: Connection) -> list[tuple[int, int]]:
    """Number and passage of each statement of the memories that have one which may be replaced, in order."""
    return connection.execute(
        "SELECT number, passage FROM statements WHERE passage AND number IN (SELECT older FROM replacements"
        " UNION SELECT number FROM verdicts JOIN memories ON id IN (older, newer)) ORDER BY number, passage"
    ).fetchall()


def last_compared(connection: Connection) -> int:
    """The number of the last memory that was compared; 0 if none was. They are compared in the order of the numbers."""
    (number,) = connection.execute("SELECT coalesce(max(number), 0) FROM statements").fetchone()
    return int(number)


def uncompared(connection: Connection) -> int:
    """How many visible memories were not compared yet."""
    query = "SELECT count(*) FROM memories WHERE hidden = 0 AND number > ?"
    return int(connection.execute(query, (last_compared(connection),)).fetchone()[0])


def known(connection: Connection, memory_ids: Sequence[str]) -> list[KnownPair]:
    """What is known of the statements of these memories, whatever their status; of a pair, the last one counts."""
    from .values import KnownPair  # not at the top: a question does not need it

    found = connection.execute(_BETWEEN, (json.dumps(list(memory_ids)),))
    return [
        *(KnownPair((a, words), (b, other), probability) for a, words, b, other, probability in found),
        *verdicts.between(connection, memory_ids),
    ]


class Replacements:
    """The pairs, through the one writer's connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def use(self, judge: str) -> None:
        """Forget what another judge than this one found, so that all memories are compared again."""
        if database.meta(self._connection, _JUDGE) != judge:
            with database.transaction(self._connection):
                self._connection.execute("DELETE FROM statements")
                self._connection.execute("DELETE FROM replacements")
                database.set_meta(self._connection, _JUDGE, judge)

    def uncompared(self, limit: int) -> list[int]:
        """The numbers of visible memories that were not compared yet, the lowest first, at most ``limit``."""
        query = (
            "SELECT number FROM memories WHERE hidden = 0 AND NOT EXISTS"
            " (SELECT 1 FROM statements WHERE statements.number = memories.number AND passage = 0)"
            " ORDER BY number LIMIT ?"
        )
        return [number for (number,) in self._connection.execute(query, (limit,))]

    def unsaid(self) -> list[Replacement]:
        """The pairs on which nobody was asked yet, the most probable first."""
        return unsaid(self._connection)

    def statements(self) -> list[tuple[int, int, int, str | None, float]]:
        """Number, passage, row in the vector file, topic and date (seconds since 1970) of all visible statements."""
        return self._connection.execute(
            "SELECT number, passage, passage_row + passage, topic_id, coalesce(dated, 0)"
            " FROM statements JOIN memories USING (number) WHERE passage AND hidden = 0 ORDER BY number, passage"
        ).fetchall()

    def place(self, number: int) -> tuple[int, str | None, float]:
        """The first row in the vector file, the topic and the date of a memory."""
        row: tuple[int, str | None, float] = self._connection.execute(
            "SELECT passage_row, topic_id, coalesce(dated, 0) FROM memories WHERE number = ?", (number,)
        ).fetchone()
        return row

    def note(
        self, compared: Mapping[int, Mapping[int, str]], pairs: Sequence[tuple[int, int, int, int, float]]
    ) -> None:
        """Record that memories were compared, with the passages and digests of their statements, and what was found."""
        with database.transaction(self._connection):
            self._connection.executemany(
                "INSERT OR IGNORE INTO statements VALUES (?, ?, ?)",
                [(number, *each) for number, own in compared.items() for each in ((0, ""), *own.items())],
            )
            self._connection.executemany("INSERT OR REPLACE INTO replacements VALUES (?, ?, ?, ?, ?)", pairs)
