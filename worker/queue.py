"""Huey's part: what is due now, priorities among it, and the thread that consumes it.

A message is a job id and means "look at this job"; stale and doubled ones do nothing. The file may be
deleted at any moment: the records lead.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from huey import Huey
from huey.api import Task
from huey.consumer import Consumer
from huey.registry import Message
from huey.serializer import Serializer
from huey.storage import SqliteStorage

from jobs import files

_LOOK_AGAIN_SECONDS = 1.0  # only bounds how late a stop or a lost wake-up is noticed


class JsonSerializer(Serializer):  # type: ignore[misc]
    """Messages as JSON instead of pickle: a message of somebody else's can do nothing."""

    def _serialize(self, data: Any) -> bytes:
        return json.dumps(data._asdict() if isinstance(data, Message) else data).encode()

    def _deserialize(self, data: bytes) -> Any:
        found = json.loads(bytes(data))
        return Message(**found) if isinstance(found, dict) and "name" in found else found


class WakingStorage(SqliteStorage):  # type: ignore[misc]
    """SQLite with a blocking dequeue that an enqueue in this process wakes, instead of polling."""

    blocking = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._filled = threading.Condition()
        super().__init__(*args, **kwargs)

    def enqueue(self, data: bytes, priority: float | None = None) -> None:
        with self._filled:
            super().enqueue(data, priority)
            self._filled.notify()

    def dequeue(self) -> bytes | None:
        with self._filled:
            found: bytes | None = super().dequeue()
            if found is None and self._filled.wait(_LOOK_AGAIN_SECONDS):
                found = super().dequeue()
            return found

    def wake(self) -> None:
        with self._filled:
            self._filled.notify_all()


class _QuietConsumer(Consumer):  # type: ignore[misc]
    """Signals belong to the process, not to Huey."""

    def _set_signal_handlers(self) -> None:
        pass


class Queue:
    """The derived queue: emptied and made anew at each start."""

    def __init__(self, path: Path, look: Callable[[str], None]) -> None:
        for leftover in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
            leftover.unlink(missing_ok=True)
        files.write_new(path, b"", synced=False)  # created 0600 before SQLite opens it
        self._huey = Huey(
            "cognee-memory",
            results=False,
            storage_class=WakingStorage,
            serializer=JsonSerializer(),
            filename=str(path),
            fsync=False,  # derived: the records are what is synced
        )
        self._look: Any = self._huey.task(name="look")(look)
        self._consumer: Any = None

    def put(self, job_id: str, priority: int) -> None:
        """Ask for a look at a job: higher priority first, then first come."""
        task: Task = self._look.s(job_id)
        task.priority = priority
        self._huey.enqueue(task)

    def start(self) -> None:
        """Begin consuming, in one thread."""
        self._consumer = _QuietConsumer(
            self._huey, workers=1, worker_type="thread", periodic=False, check_worker_health=True
        )
        self._consumer.start()

    def stop(self) -> None:
        """Let the running look finish, begin no other, and return when the thread has ended."""
        if self._consumer is not None:
            self._consumer.stop_flag.set()
            self._huey.storage.wake()
            for _, thread in self._consumer.worker_threads:
                thread.join()
        self._huey.storage.close()
