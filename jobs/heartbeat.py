"""Reads the heartbeat file: the state and activity that the worker, or the last one, has written.

Whether a worker runs is decided by its lock (``launch.is_alive``), never by this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from . import state_file
from .layout import SpoolPaths

if TYPE_CHECKING:
    from datetime import datetime

    from .schema import Heartbeat

STALE_SECONDS = 30.0  # older than this, it does not describe the worker: it is written every ten seconds at least


def read(paths: SpoolPaths) -> Heartbeat | None:
    """Its fields; None without a readable one. A second hard link is allowed: backups make them."""
    return cast("Heartbeat | None", state_file.read(paths.heartbeat, state_file.an_object, absent=None, damaged=None))


def age_seconds(heartbeat: Heartbeat | None, now: datetime) -> float | None:
    """The age of a heartbeat, at least 0; None without a heartbeat or a valid time in it."""
    from . import clock  # not at the top: the query path pays for each import

    try:
        return max(0.0, (now - clock.parse(heartbeat["heartbeat_at"])).total_seconds()) if heartbeat else None
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
