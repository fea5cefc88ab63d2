"""Reads the transcripts of Gemini CLI: ``~/.gemini/tmp/<project>/chats/*.jsonl``, and ``.json`` of older versions.

A file of JSON Lines is a log: a message is written again when it grows, ``$set`` changes the session, and ``$rewindTo``
takes messages back. Until version 0.38 a file was one JSON object with all messages. The project's folder is named
after the project, with its path in ``.project_root``; until version 0.28 its name was the SHA-256 of the path.
Sub-agents have files of their own below their session, all turns of which have their id as their part.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ..failures import ended
from ..session import IMAGE, OWN_TEXT, REWOUND, SUMMARY, THINKING, TOOL_OUTPUT, Call, Findings, Marker, Transcript, Turn
from . import json_records, transcript_file
from .json_records import at, first_text, items, objects, read_object, strings, text
from .reader import Home
from .turn_builder import moment, turns_of

NOTICE = "notice"

_NOTICES = frozenset({"info", "error", "warning"})
_OWN = "<session_context>"
# What a hook gave to the model: a message of its own in a terminal, else within the prompt, before or after it.
_HOOK_CONTEXT = re.compile(r"\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)
_SNAPSHOT = "<state_snapshot>"
# The contents of files that the person named with @, between what Gemini CLI writes around them.
_CONTENTS = re.compile(r"\s*--- Content from referenced files ---.*?(?:--- End of content ---|\Z)", re.DOTALL)
_PATHS = ("file_path", "absolute_path")
_CHANGING = frozenset({"replace", "write_file"})
_EXIT_CODE = re.compile(r"^Exit Code: (\d{1,5})$", re.MULTILINE)

_PEEK = 4 * 1024
_SESSION = re.compile(rb'"sessionId":\s*"([\w-]{1,100})"')
_MARKER = ".project_root"


@dataclass(slots=True)
class Message:
    """A message as it is after the last change. ``follows_compression`` is whether the conversation before it was
    replaced by a summary. ``left_out`` counts its outputs and thoughts."""

    said: Turn
    follows_compression: bool = False
    left_out: Counter[str] = field(default_factory=Counter)


class _Session:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._messages: dict[str, Message | None] = {}  # by id, in order; None for what nobody said
        self._was_compressed = False

    def _apply(self, place: str, record: dict[str, Any]) -> None:
        if isinstance(record.get("$rewindTo"), str):
            self._rewind(record["$rewindTo"])
        elif isinstance(record.get("$set"), dict):
            if isinstance(messages := record["$set"].get("messages"), list):
                self._replace(place, messages)
        elif isinstance(record.get("id"), str):
            self._add(place, record)
        elif "sessionId" not in record:
            self._findings.unknown[f"record with {', '.join(sorted(record))}"[:80]] += 1

    def _rewind(self, message_id: str) -> None:
        """Take back the message and all after it; all messages if it is unknown, as the tool does."""
        ids = list(self._messages)
        for each in ids[ids.index(message_id) if message_id in ids else 0 :]:
            message = self._messages.pop(each)
            if message is not None and message.said.text:
                self._findings.left_out[REWOUND] += 1

    def _replace(self, place: str, messages: list[Any]) -> None:
        """The tool's context is these messages now. Those that it dropped were said nevertheless."""
        present = {message["id"]: message for message in messages if isinstance(message, dict) and "id" in message}
        self._was_compressed |= any(message and each not in present for each, message in self._messages.items())
        for each, message in present.items():
            if each not in self._messages and isinstance(each, str):
                self._add(place, message)

    def _add(self, place: str, record: dict[str, Any]) -> None:
        known = self._messages.get(record["id"])
        if known is not None:
            place = known.said.place
        message = self._message(place, record)
        if message is not None:
            message.follows_compression = known.follows_compression if known else self._was_compressed
            self._was_compressed = False
        self._messages[record["id"]] = message

    def _message(self, place: str, record: dict[str, Any]) -> Message | None:
        left_out, kind = self._findings.left_out, record.get("type")
        said_at = moment(record.get("timestamp"))
        if kind == "user":
            shown = record.get("displayContent")
            text = self._text_of(shown if shown is not None else record.get("content"))
            if _SNAPSHOT in text:
                left_out[SUMMARY] += 1
                self._was_compressed = True
                return None
            text, by_hooks = _HOOK_CONTEXT.subn("", text)
            left_out.update({OWN_TEXT: by_hooks} if by_hooks else {})
            if text.lstrip().startswith(_OWN):
                left_out[OWN_TEXT] += 1
                return None
            return Message(Turn("user", _CONTENTS.sub("", text), place, said_at)) if text.strip() else None
        if kind == "gemini":
            calls = objects(record, "toolCalls")
            said_before = self._text_of(record.get("content"))
            said = Turn(
                "assistant",
                said_before,
                place,
                said_at,
                tools=Counter(strings(call.get("name") for call in calls)),
                files=strings(first_text(at(call, "args"), _PATHS) for call in calls),
                calls=tuple(filter(None, (_ended(call, said_before) for call in calls))),
            )
            outputs = sum(call.get("result") is not None for call in calls)
            left_out_here = Counter({TOOL_OUTPUT: outputs, THINKING: len(items(record, "thoughts"))})
            return Message(said, left_out=+left_out_here)
        if kind in _NOTICES:
            left_out[NOTICE] += 1
        else:
            self._findings.unknown[str(kind)[:80]] += 1
        return None

    def _text_of(self, content: Any) -> str:
        texts = []
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, str):
                texts.append(part)
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                if part.get("thought"):
                    self._findings.left_out[THINKING] += 1
                else:
                    texts.append(part["text"])
            elif isinstance(part, dict) and ("inlineData" in part or "fileData" in part):
                self._findings.left_out[IMAGE] += 1
        return "".join(texts)

    def read(self, records: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[Turn | Marker]:
        """What the messages say that stand at the end of the records, each of which has its place."""
        for place, record in records:
            self._apply(place, record)
        for message in filter(None, self._messages.values()):
            self._findings.left_out.update(message.left_out)
            if message.follows_compression:
                yield "compacted"
            yield message.said


def _ended(call: dict[str, Any], said_before: str) -> Call | None:
    """A call with its outcome. The exit code stands in the output, if it is not 0."""
    changed = strings([at(call, "args", "file_path")]) if call.get("name") in _CHANGING else ()
    outputs = (at(each, "functionResponse", "response") for each in objects(call, "result"))
    output = "\n".join(strings(at(each, name) for each in outputs for name in ("output", "error")))
    code = _EXIT_CODE.search(output)
    exit_code = int(code[1]) if code else 0 if call.get("status") == "success" else None
    return ended(Call(text(call, "args", "command") or "", said=said_before, files=changed), output, exit_code)


def transcripts(home: Home, workspace: Path) -> Iterator[Transcript]:
    """The sessions that ran in this folder or below it. A session that a newer version copied is given once."""
    root, seen = home.moved("GEMINI_CLI_HOME") / ".gemini" / "tmp", set[str]()
    for project, folder in _projects(root, workspace):
        chats = project / "chats"
        for path in (*transcript_file.files_below(chats, ".jsonl"), *transcript_file.files(chats, ".json")):
            session_id = _session_id(path, root)
            if session_id is None or session_id in seen:
                continue
            for found in transcript_file.described("gemini-cli", session_id, [path], folder=folder):
                seen.add(session_id)
                yield found


def turns(transcript: Transcript, findings: Findings) -> Iterator[Turn]:
    """The session's turns. What was rewound is left out; what was compressed since stays."""
    chats = next((above for above in transcript.path.parents if above.name == "chats"), transcript.path.parent)
    part = transcript.session_id if transcript.path.parent != chats else ""
    with transcript_file.opened(transcript.path, chats) as file:
        first = file.readline(_PEEK)
        file.seek(0)
        is_object = first.strip() == b"{" or b'"messages":' in first
        records = _object(file, findings) if is_object else _lines(file, findings)
        yield from turns_of(_Session(findings).read(records), folder=transcript.folder, part=part)


def _lines(file: BinaryIO, findings: Findings) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in json_records.lines(file, findings):
        record = json_records.record(line, findings)
        if record is not None:
            yield f"line {number}", record


def _object(file: BinaryIO, findings: Findings) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, message in enumerate(items(read_object(file, findings), "messages"), 1):
        if isinstance(message, dict):
            yield f"message {number}", message
        else:
            findings.damaged += 1


def _projects(root: Path, workspace: Path) -> Iterator[tuple[Path, str]]:
    """The projects' folders whose project is the workspace or inside of it, and the project's path. Those that say
    their path come first."""
    places = transcript_file.places_of(workspace)
    for project in transcript_file.folders(root):
        path = transcript_file.peek(project / _MARKER, root, 16 * 1024).decode("utf-8", "replace").strip()
        if path and transcript_file.is_inside(path, places):
            yield project, path
    for place in places:
        yield root / hashlib.sha256(os.fsencode(place)).hexdigest(), str(place)


def _session_id(path: Path, root: Path) -> str | None:
    found = _SESSION.search(transcript_file.peek(path, root, _PEEK))
    return found[1].decode() if found else None
