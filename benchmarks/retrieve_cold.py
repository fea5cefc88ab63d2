"""A question in a cold process: ours, cognee's own search in a fresh process, and bare Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bridge.cognee_env import cognee_environment
from bridge.settings import inherited_environment

from . import table
from .workspace import fill, new_workspace

MEMORIES = 1000
ROUNDS, COGNEE_ROUNDS = 15, 5
QUESTION = "why did token renewal send the same request twice"


def main() -> None:
    script = str(Path(__file__).resolve().parent.parent / "bridge" / "retrieve.py")
    with new_workspace() as (workspace, settings):
        fill(workspace, settings, MEMORIES)
        ours = [sys.executable, script, str(workspace.root), QUESTION]
        cogn = [sys.executable, "-m", "benchmarks.ask_cognee", str(workspace.root), QUESTION]
        bare = [sys.executable, "-c", "pass"]
        answer = json.loads(subprocess.run(ours, check=True, capture_output=True).stdout)
        assert answer["results"], answer
        env = cognee_environment(settings, workspace, inherited_environment())
        taken = table.in_turn({"ours": ours, "cognee": cogn, "bare": bare}, COGNEE_ROUNDS, env)
        more = table.in_turn({"ours": ours, "bare": bare}, ROUNDS - COGNEE_ROUNDS, env)
        for name, values in more.items():
            taken[name] += values
    ours_median = table.median(taken["ours"])
    rows = [
        [name, table.milliseconds(taken[key]), f"{table.median(taken[key]) / ours_median:.2f}"]
        for name, key in (
            ("bridge/retrieve.py, cold process", "ours"),
            ("cognee's vector search, fresh process", "cognee"),
            ("python -c pass", "bare"),
        )
    ]
    table.show(
        f"One question over {MEMORIES:,} memories, cold ({ROUNDS} and {COGNEE_ROUNDS} rounds in turn)",
        ["process", "median (least–most)", "times ours"],
        rows,
    )


if __name__ == "__main__":
    main()
