"""The worker's log: its file, the two formats of a line, and the copying of its processes' output into it."""

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
_LINE_BYTES = 128 * 1024  # of a JSON line of our own processes: the longest form of a message with a trace
_TEXT_CHARACTERS = 2000  # of a line that is not ours, such as a library's
_BURST, _PER_SECOND = 500.0, 20.0  # lines of a process: at once, and on average


def of_job(record: Record, **more: Any) -> dict[str, Any]:
    """The fields of a log line about a job, for logging's ``extra``."""
    return log_lines.fields(**(_known(record) | more))


def about(records: Collection[Record]) -> AbstractContextManager[None]:
    """A context in which this thread's log lines get the fields of the job; of several jobs, only their number."""
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


def set_up(path: Path | None, level: str, form: Literal["human", "json"], *, foreground: bool = True) -> None:
    """Configure logging to the file, if there is one, and in the foreground to stderr."""
    handlers: list[logging.Handler] = [] if path is None else [_PrivateFile(path)]
    if foreground:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(log_lines.JsonLines() if form == "json" else _HumanLines())
    logging.basicConfig(level=level, handlers=handlers, force=True)
    logging.getLogger("huey").setLevel(logging.WARNING)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells of each request
    logging.raiseExceptions = False  # logging must not print its own errors to stderr


def rotated_files(path: Path) -> list[Path]:
    """The paths that the log's rotated files have, newest first. Not all of them need exist."""
    return [Path(f"{path}.{number}") for number in range(1, _FILES + 1)]


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """A log file that is rotated by size; only its owner may read the files."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=_FILE_BYTES, backupCount=_FILES, encoding="utf-8", errors="backslashreplace")

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """Whether the file is full. The line is not added: each would be formatted twice."""
        return self.stream is not None and os.fstat(self.stream.fileno()).st_size >= self.maxBytes

    def _open(self) -> io.TextIOWrapper:
        stream = cast(
            io.TextIOWrapper,
            open(  # noqa: SIM115 - logging closes it; Path.open takes no opener
                self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors, opener=_open_private
            ),
        )
        if sys.platform != "win32":
            os.fchmod(stream.fileno(), 0o600)  # for a file that existed with another mode
        return stream


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class _HumanLines(logging.Formatter):
    """``2026-11-20 20:00:00,123 INFO    worker.scheduling.runner succeeded job_id=… kind=ingest``.

    A correlation id that equals the job's id is left out. Further lines, such as a trace's, are indented and control
    characters are escaped, so that quoted text can neither forge a log line nor control a terminal.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """The line with its fields, and with secrets masked."""
        first, *rest = masked(super().format(record)).split("\n")
        known = log_lines.fields_of(record)
        if known.get("correlation_id") == known.get("job_id"):
            known.pop("correlation_id", None)
        fields = "".join(f" {name}={masked(str(known[name]))}" for name in log_lines.FIELDS if name in known)
        return "\n".join([_shown(first + fields), *(f"  {_shown(line)}" for line in rest)])


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(10, 32), *range(127, 160), 0x2028, 0x2029)}


def _shown(line: str) -> str:
    return line.translate(_CONTROLS)


class RateLimiter:
    """The rate limiter of a process's log lines: a token bucket."""

    def __init__(self) -> None:
        self._left = _BURST
        self._at: float | None = None
        self._missed = 0

    def passes(self, now: float) -> tuple[bool, int]:
        """Whether the line passes, and how many were dropped since the last one that passed.

        ``now``: seconds of a monotonic clock.
        """
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
    """Copy a process's stderr into the log until it closes, with a rate limit.

    The process's own log lines keep their level and fields; other text becomes lines of the logger ``to``.
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
            logged = log_lines.parse_line(text)
            if logged is None:
                to.info("%s", text[:_TEXT_CHARACTERS])
            elif to.isEnabledFor(logged.levelno):
                if logged.name != to.name:
                    logged.name = f"{to.name}.{logged.name}"
                to.handle(logged)
