"""The table of durable steps: each is entered where it is carried out, and a fault hits exactly where it is armed."""

import ast
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from harness import PATIENCE

from jobs import steps
from jobs.steps import NAMES, POINTS, STEPS, TEAM_POINTS, TEAM_STEPS

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path for package in ("jobs", "bridge", "worker") for path in (ROOT / package).rglob("*.py"))
OWNERS = {"client": ("jobs",), "worker": ("jobs", "worker"), "child": ("bridge", "worker")}


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    steps.arm(None)


@dataclass(frozen=True)
class Call:
    """A call of ``fault_point``: its file and line, the name (both where one is chosen from two), and whether it is
    entered as a context."""

    path: Path
    line: int
    name: str
    is_context: bool


@cache
def calls() -> list[Call]:
    return [call for path in MODULES if "fault_point" in path.read_text("utf-8") for call in calls_in(path)]


def calls_in(path: Path) -> Iterator[Call]:
    tree = ast.parse(path.read_text("utf-8"))
    contexts = {id(item.context_expr) for node in ast.walk(tree) if isinstance(node, ast.With) for item in node.items}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("fault_point", "steps.fault_point"):
            (name,) = node.args
            branches = [name.body, name.orelse] if isinstance(name, ast.IfExp) else [name]
            for branch in branches:
                assert isinstance(branch, ast.Constant), f"{path}: a name that nobody can look up"
                yield Call(path.relative_to(ROOT), node.lineno, branch.value, id(node) in contexts)


# --- the table and the code ---


def test_no_name_is_entered_that_the_table_does_not_have() -> None:
    assert {call.name for call in calls()} <= NAMES


def test_each_step_is_entered_in_one_place_of_the_process_whose_it_is() -> None:
    packages = {step: [call.path.parts[0] for call in calls() if call.name == step] for step in STEPS}
    wrong = {step: found for step, found in packages.items() if len(found) != 1 or found[0] not in OWNERS[STEPS[step]]}
    assert wrong == {}


def test_a_step_is_entered_as_a_context_and_so_is_left_again() -> None:
    assert [call for call in calls() if not call.is_context] == []


def test_every_step_says_what_it_does_what_is_left_and_who_mends_it() -> None:
    page = (ROOT / "docs" / "delivery.md").read_text("utf-8").partition("| step | process |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in page.splitlines()[2:]]
    assert {row[0].strip("`"): row[1] for row in rows} == STEPS | TEAM_STEPS
    assert len(rows) == len(NAMES)
    for _, _, does, _, after, repaired in rows:
        assert does, "where a cell about right before is empty, the row above says it"
        assert after
        assert repaired


# --- faults ---


def through(*names: str) -> list[str]:
    """Carry the steps out; returns those that were."""
    done = []
    for name in names:
        with steps.fault_point(name):
            done.append(name)
    return done


def test_without_a_fault_a_step_is_nothing_and_an_unknown_one_a_mistake_at_once() -> None:
    assert through(*NAMES) == list(NAMES)
    with pytest.raises(KeyError):
        steps.fault_point("memory.comit")


@pytest.mark.parametrize(
    "fault",
    ["", "kill", "kill@", "kill@memory.commit", "kill@during:memory.commit", "kill@before:nothing",
     "burn@before:drop.write", "@before:drop.write", "kill@before:drop.write#many", "KILL@before:drop.write"],
)  # fmt: skip
def test_an_unknown_fault_is_refused(fault: str) -> None:
    with pytest.raises(ValueError):
        steps.arm(fault)
    assert through("drop.write") == ["drop.write"], "nothing is armed"


def test_a_fault_can_be_armed_at_each_point_and_hits_there() -> None:
    for point in (*POINTS, *TEAM_POINTS):
        steps.arm(f"enospc@{point}")
        side, _, name = point.partition(":")
        done = []
        with pytest.raises(OSError) as caught, steps.fault_point(name):
            done.append(name)
        assert caught.value.errno == errno.ENOSPC
        assert bool(done) == (side == "after"), point
        assert through(*(NAMES - {name})) == list(NAMES - {name}), "and nowhere else"


def test_a_disk_that_is_full_stays_full() -> None:
    steps.arm("enospc@before:record.end#3")
    assert through("record.end", "record.end") == ["record.end"] * 2
    for _ in range(3):
        with pytest.raises(OSError):
            through("record.end")
    steps.arm(None)
    assert through("record.end") == ["record.end"]


def test_a_step_that_failed_by_itself_has_no_after() -> None:
    steps.arm("enospc@after:drop.write")
    with pytest.raises(RuntimeError), steps.fault_point("drop.write"):
        raise RuntimeError
    with pytest.raises(OSError):
        through("drop.write")


@pytest.mark.parametrize(("fault", "reached"), [("", "3"), ("#1", "0"), ("#3", "2"), ("#4", "3")])
def test_a_process_is_killed_at_the_arrival_that_was_named(fault: str, reached: str) -> None:
    program = (
        "import sys; from jobs import steps; steps.arm(sys.argv[1])\n"
        "for n in range(3):\n    print(n, flush=True)\n    with steps.fault_point('drop.write'): pass\n"
        "print(3, flush=True)"
    )
    point = "after:drop.rename" if not fault else "before:drop.write"
    done = subprocess.run(
        [sys.executable, "-c", program, f"kill@{point}{fault}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.split()[-1] == reached
    assert done.returncode == (0 if reached == "3" else -signal.SIGKILL)


def test_a_process_that_hangs_stands_still_until_it_is_told_to_go_on() -> None:
    program = (
        "import sys; from jobs import steps; steps.arm(sys.argv[1])\nwith steps.fault_point('drop.write'): print('on')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, "hang@before:drop.write"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        process.send_signal(signal.SIGCONT)
        assert process.communicate(timeout=PATIENCE)[0] == "on\n"
