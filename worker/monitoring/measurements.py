"""Measurements on request: the worker from its files, the store, the processes, the disk, and this process's counters.

Values that cannot be read are left out; a measurement never raises for them.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bridge.settings import Settings
from bridge.store.opening import reader_of
from bridge.team import copy_age
from jobs import clock, heartbeat as heartbeat_file, spool
from jobs.errors import JobError
from jobs.kinds import KINDS
from jobs.layout import Workspace
from jobs.states import ENDS, LIVE

from ..processes import memory_and_cpu
from ..version import VERSION
from . import counters as counters_file, readiness
from .metrics import BY_NAME, Samples

if TYPE_CHECKING:
    from jobs.schema import Heartbeat

SampleTable = dict[str, Samples]

_EXPECTED: list[tuple[str, tuple[str, ...]]] = [
    *((name, ()) for name in ("child_starts", "server_starts", "server_deaths")),
    *(("child_ends", (reason,)) for reason in ("died", "memory", "timeout", "cancelled", "stopped", "worn", "idle")),
    *(
        ("jobs_ended", (kind.name, state))
        for kind in KINDS
        if kind.zero_counters
        for state in sorted(ENDS - {"rejected"})
    ),
]


def measure(workspace: Workspace, settings: Settings, own: counters_file.Counters, now: datetime) -> SampleTable:
    """The samples of all metrics, by the names of ``metrics``. ``own``: the counters of this process."""
    heartbeat = heartbeat_file.read(workspace.spool)
    return {
        **_counted(own.as_dict()),
        **_with_zeros(counters_file.read(workspace.spool)),
        **_worker(workspace, heartbeat, now),
        **_team(workspace, heartbeat, now),
        **_processes(heartbeat or {}),
        **_memory(workspace, settings, now),
        **_room(workspace, settings),
        "build_info": [((VERSION, platform.python_version()), 1)],
    }


def _with_zeros(counted: counters_file.Counted | None) -> SampleTable:
    """The counters as samples, with zeros for expected events that have not happened: alerts miss the first step of a
    counter that begins at 1.

    Unreadable counters get no zeros: these would look like a restart, and the next scrape like a burst of jobs.
    """
    if counted is None:
        return {}
    found = _counted(counted)
    for name, labels in _EXPECTED:
        if labels not in dict(found.get(name, ())):
            found[name] = [*found.get(name, ()), (labels, 0)]
    return found


def _one(value: float) -> Samples:
    return [((), value)]


def _counted(counted: counters_file.Counted) -> SampleTable:
    """Counters and histograms as samples, without names that this version does not know."""
    both = {**counted.get("counters", {}), **counted.get("histograms", {})}
    return {name: [(tuple(labels), value) for *labels, value in rows] for name, rows in both.items() if name in BY_NAME}


def _worker(workspace: Workspace, heartbeat: Heartbeat | None, now: datetime) -> SampleTable:
    found: SampleTable = {
        "worker_up": _one(readiness.is_at_work(workspace, heartbeat, now)),
        "worker_paused": _one(workspace.spool.paused.exists()),
    }
    try:
        found["inbox_files"] = _one(len(spool.inbox(workspace.spool)))
    except OSError:
        pass
    if heartbeat is None:
        return found
    age = heartbeat_file.age_seconds(heartbeat, now)
    try:
        return found | {
            "worker_heartbeat_age_seconds": [] if age is None else _one(age),
            "worker_start_time_seconds": _one(clock.parse(heartbeat["started_at"]).timestamp()),
            "jobs": [((state,), heartbeat["counts"].get(state, 0)) for state in LIVE],
            "jobs_oldest_waiting_seconds": _one(heartbeat["oldest_waiting_seconds"] or 0),
        }
    except (KeyError, TypeError, ValueError, AttributeError):  # a heartbeat of another version
        return found


def _team(workspace: Workspace, heartbeat: Heartbeat | None, now: datetime) -> SampleTable:
    """Nothing for a workspace without a team. What only a worker knows is left out while none is at work."""
    found: SampleTable = {}
    current_at = copy_age.current_at(workspace)
    if current_at is not None:
        age = (now - clock.parse(current_at)).total_seconds()
        found["team_copy_age_seconds"] = _one(max(0.0, age))
    beat: Mapping[str, Any] = heartbeat or {}
    team = beat.get("team")
    if isinstance(team, dict) and readiness.is_at_work(workspace, heartbeat, now):
        found["team_reached"] = _one(team.get("problem") is None)
    return found


def _processes(heartbeat: Mapping[str, Any]) -> SampleTable:
    pids = {
        "worker": heartbeat.get("pid"),
        "child": (heartbeat.get("child") or {}).get("pid"),
        "server": os.getpid(),
    }
    memory, cpu = [], []
    for name, pid in pids.items():
        if not isinstance(pid, int):
            continue
        measured = memory_and_cpu(pid)
        if measured is not None:
            memory.append(((name,), measured[0]))
            cpu.append(((name,), measured[1]))
    return {"process_resident_memory_bytes": memory, "process_cpu_seconds": cpu}


def _memory(workspace: Workspace, settings: Settings, now: datetime) -> SampleTable:
    limits: SampleTable = {
        "llm_day_calls_limit": _one(settings.llm_calls_per_day),
        "llm_day_tokens_limit": _one(settings.llm_tokens_per_day),
    }
    try:
        found = reader_of(workspace).sizes(now)
    except JobError:
        return limits | {"store_readable": _one(0)}
    spent = found.llm_today
    return limits | {
        "store_readable": _one(1),
        "memories": list(found.memories.items()),
        "topics": _one(found.topics),
        "passages": _one(found.passages),
        "vector_bytes": _one(found.vector_bytes),
        "database_bytes": _one(found.database_bytes),
        "graph_outbox_entries": _one(found.graph_lag),
        "llm_day_calls": _one(spent.calls),
        "llm_day_tokens": [(("prompt",), spent.prompt_tokens), (("completion",), spent.completion_tokens)],
        "llm_day_cost_usd": [] if spent.cost_usd is None else _one(spent.cost_usd),
    }


def _room(workspace: Workspace, settings: Settings) -> SampleTable:
    found: SampleTable = {"disk_kept_free_bytes": _one(settings.min_free_bytes)}
    try:
        return found | {"disk_free_bytes": _one(shutil.disk_usage(workspace.root).free)}
    except OSError:
        return found
