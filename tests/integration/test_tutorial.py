"""The tutorial, command by command, in a real workspace; and the workspace brought to another machine."""

import contextlib
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from harness import PATIENCE, PROJECT, Place, until
from sessions import Session, steps

from jobs.layout import Workspace

PAGE = (PROJECT / "docs" / "tutorial.md").read_text("utf-8")
# What became of a decision is found out in the worker's next idle moment, before a person has typed it.
FOLLOWS = ("cognee-memory memories list",)
QUESTION = ("retrieve", "how long may I keep a novel", "--as-of", "2026-11-20T12:00:00Z")


def empty(base: Path) -> Place:
    return Place(base, adopted=False)


def run(place: Place, command: str) -> str:
    """What a command line prints in the workspace, on both streams."""
    program, *arguments = shlex.split(command)
    assert program == "cognee-memory", command
    done = subprocess.run(
        [sys.executable, "-m", "worker.cli", *arguments],
        env=place.environment, cwd=place.workspace.root, stdin=subprocess.DEVNULL, timeout=PATIENCE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.stdout


class Told(NamedTuple):
    """The tutorial's workspace after its last command, and how each command's output differs from what is shown."""

    place: Place
    differences: list[str | None]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    told, session = Told(empty(tmp_path_factory.mktemp("tutorial")), []), Session()
    try:
        for step in steps(PAGE):
            if step.file:
                (told.place.workspace.root / step.file).write_text(step.content, "utf-8")
                continue
            command = session.command(step.command)
            if command in FOLLOWS:
                with contextlib.suppress(AssertionError):  # the difference is told below

                    def is_as_shown(command: str = command, shown: tuple[str, ...] = step.shown) -> bool:
                        return session.difference(shown, run(told.place, command)) is None

                    until(is_as_shown, command, 60.0)
            printed = run(told.place, command)
            difference = session.difference(step.shown, printed)
            told.differences.append(difference and f"{difference}\n$ {step.command}\n{printed}")
    finally:
        told.place.cli("worker", "stop")  # the first command has started one
    return told


@pytest.fixture
def place(told: Told) -> Place:
    return told.place


def test_every_command_prints_what_the_tutorial_shows(told: Told) -> None:
    assert [difference for difference in told.differences if difference] == []
    assert len(told.differences) > 20


# --- to another machine, as docs/operations.md says ---


def answer(place: Place) -> dict[str, Any]:
    return json.loads(place.cli(*QUESTION, "--json").stdout)


def scores(found: dict[str, Any]) -> list[Any]:
    return [(hit["memory_id"], hit["score"]) for hit in found["results"]]


def test_copied_folders_are_the_workspace_on_another_machine(place: Place, tmp_path: Path) -> None:
    here = answer(place)
    other = empty(tmp_path)  # with a list of workspaces on which this one is not
    shutil.copytree(place.workspace.root, other.workspace.root, dirs_exist_ok=True)
    assert answer(other)["error_code"] == "WORKSPACE_NOT_TRUSTED"
    assert other.cli("trust").returncode == 0
    assert scores(answer(other)) == scores(here)


def test_a_backup_of_memory_db_alone_brings_every_memory_back(place: Place, tmp_path: Path) -> None:
    """The command of the page, run beside a worker; then the index is made anew from what was saved."""
    here = answer(place)
    backup = tmp_path / "backup.db"
    page = (PROJECT / "docs" / "operations.md").read_text("utf-8")
    command = next(line for line in page.splitlines() if line.startswith("python -c ") and "VACUUM" in line)
    program, *arguments = shlex.split(command)
    assert program == "python"
    with place.worker():
        subprocess.run([sys.executable, *arguments[:-1], str(backup)], cwd=place.workspace.root, check=True)
    other = empty(tmp_path / "other")
    Workspace(other.workspace.root).memory.mkdir()
    shutil.copy(backup, other.workspace.memory / "memory.db")
    assert other.cli("trust").returncode == 0
    assert answer(other)["warnings"] != []  # by words alone, until the index is made anew
    with other.worker():
        assert other.cli("rebuild", "--what", "index").returncode == 0
    assert scores(answer(other)) == scores(here)
