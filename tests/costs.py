"""What each test costs, kept from run to run, and which tests are slow: a plugin of pytest, and the program of
``make slowest``.

A cost is processor time, of the test's process and of the children that it waited for: on a busy machine the time on
the clock says little. A process that a fixture shares is counted where it is ended, in the teardown of the last test.

``slow.txt`` names the tests that the quick run leaves out, and files whose fixtures take long. It is written from what
was measured, by ``make slowest MARK=1``; without it, ``make slowest`` says what does not agree.
"""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import pytest

KEY = "costs/tests"
PROJECT = Path(__file__).parent.parent
KEPT = PROJECT / ".pytest_cache" / "v" / KEY
SLOW = Path(__file__).with_name("slow.txt")
QUICK = ("tests/unit/", "tests/architecture/", "tests/conformance/")  # all others are slow by their nature
SLOW_SECONDS = 0.25
FIXTURE_SECONDS = 1.0  # of a fixture that a file's tests share
KEPT_SHARE = 0.6  # what has become a little faster stays in the list, so that it does not change with each run
PHASES = ("setup", "call", "teardown")
SHOWN = 100

Costs = dict[str, dict[str, float]]  # of each test: the seconds of its phases by their names, and on the "clock"

_BEGAN = pytest.StashKey[float]()


# --- measuring and marking ---


def _processor() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    item.stash[_BEGAN] = _processor()
    yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    now = _processor()
    report.processor = now - item.stash[_BEGAN]  # type: ignore[attr-defined]
    item.stash[_BEGAN] = now
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = set(SLOW.read_text("utf-8").splitlines())
    for item in items:
        if function_of(item.nodeid) in slow or file_of(item.nodeid) in slow:
            item.add_marker(pytest.mark.slow)


class _Kept:
    """In the process that sees all reports: keeps their costs."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.costs: Costs = defaultdict(lambda: {"clock": 0.0})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "processor"):
            cost = self.costs[report.nodeid]
            cost[str(report.when)] = round(report.processor, 3)
            cost["clock"] = round(cost["clock"] + report.duration, 3)

    def pytest_sessionfinish(self) -> None:
        cache = getattr(self.config, "cache", None)  # absent with "-p no:cacheprovider"
        if cache is not None and self.costs:
            again = {function_of(name) for name in self.costs}
            before = {name: cost for name, cost in cache.get(KEY, {}).items() if function_of(name) not in again}
            cache.set(KEY, before | self.costs)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Kept(config), "costs-kept")


# --- showing ---


def file_of(name: str) -> str:
    return name.partition("::")[0]


def function_of(name: str) -> str:
    """A test without its parameters."""
    return name.partition("[")[0]


def processor(cost: dict[str, float]) -> float:
    return sum(cost.get(phase, 0.0) for phase in PHASES)


@cache
def is_there(function: str) -> bool:
    path = PROJECT / file_of(function)
    return path.is_file() and function.rpartition("::")[2] in path.read_text("utf-8")


def slow_by_measure(costs: Costs, slow: set[str]) -> set[str]:
    """What the list should hold: tests with a dear call, and files with a dear fixture. What was not measured stays."""
    share: dict[str, float] = defaultdict(float)  # of what makes it slow
    for name, cost in costs.items():
        if name.startswith(QUICK):
            function, file = function_of(name), file_of(name)
            share[function] = max(share[function], cost.get("call", 0.0) / SLOW_SECONDS)
            fixture = max(cost.get("setup", 0.0), cost.get("teardown", 0.0))
            share[file] = max(share[file], fixture / FIXTURE_SECONDS)
    kept = {name for name in slow if ("::" not in name or is_there(name)) and share.get(name, 1.0) >= KEPT_SHARE}
    found = {name for name, part in share.items() if part >= 1} | kept
    return {name for name in found if "::" not in name or file_of(name) not in found}


def lines(costs: Costs) -> Iterator[str]:
    files: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0])
    for name, cost in costs.items():
        for place, value in enumerate((processor(cost), cost["clock"], 1)):
            files[file_of(name)][place] += value
    yield f"{'processor':>9} {'clock':>8} {'tests':>6}  file"
    for name, (spent, clock, tests) in sorted(files.items(), key=lambda row: -row[1][0]):
        yield f"{spent:9.2f} {clock:8.2f} {tests:6}  {name}"
    spent, clock, tests = (sum(row[place] for row in files.values()) for place in range(3))
    yield f"{spent:9.2f} {clock:8.2f} {tests:6}  all"
    yield f"\n{'processor':>9} {'clock':>8} mostly in  test"
    for name, cost in sorted(costs.items(), key=lambda row: -processor(row[1]))[:SHOWN]:
        most = max(PHASES, key=lambda phase: cost.get(phase, 0.0))
        yield f"{processor(cost):9.2f} {cost['clock']:8.2f} {most:9}  {name}"


def main(mark: bool) -> None:
    try:
        kept: Costs = json.loads(KEPT.read_bytes())
    except FileNotFoundError:
        sys.exit("Nothing was measured yet: run make test, or make test-quick.")
    costs = {name: cost for name, cost in kept.items() if is_there(function_of(name))}
    print("\n".join(lines(costs)))
    slow = set(SLOW.read_text("utf-8").splitlines())
    should = slow_by_measure(costs, slow)
    if mark:
        SLOW.write_text("".join(f"{name}\n" for name in sorted(should)), "utf-8")
    elif should != slow:
        print("\ntests/slow.txt does not agree with this; make slowest MARK=1 renews it:")
        for name in sorted(should ^ slow):
            print("+" if name in should else "-", name)


if __name__ == "__main__":
    main(mark=sys.argv[1:] == ["--mark"])
