"""A log line as one JSON object: what the worker's processes write to stderr, and the worker's log file if
``log_format`` is json.

A line has fields that identify its job. The caller passes them as ``extra=fields(...)``, or logs inside
``log_context(...)``. Files, rotation and rate limits of the log belong to the worker.
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
MAX_CHARACTERS = 8000  # of a message

_about: ContextVar[dict[str, Any]] = ContextVar("about", default={})  # noqa: B039 - never changed in place


def fields(**known: Any) -> dict[str, Any]:
    """The ``extra`` argument for a logging call: the known ones of ``FIELDS``, without those that are None."""
    return {"fields": {name: known[name] for name in FIELDS if known.get(name) is not None}}


@contextmanager
def log_context(**known: Any) -> Iterator[None]:
    """A context in which every line that this thread logs has these fields."""
    token = _about.set(fields(**known)["fields"])
    try:
        yield
    finally:
        _about.reset(token)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """The fields of a log record. Call it in the thread that logged the record."""
    return {**_about.get(), **getattr(record, "fields", {})}


class JsonLines(logging.Formatter):
    """``{"at", "level", "logger", "message", "pid", …}``: the fields, and ``trace`` where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line of JSON, with keys masked and texts cut at ``MAX_CHARACTERS``."""
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
    return (
        text
        if len(text) <= MAX_CHARACTERS
        else f"{text[:MAX_CHARACTERS]}… ({len(text) - MAX_CHARACTERS} characters left out)"
    )


def parse_line(line: str) -> logging.LogRecord | None:
    """The log record in a line of this form, as another of our processes wrote it; None for any other line."""
    if not line.startswith("{"):
        return None
    try:
        content = json.loads(line)
        level = logging.getLevelNamesMapping()[content["level"]]
        name, message, pid = str(content["logger"]), str(content["message"]), int(content["pid"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if trace := content.get("trace"):
        message += f"\n{trace}"
    record = logging.makeLogRecord({"name": name, "levelno": level, "levelname": content["level"], "msg": message})
    record.process = pid
    record.fields = fields(**{name: content.get(name) for name in FIELDS})["fields"]
    return record


def log_to_stderr() -> logging.Handler:
    """Log warnings and errors as such lines to stderr, where the worker reads them; replaces any earlier set-up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    return handler
