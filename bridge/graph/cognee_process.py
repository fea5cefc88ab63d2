"""Imports cognee into this process, restores our logging afterwards, and owns the event loop in which cognee runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from typing import TypeVar

import cognee  # noqa: F401 - on import it configures itself and replaces the process's logging

from ..privacy import log_lines

# cognee's logging shows tracebacks with code and values, so ours is installed again.
_handler = log_lines.log_to_stderr()
_OURS = ("bridge", "child", "jobs", "worker", "root", "py")  # the last for warnings
# cognee's loggers have many names and log texts, so only our own loggers pass.
_handler.addFilter(lambda record: record.name.partition(".")[0] in _OURS)
sys.excepthook = sys.__excepthook__

T = TypeVar("T")

# One event loop for the life of the process, since cognee keeps locks and connections that are bound to it.
_runner = asyncio.Runner()


def run(work: Awaitable[T]) -> T:
    """Run the work in the event loop and return its result."""

    async def awaited() -> T:
        return await work

    return _runner.run(awaited())
