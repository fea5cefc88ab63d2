"""The full-text index, as the writer fills, checks and rebuilds it.

A new index is a table beside the old one. The transaction that names it makes the switch, so readers see one or the
other. It cannot replace the old table directly, since a damaged table may not even be droppable.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from ..memory import Memory
from ..slices import Slices
from ..text.terms import INDEX_FORMAT
from . import database, migrations
from .catalogue import WINDOW_STEP
from .full_text import FIRST_TABLE, is_damage, is_table, rows_of, table_in_force

# (number, limit) -> at most ``limit`` memories with a higher number, in order.
MemoriesAfter = Callable[[int, int], Sequence[Memory]]

_TOGETHER = 100  # memories of one transaction


class WordIndex:
    """The index, through the one writer's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, memory: Memory) -> None:
        """Index a memory that has its number, inside the transaction that stores it."""
        if database.meta(self._connection, "words_format") is None and self._count() == 1:  # a new store
            self._note_format()
        self._insert(table_in_force(self._connection), memory)

    def remove(self, number: int) -> None:
        """Remove a memory, inside the transaction that deletes or hides it."""
        self._delete(table_in_force(self._connection), number)

    def _delete(self, table: str, number: int) -> None:
        delete = f"DELETE FROM {table} WHERE rowid = ?"  # noqa: S608 - one of our own names
        self._connection.execute(delete, (number,))
        window = number + WINDOW_STEP
        while self._connection.execute(delete, (window,)).rowcount > 0:
            window += WINDOW_STEP

    @property
    def is_of_old(self) -> bool:
        """Whether the memories were indexed in an older form than queries use now."""
        return database.meta(self._connection, "words_format") != str(INDEX_FORMAT) and self._count() > 0

    def _count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM memories WHERE hidden = 0").fetchone()[0])

    def _note_format(self) -> None:
        database.set_meta(self._connection, "words_format", str(INDEX_FORMAT))

    def _insert(self, table: str, memory: Memory) -> None:
        self._connection.executemany(
            f"INSERT INTO {table} (rowid, topic, body) VALUES (?, ?, ?)",  # noqa: S608 - one of our own names
            rows_of(memory),
        )

    def is_sound(self, *, closely: bool = True) -> bool:
        """Whether the index has all memories and, if ``closely``, agrees with their words, since a search need not
        raise on damage.

        Closely takes 40 ms for 1,000 memories, and 1.2 s for 30,000; otherwise a twentieth of that.
        """
        table = table_in_force(self._connection)
        try:
            if closely:
                self._connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")  # noqa: S608
            firsts = f"SELECT count(*) FROM {table} WHERE rowid < {2 * WINDOW_STEP}"  # noqa: S608
            (indexed,) = self._connection.execute(firsts).fetchone()
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            return False
        return bool(indexed == self._count())

    def rebuild(self, memories_after: MemoriesAfter, slices: Slices) -> int:
        """Fill a new index and switch to it. Returns how many memories it holds.

        Other jobs may add memories between slices; these are included before the switch.
        """
        old = table_in_force(self._connection)
        new = f"{FIRST_TABLE}_{int(old.partition('_')[2] or 1) + 1}"
        self.drop_leftovers()
        with database.transaction(self._connection):
            self._connection.execute(migrations.WORDS.format(table=new))
        last, taken = 0, set[int]()
        while memories := memories_after(last, _TOGETHER):
            with database.transaction(self._connection):
                for memory in memories:
                    self._insert(new, memory)
            last = memories[-1].number
            taken.update(memory.number for memory in memories)
            slices.advance(len(memories))
        with database.transaction(self._connection):
            # Memories that were hidden meanwhile, or came back under a number that was passed already.
            visible = {number for (number,) in self._connection.execute("SELECT number FROM memories WHERE hidden = 0")}
            for number in taken - visible:
                self._delete(new, number)
            for number in visible - taken:
                self._insert(new, memories_after(number - 1, 1)[0])
            database.set_meta(self._connection, "words_table", new)
            self._note_format()
        self.drop_leftovers()
        return len(visible)

    def purge(self) -> None:
        """Rewrite the index in place from the words that it stores; until then it keeps traces of removed memories."""
        self.drop_leftovers()
        table = table_in_force(self._connection)
        self._connection.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")  # noqa: S608 - one of our own names

    def drop_leftovers(self) -> None:
        """Drop indexes that are not in force: former ones, and parts of a rebuild that was cut off."""
        tables = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'"
        ).fetchall()
        for (name,) in tables:
            if is_table(name) and name != table_in_force(self._connection):
                try:
                    self._connection.execute(f"DROP TABLE {name}")
                except sqlite3.DatabaseError as error:
                    import logging  # imported here, since every query pays for each import

                    logging.getLogger(__name__).warning(
                        "the former full-text index %s cannot be dropped and is left: %s", name, error
                    )
