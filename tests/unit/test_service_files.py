"""The files of docs/service: each is what its system reads, and starts a command that the program has."""

import configparser
import os
import plistlib
import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from harness import PATIENCE

from worker.child.protocol import CRITICAL_SECONDS
from worker.cli import parser

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "service"
UNIT = FOLDER / "cognee-memory@.service"
AGENT = FOLDER / "io.github.cognee-memory.plist"
SYSTEM_UNITS = (FOLDER / "cognee-memory-gateway.service", FOLDER / "cognee-memory-pool.service")
TASK = FOLDER / "cognee-memory.xml"
_TASKS = {"": "http://schemas.microsoft.com/windows/2004/02/mit/task"}


def command_of_the_unit(path: Path = UNIT) -> list[str]:
    unit = configparser.RawConfigParser(strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(path, "utf-8")
    return shlex.split(unit["Service"]["ExecStart"])


def command_of_the_task() -> list[str]:
    action = ElementTree.parse(TASK).getroot().find("Actions/Exec", _TASKS)
    arguments = str(action.findtext("Arguments", namespaces=_TASKS))
    return [str(action.findtext("Command", namespaces=_TASKS)), *re.findall(r"[^\s\"]+", arguments)]


OF_THE_AGENT = plistlib.loads(AGENT.read_bytes())["ProgramArguments"]


@pytest.mark.parametrize("command", [command_of_the_unit(), OF_THE_AGENT, command_of_the_task()])
def test_each_starts_a_worker_of_one_workspace(command: list[str]) -> None:
    program, *arguments = command
    assert re.search(r"\.cognee-env[/\\](bin|Scripts)[/\\]cognee-memory(\.exe)?$", program)
    given = parser().parse_args(arguments)
    assert given.command == "worker"
    assert given.workspace
    assert given.verb == ("start" if program.endswith(".exe") else None)


def test_a_worker_that_was_stopped_stays_stopped_and_one_that_failed_comes_again() -> None:
    assert re.search("^Restart=on-failure$", UNIT.read_text("utf-8"), re.MULTILINE)
    assert plistlib.loads(AGENT.read_bytes())["KeepAlive"] == {"SuccessfulExit": False}


def test_the_worker_may_finish_what_runs_before_it_is_killed() -> None:
    """Its child may be in a section that must not be cut, and ends after it."""
    needed = 2 * CRITICAL_SECONDS
    assert int(re.search(r"^TimeoutStopSec=(\d+)$", UNIT.read_text("utf-8"), re.MULTILINE)[1]) > needed  # type: ignore[index]
    assert plistlib.loads(AGENT.read_bytes())["ExitTimeOut"] > needed
    limit = ElementTree.parse(TASK).getroot().findtext("Settings/ExecutionTimeLimit", namespaces=_TASKS)
    assert limit == "PT0S"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd on this machine")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text("utf-8").replace("%h/.cognee-env/bin/cognee-memory", "/bin/true"), "utf-8")
    done = subprocess.run(
        ["systemd-analyze", "--user", "--man=no", "verify", str(unit)],
        env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", SYSTEM_UNITS, ids=lambda path: path.name)
def test_a_unit_of_a_team_starts_a_command_that_the_program_has(path: Path) -> None:
    program, *arguments = command_of_the_unit(path)
    assert program == "/opt/cognee-memory/bin/cognee-memory"
    assert parser().parse_args(arguments).command == ("serve" if "gateway" in path.name else "pool")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd on this machine")
@pytest.mark.parametrize("path", SYSTEM_UNITS, ids=lambda path: path.name)
def test_systemd_takes_the_units_of_a_team(path: Path, tmp_path: Path) -> None:
    unit = tmp_path / path.name
    unit.write_text(path.read_text("utf-8").replace("/opt/cognee-memory/bin/cognee-memory", "/bin/true"), "utf-8")
    done = subprocess.run(
        ["systemd-analyze", "--man=no", "verify", str(unit)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
