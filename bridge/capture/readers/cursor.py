"""Reads the conversations of Cursor: those of the editor in ``<user folder>/User/globalStorage/state.vscdb``, and those
of its agent in the terminal in ``~/.cursor/chats/<MD5 of the folder>/<id>/store.db``.

Cursor documents neither; what is read here is what many public readers of version 0.43 to 3 agree on. A conversation of
the editor belongs to the workspace in whose list it is. Its copies in ``~/.cursor/projects/*/agent-transcripts`` are
not read: the name of that folder does not say for certain which folder it is.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from ..session import Findings, Transcript, Turn
from . import cursor_agent, cursor_editor, foreign_database, json_records, transcript_file
from .json_records import text
from .reader import Home
from .turn_builder import moment, turns_of
from .vscode_folders import desktop_folders, storages

_PRODUCTS = ("Cursor", "Cursor Nightly")


def transcripts(home: Home, workspace: Path) -> Iterator[Transcript]:
    """The conversations in this folder or below it. A database that cannot be read now is left out."""
    for user in desktop_folders(home, _PRODUCTS):
        places = list(storages(user, workspace))
        try:
            yield from _in_editor(user.path, places) if places else ()
        except OSError:
            continue
    yield from _of_agent(home.folder / ".cursor" / "chats", workspace)


def turns(transcript: Transcript, findings: Findings) -> Iterator[Turn]:
    """The conversation's turns. What Cursor has removed from a conversation is not among them."""
    path = transcript.path
    is_agent = path.name == cursor_agent.FILE
    with foreign_database.opened(path, path.parent) as database:
        read = cursor_agent.said if is_agent else cursor_editor.said
        yield from turns_of(read(database, transcript.session_id, findings), folder=transcript.folder)


def _in_editor(user: Path, places: list[tuple[Path, str]]) -> list[Transcript]:
    path = user / "globalStorage" / cursor_editor.FILE
    found: dict[str, Transcript] = {}
    with foreign_database.opened(path, user) as database:
        for storage, folder in places:
            listed = cursor_editor.listed(database, storage.name)
            listed |= _listed_by_workspace(storage / cursor_editor.FILE, user)
            for composer_id, composer in listed.items():
                size = cursor_editor.size_of(database, composer_id)
                if composer_id in found or size is None:
                    continue
                version = f"{composer.updated}-{size}"
                modified = moment(composer.updated)
                found[composer_id] = Transcript("cursor", composer_id, path, version, modified, composer.title, folder)
    return list(found.values())


def _listed_by_workspace(path: Path, user: Path) -> dict[str, cursor_editor.Composer]:
    try:
        with foreign_database.opened(path, user) as database:
            return cursor_editor.listed_by_workspace(database)
    except OSError:
        return {}


def _of_agent(chats: Path, workspace: Path) -> Iterator[Transcript]:
    places = transcript_file.places_of(workspace)
    names = {_name_of(str(place)): str(place) for place in places}
    for project in transcript_file.folders(chats):
        for session in transcript_file.folders(project):
            folder = names.get(project.name) or _folder_in(session, chats, project.name, places)
            path = session / cursor_agent.FILE
            if folder is not None:
                paths = [path, path.with_name(path.name + "-wal")]
                yield from transcript_file.described("cursor", session.name, paths, folder=folder)


def _folder_in(session: Path, chats: Path, name: str, places: list[Path]) -> str | None:
    """The folder below the workspace that the conversation's own record names, if its hash confirms it."""
    record = json_records.parsed(transcript_file.peek(session / "meta.json", chats, 64 * 1024), Findings())
    folder = text(record, "cwd")
    return folder if folder and _name_of(folder) == name and transcript_file.is_inside(folder, places) else None


def _name_of(folder: str) -> str:
    return hashlib.md5(os.fsencode(folder), usedforsecurity=False).hexdigest()
