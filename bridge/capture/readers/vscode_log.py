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

# The properties that are kept, by what they belong to.
_OF_SESSION = frozenset({"version", "requests"})
_OF_REQUEST = frozenset(
    "requestId timestamp message response editedFileEvents shouldBeRemovedOnSend isHidden hiddenFromTranscript"
    " isSystemInitiated modelState".split()
)
_OF_PART = frozenset("kind value content name inlineReference toolId uri resource edits isEdit".split())
_OF_EDIT = frozenset({"uri", "resource", "newResource"})
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
    return {name: _reduced((name,), item) for name, item in value.items() if name in _OF_SESSION}


def _reduced(path: tuple[Any, ...], value: Any) -> Any:
    """A value reduced to what is kept at its path. Numbers in the path stand for elements."""
    kept = _kept_at(path)
    if isinstance(value, list) and _is_array(path):
        return [_reduced((*path, 0), item) for item in value]
    if isinstance(value, dict) and kept is not None:
        return {name: _reduced((*path, name), item) for name, item in value.items() if name in kept}
    return value


def _is_array(path: tuple[Any, ...]) -> bool:
    return path == ("requests",) or (
        path[0] == "requests" and (path[2:] in (("response",), ("editedFileEvents",)) or path[4:] == ("edits",))
    )


def _kept_at(path: tuple[Any, ...]) -> frozenset[str] | None:
    match len(path):
        case 2 if path[0] == "requests":
            return _OF_REQUEST
        case 4 if path[2] == "response":
            return _OF_PART
        case 4 if path[2] == "editedFileEvents":
            return _OF_EDIT
        case 6 if path[4] == "edits":
            return _OF_EDIT
    return None


def _apply(session: dict[str, Any], record: dict[str, Any], findings: Findings) -> None:
    kind, path = record.get("kind"), record.get("k")
    if kind not in (_SET, _PUSH, _DELETE):
        findings.unknown[f"change of kind {kind}"[:80]] += 1
        raise DamagedLogError
    if not isinstance(path, list) or not path:
        raise DamagedLogError
    if not _is_kept(path):
        return
    shape = tuple(0 if isinstance(step, int) else step for step in path)
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
        present.extend(_reduced((*shape, 0), item) for item in value or [])
        value = present
    elif kind == _SET:
        value = _reduced(shape, value)
    else:
        value = None
    _put(parent, last, value)


def _is_kept(path: list[Any]) -> bool:
    """Whether a change at this path concerns what is kept."""
    kept: frozenset[str] | None = _OF_SESSION
    for depth, step in enumerate(path):
        if isinstance(step, str) and kept is not None and step not in kept:
            return False
        kept = _kept_at(tuple(0 if isinstance(each, int) else each for each in path[: depth + 1]))
    return True


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
