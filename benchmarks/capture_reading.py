"""How fast transcripts are read, and in how much memory, beside ``json.loads`` of each line.

Each way runs in a process of its own, in turn, over the same 300 MB, which the system has in its cache by then.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from . import table, transcripts

ROUNDS = 3
_NOTHING = "for path in paths:\n    with path.open('rb') as file:\n        for line in file: pass\n"
_EACH_LINE = (
    "import json\nfor path in paths:\n    with path.open('rb') as file:\n        for line in file: json.loads(line)\n"
)
_READER = (
    "from bridge.capture.readers import registry, reader\nfrom bridge.capture.session import Findings\n"
    "r = registry.reader_of(TOOL)\nturns = 0\n"
    "for found in r.transcripts(reader.Home(home, {}), workspace):\n"
    "    for turn in r.turns(found, Findings()): turns += 1\n"
)
_MEASURED = """
import sys, time, json, resource
from pathlib import Path
TOOL, home, workspace = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
paths = sorted(home.rglob("*.jsonl"))
began = time.perf_counter()
turns = None
{way}
print(json.dumps([time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, turns]))
"""
_WAYS = {"each line, not parsed": _NOTHING, "json.loads of each line": _EACH_LINE, "our reader": _READER}


def main() -> None:
    rows = []
    for tool in ("claude-code", "codex"):
        with tempfile.TemporaryDirectory() as name:
            home, workspace = Path(name) / "home", Path(name) / "workspace"
            paths = transcripts.write(home, workspace, tool=tool)
            size = sum(path.stat().st_size for path in paths)
            longest = max(path.stat().st_size for path in paths)
            found: dict[str, list[list[float]]] = {way: [] for way in _WAYS}
            for _ in range(ROUNDS):
                for way, code in _WAYS.items():
                    found[way].append(_measured(code, tool, home, workspace))
            parsed = min(took for took, *_ in found["json.loads of each line"])
            for way, runs in found.items():
                took = min(run[0] for run in runs)
                rows.append(
                    [
                        f"{tool}: {way}",
                        f"{size / took / 1e6:,.0f} MB/s",
                        f"{parsed / took:.2f}",
                        f"{max(run[1] for run in runs) / 1024:,.0f} MiB",
                        f"{runs[0][2]:,}" if runs[0][2] is not None else "–",
                    ]
                )
    title = f"Reading {len(paths)} transcripts of {size / 1e6:,.0f} MB, the longest {longest / 1e6:,.0f} MB"
    table.show(title, ["", "read", "times json.loads", "most memory", "turns"], rows)


def _measured(code: str, tool: str, home: Path, workspace: Path) -> list[float]:
    """Seconds, KiB, and turns."""
    command = [sys.executable, "-c", _MEASURED.replace("{way}", code), tool, str(home), str(workspace)]
    measured: list[float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return measured


if __name__ == "__main__":
    main()
