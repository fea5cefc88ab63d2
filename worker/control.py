"""Requests to the worker: files in ``control/``, read after the inbox, deleted when the record shows the effect."""

from __future__ import annotations

import logging
from collections.abc import Callable

from jobs import files
from jobs.errors import JobError
from jobs.ids import is_job_id
from jobs.layout import Spool
from jobs.parse import read_json

from .ledger import Ledger

log = logging.getLogger(__name__)

_LIMIT = 4096


class Control:
    """Looks at the requests when told to; not thread-safe, one thread calls it."""

    def __init__(self, place: Spool, ledger: Ledger, enqueue: Callable[[str, int], None]) -> None:
        self._place = place
        self._ledger = ledger
        self._enqueue = enqueue

    def look(self) -> None:
        for path in sorted(self._place.control.glob("*.json")):
            verb, _, job_id = path.stem.partition("-")
            try:
                request = read_json(files.read_plain(path, _LIMIT)[0])
                if verb not in ("cancel", "retry") or not is_job_id(job_id) or not isinstance(request, dict):
                    raise JobError("ARGUMENT_INVALID", f"{path.name} is no request that is known.")
                if not self._obey(verb, job_id, request.get("generation")):
                    continue
            except FileNotFoundError:
                continue
            except JobError as error:
                log.warning("request %s refused: %s", path.name[:100], error)
            files.remove(path)

    def _obey(self, verb: str, job_id: str, generation: object) -> bool:
        """Whether the request is dealt with; False leaves it for later."""
        try:
            record = self._ledger.find(job_id)
        except ValueError as error:
            raise JobError("JOB_NOT_FOUND", str(error)) from error
        if record is None:
            return not self._place.dropped(job_id).exists()
        if generation is not None and record.generation != generation:
            return True
        if verb == "retry":
            if record.ended:
                again = self._ledger.replay(job_id)
                self._enqueue(job_id, again.priority)
                log.info("replayed job_id=%s generation=%d", job_id, again.generation)
            return True
        if record.ended:
            return True
        if not self._ledger.cancel(job_id):
            return False  # it runs to its end, and the request with it
        log.info("cancelled job_id=%s", job_id)
        return True
