"""A conversation of Cursor's editor, called composer: its record lists its messages, called bubbles, in order.

The list of a workspace's composers is in the table ``composerHeaders``, before that in one value for all workspaces,
and before version 3 in the workspace's own database. The records are values of ``cursorDiskKV``, with the keys
``composerData:<id>`` and ``bubbleId:<id>:<id>``.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..session import THINKING, TOOL_OUTPUT, Findings, Marker, Turn
from .foreign_database import ForeignDatabase, json_object
from .json_records import at, first_text, objects, strings, text
from .turn_builder import moment

FILE = "state.vscdb"
TESTED = 17  # the version of a composer's record

_USER, _ASSISTANT = 1, 2
_COMPACTION = 22  # the capability of a bubble that stands where the conversation was compacted
_PATHS = ("relativeWorkspacePath", "targetFile", "target_file", "file_path")
_HEADERS = {"composerId", "workspaceId", "lastUpdatedAt", "value"}


@dataclass(frozen=True, slots=True)
class Composer:
    """A composer in a list: when it was changed last, in milliseconds since 1970, and its title."""

    updated: int | None
    title: str | None


def listed(database: ForeignDatabase, workspace_id: str) -> dict[str, Composer]:
    """The composers of a workspace, by id, from the table and from the value for all workspaces."""
    found = {
        each["composerId"]: _composer(each)
        for each in _all_composers(database, "composer.composerHeaders")
        if at(each, "workspaceIdentifier", "id") == workspace_id
    }
    if not database.columns("composerHeaders") >= _HEADERS:
        return found
    query = "SELECT composerId, lastUpdatedAt, value FROM composerHeaders WHERE workspaceId = ?"
    return found | {
        composer_id: _composer({"lastUpdatedAt": updated, "name": at(json_object(value), "name")})
        for composer_id, updated, value in database.rows(query, (workspace_id,))
        if isinstance(composer_id, str)
    }


def listed_by_workspace(database: ForeignDatabase) -> dict[str, Composer]:
    """The same from the workspace's own database, as versions before 3 keep it."""
    return {each["composerId"]: _composer(each) for each in _all_composers(database, "composer.composerData")}


def _all_composers(database: ForeignDatabase, key: str) -> list[dict[str, Any]]:
    if not database.columns("ItemTable") >= {"key", "value"}:
        return []
    rows = database.rows("SELECT value FROM ItemTable WHERE key = ?", (key,))
    record = json_object(rows[0][0]) if rows else None
    return [each for each in objects(record, "allComposers") if isinstance(each.get("composerId"), str)]


def size_of(database: ForeignDatabase, composer_id: str) -> int | None:
    """The size of a composer's record; None if there is none."""
    if not database.columns("cursorDiskKV") >= {"key", "value"}:
        return None
    rows = database.rows("SELECT length(value) FROM cursorDiskKV WHERE key = ?", (f"composerData:{composer_id}",))
    return rows[0][0] if rows and isinstance(rows[0][0], int) else None


def said(database: ForeignDatabase, composer_id: str, findings: Findings) -> Iterator[Turn | Marker]:
    """What was said, in order, and where the conversation was compacted. Raises OSError if it is gone."""
    record = _value(database, f"composerData:{composer_id}", findings)
    if record is None:
        raise OSError(errno.ENOENT, f"not read: the conversation {composer_id} is gone, damaged or too large")
    version = record.get("_v")
    if isinstance(version, int) and version > TESTED:
        findings.newer = f"composer {version}"
    part = composer_id if record.get("subagentInfo") else ""
    for number, bubble in enumerate(_bubbles(database, composer_id, record, findings), 1):
        if bubble.get("capabilityType") == _COMPACTION:
            yield "compacted"
        else:
            found = _said(bubble, f"message {number}", part, findings)
            if found is not None:
                yield found


def _bubbles(
    database: ForeignDatabase, composer_id: str, record: dict[str, Any], findings: Findings
) -> Iterator[dict[str, Any]]:
    """The messages: each in a value of its own, or, as older versions keep them, inside of the record."""
    for header in objects(record, "fullConversationHeadersOnly"):
        bubble_id = str(header.get("bubbleId"))
        bubble = _value(database, f"bubbleId:{composer_id}:{bubble_id}", findings)
        if bubble is None:
            bubble = at(record, "conversationMap", bubble_id)
        if isinstance(bubble, dict):
            yield {"createdAt": header.get("createdAt"), **bubble}
    if not record.get("fullConversationHeadersOnly"):
        yield from objects(record, "conversation")


def _said(bubble: dict[str, Any], place: str, part: str, findings: Findings) -> Turn | None:
    kind = bubble.get("type")
    if kind not in (_USER, _ASSISTANT):
        findings.unknown[f"message of type {kind}"[:80]] += 1
        return None
    if bubble.get("thinking"):
        findings.left_out[THINKING] += 1
    call = bubble.get("toolFormerData")
    tools: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    if isinstance(call, dict) and call.get("name"):
        findings.left_out[TOOL_OUTPUT] += 1
        tools, files = strings([call["name"]]), strings([_file_of(call)])
    return Turn(
        "user" if kind == _USER else "assistant",
        text(bubble, "text") or "",
        place,
        moment(bubble.get("createdAt")),
        part=part,
        files=files,
        tools=Counter(tools),
    )


def _file_of(call: dict[str, Any]) -> str | None:
    given = (call.get("params"), call.get("rawArgs"))
    records = (each if isinstance(each, dict) else json_object(each) for each in given)
    return next(filter(None, (first_text(each, _PATHS) for each in records)), None)


def _composer(record: dict[str, Any]) -> Composer:
    updated = record.get("lastUpdatedAt") or record.get("createdAt")
    return Composer(updated if isinstance(updated, int) else None, text(record, "name"))


def _value(database: ForeignDatabase, key: str, findings: Findings) -> dict[str, Any] | None:
    query = "SELECT key, length(value), iif(length(value) > ?, NULL, value) FROM cursorDiskKV WHERE key = ?"
    for _, data in database.values(query, key, findings):
        value = json_object(data)
        findings.damaged += value is None
        return value
    return None
