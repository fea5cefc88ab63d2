"""``make chaos``, for some seconds: nothing is lost or doubled, and the table says so."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_some_seconds_of_chaos_lose_and_double_nothing() -> None:
    command = [sys.executable, "-m", "tools.chaos", "3", "7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = {what: int(number) for number, what in re.findall(r"^ *([0-9]+)  (.+)$", done.stdout, re.M)}
    assert (counts["lost"], counts["doubled"]) == (0, 0)
    assert counts["jobs dropped"] == counts["of them succeeded"] == counts["memories stored"] > 10
    assert counts["worker killed"] + counts.get("child killed", 0) > 0
