"""cognee in this process: imported, its hands taken off our logging, and the one event loop that it runs in.

The other ``cognee_`` modules import this one.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from typing import TypeVar

import cognee  # noqa: F401 - it configures itself, and takes over logging, while it is imported

from ..privacy import log_lines

# With tracebacks that show code and values: take it back.
_handler = log_lines.log_to_stderr()
_OURS = ("bridge", "child", "jobs", "worker", "root", "py")  # the last for warnings
# cognee's loggers have names of all kinds, and tell of texts.
_handler.addFilter(lambda record: record.name.partition(".")[0] in _OURS)
sys.excepthook = sys.__excepthook__

T = TypeVar("T")

# One event loop for the life of the process: cognee keeps locks and connections that belong to it.
_runner = asyncio.Runner()


def run(work: Awaitable[T]) -> T:
    """What the work gives, once it is done."""

    async def awaited() -> T:
        return await work

    return _runner.run(awaited())
