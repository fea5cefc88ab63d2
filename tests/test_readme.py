"""The README's promises: what it shows is what the program prints, accepts and has."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.parse import parse_job
from worker.cli import parser

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def shown(command: str) -> list[str]:
    """The output that the README shows below a command."""
    block = next(block for block in blocks("console") if block.startswith(f"$ {command}\n"))
    return block.splitlines()[1:]


def timeless(lines: list[str]) -> list[str]:
    """Lines without what differs from run to run: durations and the temporary folder."""
    found = []
    for line in lines:
        line = re.sub(r"\S*cognee-memory-demo-\w+", "FOLDER", line)
        found.append(re.sub(r"\d+(\.\d+)? (ms|s)\b", r"N \2", line).rstrip())
    return found


@pytest.mark.cognee
def test_the_demo_prints_what_the_readme_shows(model_cache: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "worker.cli", "demo"], check=True, capture_output=True, text=True, timeout=120
    )
    printed = timeless(done.stdout.splitlines())
    expected = timeless(shown("make demo"))
    gap = expected.index("…")
    tail = expected[gap + 1 :]
    assert printed[:gap] == expected[:gap]
    assert printed[len(printed) - len(tail) :] == tail


def test_the_test_run_that_the_readme_shows_passed() -> None:
    assert re.search(r"\d+ passed", "\n".join(shown("make test")))
    assert "failed" not in "\n".join(shown("make test"))


def test_every_command_in_the_readme_is_one_that_the_program_has() -> None:
    lines = [line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("cognee-memory ")]
    assert len(commands) > 5
    for command in commands:
        parser().parse_args(command)


def test_every_script_and_make_target_in_the_readme_exists() -> None:
    for script in set(re.findall(r"python (bridge/\w+\.py)", README)):
        assert (ROOT / script).is_file(), script
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in set(re.findall(r"\$ make (\w+)", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_job_file_in_the_readme_is_accepted() -> None:
    for block in blocks("json"):
        job = parse_job("0193c7a2-ingest-7f3a", block.encode())
        assert job.kind == "ingest"


def test_every_page_that_the_readme_links_exists() -> None:
    for link in re.findall(r"\]\((?!https?://)([^)#]+)", README):
        assert (ROOT / link).exists(), link
