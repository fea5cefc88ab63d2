"""Ready means: a worker works, has said so lately, and the store can be read; else the reason is named."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bridge.store import database
from jobs import clock, files, heartbeat
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lock import Lock
from jobs.model import encode
from worker.monitoring import readiness

NOW = clock.now()


@pytest.fixture
def held(workspace: Workspace) -> Iterator[Workspace]:
    """A workspace whose lock somebody holds."""
    with Lock(workspace.spool.lock) as lock:
        assert lock.acquire()
        yield workspace


def beat(workspace: Workspace, seconds_ago: float = 1.0) -> None:
    at = clock.iso(NOW - timedelta(seconds=seconds_ago))
    files.replace(workspace.spool.heartbeat, encode({"heartbeat_at": at}))


def reason(workspace: Workspace) -> str:
    with pytest.raises(JobError, match="NOT_READY") as caught:
        readiness.require(workspace, NOW)
    return str(caught.value.details["reason"])


def test_a_worker_that_works_over_nothing_yet_is_ready(held: Workspace) -> None:
    beat(held)
    readiness.require(held, NOW)


def test_without_a_worker_a_fresh_heartbeat_does_not_help(workspace: Workspace) -> None:
    beat(workspace)
    assert reason(workspace) == "worker"


def test_a_worker_that_has_said_nothing_lately_is_not_ready(held: Workspace) -> None:
    assert reason(held) == "heartbeat"
    for content in (b"{", b"[]", b"{}", b'{"heartbeat_at": 7}', b'{"heartbeat_at": "soon"}'):
        files.replace(held.spool.heartbeat, content)
        assert reason(held) == "heartbeat"
    beat(held, heartbeat.STALE_SECONDS + 1)
    assert reason(held) == "heartbeat"
    beat(held, -3600)  # the clock was set back
    readiness.require(held, NOW)


def test_a_store_that_cannot_be_read_is_the_reason(held: Workspace) -> None:
    beat(held)
    files.make_folder(held.memory)
    database.open_for_writing(held).close()
    readiness.require(held, NOW)
    held.memory_db.write_bytes(b"no database" * 1000)
    assert reason(held) == "store"
