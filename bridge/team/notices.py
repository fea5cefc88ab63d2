"""Notices that a workspace has changed, so that its machines need not wait for their next look. Nothing rests on them.

A notice is sent after the change was committed, in a transaction of its own that nobody waits for: inside the change's
transaction it would take a lock of the whole database until that is on the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from .fields import Id

if TYPE_CHECKING:
    from .server import Connection


_CHANNEL = "cognee_memory"


def send(connection: Connection, workspace_id: Id) -> None:
    """Tell all who listen."""
    notice = f"SELECT pg_notify('{_CHANNEL}', '{UUID(workspace_id)}')"
    connection.execute(f"BEGIN; SET LOCAL synchronous_commit = off; {notice}; COMMIT".encode())


def listen(connection: Connection) -> None:
    """Receive the notices of all workspaces from now on."""
    connection.execute(f"LISTEN {_CHANNEL}".encode())


def received(connection: Connection, seconds: float) -> Iterator[str]:
    """The ids of the workspaces whose notices come within this time, and no more after the first batch."""
    for notice in connection.notifies(timeout=seconds, stop_after=1):
        yield notice.payload
