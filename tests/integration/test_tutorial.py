"""The tutorial, command by command, in a real workspace; and the workspace brought to another machine."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness import PATIENCE, PROJECT, Place
from sessions import Session, steps

from jobs.layout import Workspace

pytestmark = pytest.mark.cognee

PAGE = (PROJECT / "docs" / "tutorial.md").read_text("utf-8")
TYPES = PROJECT / "docs" / "schemas" / "cognee-memory.d.ts"
QUESTION = ("retrieve", "how long may I keep a novel", "--as-of", "2026-11-20T12:00:00Z")


@pytest.fixture(scope="module")
def place(model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The workspace of the tutorial."""
    return Place(tmp_path_factory.mktemp("tutorial"), adopted=False, COGNEE_MEMORY_CACHE_DIR=str(model_cache))


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


def test_every_command_prints_what_the_tutorial_shows(place: Place) -> None:
    session = Session()
    commands = 0
    try:
        for step in steps(PAGE):
            if step.file:
                (place.workspace.root / step.file).write_text(step.content, "utf-8")
                continue
            commands += 1
            printed = run(place, session.command(step.command))
            assert session.difference(step.shown, printed) is None, f"$ {step.command}\n{printed}"
    finally:
        place.cli("worker", "stop")  # the first command has started one
    assert commands > 20


def test_the_program_of_the_tutorial_stores_a_summary(place: Place, tmp_path: Path) -> None:
    """Type-checked against the published types, and run."""
    compiler, node = shutil.which("tsc"), shutil.which("node")
    if compiler is None or node is None:
        pytest.skip("TypeScript's compiler is not on this machine")
    compile_all(compiler, tmp_path)
    with place.worker():
        call = "remember(process.argv[1], 'Fines', 'Readers asked.', ['There are none.'])"
        script = f"import('./tutorial-0.js').then((program) => program.{call}).then(console.log)"
        done = subprocess.run(
            [node, "-e", script, str(place.workspace.root)],
            cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    assert re.fullmatch(r"stored as #\d+\n", done.stdout), done.stderr


def compile_all(compiler: str, folder: Path) -> None:
    """Every TypeScript block of the docs, as <page>-<n>.ts beside the published types, to JavaScript."""
    shutil.copy(TYPES, folder)
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    names = []
    for page in sorted((PROJECT / "docs").glob("*.md")):
        for number, block in enumerate(re.findall(r"^```ts\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)):
            names.append(f"{page.stem}-{number}.ts")
            (folder / names[-1]).write_text(block, "utf-8")
    node_types = Path(compiler).resolve().parents[2] / "@types"
    done = subprocess.run(
        [compiler, "--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler",
         "--types", "node", "--typeRoots", str(node_types), *names],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


# --- to another machine, as docs/operations.md says ---


class Elsewhere(Place):
    """Another machine: other settings, and a list of workspaces on which this one is not."""


def elsewhere(place: Place, base: Path) -> Place:
    return Elsewhere(base, adopted=False, COGNEE_MEMORY_CACHE_DIR=place.environment["COGNEE_MEMORY_CACHE_DIR"])


def answer(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(place.cli(*QUESTION, "--json").stdout)
    return found


def scores(found: dict[str, Any]) -> list[Any]:
    return [(hit["memory_id"], hit["score"]) for hit in found["results"]]


def test_a_copy_of_the_folders_is_the_workspace_on_another_machine(place: Place, tmp_path: Path) -> None:
    here = answer(place)
    other = elsewhere(place, tmp_path)
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
    other = elsewhere(place, tmp_path / "other")
    Workspace(other.workspace.root).memory.mkdir()
    shutil.copy(backup, other.workspace.memory / "memory.db")
    assert other.cli("trust").returncode == 0
    assert answer(other)["warnings"] != []  # by words alone, until the index is made anew
    with other.worker():
        assert other.cli("rebuild", "--what", "index").returncode == 0
    assert scores(answer(other)) == scores(here)
