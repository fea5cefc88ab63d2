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
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..session import Findings, Transcript, Turn
from . import gemini_cli_text, json_lines, transcript_file
from .fields import items
from .json_lines import read_object
from .reader import Home
from .turn_builder import turns_of

_PEEK = 4 * 1024
_SESSION = re.compile(rb'"sessionId":\s*"([\w-]{1,100})"')
_MARKER = ".project_root"


class GeminiCli:
    """Reads the transcripts of Gemini CLI."""

    tool = "gemini-cli"

    def roots(self, home: Home) -> list[Path]:
        """The folder of all projects. ``GEMINI_CLI_HOME`` moves it."""
        return [home.moved("GEMINI_CLI_HOME") / ".gemini" / "tmp"]

    def transcripts(self, home: Home, workspace: Path) -> Iterator[Transcript]:
        """The sessions that ran in this folder or below it. A session that a newer version copied is given once."""
        seen = set[str]()
        for root in self.roots(home):
            for project, folder in _projects(root, workspace):
                chats = project / "chats"
                for path in (*transcript_file.files_below(chats, ".jsonl"), *transcript_file.files(chats, ".json")):
                    session_id = _session_id(path, root)
                    if session_id is None or session_id in seen:
                        continue
                    for found in transcript_file.described(self.tool, session_id, [path], folder=folder):
                        seen.add(session_id)
                        yield found

    def turns(self, transcript: Transcript, findings: Findings) -> Iterator[Turn]:
        """The session's turns. What was rewound is left out; what was compressed since stays."""
        chats = next((above for above in transcript.path.parents if above.name == "chats"), transcript.path.parent)
        part = transcript.session_id if transcript.path.parent != chats else ""
        with transcript_file.opened(transcript.path, chats) as file:
            first = file.readline(_PEEK)
            file.seek(0)
            is_object = first.strip() == b"{" or b'"messages":' in first
            records = _object(file, findings) if is_object else _lines(file, findings)
            said = gemini_cli_text.said(records, findings)
            yield from turns_of(said, folder=transcript.folder, part=part)


READER = GeminiCli()


def _lines(file: BinaryIO, findings: Findings) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in json_lines.lines(file, findings):
        record = json_lines.record(line, findings)
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
