"""What each test costs, kept from run to run: a plugin of pytest, and a program that lists the dearest.

A cost is processor time, of the test's process and of the children that it waited for: on a busy machine the time on
the clock says little. A process that a fixture shares is counted where it is ended, in the teardown of the last test.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

KEY = "costs/tests"
FILE = Path(__file__).parent.parent / ".pytest_cache" / "v" / KEY
SLOW_SECONDS = 0.25  # a test that takes so long has the marker ``slow``, so that the quick run leaves it out
PHASES = ("setup", "call", "teardown")
SHOWN = 100

Costs = dict[str, dict[str, Any]]  # of each test: its phases' seconds of processor, "clock", "slow"


def _processor() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    item.stash[_BEGAN] = _processor()
    yield


_BEGAN = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    now = _processor()
    report.processor = now - item.stash[_BEGAN]  # type: ignore[attr-defined]
    report.slow = item.get_closest_marker("slow") is not None  # type: ignore[attr-defined]
    item.stash[_BEGAN] = now
    return report


class Kept:
    """The process that sees all reports keeps their costs."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.costs: Costs = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "processor"):
            cost = self.costs.setdefault(report.nodeid.partition("@")[0], {"clock": 0.0, "slow": report.slow})
            cost[report.when] = round(report.processor, 3)
            cost["clock"] = round(cost["clock"] + report.duration, 3)

    def pytest_sessionfinish(self) -> None:
        cache = getattr(self.config, "cache", None)  # absent with "-p no:cacheprovider"
        if cache is not None and self.costs:
            cache.set(KEY, {**cache.get(KEY, {}), **self.costs})


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Kept(config), "costs-kept")


def processor(cost: dict[str, Any]) -> float:
    return sum(cost.get(phase, 0.0) for phase in PHASES)


def main() -> None:
    costs: Costs = json.loads(FILE.read_bytes())
    files: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0])
    for name, cost in costs.items():
        found = files[name.partition("::")[0]]
        found[0] += processor(cost)
        found[1] += cost["clock"]
        found[2] += 1
    print(f"{'processor':>9} {'clock':>7}  tests  file")
    for name, (spent, clock, tests) in sorted(files.items(), key=lambda row: -row[1][0]):
        print(f"{spent:9.2f} {clock:7.2f} {tests:6}  {name}")
    print(f"\n{'processor':>9} {'clock':>7}  {'most in':9} test")
    for name, cost in sorted(costs.items(), key=lambda row: -processor(row[1]))[:SHOWN]:
        most = max(PHASES, key=lambda phase: cost.get(phase, 0.0))
        print(f"{processor(cost):9.2f} {cost['clock']:7.2f}  {most:9} {name}")


if __name__ == "__main__":
    main()
