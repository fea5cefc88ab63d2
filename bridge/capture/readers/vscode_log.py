"""A session of VS Code chat, replayed from its log of changes (``.jsonl``), reduced to what is needed of it.

The first record is the whole session; each further one changes the value at a path: ``{"kind": 0, "v": session}``
begins, also again when the log was compacted; ``1`` sets a property; ``2`` cuts an array to ``i`` elements, if given,
and appends ``v``; ``3`` deletes a property. Positions count all elements of an array, so an element is never left out,
only reduced: what tools returned and what was attached does not stay in memory.
"""

from __future__ import annotations

import errno
from typing import Any, BinaryIO

from ..session import Findings
from . import json_lines
from .json_lines import WHOLE_LIMIT

_INITIAL, _SET, _PUSH, _DELETE = range(4)

# What is kept of a value: of an object these properties, of an array that of each element, else (None) all.
_Kept = dict[str, Any] | list[Any] | None
_EDIT: _Kept = dict.fromkeys(("uri", "resource", "newResource"))
_PART: _Kept = dict.fromkeys("kind value content name inlineReference toolId uri resource isEdit".split()) | {
    "edits": [_EDIT]
}
_REQUEST: _Kept = dict.fromkeys(
    "requestId timestamp message shouldBeRemovedOnSend isHidden hiddenFromTranscript isSystemInitiated"
    " modelState".split()
) | {"response": [_PART], "editedFileEvents": [_EDIT]}
_SESSION: _Kept = {"version": None, "requests": [_REQUEST]}
_MAX_INDEX = 100_000


class DamagedLogError(ValueError):
    """A record does not fit to what is before it."""


def replay(file: BinaryIO, findings: Findings) -> dict[str, Any]:
    """The session at the end of the log.

    After a record that is damaged or too large, positions may be wrong: what follows is left, up to the next beginning.
    Raises OSError if there is no beginning: the log may be half written.
    """
    session: dict[str, Any] | None = None
    is_damaged = False
    oversized = 0
    for _, line in json_lines.lines(file, findings, WHOLE_LIMIT):
        if oversized != findings.left_out[json_lines.OVERSIZED]:
            oversized, is_damaged = findings.left_out[json_lines.OVERSIZED], True
        record = json_lines.record(line, findings)
        if record is None:
            is_damaged = True
        elif record.get("kind") == _INITIAL and isinstance(record.get("v"), dict):
            session, is_damaged = reduced_session(record["v"]), False
        elif is_damaged:
            findings.damaged += 1
        elif session is not None:
            try:
                _apply(session, record, findings)
            except DamagedLogError:
                findings.damaged += 1
                is_damaged = True
    if session is None:
        raise OSError(errno.EIO, "not read: it has no beginning, or is only half written", file.name)
    return session


def reduced_session(value: dict[str, Any]) -> dict[str, Any]:
    """A whole session, reduced."""
    reduced: dict[str, Any] = _reduced(_SESSION, value)
    return reduced


def _reduced(kept: _Kept, value: Any) -> Any:
    """A value reduced to what is kept of it."""
    if isinstance(value, list) and isinstance(kept, list):
        return [_reduced(kept[0], item) for item in value]
    if isinstance(value, dict) and isinstance(kept, dict):
        return {name: _reduced(kept[name], item) for name, item in value.items() if name in kept}
    return value


def _kept_at(path: list[Any]) -> _Kept:
    """What is kept of the value at a path. Raises KeyError if it is not kept at all."""
    kept: _Kept = _SESSION
    for step in path:
        if isinstance(kept, dict):
            kept = kept[step] if isinstance(step, str) else None
        elif kept is not None:
            kept = kept[0]
    return kept


def _apply(session: dict[str, Any], record: dict[str, Any], findings: Findings) -> None:
    kind, path = record.get("kind"), record.get("k")
    if kind not in (_SET, _PUSH, _DELETE):
        findings.unknown[f"change of kind {kind}"[:80]] += 1
        raise DamagedLogError
    if not isinstance(path, list) or not path:
        raise DamagedLogError
    try:
        kept = _kept_at(path)
    except KeyError:
        return
    value = record.get("v")
    parent: Any = session
    for step in path[:-1]:
        parent = _child(parent, step)
    last = path[-1]
    if kind == _PUSH:
        present = _child(parent, last, missing=[])
        start = record.get("i")
        if not isinstance(present, list) or not isinstance(value, list | None):
            raise DamagedLogError
        if isinstance(start, int) and 0 <= start <= len(present):
            del present[start:]
        elif start is not None:
            raise DamagedLogError
        present.extend(_reduced(kept, value or []))
        value = present
    elif kind == _SET:
        value = _reduced(kept, value)
    else:
        value = None
    _put(parent, last, value)


def _child(parent: Any, step: Any, missing: Any = None) -> Any:
    if isinstance(parent, dict) and isinstance(step, str):
        found = parent.get(step)
        found = missing if found is None else found
    elif isinstance(parent, list) and isinstance(step, int) and 0 <= step < len(parent):
        found = parent[step]
    else:
        raise DamagedLogError
    if found is None:
        raise DamagedLogError
    return found


def _put(parent: Any, step: Any, value: Any) -> None:
    if isinstance(parent, dict) and isinstance(step, str):
        parent[step] = value
    elif isinstance(parent, list) and isinstance(step, int) and 0 <= step < min(len(parent) + 1, _MAX_INDEX):
        parent[step : step + 1] = [value]
    else:
        raise DamagedLogError
