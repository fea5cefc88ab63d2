"""When a worker without a job brings the knowledge graph up to date."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from fake_graph import WithFakeGraph
from harness import raising
from shelf import summary

from bridge.graph import installed
from bridge.settings import Settings
from bridge.store.values import GraphLag
from jobs import clock
from worker.scheduling.graph_upkeep import GraphUpkeep, Machine, is_due, machine_now

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
RULES = Settings(graph_idle_changes=20, graph_idle_hours=24.0, child_idle_seconds=300.0)
IDLE = Machine(on_battery=False, load=0.1)
BATTERY, BUSY = replace(IDLE, on_battery=True), replace(IDLE, load=0.9)


WORTH_IT = [
    (0, 0, 900, IDLE, RULES, False),
    (1, 0, 900, IDLE, RULES, False),
    (1, 1000, 900, IDLE, RULES, False),
    (2, 0, 900, IDLE, RULES, False),
    (2, 23.9, 900, IDLE, RULES, False),
    (2, 24, 900, IDLE, RULES, True),
    (19, 1, 900, IDLE, RULES, False),
    (20, 0, 900, IDLE, RULES, True),
    (20, 0, 300, IDLE, RULES, True),
    (20, 0, 299, IDLE, RULES, False),
    (5000, 1000, 299, IDLE, RULES, False),
    (5000, 1000, 900, BATTERY, RULES, False),
    (5000, 1000, 900, BUSY, RULES, False),
    (5000, 1000, 900, IDLE, RULES.changed(graph_idle_changes=0), False),
    (1, 1000, 900, IDLE, RULES.changed(graph_idle_changes=1, graph_idle_hours=0), False),
    (2, 0, 0, IDLE, RULES.changed(graph_idle_changes=2, child_idle_seconds=0), True),
]


@pytest.mark.parametrize(("changes", "hours", "idle_seconds", "machine", "rules", "due"), WORTH_IT)
def test_it_is_worth_it_for_many_or_after_a_day_on_an_idle_machine_with_mains(
    changes: int, hours: float, idle_seconds: float, machine: Machine, rules: Settings, due: bool
) -> None:
    lag = GraphLag(changes, clock.iso(NOW - timedelta(hours=hours)), has_graph=True)
    assert is_due(lag, NOW, idle_seconds, machine, rules) == due


@pytest.fixture
def stores(stores: WithFakeGraph) -> WithFakeGraph:
    stores.store.add([(summary(name, f"What {name} says."), None) for name in "abc"], clock.iso(NOW))
    return stores


def test_waiting_rows_are_read_but_not_after_a_failure(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are in memory.db; after a failure it is left alone for a while."""
    monkeypatch.setattr(installed, "is_installed", lambda: True)
    upkeep = GraphUpkeep(stores.workspace, Settings(graph_idle_changes=3), lambda: IDLE)
    assert not upkeep.is_due(3, 299.0)
    assert not upkeep.is_due(1, 900.0)
    assert upkeep.is_due(3, 900.0)
    upkeep.failed()
    assert not upkeep.is_due(3, 900.0)


def test_what_has_been_delivered_since_is_not_due(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "is_installed", lambda: True)
    stores.graph.deliver_all()
    assert not GraphUpkeep(stores.workspace, Settings(), lambda: IDLE).is_due(3, 900.0)


@pytest.mark.parametrize("why", ["cognee is not installed", "it runs on a battery"])
def test_a_machine_that_may_not_is_looked_at_once_a_minute(
    stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    looks: list[Machine] = []

    def look() -> Machine:
        looks.append(BATTERY)
        return BATTERY

    monkeypatch.setattr(installed, "is_installed", lambda: why != "cognee is not installed")
    upkeep = GraphUpkeep(stores.workspace, Settings(graph_idle_changes=2), look)
    for _ in range(3):
        assert not upkeep.is_due(3, 900.0)
    assert len(looks) == (why != "cognee is not installed")


@pytest.mark.parametrize(
    ("battery", "on_battery"),
    [(None, False), (SimpleNamespace(power_plugged=None), False), (SimpleNamespace(power_plugged=True), False),
     (SimpleNamespace(power_plugged=False), True)],
)  # fmt: skip
def test_only_a_system_saying_so_is_on_battery(monkeypatch: pytest.MonkeyPatch, battery: Any, on_battery: bool) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    assert machine_now().on_battery == on_battery


def test_a_system_that_tells_neither_battery_nor_load_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(psutil, "sensors_battery", raising=False)
    monkeypatch.setattr(psutil, "getloadavg", raising(OSError))
    assert machine_now() == Machine(on_battery=False, load=0.0)
