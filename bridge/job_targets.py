"""The memories and topics that a new job names: a job for something that is not in the store is not submitted.

The job would fail, and its record would remain for weeks. What the store cannot answer is left to the job itself: when
the store cannot be read, and when a waiting job may still bring what is missing. Dropped files are not checked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.record_cache import RecordCache
from jobs.spool import inbox
from jobs.states import ENDS

from .store import similar_ids
from .store.opening import reader_of
from .team import copy_age

if TYPE_CHECKING:
    from .store.memory_lists import MemoryLists, TopicRow

_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_NOT_SUBMITTED = " No job was submitted."
_MOST_COMPACTIONS = 1000  # that are searched for a similar record

Payload = Mapping[str, Any]


def require(workspace: Workspace, kind: str, payload: Payload) -> None:
    """Check a valid payload against the store.

    Raises the JobError with which the job would fail: TOPIC_NOT_FOUND and MEMORY_NOT_FOUND, with the nearest in their
    details, NOTHING_TO_COMPACT, PREVIEW_NOT_FOUND, and ARGUMENT_INVALID for a memory that has no status to set.
    """
    check = _CHECKS.get(kind)
    if check is None:
        return
    try:
        with reader_of(workspace).lists() as lists:
            error = check(workspace, lists, payload)
    except (JobError, OSError):  # the store cannot be read now, so the job finds out
        return
    if error is not None and not _job_waits(workspace.spool):
        raise error


def _job_waits(spool_paths: SpoolPaths) -> bool:
    """Whether a job waits or runs, or a file is in the inbox."""
    if spool_paths.inbox.is_dir() and inbox(spool_paths):
        return True
    records = RecordCache(spool_paths)
    records.refresh()
    return any(row["state"] not in ENDS for row in records.rows())


def _topics(lists: MemoryLists | None) -> dict[str, TopicRow]:
    return {topic.topic_id: topic for topic in lists.topics()} if lists else {}


def _compact(workspace: Workspace, lists: MemoryLists | None, payload: Payload) -> JobError | None:
    topic_id, digest = payload["topic_id"], payload.get("preview_digest")
    topics = _topics(lists)
    if topic_id not in topics:
        return similar_ids.not_found(topic_id, list(topics), so=_NOT_SUBMITTED)
    if digest is not None:
        return _preview(workspace, topic_id, digest)
    count = topics[topic_id].active + topics[topic_id].decision_records
    if count < 2:
        what = "one memory" if count else "no memory"
        return JobError(
            "NOTHING_TO_COMPACT", f"The topic {topic_id!r} has {what} to merge, and it takes two.{_NOT_SUBMITTED}"
        )
    return None


def _preview(workspace: Workspace, topic_id: str, digest: str) -> JobError | None:
    from .compaction import previews  # only then, since it takes time to import

    found = previews.load(workspace, digest)
    if found is None and copy_age.read(workspace) is not None:
        return None  # another machine of the team may have made it
    if found is None:
        return JobError("PREVIEW_NOT_FOUND", f"There is no preview {digest}.{_NOT_SUBMITTED}")
    if found.topic_id != topic_id:
        return JobError("PREVIEW_NOT_FOUND", f"That preview is of the topic {found.topic_id!r}.{_NOT_SUBMITTED}")
    return None


def _restore(workspace: Workspace, lists: MemoryLists | None, payload: Payload) -> JobError | None:
    wanted = payload["decision_record_id"]
    entry = lists.entry(wanted) if lists else None
    if entry is not None and entry.memory.kind == "decision_record":
        return None
    made = [] if lists is None else lists.history(_MOST_COMPACTIONS)
    numbers = {compaction.record_id: number for compaction, number in made if number is not None}
    if entry is None:
        message = f"There is no decision record {wanted!r}."
        near = similar_ids.nearest(wanted, list(numbers))
    else:
        message = f"Memory #{entry.memory.number} is no decision record."
        merged = [made_of.record_id for made_of, _ in made if wanted in (each.memory_id for each in made_of.sources)]
        topic_id = entry.memory.metadata.topic_id
        near = merged or [compaction.record_id for compaction, _ in made if compaction.topic_id == topic_id]
        near = [record_id for record_id in near if record_id in numbers][:3]
    hint = f" The nearest: {', '.join(f'#{numbers[record_id]}' for record_id in near)}." if near else ""
    return JobError(
        "MEMORY_NOT_FOUND",
        f"{message}{hint}{_NOT_SUBMITTED}",
        remediation="List the compactions: cognee-memory history.",
        details={"nearest": near},
    )


def _forget(workspace: Workspace, lists: MemoryLists | None, payload: Payload) -> JobError | None:
    """A forgotten memory may be forgotten again, so a UUID that is not in the store is left to the job."""
    topic_id, session = payload.get("topic_id"), payload.get("session")
    if session is not None:
        captured = [f"{each.tool}/{each.session_id}" for each in lists.captures.sessions()] if lists else []
        missing = f"Nothing was captured from {session!r}.{_NOT_SUBMITTED}"
        return None if session in captured else JobError("SESSION_NOT_FOUND", missing)
    if topic_id is not None:
        found = lists is not None and lists.related([], topic_id)
        return None if found else similar_ids.not_found(topic_id, list(_topics(lists)), so=_NOT_SUBMITTED)
    unknown = [each for each in payload.get("memory_ids") or () if not (_UUID.fullmatch(each) or _has(lists, each))]
    return _no_memory(unknown[0]) if unknown else None


def _set_status(workspace: Workspace, lists: MemoryLists | None, payload: Payload) -> JobError | None:
    entry = lists.entry(payload["memory_id"]) if lists else None
    if entry is None:
        return _no_memory(payload["memory_id"])
    if entry.memory.kind == "summary":
        other = payload.get("replaced_by")
        return None if other is None or _has(lists, other) else _no_memory(other)
    what = "is a decision record" if entry.memory.kind == "decision_record" else "has no status"
    return JobError(
        "ARGUMENT_INVALID",
        f"Memory #{entry.memory.number} {what}: only a summary's status can be set.{_NOT_SUBMITTED}",
    )


def _feedback(workspace: Workspace, lists: MemoryLists | None, payload: Payload) -> JobError | None:
    entry = lists.entry(payload["memory_id"]) if lists else None
    if entry is None:
        return _no_memory(payload["memory_id"])
    if not entry.hidden:
        return None
    return JobError("ARGUMENT_INVALID", f"Memory #{entry.memory.number} is hidden: nobody finds it.{_NOT_SUBMITTED}")


def _resolve(workspace: Workspace, lists: MemoryLists | None, payload: Payload) -> JobError | None:
    both = ({"memory_id": payload[side]["memory_id"]} for side in ("older", "newer"))
    return next((found for each in both if (found := _feedback(workspace, lists, each)) is not None), None)


def _has(lists: MemoryLists | None, memory_id: str) -> bool:
    return lists is not None and lists.entry(memory_id) is not None


def _no_memory(memory_id: str) -> JobError:
    return JobError("MEMORY_NOT_FOUND", f"There is no memory {memory_id!r}.{_NOT_SUBMITTED}")


_CHECKS: Mapping[str, Callable[[Workspace, MemoryLists | None, Payload], JobError | None]] = {
    "compact": _compact,
    "restore": _restore,
    "forget": _forget,
    "set_status": _set_status,
    "feedback": _feedback,
    "resolve": _resolve,
}
