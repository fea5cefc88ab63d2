"""The README's promises: what it shows is what the program prints and takes. Its commands and links are held by
``unit/test_docs.py``, as those of every page."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from harness import PATIENCE, Place
from sessions import Session, steps

from jobs.parse import parse_job

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def shown(command: str) -> tuple[str, ...]:
    """The output that the README shows below a command."""
    return next(step.shown for step in steps(README) if step.command == command)


def without_chance(text: str) -> str:
    """The demo's temporary folder is another one each time. A memory's number depends on which files the worker sees
    first while they are dropped. The decision record names dates, so its score changes with the day. The README shows
    the demo of a fresh clone, with the core alone; the whole has another onnxruntime, whose vectors differ a little, so
    a memory at the relevance floor comes in."""
    text = re.sub(r"#\d+", "#N", re.sub(r"\S*cognee-memory-demo-\w+", "FOLDER", text))
    text = re.sub(r"\b[34] memories found", "3 or 4 memories found", text)
    return re.sub(r"(?<= score )[\d.]+", "S", text)


@pytest.mark.cognee
def test_the_demo_prints_what_the_readme_shows() -> None:
    command = [sys.executable, "-m", "worker.cli", "demo", "--graph"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=2 * PATIENCE)
    expected = tuple(without_chance(line) for line in shown("make demo"))
    assert "Sign-in and sessions --[decided]--> " in done.stdout
    assert Session().difference(expected, without_chance(done.stdout)) is None, done.stdout
    scores = r"#\d+ (?!Sync and conflicts).* score ([\d.]+)"  # by processor, the whole differs in the third digit
    for score in re.findall(scores, "\n".join(shown("make demo"))):
        assert min(abs(float(score) - float(each)) for each in re.findall(scores, done.stdout)) < 0.002


@pytest.mark.cognee
def test_a_newcomers_first_memory_is_stored_and_found(tmp_path: Path) -> None:
    """What stands at the top, in a folder where nothing is yet."""
    place = Place(tmp_path, adopted=False)
    session = Session()
    commands = [step for step in steps(README) if step.command.startswith("cognee-memory ")]
    try:
        for step in commands:
            done = place.python("-m", "worker.cli", *shlex.split(step.command)[1:])
            assert session.difference(step.shown, done.stdout) is None, done.stdout + done.stderr
    finally:
        place.cli("worker", "stop")
    assert [step.command.split()[1] for step in commands] == ["remember", "recall"]


def test_the_test_run_that_the_readme_shows_passed() -> None:
    closing = "\n".join(shown("make test"))
    assert re.search(r"\d+ passed", closing)
    assert "failed" not in closing


def test_the_job_file_in_the_readme_is_accepted() -> None:
    for block in blocks("json"):
        assert parse_job("0193c7a2-ingest-7f3a", block.encode()).kind == "ingest"


def test_it_has_the_sections_that_were_asked_for() -> None:
    assert {"Metadata and Ranking", "Memory Compaction"} <= set(re.findall(r"^## (.+)$", README, re.MULTILINE))


def test_the_picture_is_a_small_png() -> None:
    [picture] = re.findall(r"^!\[.+\]\((\S+\.png)\)$", README, re.MULTILINE)
    data = (ROOT / picture).read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) <= 200 * 1024
