"""The rows that a copy lacks, kept in a file without a name: they are read twice, and may be gigabytes.

So the database's snapshot is free again before anything is applied, and memory holds only a few at a time.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO

from ...team.rows import FeedRow, SharedRow

_IN_MEMORY = 16 * 1024 * 1024


class IncomingRows:
    """As a context that removes the file. Each iteration reads all rows, in their order."""

    def __init__(self, rows: Iterable[FeedRow], folder: Path) -> None:
        """Keep the rows. Raises OSError, and what reading them raises."""
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=str(folder))  # noqa: SIM115 - this object is its context
        try:
            for seq, row in rows:
                size = None if row.vectors is None else len(row.vectors)
                head = json.dumps([seq, row.table, row.key, row.value, size], ensure_ascii=False)
                self._file.write(head.encode("utf-8", "surrogatepass") + b"\n" + (row.vectors or b""))
        except BaseException:
            self._file.close()
            raise

    def __iter__(self) -> Iterator[FeedRow]:
        self._file.seek(0)
        while head := self._file.readline():
            seq, table, key, value, size = json.loads(head.decode("utf-8", "surrogatepass"))
            vectors = None if size is None else self._file.read(size)
            yield FeedRow(seq, SharedRow(table, key, value, vectors))

    def __enter__(self) -> IncomingRows:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
