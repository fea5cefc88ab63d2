"""The VS Code extension's own code, beside the least that it could take: drops, recall as one types, activation.

``python -m benchmarks.extension`` needs ``make extension`` before. It measures in Node, not in an editor: with the
extension's modules for jobs and questions, and with its bundle beside an empty one.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jobs.layout import Workspace

from . import retrieve_http, table
from .workspace import new_workspace

EXTENSION = Path(__file__).resolve().parent.parent / "extension"
BUNDLE = EXTENSION / "dist" / "extension.cjs"
SIZES = (1_000, 10_000)
ROUNDS = 15
EMPTY = 'exports.activate = () => undefined; require("vscode");\n'


def main() -> None:
    if not BUNDLE.exists():
        raise SystemExit(f"{BUNDLE} is not there. Run `make extension` first.")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "measure.mjs")
        options = ["--bundle", "--platform=node", "--format=esm", "--log-level=warning", f"--outfile={script}"]
        _run(EXTENSION / "node_modules" / ".bin" / "esbuild", "bench/measure.ts", *options)
        with new_workspace() as (workspace, _):
            for size in SIZES:
                retrieve_http.fill(workspace, size)
                with retrieve_http.serving(workspace):
                    if size == SIZES[0]:
                        _drops(_measured(script, "drops", workspace))
                    _recall(_measured(script, "recall", workspace), size)
        _activation(Path(folder))


def _node(*arguments: str | Path) -> str:
    return _run("node", *arguments)


def _run(*command: str | Path) -> str:
    path = f"{EXTENSION / '.venv' / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        [*map(str, command)],
        cwd=EXTENSION,
        env=os.environ | {"PATH": path},
        check=True,
        stdout=subprocess.PIPE,
    )
    return done.stdout.decode()


def _measured(script: Path, what: str, workspace: Workspace) -> dict[str, list[float]]:
    found: dict[str, list[float]] = json.loads(_node(script, what, workspace.root))
    return found


def _drops(times: dict[str, list[float]]) -> None:
    rows = {
        "the drop is on the disk": times["written"],
        "its record is seen (queued)": times["queued"],
        "its record is seen (remembered)": times["remembered"],
        "a bare write to the same folder, until its event": times["bare"],
    }
    _table(f"From a drop to the status bar, {len(times['bare'])} drops one after another", rows, times["bare"])


def _recall(times: dict[str, list[float]], size: int) -> None:
    rows = {"recall, while one types": times["recall"], "GET /healthz of the same server": times["bare"]}
    _table(f"Recall over {size:,} memories, {len(times['bare'])} questions", rows, times["bare"])


def _activation(folder: Path) -> None:
    empty = folder / "empty.cjs"
    empty.write_text(EMPTY, "utf-8")
    found: dict[str, list[dict[str, Any]]] = {"the extension": [], "an empty extension": []}
    for _ in range(ROUNDS):
        for name, bundle in (("the extension", BUNDLE), ("an empty extension", empty)):
            found[name].append(json.loads(_node("bench/load.cjs", bundle)))
    rows = {
        f"{name}: {part}": [each[key] for each in rounds]
        for name, rounds in found.items()
        for part, key in (("load", "load"), ("activate", "activate"))
    }
    _table("Activation in Node, with an editor that does nothing", rows, rows["an empty extension: load"])


def _table(title: str, rows: dict[str, list[float]], unit: Sequence[float]) -> None:
    bare = statistics.median(unit)
    cells = [
        [
            name,
            f"{statistics.median(taken):.1f} ms",
            f"{_percentile(taken):.1f} ms",
            f"{statistics.median(taken) / bare:.1f}",
        ]
        for name, taken in rows.items()
    ]
    table.show(title, ["", "median", "p95", "times the bare one"], cells)


def _percentile(taken: Sequence[float]) -> float:
    return statistics.quantiles(taken, n=20)[-1] if len(taken) > 1 else taken[0]


if __name__ == "__main__":
    main()
