"""What in the workspace's files still tells of memories, beside the stores: jobs' files, previews, copies.

It looks, and names what it finds. Jobs' files are the worker's to change; the others are removed here.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from jobs import clock, files, spool
from jobs.errors import JobError
from jobs.ids import is_job_id
from jobs.layout import Workspace
from jobs.model import Job, Record
from jobs.parse import parse_copy
from jobs.scrub import name_digest

from ..graph import earlier_stores
from ..memory import Memory, Metadata
from ..privacy import redaction
from ..text.identity import content_id
from ..transfer.migration import Skipped, convert
from .quotes import Quotes

# Ids as they stand in a file: between quotation marks, of JSON or of a message. A topic's may be any word, such as
# "summary", so in JSON it has to have its name before it.
_IDS = re.compile(rb"(?<=[\"'])[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?=[\"'\\])")
_TOPICS = re.compile(rb"(?:topic_?id\\*\"\s*:\s*\\*\"|')([a-z0-9][a-z0-9._-]{0,127})(?=[\"'\\])", re.IGNORECASE)
# Backups, and what a process that was killed has left of a store that it read, or of a file.
_COPIES = ("memory.format-*.db", ".old-store")
_PARTS = ".*.tmp"
# Damaged stores of ours: what is in them is in memory.db, or was derived from it.
_SET_ASIDE = ("graph-*", "vectors-*")
_NO_TIME = "1970-01-01T00:00:00Z"  # an id has nothing of it
_PART_SECONDS = 60.0  # a drop that is not finished by then never will be
_PIECE_BYTES = 8 * 1024 * 1024
_OVERLAP_BYTES = 64 * 1024  # more than five words

Brings = Callable[[Job, Record], Collection[str]]  # the ids of the memories that a job would store


@dataclass(frozen=True, slots=True)
class ForgetTargets:
    """What tells of the memories: their ids, the topics that go with them, and their words."""

    ids: frozenset[str]
    topics: frozenset[str]
    quotes: Quotes

    def in_bytes(self, data: bytes) -> bool:
        """Whether a file's content names or quotes one of them."""
        return (
            any(found.decode() in self.ids for found in _IDS.findall(data))
            or any(found.decode() in self.topics for found in _TOPICS.findall(data))
            or self.quotes.are_in(data)
        )


@dataclass(frozen=True, slots=True)
class JobLeftovers:
    """Jobs by what is to be done about them: ended ones lose their texts, waiting ones to cancel would bring one back.

    ``rejected`` and ``parts`` are digests of file names. ``quoting`` wait, and say something that was forgotten in
    a memory of their own, which stays theirs to say.
    """

    jobs: tuple[str, ...]
    jobs_to_cancel: tuple[str, ...]
    rejected: tuple[str, ...]
    parts: tuple[str, ...]
    quoting: tuple[str, ...]


def of_jobs(
    workspace: Workspace, told: ForgetTargets, brings: Brings, accepted_until: str, own: str, now: float
) -> JobLeftovers:
    """Look through the job folder. ``own`` is the job that asks; ``now`` is in seconds since 1970."""
    paths = workspace.spool
    found: dict[str, list[str]] = {"jobs": [], "jobs_to_cancel": [], "quoting": []}
    ids = {each for folder in (paths.results, paths.active, paths.ended) for each in spool.job_ids(folder)}
    for job_id in sorted(filter(is_job_id, ids - {own})):
        try:
            record = spool.read_record(paths, job_id)
        except (OSError, ValueError, JobError):
            record = None  # recovery sets it aside, and what is set aside is looked at there
        what = _about(_read(paths.record(job_id)), _copy(workspace, job_id), record, told, brings, accepted_until)
        if what is not None:
            found[what].append(job_id)
    rejected = [path.name for path in _files(paths.rejected) if _mentions(path, told)]
    old = [path for path in _files(paths.inbox) if path.name.startswith(".") and path.suffix == ".tmp"]
    parts = [path.name for path in old if now - _changed(path) > _PART_SECONDS and _mentions(path, told)]
    return JobLeftovers(
        jobs=tuple(found["jobs"]),
        jobs_to_cancel=tuple(found["jobs_to_cancel"]),
        rejected=tuple(map(name_digest, rejected)),
        parts=tuple(map(name_digest, parts)),
        quoting=tuple(found["quoting"]),
    )


def _about(
    record_bytes: bytes, copy: bytes, record: Record | None, told: ForgetTargets, brings: Brings, accepted_until: str
) -> str | None:
    """What a job is to those memories: one of the names of ``JobLeftovers``, or None."""
    tells = told.in_bytes(record_bytes) or told.in_bytes(copy)
    if record is None or record.ended:
        # What succeeded names in its record what it brought.
        would = record is not None and record.state != "succeeded" and _would_bring(copy, record, told, brings)
        return "jobs" if tells or would else None
    was_before = record.accepted_at is not None and clock.parse(record.accepted_at) <= clock.parse(accepted_until)
    if was_before and _would_bring(copy, record, told, brings):
        return "jobs_to_cancel"
    return "quoting" if tells else None


