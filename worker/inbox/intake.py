"""The intake: dropped files become accepted jobs, or are rejected. Only this module reads dropped files.

The decision is ``lifecycle.decide``.
"""

from __future__ import annotations

import logging
import math
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from bridge.privacy.log_lines import fields
from bridge.privacy.redaction import without_secrets
from bridge.settings import Settings
from bridge.text.template import parse
from jobs import clock, lifecycle, plain_files, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.model import Job, Record
from jobs.parse import parse_job

from ..log import of_job
from ..scheduling.ledger import Ledger
from . import redaction
from .provenance import Provenance

log = logging.getLogger(__name__)

_FIRST_TOGETHER = 8  # jobs of a scan that are accepted first, so that the child has work while others are read
_TOGETHER = 64  # jobs that are accepted together and share the syncs; groups double until then
_LOOK_SECONDS = 5.0  # of a scan at most; then requests are handled before the rest of the inbox
_MOST_REJECTED = 250  # in a scan; then retention removes the oldest before more are kept
_AGAIN_SECONDS = 5.0  # before a file that could not be read or removed is tried again


class Intake:
    """Scans the inbox. Not thread-safe. ``has_more``: whether the last scan stopped before the end of the inbox."""

    def __init__(
        self,
        paths: SpoolPaths,
        ledger: Ledger,
        settings: Settings,
        accepted: Callable[[], None] = lambda: None,
        now: Callable[[], datetime] = clock.now,
        rejected: Callable[[str], None] = lambda code: None,
    ) -> None:
        """``accepted`` is called after each batch, so that jobs start before a full inbox is read. ``rejected`` is
        called with the error code of each rejected file."""
        self._paths = paths
        self._ledger = ledger
        self._settings = settings
        self._provenance = Provenance(paths)
        self._accepted = accepted
        self._rejected = rejected
        self._now = now
        self._growing: dict[str, tuple[tuple[int, int], float]] = {}
        self._postponed: dict[str, tuple[tuple[int, ...] | None, float]] = {}
        self._until = 0.0
        self._rejected_in_scan = 0
        self._waits_for_git = False
        self.has_more = False

    @property
    def waits_for_growing_files(self) -> bool:
        """Whether the inbox has a file that may still be being written, by its client or by git."""
        return bool(self._growing) or self._waits_for_git

    def scan(self) -> int:
        """Scan the inbox, for at most about 5 s and 250 rejections. Returns the number of accepted jobs."""
        accepted = 0
        self.has_more = False
        entries = spool.inbox(self._paths)
        self._waits_for_git = bool(entries) and self._provenance.must_wait()
        if self._waits_for_git:
            return 0
        present = {path.name for path in entries}
        self._growing = {name: seen for name, seen in self._growing.items() if name in present}
        self._postponed = {name: seen for name, seen in self._postponed.items() if name in present}
        entries = [path for path in entries if not self._is_postponed(path)]
        self._until = time.monotonic() + _LOOK_SECONDS
        self._rejected_in_scan = 0
        size = _FIRST_TOGETHER
        while entries and not self.has_more:
            accepted += self._take(entries[:size])
            entries, size = entries[size:], min(2 * size, _TOGETHER)
        return accepted

    def _take(self, entries: list[Path]) -> int:
        accepted: list[tuple[Job, Record]] = []
        read: dict[str, os.stat_result] = {}
        room = self._settings.max_active_jobs - self._ledger.count()
        free = shutil.disk_usage(self._paths.root).free
        try:
            self._judge(entries, accepted, read, room, free)
        finally:  # an error with one file must not stop the valid ones before it
            if accepted:
                self._accept(accepted, read)
        return len(accepted)

    def _judge(
        self,
        entries: list[Path],
        accepted: list[tuple[Job, Record]],
        read: dict[str, os.stat_result],
        room: int,
        free: int,
    ) -> None:
        """Read the entries; add valid jobs to ``accepted`` and their files' statuses to ``read``; reject the others."""
        for path in entries:
            # Searching a large file for secrets takes seconds.
            if time.monotonic() > self._until or self._rejected_in_scan >= _MOST_REJECTED:
                self.has_more = True
                break
            try:
                job, status = self._read(path)
                generation = lifecycle.decide(
                    job, self._earlier(job.job_id), room - len(accepted), free, self._settings.min_free_bytes
                )
                if generation is None:
                    spool.remove_if_unchanged(path, status)
                    continue
            except FileNotFoundError:
                continue
            except JobError as error:
                if not self._may_still_grow(path, error):
                    self._reject(path, error)
                continue
            except OSError as error:  # such as a device error; the other files are still read
                self._postpone(path, error, _AGAIN_SECONDS)
                continue
            read[job.job_id] = status
            accepted.append((job, lifecycle.accept(job, self._now(), generation)))

    def _accept(self, accepted: list[tuple[Job, Record]], read: dict[str, os.stat_result]) -> None:
        try:
            self._ledger.accept(accepted, read)
        finally:  # after a failure half-way, some are accepted
            for _, record in accepted:
                if self._ledger.get(record.job_id) is not None:
                    log.info("accepted", extra=of_job(record))
            self._accepted()

    def _read(self, path: Path) -> tuple[Job, os.stat_result]:
        self._provenance.require_own(path)
        job_id = spool.job_id_of(path)
        if job_id is None:
            raise JobError("NAME_INVALID", f"{self._shown(path)!r} does not name a job.")
        data, status = plain_files.read_plain(path, self._settings.max_job_bytes)
        job = parse_job(job_id, data, max_attempts=self._settings.max_attempts, test_jobs=self._settings.test_jobs)
        if self._settings.redact_secrets:
            job = without_secrets(job)
        from jobs.payloads import Ingest  # loaded with the first job

        if isinstance(job.payload, Ingest) and job.payload.summary_text is not None:
            parse(job.payload.summary_text)  # so that invalid metadata rejects the file
        return job, status

    def _earlier(self, job_id: str) -> Record | None:
        try:
            return self._ledger.find(job_id)
        except ValueError as error:
            raise JobError("JOB_ID_CONFLICT", f"The record under the id {job_id!r} is damaged.") from error

    def _may_still_grow(self, path: Path, error: JobError) -> bool:
        """Whether an invalid file may still be being written.

        Clients that write in place are tolerated: the file is rejected only after its size and time have not changed
        for ``partial_write_grace``. So are clients that use link and unlink: for a moment the file has two names.
        """
        if error.code != "JSON_INVALID" and "names" not in error.details:
            return False
        try:
            status = path.lstat()
        except FileNotFoundError:
            return True
        stamp = (status.st_size, status.st_mtime_ns)
        seen = self._growing.get(path.name)
        if seen is None or seen[0] != stamp:
            self._growing[path.name] = (stamp, time.monotonic())
            return True
        return time.monotonic() - seen[1] < self._settings.partial_write_grace

    def _reject(self, path: Path, error: JobError) -> None:
        self._growing.pop(path.name, None)
        redacts = self._settings.redact_secrets
        error = redaction.clean_error(error) if redacts else error
        record = None
        job_id = spool.job_id_of(path)
        if job_id is not None and error.code != "JOB_ID_CONFLICT":
            with suppress(JobError):  # a damaged record is left to recovery
                earlier = self._earlier(job_id)
                if earlier is None or earlier.state == "rejected":
                    record = lifecycle.reject(job_id, error, self._now(), earlier.generation + 1 if earlier else 1)
        try:
            if redacts:
                kept = redaction.reject(self._paths, path, error, record, self._now())
            else:
                kept = spool.reject(self._paths, path, error, record, clock.iso(self._now()))
        except OSError as failure:
            # For an immovable file, the rejection is recorded, and each try would record another one. After any other
            # error, such as a full disk, nothing of the rejection is left.
            self._postpone(path, failure, math.inf if failure.errno in spool.IMMOVABLE else _AGAIN_SECONDS)
            return
        self._rejected_in_scan += 1
        self._rejected(error.code)
        about = fields(code=error.code) if record is None else of_job(record, code=error.code)
        log.warning("rejected file=%r kept=%s", self._shown(path), kept.name, extra=about)

    def _postpone(self, path: Path, error: OSError, seconds: float) -> None:
        """Log an entry's error and skip the entry until it changes or the time is over."""
        log.error("left in the inbox file=%r: %s", self._shown(path), error.strerror)
        self._postponed[path.name] = (_stamp(path), time.monotonic() + seconds)

    def _shown(self, path: Path) -> str:
        return redaction.shown_name(path, redacts=self._settings.redact_secrets)

    def _is_postponed(self, path: Path) -> bool:
        stamp, until = self._postponed.get(path.name, (None, 0.0))
        return time.monotonic() < until and _stamp(path) == stamp


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
