"""The selection of jobs for a request: by state, kind, error, text and time, or by id or its beginning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, get_args

from jobs import clock, record_cache, spool
from jobs.errors import BROUGHT, ERRORS, JobError
from jobs.ids import is_job_id
from jobs.kinds import KIND_NAMES
from jobs.layout import SpoolPaths
from jobs.spelling import did_you_mean, nearest
from jobs.states import VERBS, State

from ..wording import first_ones

if TYPE_CHECKING:
    from jobs.schema import JobRow


def states_of(text: str | None) -> tuple[str, ...]:
    """The states in a text like ``failed,expired``. Raises JobError: ARGUMENT_INVALID for an unknown one."""
    words = [word.strip() for word in (text or "").split(",")]
    return tuple(_known("state", word, get_args(State)) for word in words if word)


def kind_of(text: str | None) -> str | None:
    """The kind of job. Raises JobError: ARGUMENT_INVALID for an unknown one."""
    return None if text is None else _known("kind", text, KIND_NAMES)


def error_of(text: str | None) -> str | None:
    """The error code, from upper or lower case. Raises JobError: ARGUMENT_INVALID for an unknown one."""
    return None if text is None else _known("error", text.strip().upper(), ERRORS)


def _known(what: str, word: str, known: Iterable[str]) -> str:
    names = list(known)
    if word in names:
        return word
    near = nearest(word, names, cutoff=0.5)
    hint = f"Did you mean {near[0]}?" if near else "One of: " + ", ".join(names) + "."
    raise JobError("ARGUMENT_INVALID", f"There is no {what} {word[:80]!r}. {hint}")


_SPANS = {"s": 1, "min": 60, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


def moment(text: str | None, now: datetime) -> str | None:
    """A timestamp in the form of the records, from an age like ``2h`` or ``3d``, or an ISO time or date.

    Raises JobError: ARGUMENT_INVALID for any other text.
    """
    if text is None:
        return None
    span = re.fullmatch(r"(\d{1,6})\s*(s|min|m|h|d|w)", text.strip())
    try:
        if span is not None:
            return clock.iso(now - timedelta(seconds=int(span[1]) * _SPANS[span[2]]))
        given = datetime.fromisoformat(text.strip())
        return clock.iso(given.astimezone(UTC))
    except (ValueError, OverflowError):
        raise JobError(
            "ARGUMENT_INVALID", f"{text[:80]!r} is no time. Write 90min, 2h or 3d, or 2026-11-20T12:00."
        ) from None


def resolved(spool_paths: SpoolPaths, wanted: str) -> str:
    """The id of a job, from the whole id or a unique beginning.

    Raises JobError: ARGUMENT_INVALID when several ids have this beginning; JOB_NOT_FOUND, with similar ids, when none
    has it.
    """
    if is_job_id(wanted) and (spool_paths.record(wanted).exists() or spool_paths.dropped(wanted).exists()):
        return wanted
    ids = known_ids(spool_paths)
    matching = sorted(job_id for job_id in ids if job_id.startswith(wanted)) if wanted else []
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise JobError(
            "ARGUMENT_INVALID",
            f"{wanted!r} begins the ids of {len(matching)} jobs: {first_ones(matching, 5)}.",
            remediation="Give more of the id.",
            details={"job_ids": matching[:20]},
        )
    hint = did_you_mean(wanted, sorted(ids), 3, 0.8, quoted=False) if len(ids) <= 10_000 else ""
    raise JobError("JOB_NOT_FOUND", f"No job {wanted[:80]!r} is waiting, and there is no record of it.{hint}")


def known_ids(spool_paths: SpoolPaths) -> set[str]:
    """The ids of all jobs that have a record or wait in the inbox."""
    return {
        *spool.job_ids(spool_paths.results),
        *(job_id for job_id in spool.job_ids(spool_paths.inbox) if is_job_id(job_id)),
    }


def job_rows(spool_paths: SpoolPaths) -> list[JobRow]:
    """The rows of all jobs, read from their records now. Raises OSError."""
    cache = record_cache.RecordCache(spool_paths)
    cache.refresh()
    return cache.rows()


def selected_for(
    verb: str, rows: Iterable[JobRow], *, states: Sequence[str] = (), error: str | None = None, **filters: Any
) -> list[str]:
    """The ids of the job rows that match as in ``filtered``, oldest first, for a verb of ``VERBS``: without ``states``,
    those that it is for by default. A retry leaves out files that came with a repository, unless ``error`` is their
    code."""
    if verb == "retry" and error is None:
        rows = [row for row in rows if row["error"] is None or row["error"]["code"] not in BROUGHT]
    matching = filtered(rows, states=states or VERBS[verb].default, error=error, **filters)
    return [row["job_id"] for row in sorted(matching, key=record_cache.sort_key)]


def filtered(rows: Iterable[JobRow], *, since: str | None = None, **filters: Any) -> list[JobRow]:
    """As ``record_cache.matching``, without jobs whose ``last_change`` is before ``since``."""
    matching = record_cache.matching(rows, **filters)
    return matching if since is None else [row for row in matching if last_change(row) >= since]


def last_change(row: JobRow) -> str:
    """The timestamp of the job's end, or of its acceptance if it has not ended."""
    return str(row["finished_at"] or row["accepted_at"] or "")


def waiting(spool_paths: SpoolPaths) -> list[str]:
    """The names of the files in the inbox, oldest first."""
    times: dict[str, float] = {}
    for path in spool.inbox(spool_paths) if spool_paths.root.is_dir() else ():
        with suppress(FileNotFoundError):
            times[path.name] = path.lstat().st_mtime
    return sorted(times, key=times.__getitem__)
