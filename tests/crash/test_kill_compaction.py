"""A SIGKILL beside each durable step of a compaction and of a restoring: done again, it is done once, and whole."""

import json
import subprocess
import sys
from pathlib import Path

from harness import PATIENCE

PROGRAM = Path(__file__).resolve().parent.parent / "kill_compaction.py"

COMPACTED = {"memories": [[1, "Superseded"], [2, "Superseded"], [3, "DecisionRecord"]], "history": [[["a", "b"], []]]}
RESTORED = {"memories": [[1, "Active"], [2, "Active"]], "history": [[["a", "b"], ["a", "b"]]]}


def test_whatever_step_a_kill_cuts_off_a_compaction_and_its_undoing_are_done_once(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == 20
    for what, state in found.items():
        assert state == (COMPACTED if what.startswith("compact") else RESTORED), what
