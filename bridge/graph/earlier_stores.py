"""The texts in this workspace's cognee stores that did not come from us: in the present, archived and quarantined ones.

A migration reads them from a copy, and only forgetting changes them. Neither needs cognee, so the version of a store
does not matter. cognee's SQLite file names the texts, and each text is a file below ``.cognee_data``.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import UUID

from jobs import clock, files, plain_files
from jobs.errors import JobError
from jobs.layout import Workspace

from ..text.sections import normalise_time
from .graph_files import databases_of

TEXT_LIMIT = 4 * 1024 * 1024  # bytes; far more than any memory of an earlier version

_STORE = "cognee_db"
_STORE_SUFFIXES = ("", "-wal", "-journal")  # not -shm: SQLite would take a copied one for that of a live connection
_RAW_TEXT = re.compile(r"text_[0-9a-f]{32}\.txt")  # how cognee names a text by its content
_SEPARATORS = re.compile(r"[\\/]+")
_COLUMNS = ("id", "raw_data_location", "name", "created_at")  # all versions have them; a missing one is tolerated
# The tables of cognee that list its texts but do not contain them.
_LISTS = frozenset({"data", "datasets", "dataset_data", "alembic_version", "sqlite_sequence"})
_TRIES = 3  # at a consistent copy, while another process may write


@dataclass(frozen=True, slots=True)
class Text:
    """A text that was given to cognee. ``store`` is the SQLite file, relative to the workspace; "" if none names it.

    ``file`` is the name of the raw text's file, "" if unknown, and ``path`` its path, None if the file is gone.
    ``added_at`` is ISO 8601.
    """

    store: str
    data_id: str
    file: str
    added_at: str | None = None
    path: Path | None = None


class UnreadableText(Exception):
    """A text cannot be read; the message is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class EarlierTexts:
    """The texts by age, and a sentence for each store that cannot be read."""

    texts: list[Text]
    problems: list[str]


def find(workspace: Workspace, ours: Collection[str] = ()) -> EarlierTexts:
    """All texts of all stores, the oldest first, except those whose ids are ``ours``.

    If no store names any, raw texts without a store are included.
    """
    raw_files = _raw_files(workspace)
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
            texts.append(Text(store, data_id, file, normalise_time(created), _closest(raw_files[file], parts)))
    kept = [text for text in texts if text.data_id not in ours]
    if not kept:
        named = {text.file for text in texts}
        unnamed = (name for name in raw_files if name not in named and raw_files[name] and _RAW_TEXT.fullmatch(name))
        kept = [Text("", "", name, path=raw_files[name][0]) for name in unnamed]
    return EarlierTexts(
        sorted(kept, key=lambda text: (text.added_at or "", text.store, text.data_id, text.file)), problems
    )


def read(text: Text) -> str:
    """The content of a text. Raises UnreadableText."""
    if text.path is None:
        raise UnreadableText("Its file is not in .cognee_data any more.")
    try:
        return plain_files.read_own(text.path, TEXT_LIMIT).decode()
    except UnicodeDecodeError:
        raise UnreadableText("Its file is no text in UTF-8.") from None
    except JobError as error:
        raise UnreadableText(error.message) from None
    except OSError as error:
        raise UnreadableText(f"Its file cannot be read: {error.strerror}.") from None


def archive(workspace: Workspace) -> Path | None:
    """Rename the folder of stores that are not ours, which makes room for ours. Returns the new path, or None if there
    are none.

    Stores of another version might not open or not fit. They are kept for reading; the raw texts are not moved. Raises
    OSError.
    """
    databases = databases_of(workspace)
    try:
        if not plain_files.is_real_folder(databases.lstat()) or not any(databases.iterdir()):
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


