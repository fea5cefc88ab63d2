"""Notices that a workspace has changed, so that its machines need not wait for their next look. Nothing rests on them.

A notice is sent after the change was committed, in a transaction of its own that nobody waits for: inside the change's
transaction it would take a lock of the whole database until that is on the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from .server import Connection


def send(connection: Connection, workspace_id: str) -> None:
    """Tell all who listen."""
    notice = f"SELECT pg_notify('{_channel(workspace_id)}', '')"
    connection.execute(f"BEGIN; SET LOCAL synchronous_commit = off; {notice}; COMMIT".encode())


def listen(connection: Connection, workspace_id: str) -> None:
    """Receive the workspace's notices from now on."""
    connection.execute(f"LISTEN {_channel(workspace_id)}".encode())


def received(connection: Connection, seconds: float) -> Iterator[object]:
    """The notices that come within this time, and no more after the first batch."""
    yield from connection.notifies(timeout=seconds, stop_after=1)


def _channel(workspace_id: str) -> str:
    return f"cognee_memory_{UUID(workspace_id).hex}"
