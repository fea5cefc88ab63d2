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

Process = Literal["asker", "worker", "child"]


@dataclass(frozen=True, slots=True)
class Step:
    """One durable step. ``left_before`` and ``left_after`` say what lies there after a crash beside it."""

    name: str
    process: Process
    does: str
    left_before: str
    left_after: str
    mended_by: str


STEPS: tuple[Step, ...] = (
    # --- dropping ---
    Step(
        "drop.write", "asker", "write the job as `.<job_id>.tmp` and sync it",
        "nothing: the job was not handed over", "a file with a leading dot, which nobody reads",
        "the asker, who drops again",
    ),
    Step(
        "drop.rename", "asker", "rename it to `<job_id>.json` and sync the folder",
        "a file with a leading dot, which nobody reads", "a dropped file", "intake, when a worker runs",
    ),
    # --- accepting ---
    Step(
        "copy.write", "worker", "write the worker's own copy to `active/`, durably",
        "the dropped file", "the dropped file and a copy without a record",
        "recovery drops the copy; intake accepts the file",
    ),
    Step(
        "record.accept", "worker", "write the record `queued`, durably: from here the job is accepted",
        "the dropped file and a copy without a record", "record, copy and the dropped file",
        "recovery takes the job up; intake sees a duplicate",
    ),
    Step(
        "drop.remove", "worker", "unlink the dropped file",
        "record, copy and the dropped file", "record and copy", "recovery takes the job up",
    ),
    Step(
        "queue.put", "worker", "enqueue the job's id in Huey",
        "a waiting job that is not in the queue", "a message in `queue.db`",
        "recovery; the queue is filled anew at every start",
    ),
    # --- running ---
    Step(
        "record.start", "worker", "write the record `running`, durably, with a new attempt",
        "a waiting job", "a running job that no process runs", "recovery ends the attempt; the job waits again",
    ),
    Step(
        "child.send", "worker", "send the job to the child process",
        "a running job that no process runs", "a running job; the child ends with its parent",
        "recovery ends the attempt; the job waits again",
    ),
    Step(
        "child.take", "child", "take the job up",
        "a running job; the worker notices the child's death", "the same",
        "the runner: a crash alone counts, a batch runs in halves",
    ),
    Step(
        "vectors.append", "child", "write the memory's vectors behind the committed rows and sync them",
        "nothing", "rows that no commit names", "the next append writes over them",
    ),
    Step(
        "memory.commit", "child",
        "commit the memory, its effect's note and what the graph is owed, in one transaction",
        "rows that no commit names", "a memory that is retrievable, and a debt to the graph",
        "the job's next attempt finds its effect noted and pays",
    ),
    Step(
        "graph.open", "child", "open the knowledge graph, mended first where a crash left it broken",
        "a debt to the graph", "the same", "the job's next attempt; else maintenance",
    ),
    Step(
        "graph.write", "child", "write the memory into cognee's graph and vectors, under derived ids",
        "a debt to the graph", "nodes and vectors, perhaps not on the medium, and a debt",
        "written again under the same ids",
    ),
    Step(
        "graph.sync", "child", "sync the files that cognee wrote",
        "nodes and vectors, perhaps not on the medium, and a debt", "nodes and vectors on the medium, and a debt",
        "written again under the same ids",
    ),
    Step(
        "outbox.pay", "child", "delete the debt",
        "nodes and vectors on the medium, and a debt", "the whole effect",
        "the job's next attempt finds nothing to do",
    ),
    Step(
        "preview.write", "child", "write the preview of a compaction under its digest, durably",
        "nothing", "a preview that nobody was told of", "the job's next attempt writes the same again",
    ),
    Step(
        "receipt.write", "child", "write what becomes of each text of a migration into its receipt, durably",
        "nothing of it, or memories that an open receipt tells of", "a receipt of what is stored so far",
        "the job's next attempt writes it anew",
    ),
    Step(
        "graph.scrub", "child", "write cognee's stores anew, without a byte of what was deleted from them",
        "memories that nothing finds, and files that still hold their texts", "files without their texts",
        "the job's next attempt does it again",
    ),
    Step(
        "forget.files", "child", "remove previews, and copies of everything, that tell of what was forgotten",
        "memories that nothing finds, and a plan of what still tells of them", "the same",
        "the job's next attempt goes by the plan",
    ),
    Step(
        "forget.store", "child", "write memory.db and both indexes anew, without a byte of what was deleted",
        "the same", "stores without the memories, and a plan of which jobs' files tell of them",
        "the job's next attempt goes by the plan",
    ),
    Step(
        "child.answer", "child", "send the outcome to the worker",
        "the whole effect, of a job that still runs", "the same",
        "the next attempt has the same result and no second effect",
    ),
    # --- ending ---
    Step(
        "record.end", "worker", "write the record of the outcome, durably: an end, or when the next attempt is due",
        "the whole effect, of a job that still runs", "an ended record, and its copy in `active/`",
        "recovery; the next attempt has no second effect",
    ),
    Step(
        "copy.end", "worker", "move the copy to `ended/`",
        "an ended record, and its copy in `active/`", "an ended job", "recovery puts the copy away",
    ),
    # --- forgetting memories ---
    Step(
        "scrub.record", "worker", "write the records that told of what was forgotten, without their texts, durably",
        "stores without the memories, and a plan of which jobs' files tell of them", "the same",
        "the job runs again, and goes by the plan",
    ),
    Step(
        "scrub.copy", "worker", "remove the copies of these jobs, and rejected files",
        "records without texts, and copies with them", "the whole effect, of a job that still runs",
        "the job runs again, and goes by the plan",
    ),
    # --- what is no job ---
    Step(
        "reason.write", "worker", "write why a file is rejected, durably",
        "the dropped file", "a reason, and the dropped file", "intake rejects it again, under another number",
    ),
    Step(
        "record.refuse", "worker", "write the record `rejected`, durably",
        "a reason, and the dropped file", "the record, and the dropped file",
        "intake rejects it again, under another number",
    ),
    Step(
        "file.rewrite", "worker", "where it holds secrets: write the file to `rejected/` without them, durably",
        "the record, and the dropped file", "a rejected file, and the dropped one",
        "intake rejects it again, under another number",
    ),
    Step(
        "file.reject", "worker", "move the file to `rejected/`; where it was written there, unlink it",
        "the record, and the dropped file", "a rejected file", "nobody: all is done",
    ),
    # --- requests ---
    Step(
        "control.remove", "worker", "delete a request once the record shows its effect",
        "the effect, and a request for it", "the effect", "control: the request fits no more and is deleted",
    ),
    Step(
        "copy.reopen", "worker", "bring the copy of an ended job back to `active/`, durably",
        "an ended job, and a request to run it again", "an ended record, and its copy in `active/`",
        "recovery puts the copy away; control obeys again",
    ),
    Step(
        "record.replay", "worker", "write the record of the next generation, durably",
        "an ended record, and its copy in `active/`", "a waiting job of the next generation",
        "recovery takes the job up",
    ),
    # --- forgetting about jobs ---
    Step(
        "prune.copy", "worker", "remove the copy of an ended job whose time is over",
        "an ended job", "an ended record without a copy", "the next pruning",
    ),
    Step(
        "prune.record", "worker", "remove its record: the id is free again",
        "an ended record without a copy", "nothing", "nobody: all is done",
    ),
)  # fmt: skip

NAMES = frozenset(step.name for step in STEPS)
POINTS: tuple[str, ...] = tuple(f"{side}:{step.name}" for step in STEPS for side in ("before", "after"))

_fault: Callable[[str], None] | None = None


class _Entered:
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


_ENTERED = {name: _Entered(name) for name in NAMES}


def fault_point(name: str) -> _Entered:
    """The context in which the step of that name is carried out."""
    return _ENTERED[name]


def arm(fault: str | None) -> None:
    """Run into a fault: ``<what>@<point>#<n>`` at the n-th arrival at a point of ``POINTS`` (default: the first).

    What: ``kill`` (SIGKILL), ``hang`` (SIGSTOP: the process stands still), ``enospc`` (no space, at this and every
    later arrival). ``None`` disarms. Raises ValueError.
    """
    global _fault
    if fault is None:
        _fault = None
        return
    what, _, where = fault.partition("@")
    point, _, count = where.partition("#")
    if what not in ("kill", "hang", "enospc") or point not in POINTS:
        raise ValueError(f"{fault!r} is no fault; say kill, hang or enospc, '@', and one of: {', '.join(POINTS)}")
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
