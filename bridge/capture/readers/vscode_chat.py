"""Reads the sessions of VS Code's chat: ``<user folder>/workspaceStorage/<id>/chatSessions/*.jsonl``, and ``.json`` of
versions before 1.109.

They are read for VS Code, its Insiders, VSCodium and builds of its sources on the desktop, and for servers that run on
this machine. Sessions of a window without a folder belong to no workspace and are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..session import Findings, Transcript, Turn
from . import json_lines, transcript_file, vscode_text
from .fields import items
from .json_lines import read_object
from .reader import Home
from .turn_builder import turns_of
from .vscode_folders import UserFolder, desktop_folders, storages
from .vscode_log import reduced_session, replay

TESTED = 3  # the format's version, as VS Code 1.90 to 1.139 write it

_DESKTOPS = ("Code", "Code - Insiders", "VSCodium", "VSCodium - Insiders", "Code - OSS")
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".vscodium-server", ".vscode-server-oss")
_FLATPAKS = {"com.visualstudio.code": "Code", "com.vscodium.codium": "VSCodium"}
_PEEK = 64 * 1024
_TITLE = re.compile(rb'(?<!\\)(?:"customTitle":|\["customTitle"\],"v":)\s*("(?:[^"\\]|\\.){1,2000}")')


class VSCodeChat:
    """Reads the sessions of VS Code's chat."""

    tool = "vscode"

    def roots(self, home: Home) -> list[Path]:
        """The folders of all workspaces of each product."""
        return [user.path / "workspaceStorage" for user in _users(home)]

    def transcripts(self, home: Home, workspace: Path) -> Iterator[Transcript]:
        """The sessions of the windows in which this folder, or one below it, was open."""
        for user in _users(home):
            for storage, folder in storages(user, workspace):
                chats = storage / "chatSessions"
                paths = {path.stem: path for path in transcript_file.files(chats, ".json")}
                paths |= {path.stem: path for path in transcript_file.files(chats, ".jsonl")}
                for session_id, path in sorted(paths.items()):
                    title = _title(path, user.path)
                    yield from transcript_file.described(self.tool, session_id, [path], title, folder)

    def turns(self, transcript: Transcript, findings: Findings) -> Iterator[Turn]:
        """The session's turns. What was undone or is hidden is left out."""
        path = transcript.path
        with transcript_file.opened(path, path.parent) as file:
            is_log = file.read(_PEEK).startswith(b'{"kind":')
            file.seek(0)
            session = replay(file, findings) if is_log else reduced_session(read_object(file, findings))
        version = session.get("version")
        if isinstance(version, int) and version > TESTED:
            findings.newer = f"format {version}"
        said = (
            replace(each, place=f"request {number}")
            for number, request in enumerate(items(session, "requests"), 1)
            for each in vscode_text.said(request, findings)
        )
        yield from turns_of(said, folder=transcript.folder)


READER = VSCodeChat()


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
        title: Any = json_lines.parsed(found[-1], Findings()) if found else None
        if isinstance(title, str):
            return title
    return None