def empty(workspace: Workspace, stores: Collection[str], data_ids: Collection[str], in_use: Path | None) -> None:
    """Remove texts from stores, which are SQLite files relative to the workspace; again is the same as once.

    Of a store that is not in the folder ``in_use``, only the list of its other texts is left: its graph and its vectors
    hold the removed ones as well, and cannot be edited.
    """
    for path in (workspace.root / store for store in stores):
        if not path.exists():
            continue
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table, column in (("dataset_data", "data_id"), ("data", "id")):
                if table in tables:
                    connection.executemany(
                        f"DELETE FROM {table} WHERE lower(replace({column}, '-', '')) = ?",  # noqa: S608 - constants
                        [(data_id.replace("-", "").lower(),) for data_id in data_ids],
                    )
            if path.parent != in_use:
                for table in set(tables) - _LISTS:
                    connection.execute(f'DELETE FROM "{table}"')  # noqa: S608 - as the store names it
            connection.execute("VACUUM")
        if path.parent != in_use:
            for other in path.parent.iterdir():
                if not other.name.startswith(path.name):
                    shutil.rmtree(other) if other.is_dir() and not other.is_symlink() else files.remove(other)
            files.sync_folder(path.parent)


def remove_present(workspace: Workspace) -> None:
    """Remove the present stores, and the raw texts that no other store names; again is the same as once."""
    present = (databases_of(workspace) / _STORE).relative_to(workspace.root).as_posix()
    texts = find(workspace).texts
    others = {text.path for text in texts if text.store != present}
    for text in texts:
        if text.store == present and text.path is not None and text.path not in others:
            files.remove(text.path)
    with suppress(FileNotFoundError):
        shutil.rmtree(databases_of(workspace))


# --- the files ---


def _walk(folder: Path) -> Iterator[Path]:
    """The plain files below a folder, without following links."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path


def _stores(workspace: Workspace) -> list[Path]:
    """cognee's SQLite files: the present one first, then the archived and quarantined ones."""
    folders = (workspace.cognee_system, workspace.earlier_stores, workspace.quarantine)
    return [path for folder in folders for path in _walk(folder) if path.name == _STORE]


def _raw_files(workspace: Workspace) -> defaultdict[str, list[Path]]:
    """The files below ``.cognee_data``: name -> paths."""
    by_name: defaultdict[str, list[Path]] = defaultdict(list)
    for path in _walk(workspace.cognee_data):
        by_name[path.name].append(path)
    return by_name


def _parts(location: str) -> list[str]:
    """The components of a raw text's location, which may be a URL or a path of another system."""
    if location.startswith("file:"):
        location = unquote(location.removeprefix("file:"))
    return [part for part in _SEPARATORS.split(location) if part]


def _closest(paths: list[Path], parts: list[str]) -> Path | None:
    """The path with the most components in common with ``parts``, counted from the end, since the workspace may have
    been moved. None without paths."""

    def common(path: Path) -> int:
        pairs = zip(reversed(path.parts), reversed(parts), strict=False)
        return next((count for count, (ours, theirs) in enumerate(pairs) if ours != theirs), len(parts))

    return max(paths, key=common, default=None)


# --- the store ---


def _is_new(workspace: Workspace, path: Path) -> bool:
    """Whether a store is empty and of a cognee version that records its format, as one created by us is."""
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
    """A connection to a private copy of a store and its log. The store itself is not even locked."""
    files.make_folder(workspace.memory)
    folder = workspace.memory / ".old-store"
    shutil.rmtree(folder, ignore_errors=True)  # left by a killed process
    files.make_folder(folder)
    try:
        for _ in range(_TRIES):
            before = _state(path)
            for suffix in _STORE_SUFFIXES:
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
    """(modification time in ns, size) of the store's files; it changes with every write."""
    paths = [path.with_name(path.name + suffix) for suffix in _STORE_SUFFIXES]
    return [(status.st_mtime_ns, status.st_size) for status in (file.stat() for file in paths if file.exists())]


def _rows(connection: sqlite3.Connection) -> Iterator[tuple[str, str, str, str]]:
    """(id, location, name, time) of each text; a value that the version did not record is empty."""
    existing = {row[1] for row in connection.execute("PRAGMA table_info(data)")}
    if not existing:
        return
    columns = ", ".join(f"CAST({name} AS TEXT)" if name in existing else "NULL" for name in _COLUMNS)
    for row in connection.execute(f"SELECT {columns} FROM data"):  # noqa: S608 - constants
        data_id, location, name, created = (value or "" for value in row)
        yield _id(data_id), location, name, created


def _id(value: Any) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        return str(value)
