"""The durable steps on a job's way, in their order, with what a crash beside each leaves and who mends it.

``docs/delivery.md`` shows this table. Each step is entered as a context where it happens in the code, so that the
tests of durability can end the process right before and right after it; otherwise entering costs nothing.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Literal

Process = Literal["client", "worker", "child"]


@dataclass(frozen=True, slots=True)
class Step:
    """One durable step. ``left_before`` and ``left_after``: the files that a crash right before or after it leaves."""

    name: str
    process: Process
    does: str
    left_before: str
    left_after: str
    repaired_by: str


STEPS: tuple[Step, ...] = (
    # --- dropping ---
    Step(
        "drop.write", "client", "write the job as `.<job_id>.tmp` and sync it", "nothing: the job was not dropped",
        "a file with a leading dot, which the worker ignores", "the client, which drops the job again",
    ),
    Step(
        "drop.rename", "client", "rename it to `<job_id>.json` and sync the folder",
        "a file with a leading dot, which the worker ignores", "a dropped file", "intake, when a worker runs",
    ),
    # --- accepting ---
    Step(
        "copy.write", "worker", "write the worker's own copy to `active/`, durably", "the dropped file",
        "the dropped file, and a copy without a record", "recovery removes the copy; intake accepts the file",
    ),
    Step(
        "record.accept", "worker", "write the record `queued`, durably: from here on the job is accepted",
        "the dropped file, and a copy without a record", "record, copy and dropped file",
        "recovery enqueues the job; intake finds a duplicate",
    ),
    Step(
        "drop.remove", "worker", "unlink the dropped file", "record, copy and dropped file", "record and copy",
        "recovery enqueues the job",
    ),
    Step(
        "queue.put", "worker", "enqueue the job's id in Huey", "a waiting job that is not in the queue",
        "a message in `queue.db`", "recovery; the worker fills the queue again at every start",
    ),
    # --- running ---
    Step(
        "record.start", "worker", "write the record `running` with a new attempt, durably", "a waiting job",
        "a running job without a process", "recovery ends the attempt; the job waits again",
    ),
    Step(
        "child.send", "worker", "send the job to the child process", "a running job without a process",
        "a running job; the child ends with its parent", "recovery ends the attempt; the job waits again",
    ),
    Step(
        "child.take", "child", "receive the job, and tell the worker that its operation begins",
        "a running job; the worker notices the child's death", "the same",
        "the runner: right before, the job waits; right after, a job that ran alone has a crash, and a batch runs again"
        " in halves",
    ),
    Step(
        "vectors.append", "child", "append the memory's vectors behind the committed rows and sync them", "nothing",
        "rows that no commit refers to", "the next append overwrites them",
    ),
    Step(
        "memory.commit", "child",
        "commit the memory, the applied job and, where there is a graph, an outbox entry, in one transaction",
        "rows that no commit refers to", "a retrievable memory, and a pending outbox entry",
        "the job's next attempt finds the job applied",
    ),
    Step(
        "graph.open", "child", "open the knowledge graph, after repairing what a crash damaged",
        "a pending outbox entry", "the same", "the next delivery: by a job that needs the graph, or when idle",
    ),
    Step(
        "graph.write", "child", "write the memory into cognee's graph and vectors, under derived ids",
        "a pending outbox entry", "nodes and vectors, perhaps not synced, and the pending entry",
        "the next delivery writes them again under the same ids",
    ),
    Step(
        "graph.sync", "child", "sync the files that cognee wrote",
        "nodes and vectors, perhaps not synced, and the pending entry",
        "synced nodes and vectors, and the pending entry", "the next delivery writes them again under the same ids",
    ),
    Step(
        "outbox.pay", "child", "delete the outbox entry", "synced nodes and vectors, and the pending entry",
        "the complete change", "the next delivery finds nothing to do",
    ),
    Step(
        "preview.write", "child", "write the preview of a compaction under its digest, durably", "nothing",
        "a preview that no result names", "the job's next attempt writes the same preview again",
    ),
    Step(
        "receipt.write", "child", "write a migration's receipt, with the outcome for each text, durably",
        "no receipt, or memories that an open receipt names", "a receipt of what is stored so far",
        "the job's next attempt writes it again",
    ),
    Step(
        "graph.scrub", "child", "rewrite cognee's stores without a byte of the deleted data",
        "memories that no query finds, and files that still contain their texts", "files without their texts",
        "the job's next attempt repeats it",
    ),
    Step(
        "forget.files", "child", "remove the previews and the copies of whole stores that contain forgotten texts",
        "memories that no query finds, and a plan of the files that still contain their texts", "the same",
        "the job's next attempt follows the plan",
    ),
    Step(
        "forget.store", "child", "rewrite memory.db and both indexes without a byte of the deleted data",
        "memories that no query finds, and a plan of the files that still contain their texts",
        "stores without the memories, and a plan of the job files that still contain their texts",
        "the job's next attempt follows the plan",
    ),
    Step(
        "child.answer", "child", "send the outcome to the worker",
        "the complete change, and a job that is still running", "the same",
        "the next attempt gives the same result and changes nothing",
    ),
    # --- ending ---
    Step(
        "record.end", "worker", "write the record with the outcome, durably: an end, or the time of the next attempt",
        "the complete change, and a job that is still running", "an ended record, and its copy in `active/`",
        "recovery; the next attempt changes nothing",
    ),
    Step(
        "copy.end", "worker", "move the copy to `ended/`", "an ended record, and its copy in `active/`", "an ended job",
        "recovery moves the copy to `ended/`",
    ),
    # --- forgetting memories ---
    Step(
        "scrub.record", "worker", "rewrite the job records that contain forgotten texts without those texts, durably",
        "stores without the memories, and a plan of the job files that still contain their texts", "the same",
        "the job runs again and follows the plan",
    ),
    Step(
        "scrub.copy", "worker", "remove the copies of these jobs, and rejected files",
        "records without the texts, and copies with them", "the complete change, and a job that is still running",
        "the job runs again and follows the plan",
    ),
    # --- what is no job ---
    Step(
        "reason.write", "worker", "write the reason why a file is rejected, durably", "the dropped file",
        "a reason, and the dropped file", "intake rejects it again, under another number",
    ),
    Step(
        "record.refuse", "worker", "write the record `rejected`, durably", "a reason, and the dropped file",
        "the record, and the dropped file", "intake rejects it again, under another number",
    ),
    Step(
        "file.rewrite", "worker", "if the file contains secrets, write it to `rejected/` without them, durably",
        "the record, and the dropped file", "a rejected file, and the dropped file",
        "intake rejects it again, under another number",
    ),
    Step(
        "file.reject", "worker", "move the file to `rejected/`, or unlink it if it was rewritten there",
        "the record, and the dropped file", "a rejected file", "nothing to repair",
    ),
    # --- requests ---
    Step(
        "control.remove", "worker", "delete a request once the record shows its effect",
        "the effect, and a request for it", "the effect", "control deletes the request, which no longer applies",
    ),
    Step(
        "copy.reopen", "worker", "move the copy of an ended job back to `active/`, durably",
        "an ended job, and a request to run it again", "an ended record, and its copy in `active/`",
        "recovery moves the copy to `ended/`; control carries out the request again",
    ),
    Step(
        "record.replay", "worker", "write the record of the next generation, durably",
        "an ended record, and its copy in `active/`", "a waiting job of the next generation",
        "recovery enqueues the job",
    ),
    # --- forgetting about jobs ---
    Step(
        "prune.copy", "worker", "remove the copy of an ended job whose retention time is over", "an ended job",
        "an ended record without a copy", "the next pruning",
    ),
    Step(
        "prune.record", "worker", "remove its record: the id is free again", "an ended record without a copy",
        "nothing", "nothing to repair",
    ),
)  # fmt: skip

# What a team's store does besides; without a team, nothing of it happens.
TEAM_STEPS: tuple[Step, ...] = (
    Step(
        "team.record", "worker", "write a job's record as the team's database has it",
        "an earlier record of the job", "the record, which the team's database still takes for unseen",
        "the record is written again",
    ),
    Step(
        "team.attach", "child", "send a part of what is attached to a job", "a job that waits on its machine alone",
        "the same, and a part in the team's database", "it is read and sent again; of what is there, nothing twice",
    ),
    Step(
        "team.commit", "child", "commit the change in the team's database",
        "a transaction of memory.db that holds the change", "the team's database holds it; memory.db does not yet",
        "memory.db rolls back; the next opening applies the change from the team's database",
    ),
    Step(
        "team.share", "child", "commit all memories of the workspace in the team's database, in one transaction",
        "a workspace of this machine alone", "the team's database holds it; memory.db does not know yet",
        "the next opening finds the change by its id, or shares again",
    ),
    Step(
        "team.apply", "child", "apply the changes of other machines to memory.db, in one transaction",
        "memory.db as it was", "memory.db with these changes and their position",
        "the next opening applies them",
    ),
)  # fmt: skip

NAMES = frozenset(step.name for step in (*STEPS, *TEAM_STEPS))
POINTS: tuple[str, ...] = tuple(f"{side}:{step.name}" for step in STEPS for side in ("before", "after"))
TEAM_POINTS: tuple[str, ...] = tuple(f"{side}:{step.name}" for step in TEAM_STEPS for side in ("before", "after"))

_fault: Callable[[str], None] | None = None


class _FaultPoint:
    """The context of a step; one object a name, since it holds no state."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        if _fault is not None:
            _fault(f"before:{self._name}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if _fault is not None and kind is None:
            _fault(f"after:{self._name}")


_FAULT_POINTS = {name: _FaultPoint(name) for name in NAMES}


def fault_point(name: str) -> _FaultPoint:
    """The context in which the step of that name is carried out."""
    return _FAULT_POINTS[name]


def arm(fault: str | None) -> None:
    """Run into a fault: ``<what>@<point>#<n>`` at the n-th arrival (default: the first) at a point of ``POINTS`` or
    ``TEAM_POINTS``.

    What: ``kill`` (SIGKILL), ``hang`` (SIGSTOP: the process is paused), ``enospc`` (no space, at this and every
    later arrival). ``None`` disarms. Raises ValueError.
    """
    global _fault
    if fault is None:
        _fault = None
        return
    what, _, where = fault.partition("@")
    point, _, count = where.partition("#")
    if what not in ("kill", "hang", "enospc") or point not in (*POINTS, *TEAM_POINTS):
        raise ValueError(
            f"{fault!r} is no fault; say kill, hang or enospc, '@', and one of: {', '.join((*POINTS, *TEAM_POINTS))}"
        )
    wanted, arrived = int(count or 1), 0

    def hit(here: str) -> None:
        nonlocal arrived
        if here != point:
            return
        arrived += 1
        if what == "enospc" and arrived >= wanted:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), here)
        if arrived == wanted:
            os.kill(os.getpid(), signal.SIGKILL if what == "kill" else signal.SIGSTOP)

    _fault = hit
