"""The job folder as a store: drop, accept, record, end, reject, list.

Each function is one step of the protocol. The order of writes inside a step is what makes a crash
between them harmless: copy before record, record before unlink, record before the copy's move.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from . import batch, files
from .errors import JobError
from .layout import SpoolPaths
from .model import Job, Record, encode
from .scrub import without_texts
from .steps import fault_point

if TYPE_CHECKING:
    from . import schema

RECORD_LIMIT = 64 * 1024 * 1024


def prepare(spool: SpoolPaths) -> None:
    """Create the folders, private to the user."""
    for folder in spool.folders:
        files.make_folder(folder)
    files.ignore_in_git(spool.root)


def drop(spool: SpoolPaths, job_id: str, data: bytes) -> Path:
    """Put a job file into the inbox as the protocol asks: write, sync, rename."""
    files.make_folder(spool.root)
    part = spool.dropping(job_id)
    part.unlink(missing_ok=True)
    with fault_point("drop.write"):
        files.write_new(part, data)
    with fault_point("drop.rename"):
        files.rename(part, spool.dropped(job_id))
        files.sync_folder(spool.inbox)
    return spool.dropped(job_id)


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in the inbox: its path, and the job's name if the file's name has the right ending."""

    path: Path
    name: str | None


def inbox(spool: SpoolPaths) -> list[Entry]:
    """What waits in the inbox, oldest name first; the protocol's own folders and dot files are left out."""
    own = {folder.name for folder in spool.folders}
    found = []
    with os.scandir(spool.inbox) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name in own:
                continue
            name = entry.name[:-5] if entry.name.endswith(".json") else None
            found.append(Entry(Path(entry.path), name))
    return sorted(found, key=lambda entry: entry.path.name)


def accept(
    spool: SpoolPaths, accepted: Sequence[tuple[Job, Record]], read: Mapping[str, os.stat_result] | None = None
) -> None:
    """Make jobs ours: copies, then records, then the dropped files go. One sync serves each stage.

    ``read`` has the status of each file as it was read: another one that came under its name since stays.
    """
    copies = [(spool.copy(job.job_id), encode(job.as_dict())) for job, _ in accepted]
    records = [(spool.record(record.job_id), encode(record.as_dict())) for _, record in accepted]
    parts = batch.write_parts([*copies, *records])
    try:
        with fault_point("copy.write"):
            batch.put_in_place(parts[: len(copies)])
        with fault_point("record.accept"):
            batch.put_in_place(parts[len(copies) :])
    except BaseException:
        batch.drop_parts(parts)
        raise
    with fault_point("drop.remove"):
        for job, _ in accepted:
            with suppress(PermissionError):  # the next look finds a duplicate there, and says what is the matter
                take_away(spool.dropped(job.job_id), (read or {}).get(job.job_id))


def take_away(path: Path, read: os.stat_result | None) -> None:
    """Unlink a dropped file, unless another one has come under its name since it was read."""
    if read is not None:
        try:
            now = path.lstat()
        except FileNotFoundError:
            return
        if (now.st_ino, now.st_size, now.st_mtime_ns) != (read.st_ino, read.st_size, read.st_mtime_ns):
            return
    files.remove(path)


def write_records(spool: SpoolPaths, records: Iterable[Record]) -> None:
    """Replace records durably; they share one folder sync."""
    batch.replace_many((spool.record(record.job_id), encode(record.as_dict())) for record in records)


def end(spool: SpoolPaths, job_id: str, *, keep: bool = True) -> None:
    """Move the copy of an ended job aside, or remove it. Its record already says so, so this need not be durable."""
    with fault_point("copy.end"):
        if not keep:
            files.remove(spool.copy(job_id))
            return
        try:
            files.rename(spool.copy(job_id), spool.ended_copy(job_id))
        except FileNotFoundError:
            pass  # a former try, or recovery, has moved it


def reopen(spool: SpoolPaths, job_id: str) -> None:
    """Bring the copy of a job back for its next generation; durable, since the record follows."""
    with fault_point("copy.reopen"):
        if not spool.copy(job_id).exists():
            files.rename(spool.ended_copy(job_id), spool.copy(job_id))
        files.sync_folder(spool.active)


def prune(spool: SpoolPaths, job_ids: Sequence[str]) -> None:
    """Remove ended jobs: their copies first, so that what is cut off here is finished by the next pruning."""
    if not job_ids:
        return
    with fault_point("prune.copy"):
        for job_id in job_ids:
            files.remove(spool.ended_copy(job_id))
        # The record alone keeps the job from running again. That its file went from the inbox, and its copy from
        # `active/`, need not be on the medium yet: after a power cut either would be taken for a new job.
        for folder in (spool.inbox, spool.active, spool.ended):
            files.sync_folder(folder)
    with fault_point("prune.record"):
        for job_id in job_ids:
            files.remove(spool.record(job_id))


