"""The worker's log: its file, the two forms of a line, and how the lines of its processes come into it."""

from __future__ import annotations

import io
import logging
import logging.handlers
import os
import sys
import time
from collections.abc import Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, Literal, cast

from bridge.privacy import log_lines
from bridge.privacy.masking import masked
from jobs.model import Record

_FILE_BYTES, _FILES = 5 * 1024 * 1024, 3
_LINE_BYTES = 128 * 1024  # of one of our own processes' lines: a message and a trace, in JSON's longest form
_TEXT_CHARACTERS = 2000  # of a line that somebody else wrote
_BURST, _PER_SECOND = 500.0, 20.0  # lines of a process, at once and on average


def of_job(record: Record, **more: Any) -> dict[str, Any]:
    """The fields of a line about a job, as logging's ``extra``."""
    return log_lines.fields(**(_known(record) | more))


def about(records: Collection[Record]) -> AbstractContextManager[None]:
    """Every line that this thread logs inside is about these jobs: of one the ids, of several how many they are."""
    if len(records) == 1:
        return log_lines.log_context(**_known(next(iter(records))))
    return log_lines.log_context(jobs=len(records))


def _known(record: Record) -> dict[str, Any]:
    return {
        "job_id": record.job_id,
        "correlation_id": record.correlation_id or record.job_id,
        "kind": record.kind,
        "attempt": record.attempt or None,
    }


def set_up(path: Path, level: str, form: Literal["human", "json"], *, foreground: bool) -> None:
    """Log to the file, and in the foreground to stderr as well."""
    handlers: list[logging.Handler] = [_PrivateFile(path)]
    if foreground:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(log_lines.JsonLines() if form == "json" else _HumanLines())
    logging.basicConfig(level=level, handlers=handlers, force=True)
    logging.getLogger("huey").setLevel(logging.WARNING)
    logging.raiseExceptions = False  # a log that cannot be written is no reason to write elsewhere


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """Rotated by size; nobody but its owner may read any of the files."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=_FILE_BYTES, backupCount=_FILES, encoding="utf-8", errors="backslashreplace")

    def _open(self) -> io.TextIOWrapper:
        stream = cast(
            io.TextIOWrapper,
            open(  # noqa: SIM115 - logging closes it; Path.open takes no opener
                self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors, opener=_open_private
            ),
        )
        if sys.platform != "win32":
            os.fchmod(stream.fileno(), 0o600)  # it may have been there
        return stream


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class _HumanLines(logging.Formatter):
    """``2026-11-20 20:00:00,123 INFO    worker.scheduling.runner succeeded job_id=… kind=ingest``.

    A correlation id that is the job's own id is not repeated. Further lines, such as a trace's, are indented:
    whatever is quoted, no line of the log begins with it, and no terminal obeys it.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        first, *rest = masked(super().format(record)).split("\n")
        known = log_lines.fields_of(record)
        if known.get("correlation_id") == known.get("job_id"):
            known.pop("correlation_id", None)
        told = "".join(f" {name}={masked(str(known[name]))}" for name in log_lines.FIELDS if name in known)
        return "\n".join([_shown(first + told), *(f"  {_shown(line)}" for line in rest)])


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(10, 32), *range(127, 160), 0x2028, 0x2029)}


def _shown(line: str) -> str:
    return line.translate(_CONTROLS)


class RateLimiter:
    """Limits a process's lines: a bucket that fills at a steady rate. ``now`` is in seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._left = _BURST
        self._at: float | None = None
        self._missed = 0

    def passes(self, now: float) -> tuple[bool, int]:
        """Whether the line passes, and how many before it did not since the last one that passed."""
        if self._at is not None:
            self._left = min(_BURST, self._left + (now - self._at) * _PER_SECOND)
        self._at = now
        if self._left < 1:
            self._missed += 1
            return False, 0
        self._left -= 1
        missed, self._missed = self._missed, 0
        return True, missed


def pump(stream: IO[bytes], to: logging.Logger) -> None:
    """Move a process's stderr into the log until it closes; a flood of it is cut.

    What the process logs arrives as it was logged; whatever else is written there is a text of that logger.
    """
    limiter = RateLimiter()
    with io.BufferedReader(cast(io.RawIOBase, stream)) as buffered:
        while line := buffered.readline(_LINE_BYTES):
            text = line.decode("utf-8", "replace").rstrip()
            if not text:
                continue
            passes, missed = limiter.passes(time.monotonic())
            if missed:
                to.warning("%d lines of output were left out", missed)
            if not passes:
                continue
            said = log_lines.parse_line(text)
            if said is None:
                to.info("%s", text[:_TEXT_CHARACTERS])
            elif to.isEnabledFor(said.levelno):
                if said.name != to.name:
                    said.name = f"{to.name}.{said.name}"
                to.handle(said)
