"""What the worker counts, the text of a scrape as Prometheus' own reader has it, and when it says that it is ready."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness import at_once
from prometheus_client import Metric as Family
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

from bridge.settings import Settings
from bridge.store import database
from bridge.store.llm_usage import LlmUsage
from bridge.team import copy_age
from jobs import clock, files, heartbeat, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.lifecycle import Cancelled, Crashed, Event, Failed, Interrupted, Started, Succeeded
from jobs.lock import Lock
from jobs.model import Job, Record, encode
from worker.monitoring import counters, measurements, readiness
from worker.monitoring.counters import COUNTS, Counters, CountersFile
from worker.monitoring.metrics import METRICS, PREFIX, render
from worker.scheduling.ledger import Ledger

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)
DASHBOARD = Path(__file__).resolve().parents[2] / "docs" / "grafana-dashboard.json"


def measured(workspace: Workspace, own: Counters | None = None) -> dict[str, dict[tuple[str, ...], Any]]:
    found = measurements.measure(workspace, Settings(), own or Counters(), NOW)
    return {name: dict(rows) for name, rows in found.items()}


def shown(workspace: Workspace, own: Counters | None = None) -> dict[str, dict[frozenset[tuple[str, str]], float]]:
    """What Prometheus reads: each sample's value by its name and labels."""
    data, _ = render(measurements.measure(workspace, Settings(), own or Counters(), NOW))
    return samples(plain_text(data.decode()))


def samples(families: Iterable[Family]) -> dict[str, dict[frozenset[tuple[str, str]], float]]:
    found: dict[str, dict[frozenset[tuple[str, str]], float]] = {}
    for family in families:
        for sample in family.samples:
            found.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
    return found


def labels(**given: str) -> frozenset[tuple[str, str]]:
    return frozenset(given.items())


def test_each_name_follows_prometheus_conventions_and_has_a_help() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", metric.name), metric.name
        assert not metric.name.endswith(("_total", "_count", "_sum", "_bucket"))
        assert metric.shown.endswith("_total") == (metric.type == "counter")
        assert metric.help.endswith(".")
        assert not {"le", "quantile"} & set(metric.labels)


def test_both_forms_of_the_text_are_read_by_prometheus_own_readers(workspace: Workspace) -> None:
    own = Counters()
    own.observe("question_seconds", 0.02, "retrieve")
    own.observe("question_candidates", 17, "retrieve", bounds=COUNTS)
    found = measurements.measure(workspace, Settings(), own, NOW)
    data, kind = render(found, "application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text")
    newer = list(open_metrics(data.decode()))
    data, kind = render(found, "*/*")
    assert kind.startswith("text/plain; version=0.0.4")
    older = list(plain_text(data.decode()))
    for families in (newer, older):
        assert {family.name for family in families} >= {PREFIX + metric.name for metric in METRICS}
    name, of = "cognee_memory_question_candidates_bucket", "retrieve"
    assert samples(older)[name][labels(verb=of, le="10.0")] == 0
    assert samples(older)[name][labels(verb=of, le="20.0")] == samples(older)[name][labels(verb=of, le="+Inf")] == 1


def test_of_a_workspace_where_nothing_ever_ran_there_are_figures_too(workspace: Workspace) -> None:
    found = shown(workspace)
    assert found["cognee_memory_worker_up"] == {labels(): 0}
    assert found["cognee_memory_store_readable"] == {labels(): 1}
    assert found["cognee_memory_server_deaths_total"] == {labels(): 0}
    assert found["cognee_memory_jobs_ended_total"][labels(kind="ingest", state="failed")] == 0, "a first step shows"
    assert "cognee_memory_jobs" not in found
    assert "cognee_memory_llm_day_cost_usd" not in found


def test_what_the_worker_says_of_itself_and_has_counted_is_shown(workspace: Workspace) -> None:
    said = {
        "heartbeat_at": "2026-11-20T11:59:58Z", "started_at": "2026-11-20T11:00:00Z", "pid": 2**30,
        "counts": {"queued": 3, "running": 1, "retrying": 2, "failed": 9}, "oldest_waiting_seconds": 7.5, "child": None,
    }  # fmt: skip
    files.replace(workspace.spool.heartbeat, encode(said))
    counters = Counters()
    counters.count("jobs_rejected", "JSON_INVALID", by=4)
    counters.count("of_a_newer_version")
    CountersFile(workspace.spool, counters).write()
    workspace.spool.paused.touch()
    spool.drop(workspace.spool, "waits", b"{}")
    found = shown(workspace)
    assert found["cognee_memory_worker_heartbeat_age_seconds"] == {labels(): 2}
    assert found["cognee_memory_worker_paused"] == found["cognee_memory_inbox_files"] == {labels(): 1}
    assert found["cognee_memory_jobs"] == {
        labels(state="queued"): 3, labels(state="running"): 1, labels(state="retrying"): 2,
    }  # fmt: skip
    assert found["cognee_memory_jobs_oldest_waiting_seconds"] == {labels(): 7.5}
    assert found["cognee_memory_jobs_rejected_total"] == {labels(code="JSON_INVALID"): 4}
    processes = found["cognee_memory_process_resident_memory_bytes"]
    assert set(processes) == {labels(process="server")}, "of what has ended nothing is said"


