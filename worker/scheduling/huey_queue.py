"""The Huey queue: messages about due jobs, by priority, and the thread that consumes them.

A message is a job id and means "check whether this job can run". Stale and duplicate messages have no effect. The
queue is derived from the records, so its file may be deleted at any time.
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
def _hidden(*packages: str) -> Iterator[None]:
    """Make packages appear not installed, unless they are already imported: importing a name whose entry in
    ``sys.modules`` is None raises ImportError."""
    ours = [name for name in packages if sys.modules.setdefault(name, None) is None]  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in ours:
            del sys.modules[name]


# Huey imports the clients of its other storages if they are installed, as redis is with cognee and psycopg for a team.
# Each would be a fifth of the worker's start and memory.
with _hidden("redis", "psycopg"):
    from huey import Huey
    from huey.consumer import Consumer
    from huey.registry import Message
    from huey.serializer import Serializer
    from huey.storage import SqliteStorage

log = logging.getLogger(__name__)

_STALE_TOGETHER = 64  # messages read at a time in the search for one that is not stale
_LOOK_AGAIN_SECONDS = 60  # without a message; a put or an end wakes the threads, and each look costs an idle worker


class JsonSerializer(Serializer):  # type: ignore[misc]
    """Messages as JSON instead of pickle, so that a forged message cannot run code."""

    def _serialize(self, data: Any) -> bytes:
        return json.dumps(data._asdict() if isinstance(data, Message) else data).encode()

    def _deserialize(self, data: bytes) -> Any:
        value = json.loads(bytes(data))
        return Message(**value) if isinstance(value, dict) and "name" in value else value


class WakingStorage(SqliteStorage):  # type: ignore[misc]
    """SQLite storage whose dequeue blocks until ``enqueue_many`` in this process wakes it, instead of polling.

    ``on_broken`` is called with the error of a damaged file; ``is_stale`` says whether a message would have no effect.
    """

    blocking = True
    on_broken: Callable[[Exception], None] = staticmethod(lambda error: None)
    is_stale: Callable[[bytes], bool] = staticmethod(lambda data: False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.filled = threading.Condition()  # its lock is reentrant, since ``on_broken`` recreates the file inside it
        self._has_ended = False
        super().__init__(*args, **kwargs)

    def enqueue_many(self, messages: Iterable[tuple[bytes, float]]) -> None:
        """Enqueue messages with their priorities in one transaction, and wake the consumer."""
        rows = [(self.name, data, priority) for data, priority in messages]
        with self.filled:
            with self.db(commit=True) as cursor:
                cursor.executemany("insert into task (queue, data, priority) values (?, ?, ?)", rows)
            self.filled.notify()

    def _pop_next(self) -> bytes | None:
        """Remove and return the first message that is not stale, with the stale ones before it, in one transaction."""
        while self.sql("select 1 from task where queue = ? limit 1", (self.name,), results=True):
            with self.db(commit=True) as cursor:
                cursor.execute(
                    "select id, data from task where queue = ? order by priority desc, id limit ?",
                    (self.name, _STALE_TOGETHER),
                )
                removed: list[tuple[int]] = []
                message: bytes | None = None
                for number, data in cursor.fetchall():
                    removed.append((number,))
                    if not self.is_stale(data):
                        message = data
                        break
                cursor.executemany("delete from task where id = ?", removed)
            if message is not None:
                return message
        return None

    def dequeue(self) -> bytes | None:
        """The next message that is not stale; None after a minute without one, after ``end``, or for a broken file."""
        with self.filled:
            try:
                message = self._pop_next()
                if message is None and not self._has_ended and self.filled.wait(_LOOK_AGAIN_SECONDS):
                    message = self._pop_next()
                return message
            except sqlite3.Error as error:
                self.on_broken(error)
                return None

    def end(self) -> None:
        """Wake a blocked dequeue, and let no later one block."""
        with self.filled:
            self._has_ended = True
            self.filled.notify_all()


class _QuietConsumer(Consumer):  # type: ignore[misc]
    """A consumer without signal handlers, since ``daemon`` handles the signals."""

    def _set_signal_handlers(self) -> None:
        pass


def _is_stale(data: bytes, is_stale: Callable[[str], bool]) -> bool:
    """Whether a message would have no effect. False for an unreadable one: Huey reports it."""
    try:
        return is_stale(str(json.loads(bytes(data))["args"][0]))
    except (ValueError, KeyError, IndexError, TypeError):
        return False


class Queue:
    """The queue. Its file is created from scratch at each start, and again when it is broken.

    ``handle`` runs for each message, with its job id. ``waiting`` returns the content of a new queue, as (job id,
    priority). ``is_stale``: whether a message about the job would have no effect.
    """

    def __init__(
        self,
        path: Path,
        handle: Callable[[str], None],
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
            fsync=False,  # derived data: only the records are synced
        )
        self._huey.storage.on_broken = self._renew
        self._huey.storage.is_stale = lambda data: _is_stale(data, is_stale)
        self._task: Any = self._huey.task(name="look")(handle)
        self._consumer: Any = None

    def _make_file(self) -> None:
        for leftover in (self._path, *(self._path.with_name(self._path.name + end) for end in ("-wal", "-shm"))):
            leftover.unlink(missing_ok=True)
        files.write_new(self._path, b"", synced=False)  # created 0600 before SQLite opens it

    def _renew(self, error: Exception) -> None:
        """Replace a broken file with a new one that contains all due jobs."""
        log.error("queue.db is broken (%s): rebuilt from the records", type(error).__name__)
        self._huey.storage.close()
        self._make_file()
        self._huey.storage.initialize_schema()
        self._huey.storage.enqueue_many(self._messages(self._waiting()))

    def _messages(self, jobs: Iterable[tuple[str, int]]) -> list[tuple[bytes, int]]:
        return [(self._huey.serialize_task(self._task.s(job_id)), priority) for job_id, priority in jobs]

    def put_many(self, jobs: Iterable[tuple[str, int]]) -> None:
        """Enqueue messages about jobs, as (job id, priority), in one transaction."""
        messages = self._messages(jobs)
        if not messages:
            return
        try:
            with steps.fault_point("queue.put"):
                self._huey.storage.enqueue_many(messages)
        except sqlite3.Error:
            with self._huey.storage.filled:  # the consumer may just have replaced the broken file
                try:
                    self._huey.storage.enqueue_many(messages)
                except sqlite3.Error as error:
                    self._renew(error)

    def put(self, job_id: str, priority: int) -> None:
        """Enqueue a message about a job. Higher priorities come first, then earlier messages."""
        self.put_many([(job_id, priority)])

    def reconcile(self) -> None:
        """Recreate the file if it was removed, fill it if it is empty, and replace a dead consumer thread."""
        if self._consumer is not None:
            self._consumer.check_worker_health()
        with self._huey.storage.filled:
            try:
                if not self._path.exists():
                    raise sqlite3.OperationalError("removed")
                is_empty = self._huey.pending_count() == 0
            except sqlite3.Error as error:
                self._renew(error)
                return
        if is_empty:
            self.put_many(self._waiting())

    def start(self) -> None:
        """Start the consumer thread."""
        self._consumer = _QuietConsumer(
            self._huey,
            workers=1,
            worker_type="thread",
            periodic=False,
            check_worker_health=True,
            scheduler_interval=_LOOK_AGAIN_SECONDS,  # Huey's own schedule stays empty: the ledger announces jobs
        )
        self._consumer.start()

    def stop(self) -> None:
        """Let the running message finish, start no other, and wait for the threads to end."""
        if self._consumer is not None:
            self._consumer.stop_flag.set()
            self._huey.storage.end()
            for thread in (*(thread for _, thread in self._consumer.worker_threads), self._consumer.scheduler):
                thread.join()
        self._huey.storage.close()
