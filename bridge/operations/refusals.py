"""What a job is refused for: asked before it is submitted, and again when it runs.

A job for something that is not in the store would fail, and its record would remain for weeks. What the store cannot
answer is left to the job: when the store cannot be read, and when a waiting job may still bring what is missing.
Dropped files are not checked here. This module imports little, since a door waits for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jobs import spelling
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.payloads import Cognify, Compact, Feedback, Forget, Model, PairedStatement, Resolve, Restore, SetStatus
from jobs.record_cache import RecordCache
from jobs.spool import inbox
from jobs.states import ENDS

from ..store import opening, similar_ids
from ..team import copy_age

if TYPE_CHECKING:
    from ..memory import Memory, Status
    from ..store.memories import Memories
    from ..store.values import CapturedSession
    from . import Task


def require_accepted(workspace: Workspace, payload: Model) -> None:
    """Raise the JobError with which a new job would fail, as ``refusal``."""
    try:
        with opening.open_memories(workspace) as memories:
            error = refusal(payload, memories, workspace)
    except (JobError, OSError):  # the store cannot be read now, so the job finds out
        return
    if error is not None and not _job_waits(workspace.spool):
        raise error.with_message(f"{error.message} No job was submitted.")


def require_runnable(task: Task[Any], memories: Memories, workspace: Workspace) -> None:
    """Raise the JobError with which a running job fails, as ``refusal``; MEMORY_FORGOTTEN where a memory was forgotten
    after the job was accepted."""
    error = refusal(task.payload, memories, workspace)
    if error is None:
        return
    if any(memories.was_forgotten_since(each, task.accepted_at) for each in error.details.get("unknown", ())):
        raise JobError("MEMORY_FORGOTTEN")
    raise error.with_message(f"{error.message} Nothing was changed.")


def refusal(payload: Model, memories: Memories, workspace: Workspace) -> JobError | None:
    """The error of a job whose payload names what the store does not have, or what its kind cannot change."""
    match payload:
        case Cognify():
            return next((found for each in payload.memory_ids or () if (found := _invisible(each, memories))), None)
        case Compact():
            return _of_compact(payload, memories, workspace)
        case Feedback():
            return _invisible(payload.memory_id, memories)
        case Forget():
            return _of_forget(payload, memories)
        case Resolve():
            return _of_resolve(payload, memories)
        case Restore():
            return _of_restore(payload.decision_record_id, memories)
        case SetStatus():
            return _of_set_status(payload, memories)
    return None


def _of_compact(payload: Compact, memories: Memories, workspace: Workspace) -> JobError | None:
    """Not PREVIEW_NOT_FOUND in a team, where another machine may have made it."""
    topic_id, digest = payload.topic_id, payload.preview_digest
    about = memories.about(topic_id)
    if not about:
        return similar_ids.not_found(topic_id, memories.topic_ids())
    if digest is not None:
        from ..compaction import previews  # only then, since it takes time to import

        found = previews.load(workspace, digest)
        if found is not None and found.topic_id != topic_id:
            return JobError("PREVIEW_NOT_FOUND", f"That preview is of the topic {found.topic_id!r}.")
        if found is None and copy_age.read(workspace) is None:
            return JobError("PREVIEW_NOT_FOUND", f"There is no preview {digest}.")
        if found is not None:
            return None
    sources = [memory.id for memory in about if memory.can_be_merged]
    if len(sources) >= 2:
        return None
    left_out = Counter(memory.metadata.status for memory in about)
    words = [f"{left_out[s]} {word}" for s, word in _LEFT_OUT if left_out[s]]
    return JobError(
        "NOTHING_TO_COMPACT",
        f"The topic {topic_id!r} has {'one' if sources else 'no'} memory to merge, and it takes two."
        + (f" Left out: {', '.join(words)}." if words else ""),
        details={"sources": sources},
    )


_LEFT_OUT: tuple[tuple[Status, str], ...] = (("Superseded", "superseded"), ("Draft", "in draft"))


def _of_forget(payload: Forget, memories: Memories) -> JobError | None:
    """A forgotten memory may be forgotten again."""
    if (name := payload.session) is not None:
        if captured_session(name, memories) is not None:
            return None
        known = [f"{each.tool}/{each.session_id}" for each in memories.captures.sessions()]
        near = spelling.nearest(name, known, 3, 0.5)
        hint = f" The nearest: {', '.join(near)}." if near else ""
        return JobError("SESSION_NOT_FOUND", f"Nothing was captured from {name!r}.{hint}", details={"nearest": near})
    if (topic_id := payload.topic_id) is not None:
        return None if memories.ids_about(topic_id) else similar_ids.not_found(topic_id, memories.topic_ids())
    never_known = memories.unknown(payload.memory_ids or ())
    return _unknown(never_known, memories) if never_known else None


def captured_session(name: str, memories: Memories) -> CapturedSession | None:
    """The captured session of this name, tool/id."""
    tool, _, session_id = name.partition("/")
    return memories.captures.session(tool, session_id)


def _of_resolve(payload: Resolve, memories: Memories) -> JobError | None:
    decisions = []
    for side in (payload.older, payload.newer):
        if (error := _invisible(side.memory_id, memories)) is not None:
            return error
        decisions.append(decision_of(side, memories))
        if decisions[-1] is None:
            number = memories.select([side.memory_id])[side.memory_id].number
            return JobError(
                "ARGUMENT_INVALID",
                f"Memory #{number} has no decision {side.statement.strip()[:80]!r}."
                f" To see its decisions: cognee-memory memories show {number}.",
            )
    older, newer = decisions
    return JobError("ARGUMENT_INVALID", "Both are the same decision.") if older == newer else None


def decision_of(side: PairedStatement, memories: Memories) -> tuple[str, str] | None:
    """The memory's id with the digest of its decision; None if the memory has no such decision."""
    from ..text.decision_lines import digest
    from ..text.passages import statements

    memory, wanted = memories.get(side.memory_id), side.statement.strip()
    found = {} if memory is None else statements(memory)
    exact = next((words for words in found.values() if words.strip() == wanted), None)
    return None if exact is None else (side.memory_id, digest(exact))


