"""How it grows: 1,000, 10,000 and 100,000 memories of 17 passages each, in one store that is filled further.

``python -m benchmarks.growth [MOST]`` stops at fewer; 100,000 take 12 GB of disk and a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bridge.memory import Memory
from bridge.settings import load
from bridge.store.sqlite_store import SqliteStore
from jobs import clock
from jobs.layout import Workspace

from . import synthetic, table
from .workspace import new_workspace

SIZES = (1_000, 10_000, 100_000)
ROUNDS, WARM, RECALLED, APPENDED = 15, 200, 200, 10
QUESTION = "why did token renewal send the same request twice"
_BYTES_A_MEMORY = 120_000  # with what a rebuild writes beside
SCRIPT = Path(__file__).resolve().parent.parent / "bridge" / "retrieve.py"
# What the script does, and then what it holds: the kernel forgets it with the process.
_COLD_MEMORY = (
    "import sys; from benchmarks.questions import resident; from bridge.retrieve import main; main(sys.argv[1:]);"
    " import json; print(json.dumps(resident()), file=sys.stderr)"
)


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("most", nargs="?", type=int, default=SIZES[-1], help="the largest number of memories")
    most: int = parser.parse_args(list(argv)).most
    with new_workspace() as (workspace, _):
        room = shutil.disk_usage(workspace.root).free
        sizes = [size for size in SIZES if size <= most and size * _BYTES_A_MEMORY < room]
        if sizes != list(SIZES):
            print(f"not measured: {', '.join(f'{size:,}' for size in SIZES if size not in sizes)} memories")
        columns = [measured(workspace, size) for size in sizes]
    names = list(columns[0])
    table.show(
        f"Growth: memories of {synthetic.PASSAGES} passages each",
        ["", *(f"{size:,}" for size in sizes)],
        [[name, *(column[name] for column in columns)] for name in names],
    )


def measured(workspace: Workspace, size: int) -> dict[str, str]:
    """One column of the table. The store is filled up to ``size`` first."""
    found: dict[str, str] = {}
    filling = _seconds(lambda: synthetic.fill(workspace, size))
    found |= _cold(workspace)
    found |= _warm(workspace)
    found |= _on_disk(workspace)
    found |= _written(workspace, size)
    found["filled by transactions of 1,000"] = f"{filling:,.0f} s"
    return found


def _cold(workspace: Workspace) -> dict[str, str]:
    arguments = [str(workspace.root), QUESTION]
    bare = [sys.executable, "-c", "pass"]
    taken = table.in_turn({"ours": [sys.executable, str(SCRIPT), *arguments], "bare": bare}, ROUNDS)
    asked = subprocess.run(
        [sys.executable, "-c", _COLD_MEMORY, *arguments], check=True, capture_output=True, cwd=SCRIPT.parent.parent
    )
    held = json.loads(asked.stderr.splitlines()[-1])
    return {
        "cold process": table.milliseconds(taken["ours"]),
        "times bare Python": f"{table.median(taken['ours']) / table.median(taken['bare']):.1f}",
        "its memory: own, mapped files": f"{held['own']:,.0f}, {held['files']:,.0f} MiB",
    }


def _warm(workspace: Workspace) -> dict[str, str]:
    warm, recall = _asked(workspace, "warm", WARM), _asked(workspace, "recall", RECALLED)
    held = warm["memory"]
    return {
        "warm reader, p50": f"{statistics.median(warm['ms']):,.1f} ms",
        "warm reader, p95": f"{statistics.quantiles(warm['ms'], n=20)[-1]:,.1f} ms",
        "its memory: own, mapped files ": f"{held['own']:,.0f}, {held['files']:,.0f} MiB",
        "memories with a word of the question": f"{recall['having_words']:.0%}",
        "exact top 10 that two stages give": f"{recall['recall']:.1%}",
        "their scores beside the exact ones": f"{recall['worth']:.1%}",
    }


def _asked(workspace: Workspace, what: str, count: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.questions", str(workspace.root), what, str(count)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=SCRIPT.parent.parent)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _on_disk(workspace: Workspace) -> dict[str, str]:
    vectors = sum(path.stat().st_size for path in workspace.vectors.iterdir())
    return {
        "memory.db": f"{workspace.memory_db.stat().st_size / 1e6:,.0f} MB",
        "vector files": f"{vectors / 1e6:,.0f} MB",
    }


def _written(workspace: Workspace, size: int) -> dict[str, str]:
    embedder = synthetic.Turned(load().embedding)
    began = time.perf_counter()
    store = SqliteStore(workspace, embedder)
    opening = time.perf_counter() - began
    try:
        appended = [_seconds(lambda m=memory: _append(store, m)) for memory in _more(store, embedder, size)]  # type: ignore[misc]
        vectors, words = _seconds(store.rebuild_vectors), _seconds(store.rebuild_words)
    finally:
        store.close()
    return {
        "open for writing, with its checks": f"{opening * 1000:,.0f} ms",
        "append one, embedded already": table.milliseconds(appended),
        "rebuild: vectors, words": f"{vectors:,.1f}, {words:,.1f} s",
    }


def _more(store: SqliteStore, embedder: synthetic.Turned, size: int) -> list[Memory]:
    """Memories that are not there yet, whose embeddings are kept: the model's time is not what is asked for here."""
    (memories,) = synthetic.batches(embedder, store.workspace_id, size, size + APPENDED)
    store.embed([text for memory in memories for text in synthetic.texts_of(memory)])
    return memories


def _append(store: SqliteStore, memory: Memory) -> None:
    store.add([(memory, None)], clock.iso(clock.now()))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main(sys.argv[1:])
