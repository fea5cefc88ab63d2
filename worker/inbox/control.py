"""Requests to the worker: files in ``control/``, which are read after the inbox and deleted when they are handled.

What is no request is deleted with a line in the log; a folder is moved to ``rejected/``.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jobs import clock, plain_files, spool, steps
from jobs.errors import JobError
from jobs.ids import is_job_id
from jobs.layout import SpoolPaths
from jobs.parse import read_json

from ..log import of_job
from ..scheduling.ledger import Cancellation, Ledger
from . import redaction
from .provenance import Provenance

log = logging.getLogger(__name__)

_LIMIT = 4096


class Control:
    """Handles the requests. Not thread-safe.

    ``cancel`` cancels a job in any state. ``verbs``: request name -> handler, for requests about no single job.
    ``waits``: whether a request waits for the end of a running job.
    """

    def __init__(
        self,
        paths: SpoolPaths,
        ledger: Ledger,
        cancel: Callable[[str], Cancellation],
        verbs: Mapping[str, Callable[[], object]],
    ) -> None:
        self._paths = paths
        self._ledger = ledger
        self._provenance = Provenance(paths)
        self._cancel = cancel
        self._verbs = verbs
        self._immovable: set[Path] = set()
        self.waits = False

    def scan(self) -> None:
        """Handle all present requests, and set ``waits``."""
        self.waits = False
        requests = _in_order(self._paths.control)
        if requests and self._provenance.must_wait():
            self.waits = True
            return
        for path in requests:
            if path in self._immovable:
                continue
            try:
                self._read(path)
            except FileNotFoundError:
                pass  # the client has withdrawn it
            except OSError as error:  # such as a full disk; it is tried again later, after the others
                if error.errno in spool.IMMOVABLE and path.is_dir():
                    self._immovable.add(path)  # such as a mounted folder: each try would leave another reason
                log.error("request %s: %s", redaction.shown_name(path), error.strerror)

    def _read(self, path: Path) -> None:
        status = None
        try:
            if path.suffix != ".json":
                raise JobError("NAME_INVALID", "It is no request.")
            self._provenance.require_own(path)
            data, status = plain_files.read_plain(path, _LIMIT)
            request = read_json(data)
            if not isinstance(request, dict):
                raise JobError("ARGUMENT_INVALID", "It holds no object.")
            if not self._handle(path.stem, request):
                return
        except JobError as error:
            error, name = redaction.clean_error(error), redaction.shown_name(path)
            log.warning("request %s refused: %s", name, error)
            if plain_files.is_real_folder(path.lstat()):  # no client makes one, so somebody may miss what is in it
                spool.reject(self._paths, path, error, None, clock.iso(clock.now()), name=name)
                return
        with steps.fault_point("control.remove"):
            spool.remove_if_unchanged(path, status)

    def _handle(self, name: str, request: dict[str, Any]) -> bool:
        """Handle a request. Returns False if it must be tried again later.

        Raises JobError: ARGUMENT_INVALID for an unknown request, JOB_NOT_FOUND for a damaged record, and as
        ``Ledger.replay``.
        """
        if name in self._verbs:
            self._verbs[name]()
            return True
        verb, _, job_id = name.partition("-")
        if verb not in ("cancel", "retry", "dismiss") or not is_job_id(job_id):
            raise JobError("ARGUMENT_INVALID", "It is no request that is known.")
        try:
            record = self._ledger.find_as_seen(job_id)
        except ValueError as error:
            raise JobError("JOB_NOT_FOUND", str(error)) from error
        if record is None or (verb == "cancel" and record.state == "rejected"):  # a file in the inbox is a new job
            return not self._paths.dropped(job_id).exists()
        if request.get("generation") not in (None, record.generation):
            return True
        if verb == "cancel":
            cancellation = self._cancel(job_id)
            if cancellation not in ("running", "ended"):
                log.info("cancel: %s", cancellation, extra=of_job(record))
            self.waits |= cancellation == "running"
            return cancellation != "running"
        if verb == "dismiss":
            if record.ended:
                self._ledger.dismiss(record)
                log.info("dismissed", extra=of_job(record))
            return True
        if record.ended:
            again = self._ledger.replay(job_id)
            log.info("replayed", extra=of_job(again, generation=again.generation))
        return True


def _in_order(folder: Path) -> list[Path]:
    """All entries, oldest first, so that the last request decides. A file with a leading dot is still being written."""
    requests: list[tuple[int, Path]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(".") or entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(FileNotFoundError):  # the client has withdrawn it
                    requests.append((entry.stat(follow_symlinks=False).st_mtime_ns, Path(entry.path)))
    return [path for _, path in sorted(requests)]
