"""Reads the transcripts of OpenCode: its database ``~/.local/share/opencode/opencode.db``, and the JSON files that
versions before 1.2 kept in ``storage/{session,message,part}`` beside it.

A session consists of messages, and a message of parts; both forms have the same fields. A sub-agent is a session of its
own that names its parent; all its turns have its id as their part. A session that was migrated is read from the
database only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..failures import ended
from ..session import IMAGE, OWN_TEXT, REWOUND, SUMMARY, THINKING, TOOL_OUTPUT, Call, Findings, Marker, Transcript, Turn
from . import foreign_database, transcript_file
from .foreign_database import MAX_VALUE, ForeignDatabase, json_object
from .json_records import at, items, read_object, strings, text
from .reader import Home
from .transcript_file import is_inside
from .turn_builder import moment, note_version, touched_files, turns_of

# Kinds of parts that say nothing.
_CHANGING = frozenset({"edit", "write", "multiedit"})
_SILENT = frozenset({"step-start", "step-finish", "snapshot", "retry", "agent"})

TESTED = "1.18.33"
_NEEDED = {
    "session": {"id", "parent_id", "directory", "title", "version", "revert", "time_updated"},
    "message": {"id", "session_id", "time_created", "data"},
    "part": {"id", "message_id", "session_id", "time_updated", "data"},
}
_MESSAGE = "SELECT id, length(data), iif(length(data) > ?, NULL, data) FROM message WHERE id = ?"
_PARTS = "SELECT id, length(data), iif(length(data) > ?, NULL, data) FROM part WHERE message_id = ? ORDER BY id"
_Messages = Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]


def said_in(
    message: dict[str, Any], parts: list[dict[str, Any]], revert: Any, findings: Findings
) -> Turn | Marker | None:
    """What the message says, without a place, or that it asks to compact the conversation; None if it says nothing to
    keep.

    ``revert`` is what the session's record says of the message from which on it was reverted, or of the part of it.
    That stays in the transcript until the person goes on. The ids of messages and parts grow with the time.
    """
    speaker: Any = message.get("role")
    if speaker not in ("user", "assistant"):
        findings.unknown[f"message by {speaker}"[:80]] += 1
        return None
    if speaker == "user" and any(part.get("type") == "compaction" for part in parts):
        return "compacted"
    if message.get("summary") is True:
        findings.left_out[SUMMARY] += 1
        return None
    message_id, reverted_id, part_id = str(message.get("id")), text(revert, "messageID"), text(revert, "partID")
    if reverted_id is not None and (message_id > reverted_id or (message_id == reverted_id and part_id is None)):
        findings.left_out[REWOUND] += 1
        return None
    if message_id == reverted_id:
        parts = [part for part in parts if str(part.get("id")) < (part_id or "")]
    texts: list[str] = []
    files: list[Any] = []
    tools: list[Any] = []
    calls: list[Call | None] = []
    for part in parts:
        _add(part, texts, files, tools, findings)
        calls.append(_ended(part, "".join(texts[-1:])))
    return Turn(
        speaker,
        "\n\n".join(texts),
        "",
        moment(at(message, "time", "created")),
        text(message, "path", "cwd"),
        files=strings(files),
        tools=Counter(strings(tools)),
        calls=tuple(filter(None, calls)),
    )


def _ended(part: dict[str, Any], said_before: str) -> Call | None:
    """The call that a part is, with its outcome."""
    state = part.get("state")
    if part.get("type") != "tool" or not isinstance(state, dict):
        return None
    changed = strings([at(state, "input", "filePath")]) if part.get("tool") in _CHANGING else ()
    files = (*changed, *touched_files({"input": at(state, "input", "patchText")}))
    known = state.get("metadata") if part.get("tool") == "bash" else {"exit": 0}
    exit_code = at(known, "exit") if state.get("status") == "completed" else None
    call = Call(text(state, "input", "command") or "", said=said_before, files=files)
    return ended(call, text(state, "output") or "", exit_code if isinstance(exit_code, int) else None)


def _add(part: dict[str, Any], texts: list[str], files: list[Any], tools: list[Any], findings: Findings) -> None:
    kind = part.get("type")
    match kind:
        case "text":
            if part.get("synthetic") or part.get("ignored"):
                findings.left_out[OWN_TEXT] += 1
            else:
                texts.extend(strings([part.get("text")]))
        case "tool":
            tools.append(part.get("tool"))
            state = part.get("state")
            if isinstance(state, dict):
                findings.left_out[TOOL_OUTPUT] += 1
                files.append(at(state, "input", "filePath"))
                files.extend(touched_files({"input": at(state, "input", "patchText")}))
        case "patch":
            files.extend(items(part, "files"))
        case "reasoning":
            findings.left_out[THINKING] += 1
        case "file":
            findings.left_out[IMAGE] += 1
        case "subtask":
            findings.left_out[OWN_TEXT] += 1
        case _:
            if kind not in _SILENT:
                findings.unknown[str(kind)[:80]] += 1


@dataclass(frozen=True, slots=True)
class _Session:
    session_id: str
    parent_id: str | None
    folder: str
    title: str | None
    version: str | None
    revert: Any


def transcripts(home: Home, workspace: Path) -> Iterator[Transcript]:
    """The sessions that ran in this folder or below it. A database that cannot be read now is left out."""
    root = home.moved("XDG_DATA_HOME", ".local", "share") / "opencode"  # on every platform
    places = transcript_file.places_of(workspace)
    seen = set[str]()
    for path in sorted(transcript_file.files(root, ".db")):
        try:
            found = list(_in_database(path, root, places)) if path.name.startswith("opencode") else []
        except OSError:
            continue
        seen.update(each.session_id for each in found)
        yield from found
    for each in _in_files(root, places):
        if each.session_id not in seen:
            yield each


def turns(transcript: Transcript, findings: Findings) -> Iterator[Turn]:
    """The session's turns. What was reverted is left out."""
    if transcript.path.suffix == ".db":
        with foreign_database.opened(transcript.path, transcript.path.parent) as database:
            yield from turns_of(_said(*_from_database(database, transcript.session_id, findings), findings))
    else:
        yield from turns_of(_said(*_from_files(transcript.path, findings), findings))


