"""Graph upkeep: when a worker with nothing else to do brings the knowledge graph up to date.

Jobs that need the graph bring it up to date themselves. This saves them the wait, where that costs nobody anything:
loading cognee takes seconds of a core and hundreds of megabytes, so it must be worth it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bridge.graph import installed
from bridge.settings import Settings
from bridge.store.opening import reader_of
from bridge.store.values import GraphLag
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

log = logging.getLogger(__name__)

_FEWEST = 2  # changes; never for one memory alone
_MOST_LOAD = 0.7  # processes that want to run, for each core
_LOOK_AGAIN_SECONDS = 60.0
_TRY_AGAIN_SECONDS = 3600.0  # after a failure


@dataclass(frozen=True, slots=True)
class Machine:
    """``load``: the processes that want to run, for each core, in the last minute."""

    on_battery: bool
    load: float


def machine_now() -> Machine:
    """This machine as it is. What the system does not tell counts as no battery and no load."""
    import psutil  # not at the top: most workers never need it

    try:
        battery = psutil.sensors_battery()
    except (AttributeError, OSError, RuntimeError):  # not every system has the function
        battery = None
    try:
        load = psutil.getloadavg()[0] / (psutil.cpu_count() or 1)
    except OSError:
        load = 0.0
    return Machine(battery is not None and battery.power_plugged is False, load)


def read_lag(workspace: Workspace) -> GraphLag | None:
    """What the graph lacks; None where it is not installed, or if memory.db cannot be read.

    That is no reason to stop: each job reports it as its own error.
    """
    if not installed.is_installed():
        return None
    try:
        with reader_of(workspace).lists() as lists:
            return GraphLag(0, None, has_graph=False) if lists is None else lists.graph_lag()
    except JobError as error:
        log.error("the memory store cannot be read: %s", error)
        return None


def is_due(lag: GraphLag, now: datetime, idle_seconds: float, machine: Machine, settings: Settings) -> bool:
    """Whether the graph is to be brought up to date now. ``idle_seconds``: since the last job, or the start."""
    if machine.on_battery or machine.load > _MOST_LOAD or idle_seconds < settings.child_idle_seconds:
        return False
    if settings.graph_idle_changes == 0 or lag.changes < _FEWEST:
        return False
    waits = timedelta() if lag.since is None else now - clock.parse(lag.since)
    return lag.changes >= settings.graph_idle_changes or waits >= timedelta(hours=settings.graph_idle_hours)


class GraphUpkeep:
    """``is_due`` for the graph of a workspace, asked often."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        machine: Callable[[], Machine] = machine_now,
    ) -> None:
        self._workspace = workspace
        self._settings = settings
        self._machine = machine
        self._not_before = 0.0

    def is_due(self, changes: int, idle_seconds: float) -> bool:
        """As the function. ``changes``: at least so many are known to wait. It looks at the machine and at memory.db
        once a minute, and for an hour not after a failure."""
        is_too_early = idle_seconds < self._settings.child_idle_seconds or time.monotonic() < self._not_before
        if changes < _FEWEST or is_too_early:
            return False
        lag = read_lag(self._workspace)
        if lag is not None and is_due(lag, clock.now(), idle_seconds, self._machine(), self._settings):
            return True
        self._not_before = time.monotonic() + _LOOK_AGAIN_SECONDS
        return False

    def failed(self) -> None:
        """Note that nothing could be delivered."""
        self._not_before = time.monotonic() + _TRY_AGAIN_SECONDS