def _of_restore(record_id: str, memories: Memories) -> JobError | None:
    record = memories.get(record_id)
    if record is None or record.kind != "decision_record":
        return _no_record(record_id, record, memories)
    if memories.is_hidden(record_id):
        made = memories.compactions.latest(record_id)
        is_withdrawn_here = made is not None and made.restored is not None  # else it was imported as withdrawn
        return None if is_withdrawn_here else _no_record(record_id, None, memories)
    merged = memories.compactions.merged_into(record_id)
    if not merged:
        return None
    later, number = merged[-1]
    return JobError(
        "RESTORE_BLOCKED",
        f"The record {record_id} was merged into the later one {later} (#{number}).",
        remediation=f"Restore the later record first: cognee-memory restore {later}.",
        details={"decision_record_id": later},
    )


def _no_record(wanted: str, found: Memory | None, memories: Memories) -> JobError:
    """It suggests the records that merged the memory, or the ids that are most similar."""
    if found is None:
        near = similar_ids.nearest(wanted, memories.compactions.records())
        message = f"There is no decision record {wanted!r}."
    else:
        merged = [record_id for record_id, _ in memories.compactions.merged_into(wanted)]
        near = (merged or memories.compactions.records(found.metadata.topic_id))[:3]
        message = f"Memory #{found.number} is no decision record."
    numbers = [f"#{record.number}" for record in memories.select(near).values()]
    hint = f" The nearest: {', '.join(numbers)}." if near else ""
    return JobError(
        "MEMORY_NOT_FOUND", f"{message}{hint}",
        remediation="List the compactions: cognee-memory history.", details={"nearest": near},
    )  # fmt: skip


def _of_set_status(payload: SetStatus, memories: Memories) -> JobError | None:
    memory, other = memories.get(payload.memory_id), payload.replaced_by
    if memory is None:
        return _unknown([payload.memory_id], memories)
    if memory.kind == "summary":
        return None if other is None or memories.known(other) is not None else _unknown([other], memories)
    what = "is a decision record" if memory.kind == "decision_record" else "has no status"
    return JobError(
        "ARGUMENT_INVALID",
        f"Memory #{memory.number} {what}: only a summary's status can be set.",
        remediation="Store what holds now: a newer memory outweighs an older one. To remove it, forget it.",
    )


def _invisible(memory_id: str, memories: Memories) -> JobError | None:
    """The error of an id that names no visible memory."""
    known = memories.known(memory_id)
    if known is None:
        return _unknown([memory_id], memories)
    if not known.hidden:
        return None
    return JobError("ARGUMENT_INVALID", f"Memory #{known.number} is hidden: it was converted, or withdrawn.")


def _unknown(memory_ids: Sequence[str], memories: Memories) -> JobError:
    """The error MEMORY_NOT_FOUND of these ids, with those that are similar to the first."""
    near = similar_ids.nearest(memory_ids[0], memories.ids())
    hint = f" The nearest: {', '.join(map(repr, near))}." if near else ""
    more = f" and {len(memory_ids) - 1} more" if len(memory_ids) > 1 else ""
    message = f"There is no memory {memory_ids[0]!r}{more}.{hint}"
    return JobError("MEMORY_NOT_FOUND", message, details={"unknown": list(memory_ids), "nearest": near})


def _job_waits(spool_paths: SpoolPaths) -> bool:
    """Whether a job waits or runs, or a file is in the inbox."""
    if spool_paths.inbox.is_dir() and inbox(spool_paths):
        return True
    records = RecordCache(spool_paths)
    records.refresh()
    return any(row["state"] not in ENDS for row in records.rows())
