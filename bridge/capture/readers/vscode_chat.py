"""Reads the sessions of VS Code's chat: ``<user folder>/workspaceStorage/<id>/chatSessions/*.jsonl``, and ``.json`` of
versions before 1.109.

They are read for VS Code, its Insiders, VSCodium and builds of its sources on the desktop, and for servers that run on
this machine. Sessions of a window without a folder belong to no workspace and are not read.

A ``.jsonl`` is a log of changes. The first record is the whole session; each further one changes the value at a path:
``{"kind": 0, "v": session}`` begins, also again when the log was compacted; ``1`` sets a property; ``2`` cuts an array
to ``i`` elements, if given, and appends ``v``; ``3`` deletes a property. Positions count all elements of an array, so
an element is never left out, only reduced: what tools returned and what was attached does not stay in memory.
"""

from __future__ import annotations

import errno
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from ..failures import ended
from ..session import OWN_TEXT, REWOUND, THINKING, TOOL_OUTPUT, Call, Findings, Transcript, Turn
from . import json_records, transcript_file
from .json_records import WHOLE_LIMIT, at, items, objects, read_object, strings
from .reader import Home
from .turn_builder import moment, turns_of
from .vscode_folders import UserFolder, desktop_folders, local_path, storages

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

_TOOL_CALLS = frozenset({"toolInvocationSerialized", "toolInvocation"})
# Kinds of parts of a response that nobody said, up to VS Code 1.139.
_SILENT = frozenset(
    "agentMention autoModeResolution clearToPreviousToolInvocation codeCitation command confirmation content"
    " disabledClaudeHooks elicitation elicitation2 elicitationSerialized extensions externalEdits hook info move"
    " mcpServersStarting mcpServersStartingSerialized mcpAppsWithNoServer multiDiffData planReview"
    " prepareToolInvocation progressMessage progressTask progressTaskResult progressTaskSerialized pullRequest"
    " questionCarousel reference treeData undoStop usage usedContext warning".split()
)
_EDITS = frozenset({"textEditGroup", "notebookEditGroup", "codeblockUri", "textEdit", "notebookEdit", "workspaceEdit"})
TESTED = 3  # the format's version, as VS Code 1.90 to 1.139 write it
_DESKTOPS = ("Code", "Code - Insiders", "VSCodium", "VSCodium - Insiders", "Code - OSS")
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".vscodium-server", ".vscode-server-oss")
_FLATPAKS = {"com.visualstudio.code": "Code", "com.vscodium.codium": "VSCodium"}
_PEEK = 64 * 1024
_TITLE = re.compile(rb'(?<!\\)(?:"customTitle":|\["customTitle"\],"v":)\s*("(?:[^"\\]|\\.){1,2000}")')


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
    for _, line in json_records.lines(file, findings, WHOLE_LIMIT):
        if oversized != findings.left_out[json_records.OVERSIZED]:
            oversized, is_damaged = findings.left_out[json_records.OVERSIZED], True
        record = json_records.record(line, findings)
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


def said(request: Any, findings: Findings) -> Iterator[Turn]:
    """What the person asked, and what the assistant answered, without places."""
    if not isinstance(request, dict):
        findings.damaged += 1
        return
    if request.get("shouldBeRemovedOnSend") or request.get("isHidden"):
        findings.left_out[REWOUND] += 1
        return
    asked_at = moment(request.get("timestamp"))
    text = _asked(request.get("message"))
    if request.get("isSystemInitiated") or request.get("hiddenFromTranscript"):
        findings.left_out[OWN_TEXT] += 1
    else:
        yield Turn("user", text, "", asked_at)
    answered_at = moment(at(request, "modelState", "completedAt"))
    edited = [_path_of(each.get("uri")) for each in objects(request, "editedFileEvents")]
    text, files, tools, calls = _answered(request.get("response"), findings)
    yield Turn(
        "assistant",
        text,
        "",
        answered_at or asked_at,
        files=tuple(dict.fromkeys((*files, *strings(edited)))),
        tools=Counter(tools),
        calls=calls,
    )


def _asked(message: Any) -> str:
    """The person's words, without the name of the participant that they are for."""
    if isinstance(message, str):
        return message
    if not isinstance(message, dict) or not isinstance(message.get("text"), str):
        return ""
    text: str = message["text"]
    first = next(iter(items(message, "parts")), None)
    end = at(first, "range", "endExclusive")
    is_named = at(first, "kind") == "agent" and isinstance(end, int) and text.startswith("@")
    return text[end:] if is_named else text


