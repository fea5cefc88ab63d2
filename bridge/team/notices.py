"""Notices that a workspace has changed, so that its machines need not wait for their next look. Nothing rests on them.

A notice is sent after the change was committed, in a transaction of its own that nobody waits for: inside the change's
transaction it would take a lock of the whole database until that is on the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import UUID

from .fields import Id

if TYPE_CHECKING:
    from .server import Connection


_CHANNEL = "cognee_memory"
_LISTEN_SECONDS = 1.0


def send(connection: Connection, workspace_id: Id) -> None:
    """Tell all who listen."""
    notice = f"SELECT pg_notify('{_CHANNEL}', '{UUID(workspace_id)}')"
    connection.execute(f"BEGIN; SET LOCAL synchronous_commit = off; {notice}; COMMIT".encode())


def listen(
    connection: Connection, began: Callable[[], object], heard: Callable[[str], object], is_stopped: Callable[[], bool]
) -> None:
    """Call ``began`` once the notices of all workspaces are received, and ``heard`` with the id of each workspace that
    one is about, until ``is_stopped``."""
    connection.execute(f"LISTEN {_CHANNEL}".encode())
    began()
    while not is_stopped():
        for notice in connection.notifies(timeout=_LISTEN_SECONDS, stop_after=1):
            heard(notice.payload)
