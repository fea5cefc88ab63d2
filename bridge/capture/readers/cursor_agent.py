"""A conversation of Cursor's agent in the terminal: a database with values that are named by their SHA-256.

``meta`` names the root, a message of protocol buffers whose fields of number 1 name the messages in order. A message is
JSON: ``{"role", "content"}``. There are no times.
"""

from __future__ import annotations

import errno
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..session import IMAGE, OWN_TEXT, THINKING, TOOL_OUTPUT, Findings, Turn
from .foreign_database import ForeignDatabase, json_object
from .json_records import at, first_text, parsed, strings

FILE = "store.db"

_MESSAGES = 1  # the number of the root's field
_DIGEST = 32
_QUERY = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
_OWN = re.compile(r"\s*<[a-z]+(?:_[a-z]+)+\b")
_PATHS = ("path", "file_path", "target_file")
_FILE_TOOLS = frozenset({"Read", "Write", "Edit", "StrReplace", "Delete", "EditNotebook", "MultiEdit"})


def said(database: ForeignDatabase, session_id: str, findings: Findings) -> Iterator[Turn]:
    """What was said, in order. Raises OSError if the conversation has no root that can be read."""
    message_ids = list(_message_ids(_root(database, session_id)))
    if not message_ids:
        raise _unreadable(session_id)
    for number, message_id in enumerate(message_ids, 1):
        data = _blob(database, message_id, findings)
        message = parsed(data, findings) if data else None
        if isinstance(message, dict):
            found = _said(message, f"message {number}", findings)
            if found is not None:
                yield found
        elif data is not None:
            findings.damaged += 1


def _root(database: ForeignDatabase, session_id: str) -> bytes:
    if database.columns("meta") >= {"key", "value"} and database.columns("blobs") >= {"id", "data"}:
        for (value,) in database.rows("SELECT value FROM meta WHERE key = '0'"):
            root = _meta(value).get("latestRootBlobId")
            data = _blob(database, root, Findings()) if isinstance(root, str) else None
            if data is not None:
                return data
    raise _unreadable(session_id)


def _unreadable(session_id: str) -> OSError:
    return OSError(errno.EIO, f"not read: the conversation {session_id} has no messages, or is in an unknown form")


def _meta(value: Any) -> dict[str, Any]:
    """The record, which is JSON in hexadecimal digits."""
    try:
        return json_object(bytes.fromhex(value) if isinstance(value, str) else value) or {}
    except ValueError:
        return {}


def _blob(database: ForeignDatabase, blob_id: str, findings: Findings) -> bytes | None:
    query = "SELECT id, length(data), iif(length(data) > ?, NULL, CAST(data AS BLOB)) FROM blobs WHERE id = ?"
    return next((data for _, data in database.values(query, blob_id, findings)), None)


def _message_ids(root: bytes) -> Iterator[str]:
    """The digests in the root's fields of number 1, in hexadecimal digits. Ends where it is damaged."""
    position = 0
    while position < len(root):
        tag, position = _number(root, position)
        match tag & 7:
            case 0:
                _, position = _number(root, position)
            case 1:
                position += 8
            case 2:
                size, position = _number(root, position)
                if tag >> 3 == _MESSAGES and size == _DIGEST and position + size <= len(root):
                    yield root[position : position + size].hex()
                position += size
            case 5:
                position += 4
            case _:
                return


def _number(data: bytes, position: int) -> tuple[int, int]:
    """A variable-length number, and the position after it."""
    value = shift = 0
    while position < len(data) and shift < 64:
        value |= (data[position] & 0x7F) << shift
        position += 1
        if data[position - 1] < 0x80:
            return value, position
        shift += 7
    return value, len(data)


def _said(message: dict[str, Any], place: str, findings: Findings) -> Turn | None:
    content = message.get("content")
    items = content if isinstance(content, list) else [{"type": "text", "text": content}]
    match message.get("role"):
        case "user":
            texts = [_asked(text, findings) for text in strings(_texts(items, findings))]
            return Turn("user", "\n\n".join(filter(None, texts)), place)
        case "assistant":
            calls = [item for item in items if isinstance(item, dict) and item.get("type") == "tool-call"]
            return Turn(
                "assistant",
                "\n\n".join(strings(_texts(items, findings))),
                place,
                tools=Counter(strings(call.get("toolName") for call in calls)),
                files=strings(_file_of(call) for call in calls),
            )
        case "tool":
            findings.left_out[TOOL_OUTPUT] += 1
        case "system":
            findings.left_out[OWN_TEXT] += 1
        case role:
            findings.unknown[f"message by {role}"[:80]] += 1
    return None


def _texts(items: list[Any], findings: Findings) -> Iterator[Any]:
    for item in items:
        match item.get("type") if isinstance(item, dict) else None:
            case "text":
                yield item.get("text")
            case "reasoning" | "redacted-reasoning":
                findings.left_out[THINKING] += 1
            case "image" | "file":
                findings.left_out[IMAGE] += 1
            case "tool-call":
                pass
            case "tool-result":
                findings.left_out[TOOL_OUTPUT] += 1
            case kind:
                findings.unknown[str(kind)[:80]] += 1


def _asked(text: str, findings: Findings) -> str:
    """The person's words: those in the tag for them, if there is one, among what Cursor adds in other tags."""
    found = _QUERY.findall(text)
    if found:
        return "\n\n".join(query.strip() for query in found)
    if _OWN.match(text):
        findings.left_out[OWN_TEXT] += 1
        return ""
    return text


def _file_of(call: dict[str, Any]) -> str | None:
    return first_text(at(call, "args"), _PATHS) if call.get("toolName") in _FILE_TOOLS else None