def _would_bring(copy: bytes, record: Record, told: ForgetTargets, brings: Brings) -> bool:
    try:
        return not told.ids.isdisjoint(brings(parse_copy(record.job_id, copy), record))
    except JobError:
        return False


def _copy(workspace: Workspace, job_id: str) -> bytes:
    return _read(workspace.spool.copy(job_id)) or _read(workspace.spool.ended_copy(job_id))


# --- beside the jobs ---


def of_files(workspace: Workspace, told: ForgetTargets) -> list[str]:
    """Files and folders that are to go, relative to the workspace: previews, imported files and stray raw texts that
    tell of the memories, and what is a copy of everything."""
    places = (*_files(workspace.previews), *_files(workspace.imports), *_strays(workspace))
    found = [path for path in places if _mentions(path, told)]
    found += sorted(workspace.memory.glob(_PARTS))
    return [*(path.relative_to(workspace.root).as_posix() for path in found), *copies(workspace)]


def _strays(workspace: Workspace) -> Iterator[Path]:
    """Raw texts that no store names any more, such as those of a database of cognee's that was lost."""
    named = {text.file for text in earlier_stores.find(workspace).texts if text.store}
    return (path for path in _files(workspace.cognee_data) if path.name not in named)


def copies(workspace: Workspace) -> list[str]:
    """The files and folders that are copies of everything, relative to the workspace."""
    found = [path for pattern in _COPIES for path in sorted(workspace.memory.glob(pattern))]
    found += [path for pattern in _SET_ASIDE for path in sorted(workspace.quarantine.glob(pattern))]
    found += [workspace.picture] if workspace.picture.exists() else []
    return [path.relative_to(workspace.root).as_posix() for path in found]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What cognee's stores of earlier versions hold of memories: raw texts by file, the stores' SQLite files that name
    them, and under which ids. Files are relative to the workspace."""

    files: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    data_ids: tuple[str, ...] = ()


def of_earlier(workspace: Workspace, ids: Collection[str], ours: Collection[str], workspace_id: str) -> Earlier:
    """Texts that are one of the memories, or became one. ``ours`` are documents that we gave to cognee ourselves."""
    found = [
        text for text in earlier_stores.find(workspace, ours).texts if not _ids_of(text, workspace_id).isdisjoint(ids)
    ]
    return Earlier(
        files=tuple(text.path.relative_to(workspace.root).as_posix() for text in found if text.path is not None),
        stores=tuple(dict.fromkeys(text.store for text in found if text.store)),
        data_ids=tuple(text.data_id for text in found if text.data_id),
    )


def _ids_of(text: earlier_stores.Text, workspace_id: str) -> set[str]:
    """The memories that a text is or becomes."""
    try:
        said = earlier_stores.read(text)
    except earlier_stores.UnreadableText:
        return set()
    # As it is, and without secrets: it was migrated with the one setting or the other.
    return {found for words in {said, redaction.redact(said).text} for found in _becomes(words, workspace_id)}


def _becomes(said: str, workspace_id: str) -> set[str]:
    itself = content_id(workspace_id, Memory("", 0, "legacy", Metadata(), _NO_TIME, text=said))
    try:
        return {itself, convert(said, None, _NO_TIME, workspace_id, _NO_TIME).memory.id}
    except (Skipped, JobError):
        return {itself}


def _mentions(path: Path, told: ForgetTargets) -> bool:
    """In pieces that overlap: a file may be larger than the memory of this machine, and a single line of it as well."""
    try:
        with path.open("rb") as file:
            before = b""
            while piece := file.read(_PIECE_BYTES):
                if told.in_bytes(before + piece):
                    return True
                before = piece[-_OVERLAP_BYTES:]
    except (FileNotFoundError, PermissionError):  # gone meanwhile; or closed to us, and so to every other reader
        pass
    return False


def remove(workspace: Workspace, names: Collection[str]) -> None:
    """Remove files and folders by their names relative to the workspace; what is gone is fine."""
    for name in names:
        path = workspace.root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            files.remove(path)
    for folder in {(workspace.root / name).parent for name in names}:
        if folder.is_dir():
            files.sync_folder(folder)


def _files(folder: Path) -> Iterator[Path]:
    """The plain files in a folder, by name."""
    if folder.is_dir() and not folder.is_symlink():
        yield from sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _read(path: Path) -> bytes:
    """The content of a file of the user's own; empty where there is none, or nobody may read it."""
    try:
        return files.read_own(path, spool.RECORD_LIMIT)
    except (OSError, JobError):
        return b""