def test_counts_that_cannot_be_read_are_left_out_and_do_not_begin_anew(workspace: Workspace) -> None:
    workspace.spool.counters.write_bytes(b"{")
    found = shown(workspace)
    assert "cognee_memory_jobs_ended_total" not in found
    assert "cognee_memory_child_starts_total" not in found
    assert found["cognee_memory_worker_up"] == {labels(): 0}


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"heartbeat_at": 1}', b'{"heartbeat_at": "2026-11-20T12:00:00Z"}'])
def test_a_heartbeat_that_says_less_leaves_the_rest(workspace: Workspace, content: bytes) -> None:
    files.replace(workspace.spool.heartbeat, content)
    assert shown(workspace)["cognee_memory_worker_up"] == {labels(): 0}


def test_the_language_model_is_counted_by_day_with_its_cost_where_that_is_known(workspace: Workspace) -> None:
    files.make_folder(workspace.memory)
    connection = database.open_for_writing(workspace)
    usage = LlmUsage(connection)
    usage.end(usage.begin("a", 10, NOW, lambda *_: None), 100, 20)
    assert "cognee_memory_llm_day_cost_usd" not in shown(workspace)
    usage.end(usage.begin("a", 10, NOW, lambda *_: None), 100, 20, 0.5)
    usage.end(usage.begin("b", 10, NOW, lambda *_: None), 50, 5, 0.25)
    connection.close()
    found = shown(workspace)
    assert found["cognee_memory_llm_day_calls"] == {labels(): 3}
    assert found["cognee_memory_llm_day_tokens"] == {
        labels(direction="prompt"): 250, labels(direction="completion"): 45,
    }  # fmt: skip
    assert found["cognee_memory_llm_day_cost_usd"] == {labels(): 0.75}


def test_a_store_that_cannot_be_read_is_said_and_leaves_the_rest(workspace: Workspace) -> None:
    files.make_folder(workspace.memory)
    workspace.memory_db.write_bytes(b"no database" * 1000)
    found = measured(workspace)
    assert found["store_readable"] == {(): 0}
    assert "memories" not in found
    assert found["disk_free_bytes"][()] > 0


def test_a_workspace_of_this_machine_alone_has_no_figures_of_a_team(workspace: Workspace) -> None:
    assert [name for name in measured(workspace) if name.startswith("team")] == []


def test_what_only_a_worker_knows_of_the_team_is_left_out_once_it_is_gone(workspace: Workspace) -> None:
    """The last word of a worker that died would stay for ever."""
    files.make_folder(workspace.memory)
    copy_age.note_current(workspace, NOW - timedelta(seconds=90), 30, 1, "")
    beat = {"heartbeat_at": clock.iso(NOW), "team": {"problem": "TEAM_UNREACHABLE"}}
    files.replace(workspace.spool.heartbeat, json.dumps(beat).encode())
    found = measured(workspace)
    assert {name: found[name] for name in found if name.startswith("team")} == {"team_copy_age_seconds": {(): 90}}
    lock = Lock(workspace.spool.lock)
    assert lock.acquire()
    try:
        found = measured(workspace)
    finally:
        lock.release()
    assert found["team_reached"] == {(): 0}


# --- the dashboard ---


def expressions(value: Any) -> Iterable[str]:
    match value:
        case dict():
            for name, each in value.items():
                if name == "expr":
                    yield each
                else:
                    yield from expressions(each)
        case list():
            for each in value:
                yield from expressions(each)


def test_the_dashboard_shows_every_metric_and_none_that_there_is_not() -> None:
    board = json.loads(DASHBOARD.read_text("utf-8"))
    assert board["schemaVersion"] >= 39
    ends = {"gauge": ("",), "counter": ("",), "histogram": ("_bucket", "_sum", "_count")}
    known = {metric.shown + end: metric for metric in METRICS for end in ends[metric.type]}
    used = set()
    for expression in expressions(board["panels"]):
        names = re.findall(rf"\b{PREFIX}\w+", expression)
        assert names, expression
        for name in names:
            assert name in known, name
            used.add(known[name].name)
        for given in re.findall(r"by \(([^)]*)\)|\{([^}]*)\}", expression):
            words = {word.strip() for word in re.findall(r"\w+(?=\s*(?:[,=!]|$))", ",".join(filter(None, given)))}
            assert words <= {"job", "instance", "le", *(label for n in names for label in known[n].labels)}, expression
    assert used == {metric.name for metric in METRICS}


