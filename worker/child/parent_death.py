"""The child's leash: it ends with its parent, even one that was killed, but not inside a critical section. And it
stands back behind whoever waits for an answer.

The end of stdin tells it on every platform. Linux also ends it from outside, in case it does not listen.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_EASY_PREY = "500"  # of -1000 to 1000: out of memory, the kernel takes the child rather than the editor

# A person's question must not wait for ingestion in the background. On a machine with nothing else to do that costs
# ingestion nothing; against a program that takes all it can get, it still has a quarter of a processor.
_NICENESS = 5


def lower_priority() -> None:
    """Let everything else of this user go first. Where the system refuses, nothing is lost but that."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    # On desktops the kernel weighs sessions, and what is in them only against each other. Ours is one of its own.
    if sys.platform == "linux" and os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(_NICENESS), "ascii")


class ParentDeathGuard:
    """Held by the process that makes it. ``let_go`` and ``hold`` bracket what must not be cut off."""

    def __init__(self, parent: int) -> None:
        self._parent = parent
        self._prctl = None
        if sys.platform == "linux":
            import ctypes

            with contextlib.suppress(OSError, AttributeError):
                self._prctl = ctypes.CDLL(None, use_errno=True).prctl
            with contextlib.suppress(OSError):
                Path("/proc/self/oom_score_adj").write_text(_EASY_PREY, "ascii")
        self.arm()

    def arm(self) -> None:
        """From now on the kernel ends this process when its parent's thread ends."""
        if self._prctl is not None:
            self._prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if self.is_orphan():  # it ended before the kernel knew
            os._exit(1)

    def disarm(self) -> None:
        """The parent's end is not ours for now."""
        if self._prctl is not None:
            self._prctl(_PR_SET_PDEATHSIG, 0)

    def is_orphan(self) -> bool:
        return sys.platform != "win32" and os.getppid() != self._parent
