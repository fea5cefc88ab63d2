"""The texts that cognee holds in this workspace beside what we gave it: in its store, and in what was set aside.

A store is read from a copy and never changed; cognee itself is not needed for that, nor the version that made it. Its
SQLite file names the texts, and each text is a file below ``.cognee_data``.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import UUID

from jobs import clock, files
from jobs.errors import JobError
from jobs.layout import Workspace

from ..text.sections import normalise_time
from .graph_files import databases_of

TEXT_LIMIT = 4 * 1024 * 1024  # bytes; what a memory of an earlier version never came near

_STORE = "cognee_db"
_BESIDE = ("", "-wal", "-journal")  # a copy of the log's index would be taken for a living one
_RAW_TEXT = re.compile(r"text_[0-9a-f]{32}\.txt")  # how cognee names a text by its content
_SEPARATORS = re.compile(r"[\\/]+")
_COLUMNS = ("id", "raw_data_location", "name", "created_at")  # every version had them, and a missing one is no harm
_TRIES = 3  # at a copy, where somebody else writes meanwhile


@dataclass(frozen=True, slots=True)
class Text:
    """A text that cognee was given. ``store`` is the SQLite file below the workspace, "" where none names the text.

    ``file`` is the raw text's name, "" where the store does not say it, and ``path`` the file, None where it is gone.
    """

    store: str
    data_id: str
    file: str
    added_at: str | None = None
    path: Path | None = None


class UnreadableText(Exception):
    """Why a text cannot be read, in a sentence."""


@dataclass(frozen=True, slots=True)
class EarlierTexts:
    """Texts by age, and what is wrong with stores that cannot be read."""

    texts: list[Text]
    problems: list[str]


def find(workspace: Workspace, ours: Collection[str] = ()) -> EarlierTexts:
    """All texts of all stores, the oldest first, but those whose ids are ``ours``.

    Raw texts that lie there without a store that names any are found as well.
    """
    lying = _lying(workspace)
    texts: list[Text] = []
    problems: list[str] = []
    for path in _stores(workspace):
        store = path.relative_to(workspace.root).as_posix()
        try:
            with _copied(workspace, path) as connection:
                rows = list(_rows(connection))
        except (OSError, sqlite3.Error) as error:
            problems.append(f"The store {store} cannot be read: {error}.")
            continue
        for data_id, location, name, created in rows:
            parts = _parts(location or name or "")
            file = parts[-1] if parts else ""
            texts.append(Text(store, data_id, file, normalise_time(created), _closest(lying[file], parts)))
    kept = [text for text in texts if text.data_id not in ours]
    if not kept:
        named = {text.file for text in texts}
        unnamed = (name for name in lying if name not in named and lying[name] and _RAW_TEXT.fullmatch(name))
        kept = [Text("", "", name, path=lying[name][0]) for name in unnamed]
    return EarlierTexts(
        sorted(kept, key=lambda text: (text.added_at or "", text.store, text.data_id, text.file)), problems
    )


def read(text: Text) -> str:
    """The words of a text. Raises NotReadable."""
    if text.path is None:
        raise UnreadableText("Its file is not in .cognee_data any more.")
    try:
        return files.read_own(text.path, TEXT_LIMIT).decode()
    except UnicodeDecodeError:
        raise UnreadableText("Its file is no text in UTF-8.") from None
    except JobError as error:
        raise UnreadableText(error.message) from None
    except OSError as error:
        raise UnreadableText(f"Its file cannot be read: {error.strerror}.") from None


def archive(workspace: Workspace) -> Path | None:
    """Move stores that are not ours out of the place of ours, in one step; returns where to, None if there are none.

    Another version's would not open, or not fit. They are kept to be read; the raw texts stay where they are.
    """
    databases = databases_of(workspace)
    try:
        if not files.is_real_folder(databases.lstat()) or not any(databases.iterdir()):
            return None
    except FileNotFoundError:
        return None
    if _is_new(workspace, databases / _STORE):
        return None
    files.make_folder(workspace.earlier_stores)
    label = f"cognee-{clock.iso(clock.now()).replace(':', '')}"
    target, number = workspace.earlier_stores / label, 1
    while target.exists():
        number += 1
        target = target.with_name(f"{label}~{number}")
    files.rename(databases, target)
    files.sync_folder(databases.parent)
    files.sync_folder(workspace.earlier_stores)
    return target


# --- the files ---


def _walk(folder: Path) -> Iterator[Path]:
    """The plain files below a folder; no link is followed."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path


def _stores(workspace: Workspace) -> list[Path]:
    """cognee's SQLite files: the one in place first, then those that were moved away."""
    places = (workspace.cognee_system, workspace.earlier_stores, workspace.quarantine)
    return [path for place in places for path in _walk(place) if path.name == _STORE]


def _lying(workspace: Workspace) -> defaultdict[str, list[Path]]:
    """The files below ``.cognee_data`` by name."""
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for path in _walk(workspace.cognee_data):
        found[path.name].append(path)
    return found


def _parts(location: str) -> list[str]:
    """The names on the way to a raw text, which may be a URL, or of another system or place."""
    if location.startswith("file:"):
        location = unquote(location.removeprefix("file:"))
    return [part for part in _SEPARATORS.split(location) if part]


def _closest(paths: list[Path], parts: list[str]) -> Path | None:
    """The file that has most of the way in common, counted from its end: the workspace may have been moved."""

    def common(path: Path) -> int:
        pairs = zip(reversed(path.parts), reversed(parts), strict=False)
        return next((count for count, (ours, theirs) in enumerate(pairs) if ours != theirs), len(parts))

    return max(paths, key=common, default=None)


# --- the store ---


def _is_new(workspace: Workspace, path: Path) -> bool:
    """Whether a store was made by a cognee that keeps its format's version, and was given nothing yet: as by us."""
    if not path.exists():
        return False
    try:
        with _copied(workspace, path) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            return {"data", "alembic_version"} <= tables and next(_rows(connection), None) is None
    except sqlite3.Error:
        return False


@contextmanager
def _copied(workspace: Workspace, path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a private copy, log included: not even a lock is taken on the store itself."""
    files.make_folder(workspace.memory)
    folder = workspace.memory / ".old-store"
    shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed
    files.make_folder(folder)
    try:
        for _ in range(_TRIES):
            before = _state(path)
            for suffix in _BESIDE:
                (folder / f"{_STORE}{suffix}").unlink(missing_ok=True)
                source = path.with_name(path.name + suffix)
                if source.is_file() and not source.is_symlink():
                    files.write_new(folder / f"{_STORE}{suffix}", source.read_bytes(), synced=False)
            if _state(path) == before:
                break
        with closing(sqlite3.connect(folder / _STORE)) as connection:
            yield connection
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _state(path: Path) -> list[tuple[int, int]]:
    """What changes with every write."""
    beside = [path.with_name(path.name + suffix) for suffix in _BESIDE]
    return [(found.st_mtime_ns, found.st_size) for found in (each.stat() for each in beside if each.exists())]


def _rows(connection: sqlite3.Connection) -> Iterator[tuple[str, str, str, str]]:
    """Id, place, name and time of each text; what a version did not note is empty."""
    there = {row[1] for row in connection.execute("PRAGMA table_info(data)")}
    if not there:
        return
    columns = ", ".join(f"CAST({name} AS TEXT)" if name in there else "NULL" for name in _COLUMNS)
    for row in connection.execute(f"SELECT {columns} FROM data"):  # noqa: S608 - constants
        data_id, location, name, created = (value or "" for value in row)
        yield _id(data_id), location, name, created


def _id(value: Any) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        return str(value)
