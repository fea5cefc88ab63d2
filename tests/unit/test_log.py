"""The worker's log: which form a line has, that it says which job it is about, and who may read it."""

import io
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import masked, raising
from job_copies import copy_of

from bridge.privacy import log_lines, masking
from jobs.model import Record
from worker import log
from worker.child import main
from worker.terminal.worker import last_lines

RECORD = Record("a-job", "ingest", "0" * 64, "running", attempt=2, correlation_id="from-afar")


@pytest.fixture(autouse=True)
def _logging_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, raises = root.handlers[:], root.level, logging.raiseExceptions
    monkeypatch.setattr(masking, "_hidden", ())
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:], logging.raiseExceptions = handlers, raises
    root.setLevel(level)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worker.log"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_line_for_programs_is_one_object_with_its_fields(path: Path) -> None:
    log.set_up(path, "INFO", "json", foreground=False)
    logging.getLogger("worker.scheduling.runner").warning("failed: %d s", 3, extra=log.of_job(RECORD, code="INTERNAL"))
    logging.getLogger("worker.scheduling.runner").debug("not asked for")
    (line,) = lines(path)
    assert line.pop("at").endswith("Z")
    assert line == {
        "level": "WARNING", "logger": "worker.scheduling.runner", "message": "failed: 3 s", "pid": os.getpid(),
        "job_id": "a-job", "correlation_id": "from-afar", "kind": "ingest", "attempt": 2, "code": "INTERNAL",
    }  # fmt: skip


def test_a_line_for_people_ends_with_the_same_fields(path: Path) -> None:
    log.set_up(path, "INFO", "human", foreground=False)
    logging.getLogger("worker.scheduling.runner").info("succeeded", extra=log.of_job(RECORD))
    logging.getLogger("worker.scheduling.runner").error(
        "two\nlines", extra=log_lines.fields(job_id="b", correlation_id="b")
    )
    first, second, third = path.read_text("utf-8").splitlines()
    assert first.endswith(
        "INFO    worker.scheduling.runner succeeded job_id=a-job correlation_id=from-afar kind=ingest attempt=2"
    )
    assert second.endswith("two job_id=b"), "an id is not said twice"
    assert third == "  lines", "no line begins with what is quoted"


def test_nothing_that_is_quoted_makes_a_line_of_its_own_or_moves_a_terminal(path: Path) -> None:
    log.set_up(path, "INFO", "human", foreground=False)
    forged = "2026-11-20 20:00:00,123 ERROR   worker.inbox.intake forged"
    for odd in ("\n", "\r", "\x1b[2J", "\x85", "\u2028", "\0", "\x9b2J"):
        about = log_lines.fields(job_id="a", correlation_id=f"b{odd}{forged}")
        logging.getLogger("worker").info("said%s%s", odd, forged, extra=about)
    text = path.read_text("utf-8")
    assert not any(line.startswith(forged) for line in text.splitlines())
    assert all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("form", ["human", "json"])
def test_a_line_is_one_line_for_who_reads_the_log(path: Path, form: Any) -> None:
    log.set_up(path, "INFO", form, foreground=False)
    logging.getLogger("worker").info("one\x85two\u2028three")
    (line,) = last_lines(path, 10)
    assert "three" in line
    path.write_bytes(b"")
    assert last_lines(path, 10) == []


@pytest.mark.parametrize("form", ["human", "json"])
def test_no_line_has_a_key_of_the_settings(path: Path, form: Any) -> None:
    masking.hide(["sk-nobody-may-see"])
    log.set_up(path, "INFO", form, foreground=False)
    try:
        raise ValueError("sk-nobody-may-see")
    except ValueError:
        logging.getLogger("worker").exception("the key is %s", "sk-nobody-may-see")
    said = path.read_text("utf-8")
    assert "sk-nobody-may-see" not in said
    assert said.count("[hidden]") == 3, "the line of code quotes it too"
    assert "ValueError" in said


