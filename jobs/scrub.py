"""Decides what remains of an ended job's files after a memory that they mention is forgotten.

Pure: ``spool.scrub`` writes and removes the files.
"""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from .diagnostics import DIAGNOSTICS, FIXES, GROUPS, LEVELS
from .errors import ERRORS, JobError
from .kinds import KIND_NAMES, KINDS
from .model import Record

if TYPE_CHECKING:
    from . import schema

# Ids, digests and times. Any other string may contain text that a person wrote.
_PLAIN = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|[0-9a-f]{16,64}"
    r"|\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?",
)

# The fixed words that results contain.
WORDS = frozenset({*(word for kind in KINDS for word in kind.words), *DIAGNOSTICS, *LEVELS, *GROUPS, *FIXES})


# The field of a forget job's result, as the child sends it, that lists the work of the worker before the job may end.
JOB_FILES = "job_files"


def name_digest(name: str) -> str:
    """The SHA-256 of a file's name, used in place of the name where no text may be kept."""
    return sha256(name.encode("utf-8", "surrogateescape")).hexdigest()


def without_texts(record: Record) -> Record:
    """An ended record without the texts of its result and error. Ids, digests, counts, times and states stay.

    Idempotent. The result keeps the shape of its kind.
    """
    return replace(record, result=without_strings(record.result), error=_plain_error(record.error))


def without_strings(value: Any) -> Any:
    """A JSON value without texts: a string that is not plain becomes empty, or is removed from its list."""
    if isinstance(value, dict):
        return {name: without_strings(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_strings(inner) for inner in value if not isinstance(inner, str) or is_plain(inner)]
    if isinstance(value, str) and not is_plain(value):
        return ""
    return value


def is_plain(text: str) -> bool:
    """Whether a string reveals no text that a person wrote: one of our own words, an id, a digest or a time."""
    return text in WORDS or text in KIND_NAMES or text in ERRORS or _PLAIN.fullmatch(text) is not None


def _plain_error(error: schema.JobError | None) -> schema.JobError | None:
    """The error with the table's message, without the message and details of this occurrence."""
    if error is None or error["code"] not in ERRORS:
        return None if error is None else {**error, "message": "", "details": {}}
    return JobError(error["code"]).as_dict()


def keeps_copy(record: Record) -> bool:
    """Whether the copy of an ended job is kept for a replay.

    Not kept: the copy of a job whose memory was forgotten meanwhile, which holds its text, and the copy of a forget
    job, which may name a forgotten topic.
    """
    if record.kind == "forget" and record.state == "succeeded":
        return False
    return not (record.state == "failed" and record.error is not None and record.error["code"] == "MEMORY_FORGOTTEN")