def scrub(spool: SpoolPaths, records: Sequence[Record], damaged: Sequence[str], others: Sequence[Path]) -> None:
    """Take the texts out of ended jobs: their records lose them, their copies go. Damaged records go with theirs, and
    so do the other files. On the medium when it returns; again is the same as once."""
    with fault_point("scrub.record"):
        write_records(spool, [clean for record in records if (clean := without_texts(record)) != record])
    with fault_point("scrub.copy"):
        for job_id in (*(record.job_id for record in records), *damaged):
            files.remove(spool.ended_copy(job_id))
            files.remove(spool.copy(job_id))  # where it was not put away yet
        for path in (*map(spool.record, damaged), *others):
            files.remove(path)
        for folder in (spool.active, spool.ended, spool.results, spool.rejected, spool.inbox):
            files.sync_folder(folder)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What is kept of a rejected file instead of the file: other bytes, and what was done, for the reason.

    ``cut_from`` is the size of the dropped file in bytes where only its beginning is kept, else None. ``read`` is the
    file's status when it was read.
    """

    data: bytes
    redactions: schema.Redactions
    cut_from: int | None
    read: os.stat_result


def shown_name(path: Path) -> str:
    """A file's name as text. It need not be text on every system; what cannot be shown is replaced."""
    return os.fsencode(path.name).decode("utf-8", "replace")


def reject(
    spool: SpoolPaths,
    entry: Entry,
    error: JobError,
    record: Record | None,
    at: str,
    *,
    name: str | None = None,
    rewritten: Rewritten | None = None,
) -> Path:
    """Keep a file that cannot become a job in ``rejected/``, with the reason beside it. Returns where it lies.

    The entry is moved, never opened: a link or a pipe stays what it is. Or something else is kept in its place.
    ``name`` is to be shown instead of its own.
    """
    name = shown_name(entry.path) if name is None else name
    target, reason = _free_names(spool, name)
    explained: schema.RejectionReason = {
        "schema_version": 1,
        "file": name,
        "kept_as": target.name,
        "rejected_at": at,
        "error": error.as_dict(),
        "redactions": rewritten.redactions if rewritten else None,
        "cut_from": rewritten.cut_from if rewritten else None,
    }
    with fault_point("reason.write"):
        files.replace(reason, encode(explained))
    if record is not None:
        with fault_point("record.refuse"):
            write_records(spool, [record])
    if rewritten is not None:
        with fault_point("file.rewrite"):
            files.replace(target, rewritten.data)
    with fault_point("file.reject"):
        if rewritten is not None:
            take_away(entry.path, rewritten.read)
        else:
            with suppress(FileNotFoundError):  # taken back by its writer meanwhile; the reason stays
                files.rename(entry.path, target)
    return target


def _free_names(spool: SpoolPaths, name: str) -> tuple[Path, Path]:
    stem = name.removesuffix(".json").replace(":", "-")  # which not every system takes
    if len(os.fsencode(stem)) > 180:
        stem = f"{stem[:40]}-{sha256(os.fsencode(stem)).hexdigest()[:16]}"
    number = 1
    while True:
        target = spool.rejected / f"{stem}.{number}.json"
        reason = spool.rejected / f"{stem}.{number}.reason.json"
        if not os.path.lexists(target) and not os.path.lexists(reason):
            return target, reason
        number += 1


def read_record(spool: SpoolPaths, job_id: str) -> Record | None:
    """The record of a job, or None where there is none. Raises ValueError for a damaged one."""
    try:
        data = files.read_own(spool.record(job_id), RECORD_LIMIT)
    except FileNotFoundError:
        return None
    try:
        record = Record.from_dict(json.loads(data))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{job_id}: not a record: {error!r}") from error
    if record.job_id != job_id:
        raise ValueError(f"{job_id}: the record of another job, {record.job_id!r}")
    return record


def read_copy(spool: SpoolPaths, job_id: str, limit: int) -> bytes:
    """The worker's own copy of a job that has not ended. Raises FileNotFoundError."""
    return files.read_own(spool.copy(job_id), limit)


def job_ids(folder: Path) -> Iterator[str]:
    """The job ids of the files in a folder of the spool, in no order."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".json") and not entry.name.startswith("."):
                    yield entry.name[:-5]
    except FileNotFoundError:
        return


def records(spool: SpoolPaths) -> Iterator[Record]:
    """All readable records, in no order; a damaged one is left out (recovery reports it)."""
    for job_id in job_ids(spool.results):
        try:
            record = read_record(spool, job_id)
        except (ValueError, JobError):
            continue
        if record is not None:
            yield record