def test_each_panel_of_the_dashboard_says_what_it_shows() -> None:
    board = json.loads(DASHBOARD.read_text("utf-8"))
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    for panel in panels:
        assert panel["description"], panel["title"]
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert panel["fieldConfig"]["defaults"]["unit"]


# --- what is counted: each step once, times never below 0, and a file that is written when it helps ---


NOON = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)


def job(job_id: str = "a", **fields: Any) -> Job:
    return Job(job_id, "ingest", {}, {}, "0" * 64, **fields)


def walked(found: Counters, *events: tuple[float, Event], **fields: Any) -> Record:
    """The record after events, each so many seconds past noon, when the job was accepted."""
    record = lifecycle.accept(job(**fields), NOON)
    found.stepped(None, record)
    for seconds, event in events:
        after = lifecycle.step(record, event, NOON + timedelta(seconds=seconds))
        found.stepped(record, after)
        record = after
    return record


def counted(found: Counters, name: str) -> dict[tuple[str, ...], int]:
    return {tuple(labels): count for *labels, count in found.as_dict()["counters"].get(name, [])}


def sum_of(found: Counters, name: str, *labels: str) -> tuple[int, float]:
    rows = {tuple(row[:-1]): row[-1] for row in found.as_dict()["histograms"][name]}
    return sum(rows[labels]["counts"]), rows[labels]["sum"]


def test_each_attempt_counts_and_the_wait_is_that_for_the_first() -> None:
    found = Counters()
    walked(
        found, (1, Started()), (2, Failed(JobError("STORE_BUSY"))), (60, Started()), (61, Crashed()),
        (90, Started()), (95, Interrupted()), (100, Started()), (107, Interrupted()),
        (110, Started()), (111, Cancelled()),
    )  # fmt: skip
    assert counted(found, "job_attempts") == {
        ("ingest", "waiting"): 1, ("ingest", "crashed"): 1, ("ingest", "interrupted"): 2, ("ingest", "cancelled"): 1,
    }  # fmt: skip
    assert sum_of(found, "job_attempt_seconds", "ingest") == (5, 1 + 1 + 5 + 7 + 1), "also where entries were joined"
    assert sum_of(found, "job_wait_seconds", "ingest") == (1, 1.0)
    assert counted(found, "jobs_ended") == {("ingest", "cancelled"): 1}


def test_what_waits_for_another_attempt_is_known_by_its_error_for_as_long_as_it_does() -> None:
    found = Counters()
    walked(found, (1, Started()), (2, Failed(JobError("STORE_BUSY"))))
    assert counted(found, "jobs_retrying") == {("STORE_BUSY",): 1}
    walked(found, (1, Started()), (2, Failed(JobError("STORE_BUSY"))), (60, Started()), (61, Succeeded({})))
    assert counted(found, "jobs_retrying") == {("STORE_BUSY",): 1}


def test_a_job_that_was_to_wait_has_waited_since_its_time_had_come() -> None:
    found = Counters()
    walked(found, (3604, Started()), not_before="2026-11-20T13:00:00Z")
    assert sum_of(found, "job_wait_seconds", "ingest") == (1, 4.0)


def test_a_clock_that_was_set_back_makes_no_time_negative() -> None:
    found = Counters()
    walked(found, (-50, Started()), (-90, Succeeded({})))
    assert sum_of(found, "job_wait_seconds", "ingest") == (1, 0.0)
    assert sum_of(found, "job_attempt_seconds", "ingest") == (1, 0.0)


@pytest.mark.parametrize(("value", "place"), [(0.0, 0), (0.005, 0), (0.0051, 1), (7200.0, 15), (7201.0, 16)])
def test_a_bucket_holds_its_upper_bound(value: float, place: int) -> None:
    histogram = counters.Histogram(counters.SECONDS)
    histogram.add(value)
    assert histogram.counts.index(1) == place


