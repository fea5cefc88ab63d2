"""Imports cognee into this process, restores our logging afterwards, and owns the event loop in which cognee runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import cognee  # noqa: F401 - on import it configures itself and replaces the process's logging

from ..privacy import log_lines
from ..slices import SLICE_SECONDS

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


def start(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """A task that proceeds whenever the event loop runs."""

    async def started() -> asyncio.Task[T]:
        return asyncio.ensure_future(work)

    return run(started())


def result_of(task: asyncio.Task[T], pause: Callable[[], None]) -> T:
    """The result of a task. While it runs, ``pause`` is called twice a second; other jobs may run in there. If that
    raises, the task is cancelled."""
    try:
        while not task.done():
            run(asyncio.wait({task}, timeout=SLICE_SECONDS))
            if not task.done():
                pause()
        return task.result()
    finally:
        cancel(task)


def cancel(task: asyncio.Task[Any]) -> None:
    """Cancel a task unless it is done, and wait for its end."""
    if task.cancel():
        run(asyncio.wait({task}))
