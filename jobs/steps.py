"""The durable steps on a job's way. ``docs/delivery.md`` says what a crash beside each leaves and who mends it.

Each step is entered as a context where it happens in the code, so that the tests of durability can end the process
right before and right after it; otherwise entering costs nothing.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from typing import Literal

Process = Literal["client", "worker", "child"]

# The steps on a job's way, in their order, and the process that takes each.
STEPS: dict[str, Process] = {
    "drop.write": "client", "drop.rename": "client", "copy.write": "worker", "record.accept": "worker",
    "drop.remove": "worker", "queue.put": "worker", "record.start": "worker", "child.send": "worker",
    "child.receive": "child", "vectors.append": "child", "memory.commit": "child", "graph.open": "child",
    "graph.write": "child", "graph.sync": "child", "outbox.deliver": "child", "preview.write": "child",
    "receipt.write": "child", "graph.scrub": "child", "forget.files": "child", "forget.store": "child",
    "child.answer": "child", "record.end": "worker", "copy.end": "worker", "scrub.record": "worker",
    "scrub.copy": "worker", "reason.write": "worker", "record.refuse": "worker", "file.rewrite": "worker",
    "file.reject": "worker", "control.remove": "worker", "copy.reopen": "worker", "record.replay": "worker",
    "prune.copy": "worker", "prune.record": "worker",
}  # fmt: skip
# What a team's store does besides; without a team, nothing of it happens.
TEAM_STEPS: dict[str, Process] = {
    "team.record": "worker", "team.attach": "child", "team.commit": "child", "team.share": "child",
    "team.apply": "child",
}  # fmt: skip

NAMES = STEPS.keys() | TEAM_STEPS.keys()
POINTS: tuple[str, ...] = tuple(f"{side}:{name}" for name in STEPS for side in ("before", "after"))
TEAM_POINTS: tuple[str, ...] = tuple(f"{side}:{name}" for name in TEAM_STEPS for side in ("before", "after"))

_fault: Callable[[str], None] | None = None


class _FaultPoint:
    """The context of a step; one object a name, since it holds no state."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        if _fault is not None:
            _fault(f"before:{self._name}")

    def __exit__(self, kind: object, *_: object) -> None:
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