def test_the_ledger_tells_of_each_step_that_was_written_once(tmp_path: Path) -> None:
    place = SpoolPaths(tmp_path)
    spool.prepare(place)
    told: list[tuple[str | None, str]] = []
    live = lifecycle.accept(job("there"), NOON)
    spool.accept(place, [(job("there"), live)])
    ledger = Ledger(place, [live], stepped=lambda before, after: told.append((before and before.state, after.state)))
    ledger.accept([(job("new"), lifecycle.accept(job("new"), NOON))])
    ledger.apply({"new": Started()})
    ledger.apply({"new": Succeeded({})})
    ledger.apply({"new": Succeeded({})})  # late: nothing happens
    ledger.cancel("there")
    ledger.replay("there")
    assert told == [
        (None, "queued"), (None, "queued"), ("queued", "running"), ("running", "succeeded"),
        ("queued", "cancelled"), (None, "queued"),
    ]  # fmt: skip


def test_many_threads_lose_no_count() -> None:
    found = Counters()

    def count(_: int) -> None:
        for _ in range(2000):
            found.count("child_starts")
            found.observe("job_wait_seconds", 1.0, "noop")

    at_once(count, range(4))
    assert counted(found, "child_starts") == {(): 8000}
    assert sum_of(found, "job_wait_seconds", "noop") == (8000, 8000.0)


def test_the_file_is_written_when_something_changed_and_not_at_every_change(tmp_path: Path) -> None:
    place = SpoolPaths(tmp_path)
    spool.prepare(place)
    now = 100.0
    found = Counters()
    file = CountersFile(place, found, lambda: now)
    file.write(at_once=True)
    assert counters.read(place)["counters"] == {}
    found.count("child_starts")
    file.write()
    assert counters.read(place)["counters"] == {}, "too soon after the last"
    now += 1.0
    file.write()
    assert counters.read(place)["counters"] == {"child_starts": [[1]]}
    written = place.counters.stat().st_ino
    now += 100
    file.write()
    assert place.counters.stat().st_ino == written, "nothing has changed"
    assert place.counters.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [None, b"", b"[1]", b'{"counters"', b"\xff"])
def test_a_file_that_is_no_figures_is_none(tmp_path: Path, content: bytes | None) -> None:
    place = SpoolPaths(tmp_path)
    spool.prepare(place)
    if content is not None:
        place.counters.write_bytes(content)
    assert counters.read(place) == ({} if content is None else None)


def test_a_disk_that_refuses_is_no_trouble_and_the_figures_come_later(tmp_path: Path) -> None:
    found = Counters()
    found.count("child_starts")
    file = CountersFile(SpoolPaths(tmp_path / "gone"), found)
    file.write(at_once=True)
    spool.prepare(SpoolPaths(tmp_path / "gone"))
    file.write()
    assert json.loads(SpoolPaths(tmp_path / "gone").counters.read_bytes())["counters"] == {"child_starts": [[1]]}


# --- ready: a worker works, has said so lately, and the store can be read ---


LATELY = clock.now()


@pytest.fixture
def held(workspace: Workspace) -> Iterator[Workspace]:
    """A workspace whose lock somebody holds."""
    with Lock(workspace.spool.lock) as lock:
        assert lock.acquire()
        yield workspace


def beat(workspace: Workspace, seconds_ago: float = 1.0) -> None:
    at = clock.iso(LATELY - timedelta(seconds=seconds_ago))
    files.replace(workspace.spool.heartbeat, encode({"heartbeat_at": at}))


def reason(workspace: Workspace) -> str:
    with pytest.raises(JobError, match="NOT_READY") as caught:
        readiness.require(workspace, LATELY)
    return str(caught.value.details["reason"])


def test_a_worker_that_works_over_nothing_yet_is_ready(held: Workspace) -> None:
    beat(held)
    readiness.require(held, LATELY)


def test_without_a_worker_a_fresh_heartbeat_does_not_help(workspace: Workspace) -> None:
    beat(workspace)
    assert reason(workspace) == "worker"


def test_a_worker_that_has_said_nothing_lately_is_not_ready(held: Workspace) -> None:
    assert reason(held) == "heartbeat"
    for content in (b"{", b"[]", b"{}", b'{"heartbeat_at": 7}', b'{"heartbeat_at": "soon"}'):
        files.replace(held.spool.heartbeat, content)
        assert reason(held) == "heartbeat"
    beat(held, heartbeat.STALE_SECONDS + 1)
    assert reason(held) == "heartbeat"
    beat(held, -3600)  # the clock was set back
    readiness.require(held, LATELY)


def test_a_store_that_cannot_be_read_is_the_reason(held: Workspace) -> None:
    beat(held)
    files.make_folder(held.memory)
    database.open_for_writing(held).close()
    readiness.require(held, LATELY)
    held.memory_db.write_bytes(b"no database" * 1000)
    assert reason(held) == "store"
