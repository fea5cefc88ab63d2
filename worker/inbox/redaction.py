"""Redaction of dropped files: removes secrets from errors, names and rejected files before they are stored.

``bridge.privacy.redaction`` decides what a secret is; ``jobs.spool`` writes the files.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from bridge.privacy import redaction
from jobs import clock, plain_files, spool
from jobs.errors import JobError
from jobs.ids import is_job_id
from jobs.layout import SpoolPaths
from jobs.model import Record

MAX_BYTES = 4 * 1024 * 1024  # of a rejected file are searched and kept, which takes seconds
_TORN_BYTES = 4096  # removed at most before the cut of a long file, since half a secret cannot be recognised


def clean_error(error: JobError) -> JobError:
    """The error without secrets, since a message may quote the dropped file."""
    (message, remediation, details), counts = redaction.redact_value([error.message, error.remediation, error.details])
    return JobError(error.code, message, remediation=remediation, details=details) if counts else error


def clean_name(name: str) -> str:
    """A file's name without secrets. A job's file name is unchanged, since it contains only the id."""
    return name if is_job_id(name.removesuffix(".json")) else redaction.redact(name).text


def shown_name(path: Path, *, redacts: bool = True) -> str:
    """A file's name for a message or the log, at most 100 characters. ``redacts``: without secrets."""
    name = spool.printable_name(path)
    return (clean_name(name) if redacts else name)[:100]  # in this order: half a secret cannot be recognised


def reject(paths: SpoolPaths, path: Path, error: JobError, record: Record | None, now: datetime) -> Path:
    """As ``spool.reject``, without secrets in the name and the content that are kept."""
    name = clean_name(spool.printable_name(path))
    return spool.reject(paths, path, error, record, clock.iso(now), name=name, rewritten=_rewritten(path))


def _rewritten(path: Path) -> spool.Replacement | None:
    """The redacted content to keep instead of the file; None if the file can be moved unchanged.

    None also for anything but a plain file of this user with one name.
    """
    try:
        descriptor = plain_files.open_plain(path)
    except (JobError, OSError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if status.st_nlink > 1 or not plain_files.belongs_to_user(status):
            return None
        try:
            data = file.read(MAX_BYTES + 1)
        except OSError:
            return None
    is_cut = len(data) > MAX_BYTES
    data, counts = redaction.redact_bytes(_whole(data[:MAX_BYTES]) if is_cut else data)
    if not counts and not is_cut:
        return None
    return spool.Replacement(data, redaction.total(counts), status.st_size if is_cut else None, status)


def _whole(data: bytes) -> bytes:
    """The bytes up to the last white space, so that no word is cut."""
    blank = max(data.rfind(mark, len(data) - _TORN_BYTES) for mark in (b" ", b"\n", b"\t"))
    return data[: blank + 1] if blank >= 0 else data[:-_TORN_BYTES]