def test_the_log_is_the_users_alone_before_and_after_it_is_rotated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "_FILE_BYTES", 2000)
    path.write_text("of an earlier version\n")
    path.chmod(0o644)
    with masked(0):
        log.set_up(path, "INFO", "human", foreground=False)
        for number in range(200):
            logging.getLogger("worker").info("line %d of many", number)
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == ["worker.log", "worker.log.1", "worker.log.2", "worker.log.3"]
    assert {oct(file.stat().st_mode & 0o777) for file in files} == {"0o600"}


def test_a_line_of_the_child_arrives_as_it_was_said(path: Path) -> None:
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    handler.setFormatter(log_lines.JsonLines())
    record = logging.makeLogRecord(
        {"name": "bridge.store.store", "levelno": logging.ERROR, "levelname": "ERROR", "msg": "ü"}
    )
    record.process = 4711
    with log_lines.log_context(job_id="a-job", correlation_id="from-afar", kind="ingest"):
        handler.handle(record)
    log.set_up(path, "INFO", "json", foreground=False)
    output = said.getvalue() + "what a library prints\n" + '{"level": "odd"}\n' + '{"level": 1\n' + "[" * 5000 + "\n"
    log.pump(io.BytesIO(output.encode()), logging.getLogger("child"))
    first, *others = lines(path)
    del first["at"]
    assert first == {
        "level": "ERROR", "logger": "child.bridge.store.store", "message": "ü", "pid": 4711,
        "job_id": "a-job", "correlation_id": "from-afar", "kind": "ingest",
    }  # fmt: skip
    messages = ["what a library prints", '{"level": "odd"}', '{"level": 1', "[" * 2000]
    assert [(line["level"], line["logger"], line["message"]) for line in others] == [
        ("INFO", "child", message) for message in messages
    ]


def test_a_long_line_of_the_child_is_cut_and_still_whole_json() -> None:
    record = logging.makeLogRecord({"name": "child", "levelname": "ERROR", "msg": "\0" * 100_000})
    record.exc_info, record.exc_text = (ValueError, ValueError("\0" * 100_000), None), None
    line = log_lines.JsonLines().format(record)
    assert len(line.encode()) < log._LINE_BYTES
    assert "92000 characters left out)" in log_lines.parse_line(line).getMessage()


class PipesInName:
    def send(self, message: dict[str, Any]) -> None:
        pass


def test_what_the_child_logs_during_a_job_names_it_in_a_batch_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr("sys.stderr", said)
    log_lines.log_to_stderr()

    monkeypatch.setattr(main, "run", raising(RuntimeError("a text of a memory")))
    server = main.Server(PipesInName(), None)  # type: ignore[arg-type]
    tasks = [
        copy_of("noop", {}, name, at="2026-11-20T12:00:00Z") | {"correlation_id": f"for-{name}"} for name in ("a", "b")
    ]
    assert set(server._outcomes("noop", tasks, lambda _: None)) == {"a", "b"}
    batch, *alone = [json.loads(line) for line in said.getvalue().splitlines()]
    assert "job_id" not in batch
    assert [(line["job_id"], line["correlation_id"], line["kind"]) for line in alone] == [
        ("a", "for-a", "noop"), ("b", "for-b", "noop"),
    ]  # fmt: skip
    assert "a text of a memory" not in said.getvalue()


def test_lines_about_several_jobs_say_how_many(path: Path) -> None:
    log.set_up(path, "INFO", "json", foreground=False)
    with log.about([RECORD, RECORD]):
        logging.getLogger("worker.child.supervisor").info("child started")
    with log.about([RECORD]):
        logging.getLogger("worker.child.supervisor").info("child ended")
    logging.getLogger("worker.child.supervisor").info("idle")
    two, one, none = lines(path)
    assert (two.get("jobs"), two.get("job_id")) == (2, None)
    assert (one["job_id"], one["correlation_id"]) == ("a-job", "from-afar")
    assert "job_id" not in none
