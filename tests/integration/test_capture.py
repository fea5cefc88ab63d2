"""From a transcript of another tool to a memory that is found: with a real worker and the real model."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import Place, RealWorker, until
from transcript_shelf import claude_session

TALK = (
    ("user", "The uploader gives up at the first 503 from the gateway. How should we retry?"),
    ("assistant", "The gateway recovers within a minute, so a bounded exponential backoff fits this case well."),
    ("user", "Let's use five attempts with full jitter, because the gateway recovers within a minute."),
    ("assistant", "Done: retry.ts now retries five times with full jitter, and all of the tests pass."),
)


@contextmanager
def at_work(base: Path) -> Iterator[tuple[Place, RealWorker]]:
    """A worker of a user whose home has one session in this workspace."""
    place = Place(base, HOME=str(base / "home"))
    place.environment.pop("CLAUDE_CONFIG_DIR", None)
    claude_session(place, TALK)
    with place.worker() as worker:
        yield place, worker


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, RealWorker]]:
    with at_work(tmp_path_factory.mktemp("capture")) as both:
        yield both


def test_a_session_becomes_a_memory_that_a_question_finds_and_an_undo_takes_it_back(tmp_path: Path) -> None:
    with at_work(tmp_path) as (place, _):
        is_found(place)
        is_taken_back(place)


def is_found(place: Place) -> None:
    refused = place.json("capture", "run")
    assert (refused["success"], refused["error_code"]) == (False, "CAPTURE_OFF")
    shown = place.cli("capture", "preview", "--text").stdout
    assert "Let's use five attempts with full jitter" in shown
    assert "Nothing was changed." in shown
    assert place.json("memories", "list")["memories"] == []
    until(lambda: place.json("jobs", "list", "--state", "succeeded")["jobs"] == [], "the preview leaves no job")
    assert place.json("capture", "enable", "claude-code")["enabled"] == ["claude-code"]
    assert place.json("capture", "run")["result"]["memories"] == 1
    (hit, *_) = place.json("retrieve", "how often do we try an upload again?")["results"]
    assert "five attempts" in hit["summary_text"]
    assert "captured" in place.cli("memories", "show", "1").stdout
    (session,) = place.json("capture", "list")["sessions"]
    assert (session["tool"], session["memories"]) == ("claude-code", 1)


def is_taken_back(place: Place) -> None:
    """Capturing the same again is nothing."""
    claude_session(place, TALK, 2)
    again = place.json("capture", "run")["result"]
    assert (again["sessions"], again["memories"]) == (2, 0), "a resumed session repeats the first one"
    (first, *_) = sorted(place.workspace.receipts.glob("*.json"))
    undone = place.json("capture", "undo", first.stem)["result"]
    assert undone["undone"] == 1
    assert place.json("memories", "list")["memories"] == []
    mapped = Path(f"/proc/{place.heartbeat()['child']['pid']}/maps").read_text("utf-8", "replace")
    assert [each for each in ("ladybug", "lancedb") if each in mapped] == [], "its child has not imported cognee"


def test_an_export_on_standard_input_is_captured(running: tuple[Place, RealWorker]) -> None:
    place, _ = running
    lines = [f"**{'User' if who == 'user' else 'Assistant'}:** {text} Really." for who, text in TALK]
    done = place.cli("capture", "run", "-", input="\n\n".join(lines))
    assert "1 memory added" in done.stdout, done.stdout + done.stderr
    assert list(place.workspace.imports.glob("*")) == [], "the copy is removed"


def test_a_folder_of_exports_is_captured_with_its_names(running: tuple[Place, RealWorker], tmp_path: Path) -> None:
    place, _ = running
    for name in "a.md talk-\udce9.md .specstory/b.md node_modules/c.md .cognee_jobs/d.md out/e.md".split():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        lines = [f"## {who}\n\n{text} In file {name!a}." for who, text in TALK]
        (tmp_path / name).write_text("\n\n".join(lines), "utf-8")
    (tmp_path / ".gitignore").write_text("out/\n")
    result = place.json("capture", "run", str(tmp_path))["result"]
    found = [item["path"] for item in result["items"] if item["outcome"] == "captured"]
    assert sorted(found) == [f"{tmp_path}/{name}" for name in (".specstory/b.md", "a.md", "talk-?.md")]
    assert list(place.workspace.imports.glob("*")) == [], "the copies are removed"


def test_a_capture_whose_process_is_killed_is_finished_once(running: tuple[Place, RealWorker]) -> None:
    place, worker = running
    assert place.json("capture", "enable", "claude-code")["success"]
    for number in range(20):
        talk = [(who, said.replace("uploader", f"uploader {number}")) for who, said in TALK]
        claude_session(place, talk, 100 + number)
    job_id = place.submit("capture", {})
    place.executing(job_id)
    for child in worker.children():
        os.kill(child, signal.SIGKILL)
    assert place.ended(job_id).state == "succeeded"
    topics = [line["title"] for line in place.json("memories", "list", "--limit", "100")["memories"]]
    for number in range(20):
        assert sum(f"uploader {number} " in topic for topic in topics) == 1, topics
