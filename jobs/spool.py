"""The operations of the protocol on the job folder: drop, accept, record, end, reject, list.

A crash inside an operation is harmless because of the order of its writes: copy before record, record before unlink,
record before the copy's move. The names of the files are in ``layout``; which record follows is in ``lifecycle``.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from . import batch, files, plain_files
from .errors import JobError
from .ids import is_job_id
from .layout import SpoolPaths
from .lock import Lock
from .model import Job, Record, encode
from .scrub import without_texts
from .steps import fault_point

if TYPE_CHECKING:
    from . import schema

RECORD_LIMIT = 64 * 1024 * 1024
IMMOVABLE = (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV)  # an immutable file, or a mount point


def prepare(spool: SpoolPaths) -> None:
    """Create the spool's folders, private to the user. Raises JobError: FILE_UNSAFE as ``files.make_folder``."""
    make_root(spool)
    for folder in spool.folders:
        files.make_folder(folder)


def make_root(spool: SpoolPaths) -> None:
    """Create the spool's own folder, private to the user and ignored by git before it holds anything. Call it before
    any other folder of the spool is created. Raises JobError: FILE_UNSAFE, and OSError."""
    files.make_folder(spool.root)
    files.ignore_in_git(spool.root)


def drop(spool: SpoolPaths, job_id: str, data: bytes, require_free: Callable[[], object] | None = None) -> Path:
    """Write a job file into the inbox durably, as the protocol requires: write, sync, rename. Returns its path.

    ``require_free`` raises what speaks against it, while no other client of this program drops. Raises JobError:
    FILE_UNSAFE, and OSError.
    """
    make_root(spool)
    part = files.temporary_path(spool.dropped(job_id))  # this call's own: another may drop the same job at once
    with fault_point("drop.write"):
        files.write_new(part, data)
    with fault_point("drop.rename"):
        if require_free is None:
            files.rename(part, spool.dropped(job_id))
        else:
            _rename_alone(spool, part, spool.dropped(job_id), require_free)
        files.sync_folder(spool.inbox)
    return spool.dropped(job_id)


def _rename_alone(spool: SpoolPaths, part: Path, target: Path, require_free: Callable[[], object]) -> None:
    """Rename a file while no other client does, unless something speaks against it: then the file is removed."""
    files.make_folder(spool.worker)
    try:
        with Lock(spool.drop_lock) as lock:
            while not lock.acquire():
                pass  # it has waited
            require_free()
            files.rename(part, target)
    finally:
        files.remove(part)


def inbox(spool: SpoolPaths) -> list[Path]:
    """The entries that wait in the inbox, sorted by name, without dot files and the spool's own folders.

    Raises OSError.
    """
    own_folders = {folder.name for folder in spool.folders}
    with os.scandir(spool.inbox) as entries:
        waiting = [entry.name for entry in entries if not entry.name.startswith(".") and entry.name not in own_folders]
    return [spool.inbox / name for name in sorted(waiting)]


def job_id_of(path: Path) -> str | None:
    """The job id after which a file is named; None for a file that is not named like a job."""
    job_id = path.name.removesuffix(".json")
    return job_id if job_id != path.name and is_job_id(job_id) else None


def accept(
    spool: SpoolPaths, accepted: Sequence[tuple[Job, Record]], read: Mapping[str, os.stat_result] | None = None
) -> None:
    """Accept jobs: write the copies, then the records, then remove the dropped files; few syncs for each stage.

    ``read`` maps a job id to the status of its dropped file when it was read. A file that was exchanged since then is
    not removed. Raises OSError; then some of the jobs may be accepted, and their records exist.
    """

    def remove_drop(accepted: tuple[Job, Record]) -> None:
        job_id = accepted[0].job_id
        with suppress(PermissionError):  # the next scan finds the file as a duplicate and reports the problem
            remove_if_unchanged(spool.dropped(job_id), (read or {}).get(job_id))

    with fault_point("copy.write"):
        batch.replace_many((spool.copy(job.job_id), encode(job.as_dict())) for job, _ in accepted)
    with fault_point("record.accept"):
        write_records(spool, [record for _, record in accepted])
    with fault_point("drop.remove"):
        batch.each(remove_drop, accepted)


def remove_if_unchanged(path: Path, read: os.stat_result | None) -> None:
    """Unlink a dropped file, unless it was exchanged since it was read. ``read`` is its status at that time; with None
    it is always removed. Raises OSError."""
    if read is not None:
        try:
            status = path.lstat()
        except FileNotFoundError:
            return
        if (status.st_ino, status.st_size, status.st_mtime_ns) != (read.st_ino, read.st_size, read.st_mtime_ns):
            return
    files.remove(path)


def write_records(spool: SpoolPaths, records: Iterable[Record]) -> None:
    """Write records durably, replacing earlier ones, with one folder sync. Raises OSError."""
    batch.replace_many((spool.record(record.job_id), encode(record.as_dict())) for record in records)


def retire_copy(spool: SpoolPaths, job_id: str, *, keep: bool = True) -> None:
    """Move the copy of an ended job to ``ended/``, or remove it with ``keep=False``.

    Not durable: its record already says that the job has ended, and recovery repeats the move. Raises OSError.
    """
    with fault_point("copy.end"):
        if not keep:
            files.remove(spool.copy(job_id))
            return
        try:
            files.rename(spool.copy(job_id), spool.ended_copy(job_id))
        except FileNotFoundError:
            pass  # an earlier try, or recovery, has moved it


