"""The text of a scrape: what Prometheus' own reader makes of it, whatever of the worker can or cannot be read."""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import Metric as Family
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

from bridge.settings import Settings
from bridge.store import database
from bridge.store.llm_usage import LlmUsage
from bridge.team import copy_age
from jobs import clock, files, spool
from jobs.layout import Workspace
from jobs.lock import Lock
from jobs.model import encode
from worker.monitoring import measurements
from worker.monitoring.counters import COUNTS, Counters, CountersFile
from worker.monitoring.metrics import METRICS, PREFIX, render

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
    figures = Counters()
    figures.count("jobs_rejected", "JSON_INVALID", by=4)
    figures.count("of_a_newer_version")
    CountersFile(workspace.spool, figures).write()
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
