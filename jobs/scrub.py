"""What is left of an ended job's files once a memory that they tell of is forgotten. Decides all, touches nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from .diagnostics import DIAGNOSTICS, FIXES, GROUPS, LEVELS
from .errors import ERRORS, JobError
from .model import KINDS, Record

if TYPE_CHECKING:
    from . import schema

# Ids, digests and times. What else is a string may be somebody's words.
_PLAIN = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|[0-9a-f]{16,64}"
    r"|\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?",
)

# What a result says in a word of our own.
WORDS = frozenset(
    {
        "Draft", "Active", "Superseded", "DecisionRecord", "legacy", "summary", "decision_record",
        "forgotten", "status_changed", "merged", "renumbered", "kept", "duplicate", "conflict", "failed",
        "migrated", "already_migrated", "skipped", "remaining",
        "negation", "choice", "value", "toggle", "reversal", "template", "llm", "rules", "index", "graph", "both",
        *DIAGNOSTICS, *LEVELS, *GROUPS, *FIXES,
    }
)  # fmt: skip


# In the result of a forgetting as it comes from the child: what the worker is to do before the job may end.
JOB_FILES = "job_files"


def name_digest(name: str) -> str:
    """What stands for a file's name where no words may be kept."""
    return sha256(name.encode("utf-8", "surrogateescape")).hexdigest()


def without_texts(record: Record) -> Record:
    """An ended record without the texts of its result and its error: ids, digests, counts, times and states stay.

    Again is the same as once. The result is still of its kind's shape.
    """
    return replace(record, result=emptied(record.result), error=_plain_error(record.error))


def emptied(value: Any) -> Any:
    """A JSON value without texts: a string becomes empty, or is left out of its list."""
    if isinstance(value, dict):
        return {name: emptied(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [emptied(inner) for inner in value if not isinstance(inner, str) or is_plain(inner)]
    if isinstance(value, str) and not is_plain(value):
        return ""
    return value


def is_plain(text: str) -> bool:
    """Whether a string tells nothing of what anybody wrote."""
    return text in WORDS or text in KINDS or text in ERRORS or _PLAIN.fullmatch(text) is not None


def _plain_error(error: schema.JobError | None) -> schema.JobError | None:
    """The error as the table has it, without what happened this time."""
    if error is None or error["code"] not in ERRORS:
        return None if error is None else {**error, "message": "", "details": {}}
    return JobError(error["code"]).as_dict()


def keeps_copy(record: Record) -> bool:
    """Whether the copy of an ended job is kept for a replay. That of a memory that was forgotten meanwhile would keep
    its text, and that of a forgetting may name a topic that is forgotten itself."""
    if record.kind == "forget" and record.state == "succeeded":
        return False
    return not (record.state == "failed" and record.error is not None and record.error["code"] == "MEMORY_FORGOTTEN")
