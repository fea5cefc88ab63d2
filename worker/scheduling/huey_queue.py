"""Huey's part: what is due now, priorities among it, and the thread that consumes it.

A message is a job id and means "look at this job"; stale and doubled ones do nothing. The file may be
deleted at any moment: the records lead.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jobs import files, steps


@contextmanager
def _hidden(package: str) -> Iterator[None]:
    """Make an optional package of a library look as if it were not installed (an import of a name whose entry is
    None raises ImportError), unless it is imported already."""
    is_ours = sys.modules.setdefault(package, None) is None  # type: ignore[arg-type]
    try:
        yield
    finally:
        if is_ours:
            del sys.modules[package]


# Huey imports redis where it is installed, and cognee brings it. It would be a fifth of the idle worker's memory.
with _hidden("redis"):
    from huey import Huey
    from huey.consumer import Consumer
    from huey.registry import Message
    from huey.serializer import Serializer
    from huey.storage import SqliteStorage

log = logging.getLogger(__name__)

_STALE_TOGETHER = 64  # messages looked through at a time for one that is not stale
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
    broken: Callable[[Exception], None] = staticmethod(lambda error: None)
    stale: Callable[[bytes], bool] = staticmethod(lambda data: False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.filled = threading.Condition()  # its lock is reentrant: a broken file is made anew inside
        super().__init__(*args, **kwargs)

    def enqueue(self, data: bytes, priority: float | None = None) -> None:
        with self.filled:
            super().enqueue(data, priority)
            self.filled.notify()

    def enqueue_many(self, messages: Iterable[tuple[bytes, float]]) -> None:
        """Enqueue in one transaction."""
        rows = [(self.name, data, priority) for data, priority in messages]
        with self.filled:
            with self.db(commit=True) as cursor:
                cursor.executemany("insert into task (queue, data, priority) values (?, ?, ?)", rows)
            self.filled.notify()

    def _take(self) -> bytes | None:
        """The first message that is worth a look; the stale ones before it go with it, in one transaction."""
        while self.sql("select 1 from task where queue = ? limit 1", (self.name,), results=True):
            with self.db(commit=True) as cursor:
                cursor.execute(
                    "select id, data from task where queue = ? order by priority desc, id limit ?",
                    (self.name, _STALE_TOGETHER),
                )
                gone: list[tuple[int]] = []
                found: bytes | None = None
                for number, data in cursor.fetchall():
                    gone.append((number,))
                    if not self.stale(data):
                        found = data
                        break
                cursor.executemany("delete from task where id = ?", gone)
            if found is not None:
                return found
        return None

    def dequeue(self) -> bytes | None:
        with self.filled:
            try:
                found = self._take()
                if found is None and self.filled.wait(_LOOK_AGAIN_SECONDS):
                    found = self._take()
                return found
            except sqlite3.Error as error:
                self.broken(error)
                return None

    def wake(self) -> None:
        with self.filled:
            self.filled.notify_all()


class _QuietConsumer(Consumer):  # type: ignore[misc]
    """Signals belong to the process, not to Huey."""

    def _set_signal_handlers(self) -> None:
        pass


def _is_stale(data: bytes, is_stale: Callable[[str], bool]) -> bool:
    """Whether a look would do nothing. What cannot be read is not for us to judge: Huey says so."""
    try:
        return is_stale(str(json.loads(bytes(data))["args"][0]))
    except (ValueError, KeyError, IndexError, TypeError):
        return False


class Queue:
    """The derived queue: emptied and made anew at each start, and whenever its file turns out to be broken.

    ``waiting`` says what belongs into a new one: ids and priorities.
    """

    def __init__(
        self,
        path: Path,
        look: Callable[[str], None],
        waiting: Callable[[], Iterable[tuple[str, int]]] = tuple,
        is_stale: Callable[[str], bool] = lambda job_id: False,
    ) -> None:
        self._path = path
        self._waiting = waiting
        self._make_file()
        self._huey = Huey(
            "cognee-memory",
            results=False,
            storage_class=WakingStorage,
            serializer=JsonSerializer(),
            filename=str(path),
            fsync=False,  # derived: the records are what is synced
        )
        self._huey.storage.broken = self._renew
        self._huey.storage.stale = lambda data: _is_stale(data, is_stale)
        self._look: Any = self._huey.task(name="look")(look)
        self._consumer: Any = None

    def _make_file(self) -> None:
        for leftover in (self._path, *(self._path.with_name(self._path.name + end) for end in ("-wal", "-shm"))):
            leftover.unlink(missing_ok=True)
        files.write_new(self._path, b"", synced=False)  # created 0600 before SQLite opens it

    def _renew(self, error: Exception) -> None:
        """Put a new file in the place of a broken one, with everything that waits."""
        log.error("queue.db is broken (%s): made anew from the records", type(error).__name__)
        self._huey.storage.close()
        self._make_file()
        self._huey.storage.initialize_schema()
        self._huey.storage.enqueue_many(self._messages(self._waiting()))

    def _messages(self, jobs: Iterable[tuple[str, int]]) -> list[tuple[bytes, int]]:
        return [(self._huey.serialize_task(self._look.s(job_id)), priority) for job_id, priority in jobs]

    def put_many(self, jobs: Iterable[tuple[str, int]]) -> None:
        """Ask for looks at many jobs, in one transaction."""
        messages = self._messages(jobs)
        if not messages:
            return
        try:
            with steps.fault_point("queue.put"):
                self._huey.storage.enqueue_many(messages)
        except sqlite3.Error:
            with self._huey.storage.filled:  # the consumer may have met the broken file at the same time
                try:
                    self._huey.storage.enqueue_many(messages)
                except sqlite3.Error as error:
                    self._renew(error)

    def put(self, job_id: str, priority: int) -> None:
        """Ask for a look at a job: higher priority first, then first come."""
        self.put_many([(job_id, priority)])

    def reconcile(self) -> None:
        """Make the file anew if somebody removed it, fill it where everything that waits seems to be lost, and replace
        a consumer's thread that has died."""
        if self._consumer is not None:
            self._consumer.check_worker_health()
        with self._huey.storage.filled:
            try:
                if not self._path.exists():
                    raise sqlite3.OperationalError("removed")
                lost = self._huey.pending_count() == 0
            except sqlite3.Error as error:
                self._renew(error)
                return
        if lost:
            self.put_many(self._waiting())

    def start(self) -> None:
        """Begin consuming, in one thread."""
        self._consumer = _QuietConsumer(
            self._huey, workers=1, worker_type="thread", periodic=False, check_worker_health=True
        )
        self._consumer.start()

    def stop(self) -> None:
        """Let the running look finish, begin no other, and return when the threads have ended."""
        if self._consumer is not None:
            self._consumer.stop_flag.set()
            self._huey.storage.wake()
            for thread in (*(thread for _, thread in self._consumer.worker_threads), self._consumer.scheduler):
                thread.join()
        self._huey.storage.close()
