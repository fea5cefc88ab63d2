"""A team whose machines and service have the wrong time: everything goes by the clock of the database's server.

Time is shifted for the processes of one machine alone, by a library that is loaded into them.
"""

import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from harness import Place, sql, until
from machines import LEASE_SECONDS, Machines, remember, remembered, result_of, succeeded, titles

from jobs import clock

HOURS = 5
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long ahead(void) {
    const char *seconds = getenv("SECONDS_AHEAD");
    return seconds ? atol(seconds) : 0;
}

int clock_gettime(clockid_t id, struct timespec *found) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(id, found);
    if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) found->tv_sec += ahead();
    return failed;
}

int gettimeofday(struct timeval *restrict found, void *restrict zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    found->tv_sec = now.tv_sec;
    found->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *found) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (found) *found = now.tv_sec;
    return now.tv_sec;
}
"""


@pytest.fixture(scope="module")
def shifting_clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("clock")
    (folder / "clock.c").write_text(CLOCK)
    library = folder / "clock.so"
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(folder / "clock.c"), "-ldl"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"the library cannot be built: {done.stderr}")
    return library


class Clocks(Machines):
    """A machine whose clock is right, one that is hours ahead, and one that is hours behind. The service is ahead."""

    def __init__(self, folder: Path, dsn: str, library: Path) -> None:
        def shifted(hours: int) -> dict[str, str]:
            return {"LD_PRELOAD": str(library), "SECONDS_AHEAD": str(hours * 3600)}

        super().__init__(folder, dsn, **shifted(2 * HOURS))
        self.right = self.machine("right")
        self.ahead = self.machine("ahead", **shifted(HOURS))
        self.behind = self.machine("behind", **shifted(-HOURS))

    def lease(self) -> tuple[int, str, datetime]:
        """Its number, its holder and its end."""
        [found] = self.rows("SELECT lease, lease_owner, lease_until FROM workspaces WHERE id = %s")
        return found[0], str(found[1]), found[2]


@pytest.fixture(scope="module")
def clocks(tmp_path_factory: pytest.TempPathFactory, dsn: str, shifting_clock: Path) -> Iterator[Clocks]:
    clocks = Clocks(tmp_path_factory.mktemp("clocks"), dsn, shifting_clock)
    shown = clocks.ahead.python("-c", "import time; print(int(time.time()))").stdout
    assert abs(int(shown) - datetime.now(UTC).timestamp() - HOURS * 3600) < 300, "the library works"
    with clocks.right.worker(), clocks.ahead.worker(), clocks.behind.worker():
        yield clocks


def server_time(offset: timedelta = timedelta()) -> str:
    return clock.iso(datetime.now(UTC) + offset)


def test_jobs_of_machines_with_wrong_clocks_run_once_and_on_time(clocks: Clocks) -> None:
    began = datetime.now(UTC)
    stored = [remember(place, f"Topic {number}") for number, place in enumerate(clocks.places * 2)]
    jobs = dict(zip(stored, clocks.places * 2, strict=True))
    flaky = {place.submit("noop", {"outcome": "retry"}, max_attempts=2): place for place in clocks.places}
    hour = timedelta(hours=1)
    lasting = clocks.ahead.submit("noop", {}, expires_at=server_time(HOURS * hour + hour))
    over = clocks.behind.submit("noop", {}, expires_at=server_time(-hour))
    later = clocks.behind.submit("noop", {}, not_before=server_time(hour))
    for job_id, place in jobs.items():
        assert clock.parse(succeeded(place, job_id).started_at or "") - began < timedelta(minutes=5)
    for job_id, place in flaky.items():
        record = place.ended(job_id)
        assert (record.state, record.errors) == ("failed", 2)
        for attempt in record.attempts:
            assert timedelta() <= clock.parse(attempt.started_at) - began < timedelta(minutes=5)
    assert clocks.ahead.ended(lasting).state == "succeeded"
    assert clocks.behind.ended(over).state == "expired"
    assert not (waiting := clocks.behind.in_state(later, "queued")).attempts, waiting
    clocks.assert_all_is_well(stored)


def test_a_memory_without_a_date_of_its_own_has_the_teams_time_wherever_it_was_dropped(clocks: Clocks) -> None:
    began = datetime.now(UTC)
    numbers: dict[str, str] = {}
    for name in ("ahead", "right", "behind"):
        place: Place = getattr(clocks, name)
        summary = ("--topic", f"Said by {name}", "--context", "Something was said.")
        numbers[name] = place.json("ingest", *summary, "--wait")["result"]["memory_id"]
    clocks.until_equal()
    for place in clocks.places:
        dates = [shown(place, each, "created_at") for each in numbers.values()]
        assert dates == sorted(dates), "in the order in which they were said"
        assert all(abs(clock.parse(each) - began) < timedelta(minutes=5) for each in dates)
    given = ("--topic", "Said long ago", "--context", "It was.", "--timestamp", "2026-01-01T00:00:00Z")
    kept = clocks.ahead.json("ingest", *given, "--wait")["result"]["memory_id"]
    assert clocks.ahead.json("memories", "show", kept)["memory"]["created_at"] == "2026-01-01T00:00:00Z"
    assert shown(clocks.ahead, kept, "created_at") == "2026-01-01T00:00:00Z", "as the command shows it"
    assert all(("TEAM_CLOCK_DIFFERS" in codes(place)) is (place is not clocks.right) for place in clocks.places)


def shown(place: Place, memory_id: str, column: str) -> str:
    """What a copy has of a memory."""
    [[found]] = sql(place.workspace.memory_db, f"SELECT {column} FROM memories WHERE id = ?", memory_id)
    return str(found)


def codes(place: Place) -> set[str]:
    return {each["code"] for each in place.json("doctor")["findings"]}


def test_a_lease_of_a_pool_with_a_wrong_clock_lasts_as_long_as_any_and_no_longer(clocks: Clocks) -> None:
    job_id = clocks.right.submit("noop", {"sleep_ms": 600_000})
    clocks.right.in_state(job_id, "running")
    number, owner, end = clocks.lease()
    until(lambda: clocks.lease()[2] > end + timedelta(seconds=LEASE_SECONDS), "it was renewed for longer than it lasts")
    assert clocks.lease()[:2] == (number, owner), "nobody has taken it over"
    assert clocks.lease()[2] - datetime.now(UTC) <= timedelta(seconds=LEASE_SECONDS)
    assert clocks.right.cli("jobs", "cancel", job_id).returncode == 0
    record = clocks.right.ended(job_id)
    assert (record.state, len(record.attempts)) == ("cancelled", 1)


def test_the_status_that_was_set_last_stands_whatever_the_clocks_say(clocks: Clocks) -> None:
    memory_id = remembered(clocks.right, remember(clocks.right, "Tokens expire overnight"))
    orders = [(clocks.ahead, clocks.right), (clocks.right, clocks.behind), (clocks.ahead, clocks.behind)]
    for first, last in orders:
        for place, status in ((first, "Draft"), (last, "Active")):
            job_id = place.submit("set_status", {"memory_id": memory_id, "status": status})
            assert result_of(succeeded(place, job_id))["status"] == status
    clocks.until_equal()
    assert {shown(place, memory_id, "status") for place in clocks.places} == {"Active"}


def test_what_a_machine_ahead_forgot_can_be_remembered_anew(clocks: Clocks) -> None:
    memory_id = remembered(clocks.right, remember(clocks.right, "The queue is a spool"))
    succeeded(clocks.right, clocks.right.submit("forget", {"memory_ids": [memory_id]}))

    def is_back() -> bool:
        """Clocks are compared over a connection: for as long as that takes, "submit it again" is right advice."""
        record = clocks.right.ended(remember(clocks.right, "The queue is a spool"))
        assert record.state == "succeeded" or (record.error or {})["code"] == "MEMORY_FORGOTTEN", record
        return record.state == "succeeded" and result_of(record)["memory_id"] == memory_id

    until(is_back, "it is remembered anew")


def test_what_was_asked_for_before_a_forgetting_does_not_bring_the_memory_back(clocks: Clocks) -> None:
    memory_id = remembered(clocks.right, remember(clocks.right, "Webhooks are signed"))
    clocks.hold_jobs()
    before = remember(clocks.right, "Webhooks are signed", priority=-50)
    forget = clocks.right.submit("forget", {"memory_ids": [memory_id]}, priority=50)
    for job_id in (before, forget):
        until(lambda job_id=job_id: clocks.is_posted(job_id), "it is posted")  # type: ignore[misc]
    clocks.hold_jobs(holds=False)
    succeeded(clocks.right, forget)
    refused = clocks.right.ended(before)
    assert (refused.state, refused.error and refused.error["code"]) == ("failed", "MEMORY_FORGOTTEN")
    clocks.until_equal()
    assert "Webhooks are signed" not in titles(clocks.right)
