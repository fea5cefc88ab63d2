"""What a person sees who waits: a line that moves on a terminal, and nothing but reasons anywhere else."""

import re
from pathlib import Path
from typing import Any

import pytest
from harness import Terminal

from jobs import spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.model import Record, encode
from worker.terminal import progress
from worker.terminal.progress import Progress

CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def place(tmp_path: Path) -> SpoolPaths:
    place = Workspace(tmp_path).spool
    spool.prepare(place)
    running = {"job_id": "a", "kind": "rebuild", "jobs": 1, "seconds": 1.0,
               "progress": {"done": 12, "total": 3000, "message": "em\x1bbedding"}}  # fmt: skip
    place.heartbeat.write_bytes(encode({"state": "ready", "in_flight": [running]}))
    return place


def record(state: Any, **fields: Any) -> Record:
    return Record("a", "rebuild", "", state, **fields)


WAITS = record("retrying", error=JobError("RATE_LIMITED").as_dict())


def test_on_a_terminal_a_line_says_what_the_heartbeat_does(place: SpoolPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_LOOK_SECONDS", 0.0)
    with Progress(Workspace(place.root.parent), "a") as seen:
        for state in (None, record("queued"), WAITS, record("running"), record("succeeded")):
            seen(state)
            if seen._bar is not None:
                seen._bar.refresh()
    shown = CODE.sub("", screen.getvalue())
    assert "job: waits for its turn" in shown
    assert "The job waits: A provider asks for a pause" in shown
    assert "rebuild: embedding" in shown
    assert "12 of 3,000" in shown


def test_what_is_done_at_once_shows_no_line(place: SpoolPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with Progress(Workspace(place.root.parent), "a") as seen:
        seen(record("running"))
    assert screen.getvalue() == ""


def test_in_a_pipe_there_are_only_the_reasons_each_once(
    place: SpoolPaths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.0)
    with (
        Progress(Workspace(place.root.parent), "a") as seen,
        progress.waiting_status(Workspace(place.root.parent), "it"),
    ):
        for _ in range(3):
            seen(WAITS)
            seen(record("running"))
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert told.err.startswith("The job waits: ")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"in_flight": []}'])
def test_a_heartbeat_that_says_nothing_is_no_trouble(place: SpoolPaths, content: bytes) -> None:
    place.heartbeat.write_bytes(content)
    assert progress.in_flight(place, "a") is None