def _said(session: _Session, messages: _Messages, findings: Findings) -> Iterator[Turn | Marker]:
    note_version(session.version, TESTED, findings)
    part = session.session_id if session.parent_id else ""
    for number, (message, parts) in enumerate(messages, 1):
        said = said_in(message, parts, session.revert, findings)
        if isinstance(said, Turn):
            yield replace(said, place=f"message {number}", folder=said.folder or session.folder, part=part)
        elif said is not None:
            yield said


def _session(record: dict[str, Any]) -> _Session | None:
    """A session from its record; None if it does not say its id and folder."""
    session_id, folder = text(record, "id"), text(record, "directory")
    if session_id is None or folder is None:
        return None
    parent, title, version = (text(record, name) for name in ("parentID", "title", "version"))
    return _Session(session_id, parent, folder, title, version, record.get("revert"))


# --- the database ---


def _in_database(path: Path, root: Path, places: list[Path]) -> Iterator[Transcript]:
    with foreign_database.opened(path, root) as database:
        if any(not needed <= database.columns(table) for table, needed in _NEEDED.items()):
            return
        for session_id, folder, title, updated in database.rows(
            "SELECT id, directory, title, time_updated FROM session"
        ):
            if not isinstance(session_id, str) or not isinstance(folder, str) or not is_inside(folder, places):
                continue
            query = "SELECT count(*), max(time_updated) FROM part WHERE session_id = ?"
            ((parts, newest),) = database.rows(query, (session_id,))
            version = f"{updated}-{parts}-{newest}"
            modified = moment(max((each for each in (updated, newest) if isinstance(each, int)), default=None))
            yield Transcript("opencode", session_id, path, version, modified, title or None, folder)


def _from_database(database: ForeignDatabase, session_id: str, findings: Findings) -> tuple[_Session, _Messages]:
    query = "SELECT id, parent_id, directory, title, version, revert FROM session WHERE id = ?"
    found = database.rows(query, (session_id,))
    if not found:
        raise FileNotFoundError(f"The session {session_id} is gone.")
    names = ("id", "parentID", "directory", "title", "version", "revert")
    record = dict(zip(names, found[0], strict=True))
    record["revert"] = json_object(record["revert"])
    session = _session(record)
    assert session is not None
    return session, _messages_of(database, session_id, findings)


def _messages_of(database: ForeignDatabase, session_id: str, findings: Findings) -> _Messages:
    query = "SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id"
    for (message_id,) in database.rows(query, (session_id,)):
        message = _values(database, _MESSAGE, message_id, findings)
        if message:
            yield message[0], _values(database, _PARTS, message_id, findings)


def _values(database: ForeignDatabase, query: str, message_id: str, findings: Findings) -> list[dict[str, Any]]:
    found = []
    for row_id, data in database.values(query, message_id, findings):
        value = json_object(data)
        if value is None:
            findings.damaged += 1
        else:
            found.append({**value, "id": row_id})
    return found


# --- the files of versions before 1.2 ---


def _in_files(root: Path, places: list[Path]) -> Iterator[Transcript]:
    for project in transcript_file.folders(root / "storage" / "session"):
        for path in transcript_file.files(project, ".json"):
            try:
                session = _read_session(path, Findings())
            except OSError:
                continue
            if session is None or not is_inside(session.folder, places):
                continue
            messages = transcript_file.files(root / "storage" / "message" / session.session_id, ".json")
            yield from transcript_file.described(
                "opencode", session.session_id, [path, *messages], session.title, session.folder
            )


def _read_session(path: Path, findings: Findings) -> _Session | None:
    return _session(_read(path, path.parents[1], findings))


def _from_files(path: Path, findings: Findings) -> tuple[_Session, _Messages]:
    session = _read_session(path, findings)
    if session is None or session.session_id != path.stem:
        raise OSError(f"{path} is no session.")
    return session, _messages_in(path.parents[2], session.session_id, findings)


def _messages_in(storage: Path, session_id: str, findings: Findings) -> _Messages:
    for message in _records(storage / "message" / session_id, storage, findings):
        message_id = message.get("id")
        if isinstance(message_id, str) and message_id.replace("_", "").isalnum():
            yield message, list(_records(storage / "part" / message_id, storage, findings))


def _records(folder: Path, storage: Path, findings: Findings) -> Iterator[dict[str, Any]]:
    """The records of a folder in the order of their ids, which is the order in time."""
    for path in sorted(transcript_file.files(folder, ".json")):
        try:
            yield _read(path, storage, findings, MAX_VALUE)
        except FileNotFoundError:
            continue  # deleted since its folder was listed
        except OSError:
            findings.damaged += 1


def _read(path: Path, root: Path, findings: Findings, limit: int = 2**20) -> dict[str, Any]:
    with transcript_file.opened(path, root) as file:
        return read_object(file, findings, limit)