def _answered(response: Any, findings: Findings) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[Call, ...]]:
    """The text, the edited files, the called tools and the calls of a response."""
    blocks: list[str] = []
    files: list[Any] = []
    tools: list[Any] = []
    calls: list[Call | None] = []
    is_running = False  # whether the next text continues the one before
    for part in response if isinstance(response, list) else [response]:
        text = _text_of(part)
        if text is not None:
            if is_running:
                blocks[-1] += text
            else:
                blocks.append(text)
            is_running = True
            continue
        if not isinstance(part, dict):
            findings.damaged += part is not None
            continue
        is_running = False
        kind = part.get("kind")
        if kind in _TOOL_CALLS:
            tools.append(part.get("toolId") or "tool")
            findings.left_out[TOOL_OUTPUT] += 1
            calls.append(_ended(part.get("toolSpecificData"), "".join(blocks[-1:])))
        elif kind == "thinking":
            findings.left_out[THINKING] += 1
        elif kind in _EDITS:
            edited = strings(_edited(part))
            files.extend(edited)
            calls.append(ended(Call("", said="".join(blocks[-1:]), files=edited), "", 0))
        elif kind not in _SILENT:
            findings.unknown[str(kind)[:80]] += 1
    answered = "\n\n".join(block.strip() for block in blocks if block.strip())
    return answered, strings(files), strings(tools), tuple(filter(None, calls))


def _ended(data: Any, said_before: str) -> Call | None:
    """The command that ran in a terminal, with its outcome."""
    command = at(data, "commandLine", "toolEdited") or at(data, "commandLine", "original")
    exit_code = at(data, "terminalCommandState", "exitCode")
    if not isinstance(command, str) or not isinstance(exit_code, int):
        return None
    return ended(Call(command, said=said_before), str(at(data, "terminalCommandOutput", "text") or ""), exit_code)


def _text_of(part: Any) -> str | None:
    """The text of a part of a response; None for a part of another kind."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    kind = part.get("kind")
    if kind == "inlineReference":
        name = part.get("name") or PurePosixPath(_path_of(part.get("inlineReference")) or "").name
        return f"`{name}`" if isinstance(name, str) and name else ""
    content = part if kind is None else part.get("content") if kind in ("markdownContent", "markdownVuln") else None
    if isinstance(content, dict) and isinstance(content.get("value"), str):
        value: str = content["value"]
        return value
    return content if isinstance(content, str) else None


def _edited(part: dict[str, Any]) -> Iterator[str | None]:
    if part.get("kind") == "codeblockUri" and not part.get("isEdit"):
        return
    yield _path_of(part.get("uri"))
    for edit in objects(part, "edits") if part.get("kind") == "workspaceEdit" else ():
        yield _path_of(edit.get("newResource") or edit.get("resource"))


def _path_of(value: Any) -> str | None:
    """The path of a URI, or of a location in a file. A path of another machine does not fit to the session's folder,
    and is left out with it."""
    if isinstance(value, dict) and "path" not in value and isinstance(value.get("uri"), dict):
        value = value["uri"]
    return local_path(value, is_server=True)


def transcripts(home: Home, workspace: Path) -> Iterator[Transcript]:
    """The sessions of the windows in which this folder, or one below it, was open."""
    for user in _users(home):
        for storage, folder in storages(user, workspace):
            chats = storage / "chatSessions"
            paths = {path.stem: path for path in transcript_file.files(chats, ".json")}
            paths |= {path.stem: path for path in transcript_file.files(chats, ".jsonl")}
            for session_id, path in sorted(paths.items()):
                title = _title(path, user.path)
                yield from transcript_file.described("vscode", session_id, [path], title, folder)


def turns(transcript: Transcript, findings: Findings) -> Iterator[Turn]:
    """The session's turns. What was undone or is hidden is left out."""
    path = transcript.path
    with transcript_file.opened(path, path.parent) as file:
        is_log = file.read(_PEEK).startswith(b'{"kind":')
        file.seek(0)
        session = replay(file, findings) if is_log else reduced_session(read_object(file, findings))
    version = session.get("version")
    if isinstance(version, int) and version > TESTED:
        findings.newer = f"format {version}"
    records = (
        replace(each, place=f"request {number}")
        for number, request in enumerate(items(session, "requests"), 1)
        for each in said(request, findings)
    )
    yield from turns_of(records, folder=transcript.folder)


def _users(home: Home) -> Iterator[UserFolder]:
    portable = home.environment.get("VSCODE_PORTABLE")
    if portable:
        yield UserFolder(Path(portable) / "user-data" / "User")
    yield from desktop_folders(home, _DESKTOPS)
    if home.platform not in ("darwin", "win32"):
        for name, product in _FLATPAKS.items():
            yield UserFolder(home.folder / ".var" / "app" / name / "config" / product / "User")
    yield UserFolder(home.moved("XDG_DATA_HOME", ".local", "share") / "code-server" / "User", is_server=True)
    for name in _SERVERS:
        yield UserFolder(home.folder / name / "data" / "User", is_server=True)


def _title(path: Path, root: Path) -> str | None:
    """The title that the session has last, as far as the file's ends tell."""
    for at_end in (True, False):
        found = _TITLE.findall(transcript_file.peek(path, root, _PEEK, at_end=at_end))
        title: Any = json_records.parsed(found[-1], Findings()) if found else None
        if isinstance(title, str):
            return title
    return None
