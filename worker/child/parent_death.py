"""The parent-death guard: ends the child when its parent dies, but not inside a critical section. And its low priority.

On every platform the end of stdin ends the child (see ``main``). On Linux the kernel also kills it, in case it does not
read stdin.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_OOM_SCORE = "500"  # of -1000 to 1000: without memory, the kernel kills the child rather than the editor

# A query must not wait for background ingestion. On an idle machine this costs ingestion nothing; beside a program that
# uses all it can get, ingestion still has a quarter of a processor.
_NICENESS = 5


def lower_priority() -> None:
    """Lower this process's CPU priority. If the system refuses, nothing changes."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    # With autogroups, as on desktops, Linux compares nice values only within a session. This process has its own
    # session, so its whole group gets the lower priority.
    if sys.platform == "linux" and os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(_NICENESS), "ascii")


class ParentDeathGuard:
    """Armed by its creation. ``disarm`` before and ``arm`` after a critical section."""

    def __init__(self, parent: int) -> None:
        self._parent = parent
        self._prctl = None
        if sys.platform == "linux":
            import ctypes

            with contextlib.suppress(OSError, AttributeError):
                self._prctl = ctypes.CDLL(None, use_errno=True).prctl
            with contextlib.suppress(OSError):
                Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, "ascii")
        self.arm()

    def arm(self) -> None:
        """Make the kernel kill this process when the parent's thread ends. Ends it now if the parent has ended."""
        if self._prctl is not None:
            self._prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if self.is_orphan():  # the parent ended before the call above
            os._exit(1)

    def disarm(self) -> None:
        """Let this process survive the parent's end until ``arm``."""
        if self._prctl is not None:
            self._prctl(_PR_SET_PDEATHSIG, 0)

    def is_orphan(self) -> bool:
        """Whether the parent has ended; always False on Windows."""
        return sys.platform != "win32" and os.getppid() != self._parent