def reopen(spool: SpoolPaths, job_id: str) -> None:
    """Move the copy of an ended job back to ``active/`` for its next generation, durably, since the record follows.

    Raises FileNotFoundError without a copy, and OSError.
    """
    with fault_point("copy.reopen"):
        if not spool.copy(job_id).exists():
            files.rename(spool.ended_copy(job_id), spool.copy(job_id))
        files.sync_folder(spool.active)


def prune(spool: SpoolPaths, job_ids: Sequence[str]) -> None:
    """Remove ended jobs: the copies first, so that the next pruning finishes one that was interrupted. Raises
    OSError."""
    if not job_ids:
        return
    with fault_point("prune.copy"):
        for job_id in job_ids:
            files.remove(spool.ended_copy(job_id))
        # Only the record keeps the job from running again. The removals from the inbox and from `active/` may not be
        # on the medium yet; without these syncs, either file could return after a power cut as a new job.
        for folder in (spool.inbox, spool.active, spool.ended):
            files.sync_folder(folder)
    with fault_point("prune.record"):
        for job_id in job_ids:
            files.remove(spool.record(job_id))


def scrub(spool: SpoolPaths, records: Sequence[Record], damaged: Sequence[str], others: Sequence[Path]) -> None:
    """Remove the texts of ended jobs: rewrite their records without texts and remove their copies.

    Also removes the damaged records (job ids) with their copies, and the ``others``. Durable and idempotent.
    Raises OSError.
    """
    with fault_point("scrub.record"):
        write_records(spool, [clean for record in records if (clean := without_texts(record)) != record])
    with fault_point("scrub.copy"):
        for job_id in (*(record.job_id for record in records), *damaged):
            files.remove(spool.ended_copy(job_id))
            files.remove(spool.copy(job_id))  # if it was not moved to ``ended/`` yet
        for path in (*map(spool.record, damaged), *others):
            files.remove(path)
        for folder in (spool.active, spool.ended, spool.results, spool.rejected, spool.inbox):
            files.sync_folder(folder)


@dataclass(frozen=True, slots=True)
class Replacement:
    """The content to keep instead of a rejected file, and what the reason says of the change.

    ``cut_from`` is the size of the dropped file in bytes where only its beginning is kept, else None. ``read`` is the
    file's status when it was read.
    """

    data: bytes
    redactions: schema.Redactions
    cut_from: int | None
    read: os.stat_result


def printable_name(path: Path) -> str:
    """A file's name as valid text; bytes that are not UTF-8 are replaced."""
    return os.fsencode(path.name).decode("utf-8", "replace")


def reject(
    spool: SpoolPaths,
    path: Path,
    error: JobError,
    record: Record | None,
    at: str,
    *,
    name: str | None = None,
    rewritten: Replacement | None = None,
) -> Path:
    """Move a file that cannot become a job to ``rejected/`` and write the reason beside it. Returns its new path.

    The file is never opened, so a link or a pipe is moved as it is; with ``rewritten``, that content is kept
    instead. ``at`` is the time for the reason; ``name`` replaces the file's own name in it.

    Raises OSError. Then the file is still in its place. If it is ``IMMOVABLE``, the reason stays; after any other
    error the reason is removed, so that trying again leaves no further ones.
    """
    name = printable_name(path) if name is None else name
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
    try:
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
                remove_if_unchanged(path, rewritten.read)
            else:
                with suppress(FileNotFoundError):  # its writer removed it meanwhile; the reason stays
                    files.rename(path, target)
                    _make_private(target)
    except OSError as failure:
        if failure.errno not in IMMOVABLE:
            with suppress(OSError):
                files.remove(reason)
                if rewritten is not None:
                    files.remove(target)
        raise
    return target


def _make_private(kept: Path) -> None:
    """Close a plain file to other users. A file that also has a name elsewhere keeps its mode, which it has there too.

    Never fails: the folder is closed to others anyway.
    """
    with suppress(OSError):
        if plain_files.is_own_file(kept):
            kept.chmod(0o600)


def _free_names(spool: SpoolPaths, name: str) -> tuple[Path, Path]:
    stem = name.removesuffix(".json").replace(":", "-")  # Windows allows no colon in a name
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
    """The record of a job, or None without one.

    Raises ValueError for a damaged record, JobError: FILE_UNSAFE or FILE_TOO_LARGE, and OSError.
    """
    try:
        data = plain_files.read_own(spool.record(job_id), RECORD_LIMIT)
    except FileNotFoundError:
        return None
    try:
        record = Record.from_dict(json.loads(data))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{job_id}: not a record: {error!r}") from error
    if record.job_id != job_id:
        raise ValueError(f"{job_id}: the record of another job, {record.job_id!r}")
    return record


def read_copy(spool: SpoolPaths, job_id: str) -> bytes:
    """The bytes of the worker's copy of a job that has not ended.

    Raises FileNotFoundError without one, JobError: FILE_UNSAFE, or FILE_TOO_LARGE above ``RECORD_LIMIT`` bytes; and
    OSError.
    """
    return plain_files.read_own(spool.copy(job_id), RECORD_LIMIT)


def job_ids(folder: Path) -> Iterator[str]:
    """The names without ``.json`` of the files in a folder of the spool, in no order. Nothing if it does not exist.
    Raises OSError."""
    for entry in plain_files.entries(folder):
        if entry.name.endswith(".json") and not entry.name.startswith("."):
            yield entry.name[:-5]


def records(spool: SpoolPaths) -> Iterator[Record]:
    """All readable records, in no order. Damaged ones are left out; recovery reports them. Raises OSError."""
    for job_id in job_ids(spool.results):
        try:
            record = read_record(spool, job_id)
        except (ValueError, JobError):
            continue
        if record is not None:
            yield record
