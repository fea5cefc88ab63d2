"""A question in a cold process: ours, cognee's own search in a fresh process, and bare Python.

``python -m benchmarks.retrieve_cold FOLDER`` runs the script and the terminal of this checkout and of another one in
turn, without cognee. Both use this environment's packages.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bridge.graph.cognee_env import cognee_environment
from bridge.settings import Settings, inherited_environment
from jobs.layout import Workspace

from . import synthetic, table
from .workspace import new_workspace, run_in_child

# cognee is given the first many alone: it takes two minutes for each thousand, and no more of them make it quicker.
SIZES = (1_000, 10_000)
ROUNDS, COGNEE_ROUNDS = 25, 5
QUESTION = "why did token renewal send the same request twice"
HERE = Path(__file__).resolve().parent.parent
SCRIPT = str(HERE / "bridge" / "retrieve.py")
# As the installed command does, but of a given checkout.
TERMINAL = (
    "import sys; sys.path.insert(0, {root!r}); from worker.cli import main;"
    " sys.argv = ['cognee-memory', 'retrieve', {question!r}, '--workspace', {workspace!r}]; sys.exit(main())"
)


def main(argv: Sequence[str] = ()) -> None:
    if argv:
        beside(Path(argv[0]).resolve())
        return
    rows = []
    with new_workspace() as (workspace, settings):
        for size in SIZES:
            graph = ["--graph"] if size == SIZES[0] else []
            run_in_child("benchmarks.synthetic", workspace, settings, str(size), *graph)
            rows += measured(workspace, settings, size)
    table.show(
        f"One question, cold ({ROUNDS} rounds in turn, {COGNEE_ROUNDS} of them with cognee)",
        ["process", "median (least–most)", "times bare Python", "times ours"],
        rows,
    )


def beside(other: Path) -> None:
    """Both checkouts and bare Python in turn, without a worker."""
    with new_workspace() as (workspace, _):
        synthetic.fill(workspace, SIZES[0])
        environment = inherited_environment() | {"COGNEE_MEMORY_HTTP": "0"}
        commands = {"python -c pass": [sys.executable, "-c", "pass"]}
        for name, root in (("here", HERE), ("there", other)):
            script = str(root / "bridge" / "retrieve.py")
            commands[f"script, {name}"] = [sys.executable, script, str(workspace.root), QUESTION]
            terminal = TERMINAL.format(root=str(root), workspace=str(workspace.root), question=QUESTION)
            commands[f"terminal, {name}"] = [sys.executable, "-c", terminal]
        taken = table.in_turn(commands, ROUNDS, environment)
    bare = table.median(taken["python -c pass"])
    table.show(
        f"One question, cold, {SIZES[0]:,} memories, beside {other.name} ({ROUNDS} rounds in turn)",
        ["process", "median (least–most)", "times bare Python"],
        [[name, table.milliseconds(seconds), f"{table.median(seconds) / bare:.1f}"] for name, seconds in taken.items()],
    )


def measured(workspace: Workspace, settings: Settings, size: int) -> list[list[str]]:
    ours = [sys.executable, SCRIPT, str(workspace.root), QUESTION]
    cognees = [sys.executable, "-m", "benchmarks.ask_cognee", str(workspace.root), QUESTION]
    bare = [sys.executable, "-c", "pass"]
    answer = json.loads(subprocess.run(ours, check=True, capture_output=True).stdout)
    assert answer["results"], answer
    env = cognee_environment(settings, workspace, inherited_environment())
    taken = table.in_turn({"ours": ours, "cognee": cognees, "bare": bare}, COGNEE_ROUNDS, env)
    more = table.in_turn({"ours": ours, "bare": bare}, ROUNDS - COGNEE_ROUNDS, env)
    for name, values in more.items():
        taken[name] += values
    median = {name: table.median(values) for name, values in taken.items()}
    return [
        [
            name,
            table.milliseconds(taken[key]),
            f"{median[key] / median['bare']:.1f}",
            f"{median[key] / median['ours']:.2f}",
        ]
        for name, key in (
            (f"bridge/retrieve.py, {size:,} memories", "ours"),
            (f"cognee's vector search, fresh process, {SIZES[0]:,} memories", "cognee"),
            ("python -c pass", "bare"),
        )
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
