"""The history of compactions without texts: ids and digests in place of what people wrote. Pure.

A forgetting does not look for texts in the history, so none may get there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from jobs import clock
from jobs.ids import is_job_id
from jobs.scrub import is_plain

_CONFLICT_ID = re.compile(r"[0-9a-f]{8}")


def digested(conflicts: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """A preview's conflicts with SHA-256 digests in place of their texts."""
    return tuple(map(_conflict, conflicts))


def _conflict(conflict: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "conflict_id": conflict["conflict_id"],
        "kind": conflict["kind"],
        "confidence": conflict["confidence"],
        "judged_by": conflict.get("judged_by", "rules"),
        **{side: _digested(conflict[side]) for side in ("earlier", "later")},
    }


def _digested(side: Mapping[str, Any]) -> dict[str, str]:
    return {"memory_id": side["memory_id"], "text_sha256": sha256(side["text"].encode()).hexdigest()}


def without_texts(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the history, as an export has it, without anything that a person wrote: a file may have been edited.

    Texts are replaced by their SHA-256. A value is removed if it should be a job id or a time and is not.
    """
    clean = {
        "job_id": _job_id(row["job_id"]),
        "job_sha256": _plain(row["job_sha256"]),
        "preview_digest": _plain(row["preview_digest"]),
        "narrative_source": _plain(row["narrative_source"]),
        "sources": [_plain_source(source) for source in row["sources"]],
        "conflicts": [_plain_conflict(conflict) for conflict in row["conflicts"]],
        "restored_by": None if row.get("restored_by") is None else _job_id(row["restored_by"]),
    }
    return {**row, **clean}


def _plain_source(source: Mapping[str, Any]) -> dict[str, Any]:
    set_at = source.get("status_set_at")
    return {
        **source,
        "content_sha256": _plain(source["content_sha256"]),
        "status_set_at": set_at if set_at is None or _is_time(set_at) else None,
    }


def _plain_conflict(conflict: Mapping[str, Any]) -> dict[str, Any]:
    """A conflict with its known fields only; a side's ``text`` becomes ``text_sha256``."""
    plain: dict[str, Any] = {name: _plain(conflict[name]) for name in ("kind", "judged_by") if name in conflict}
    if isinstance(found := conflict.get("conflict_id"), str) and _CONFLICT_ID.fullmatch(found):
        plain["conflict_id"] = found
    if isinstance(conflict.get("confidence"), int | float):
        plain["confidence"] = conflict["confidence"]
    for name in ("earlier", "later"):
        side = conflict.get(name)
        if isinstance(side, dict):
            plain[name] = {each: _plain(side[each]) for each in ("memory_id", "text_sha256") if each in side}
            if isinstance(side.get("text"), str):
                plain[name]["text_sha256"] = sha256(side["text"].encode()).hexdigest()
    return plain


def _plain(value: object) -> str:
    """An id, a digest, or one of our own words as it is; the SHA-256 of any other text; "" for any other value."""
    if not isinstance(value, str):
        return ""
    return value if not value or is_plain(value) else sha256(value.encode()).hexdigest()


def _is_time(text: str) -> bool:
    try:
        clock.parse(text)
    except ValueError:
        return False
    return True


def _job_id(value: str) -> str:
    return value if is_job_id(value) else ""
