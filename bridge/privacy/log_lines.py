"""A line of the log as one JSON object: what the worker's own processes say on stderr, and what its log file holds
where ``log_format`` is json.

A line says which job it is about in fields of its own. Whoever logs gives them as ``extra=fields(...)``, or works
inside ``about(...)``.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from jobs import clock

from .masking import masked

FIELDS = ("job_id", "correlation_id", "kind", "attempt", "code", "generation", "jobs")
CHARACTERS = 8000  # of a message, at most

_about: ContextVar[dict[str, Any]] = ContextVar("about", default={})  # noqa: B039 - never changed in place


def fields(**known: Any) -> dict[str, Any]:
    """What a line is about, as logging's ``extra``: some of ``FIELDS``. Those that are None are left out."""
    return {"fields": {name: known[name] for name in FIELDS if known.get(name) is not None}}


@contextmanager
def about(**known: Any) -> Iterator[None]:
    """Every line that is logged inside, in this thread, has these fields."""
    token = _about.set(fields(**known)["fields"])
    try:
        yield
    finally:
        _about.reset(token)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """What the line is about; to be asked in the thread that logs it."""
    return {**_about.get(), **getattr(record, "fields", {})}


class JsonLines(logging.Formatter):
    """``{"at", "level", "logger", "message", "pid", …}``: the fields, and ``trace`` where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": clock.iso(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname,
            "logger": record.name,
            "message": _bounded(record.getMessage()),
            "pid": record.process,
            **{name: masked(v) if isinstance(v, str) else v for name, v in fields_of(record).items()},
        }
        if record.exc_info:
            line["trace"] = _bounded(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


def _bounded(text: str) -> str:
    text = masked(text)
    return text if len(text) <= CHARACTERS else f"{text[:CHARACTERS]}… ({len(text) - CHARACTERS} characters left out)"


def parsed(line: str) -> logging.LogRecord | None:
    """The record that another process of ours has said; None for anything else."""
    if not line.startswith("{"):
        return None
    try:
        said = json.loads(line)
        level = logging.getLevelNamesMapping()[said["level"]]
        name, message, pid = str(said["logger"]), str(said["message"]), int(said["pid"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if trace := said.get("trace"):
        message += f"\n{trace}"
    record = logging.makeLogRecord({"name": name, "levelno": level, "levelname": said["level"], "msg": message})
    record.process = pid
    record.fields = fields(**{name: said.get(name) for name in FIELDS})["fields"]
    return record


def on_stderr() -> logging.Handler:
    """Log warnings and worse as such lines on stderr, whatever was set up before: the worker reads them there."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    return handler
