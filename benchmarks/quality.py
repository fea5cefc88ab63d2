"""How well questions find their memories, over all sets at once, beside grep, BM25, vectors and another commit.

A set looks as ``judged`` says. All memories have one date and no status, so that recency and status say nothing. With
``--baseline``, the exit code is 1 when a set loses.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bridge.settings import load

from . import (
    absent,
    anchored,
    commit,
    conflicts,
    gate,
    judged,
    metrics,
    plain_methods,
    table,
)
from .judged import Collection, Run
from .metrics import METRICS, Scores

OURS = "cognee-memory retrieve"
TOLERANCE = 0.003  # of nDCG@10: a set that loses more beside the baseline has lost
_WEIGHED = METRICS.index("nDCG@10")


PROGRAMS: dict[str, tuple[Callable[[Sequence[str]], None], str]] = {
    "sets": (lambda argv: measure(argv), "nDCG and recall over sets; runs if no name is given"),
    "gate": (gate.main, "the figures that a test holds, beside the recorded ones"),
    "absent": (absent.main, "questions without an answer"),
    "anchored": (anchored.main, "which facts the code ends: precision and recall"),
    "conflicts": (conflicts.main, "which contradictions are found"),
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A set with each method's ranking and scores."""

    queries: list[judged.Row]
    memories: int
    runs: dict[str, Run]

    def scores(self, method: str) -> Scores:
        return metrics.of_run(self.queries, self.runs[method])

    @property
    def groups(self) -> list[str]:
        return [query["conversation"] for query in self.queries]


def main(argv: Sequence[str] = ()) -> None:
    program = PROGRAMS.get(argv[0]) if argv else None
    if program is not None:
        program[0](argv[1:])
    elif list(argv[:1]) in (["-h"], ["--help"]):
        print("python -m benchmarks quality [NAME] [--help]\n")
        print("\n".join(f"  {name:<12}{about}" for name, (_, about) in PROGRAMS.items()))
    else:
        measure(argv)


def measure(argv: Sequence[str]) -> None:
    """Print the tables of ``sets``."""
    arguments = _parser().parse_args(list(argv))
    began = time.monotonic()
    found = judged.forms(arguments)
    if arguments.baseline is not None and not Path(arguments.baseline).is_dir():
        commit.check(arguments.baseline)
    with tempfile.TemporaryDirectory(prefix="cognee-memory-commit-") as folder:
        lost = _measure(found, arguments, None if arguments.baseline is None else _baseline(arguments, Path(folder)))
    print(f"{time.monotonic() - began:.0f} s")
    if lost:
        sys.exit(1)


def _measure(found: Mapping[str, Path], arguments: argparse.Namespace, baseline: Path | None) -> bool:
    """Prints the tables of each scope; whether a set lost."""
    lost = False
    for scope in ("workspace", "pooled") if arguments.scope == "both" else (arguments.scope,):
        collections = {name: judged.collections(folder, scope, arguments) for name, folder in found.items()}
        for name in [name for name, given in collections.items() if not any(one.queries for one in given)]:
            print(f"{name}: no queries of this split", file=sys.stderr)
            del collections[name]
        if not collections:
            raise SystemExit("No set has a query of this split.")
        sets = _run(collections, arguments)
        for metric in arguments.metrics:
            _show(sets, scope, metric)
        if baseline is not None:
            before = {name: _read(_path(baseline, name, scope, OURS)) for name in sets}
            lost |= show_change(sets, before, scope, arguments.metrics)
        if arguments.runs is not None:
            _write(arguments.runs, sets, scope)
    return lost


def _baseline(arguments: argparse.Namespace, folder: Path) -> Path:
    """The folder with the rankings that the sets are compared with."""
    if (named := Path(arguments.baseline)).is_dir():
        return named
    given = ["--data", *(str(data.resolve()) for data in arguments.data), "--queries", arguments.queries]
    given += ["--split", arguments.split, "--scope", arguments.scope]
    given += ["--most", str(arguments.most)] if arguments.most is not None else []
    given += ["--cache", str(arguments.cache.resolve())] if arguments.cache is not None else []
    given += ["--own-dates"] if arguments.own_dates else []
    return commit.write_runs(arguments.baseline, given, folder)


def _parser() -> argparse.ArgumentParser:
    parser = judged.parser("sets", __doc__)
    parser.add_argument("--scope", choices=("workspace", "pooled", "both"), default="workspace")
    parser.add_argument("--metrics", nargs="+", choices=METRICS, default=["nDCG@10"])
    parser.add_argument("--baseline", help="a commit, or a folder of --runs: what each set gained or lost since then")
    parser.add_argument(
        "--own-dates", action="store_true", help="memories keep their dates, for questions about a time"
    )
    parser.add_argument("--runs", type=Path, help="also write each method's ranking there, as JSON lines")
    return parser


def _run(collections: Mapping[str, Sequence[Collection]], arguments: argparse.Namespace) -> dict[str, Judged]:
    """Each set with all methods' runs."""
    embedder = judged.embedder(load().embedding, arguments.cache)
    when = judged.own_date if arguments.own_dates else lambda _: judged.DAY
    return {
        name: Judged(
            [query for one in given for query in one.queries],
            sum(len(one.memories) for one in given),
            {OURS: judged.run(given, embedder, when)} | plain_methods.runs(given, embedder),
        )
        for name, given in collections.items()
    }


def _show(sets: Mapping[str, Judged], scope: str, metric: str) -> None:
    methods = list(dict.fromkeys(method for one in sets.values() for method in one.runs))
    column = METRICS.index(metric)
    rows = []
    for method in methods:
        means = [float(one.scores(method)[:, column].mean()) for one in sets.values()]
        rows.append([method, *(f"{mean:.3f}" for mean in (*means, np.mean(means)))])
    table.show(f"{metric}, {scope} scope", ["method", *_columns(sets), "mean of the sets"], rows)
    table.show(
        f"{metric}, {scope} scope: {OURS} ahead by (paired, 95 % intervals)",
        ["of", *sets, "mean of the sets"],
        [[method, *_ahead(sets, OURS, {n: s.runs[method] for n, s in sets.items()}, column)]
         for method in methods if method != OURS],
    )  # fmt: skip


def show_change(
    sets: Mapping[str, Judged], before: Mapping[str, Run], scope: str, wanted: Sequence[str] = ("nDCG@10",)
) -> bool:
    """Prints what each set gained since the baseline; whether one lost more nDCG@10 than the tolerance."""
    rows = [
        [metric, *_ahead(sets, OURS, before, METRICS.index(metric))]
        for metric in dict.fromkeys(("nDCG@10", "Recall@1", "Recall@5", *wanted))
    ]
    table.show(
        f"Change since the baseline, {scope} scope (paired, 95 % intervals)", ["", *sets, "mean of the sets"], rows
    )
    lost = {}
    for name, one in sets.items():
        change = (one.scores(OURS) - metrics.of_run(one.queries, before[name]))[:, _WEIGHED]
        print(f"{name}: {(change > 0).sum()} questions better, {(change < 0).sum()} worse, of {len(change)}")
        if change.mean() < -TOLERANCE:
            lost[name] = change.mean()
    for name, change in lost.items():
        print(f"{name} LOST {-change:.4f} of nDCG@10, more than {TOLERANCE:g}")
    return bool(lost)


def _columns(sets: Mapping[str, Judged]) -> list[str]:
    return [f"{name}: {one.memories:,} memories, {len(one.queries)} questions" for name, one in sets.items()]


def _ahead(sets: Mapping[str, Judged], ours: str, others: Mapping[str, Run], column: int) -> list[str]:
    """A cell for each set and one for their mean: how far ``ours`` is ahead, and the interval of that."""
    cells, drawn, means = [], [], []
    for name, one in sets.items():
        ahead = (one.scores(ours) - metrics.of_run(one.queries, others[name]))[:, [column]]
        means.append(ahead.mean())
        drawn.append(metrics.resampled(ahead, one.groups))
        cells.append(_cell(means[-1], drawn[-1]))
    return [*cells, _cell(float(np.mean(means)), np.mean(drawn, axis=0))]


def _cell(mean: float, drawn: Scores) -> str:
    low, high = metrics.bounds(drawn)
    return f"{mean:+.3f} ({low[0]:+.3f} to {high[0]:+.3f})"


def _path(folder: Path, name: str, scope: str, method: str) -> Path:
    return folder / (re.sub(r"\W+", "-", f"{name}, {scope} scope {method}") + ".jsonl")


def _write(folder: Path, sets: Mapping[str, Judged], scope: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, one in sets.items():
        for method, run in one.runs.items():
            lines = [json.dumps({"query_id": query, "ranked": ranked}) for query, ranked in run.items()]
            _path(folder, name, scope, method).write_text("\n".join(lines) + "\n", "utf-8")


def _read(path: Path) -> Run:
    if not path.exists():
        raise SystemExit(f"{path} does not exist; it is made by --runs {path.parent} with the same sets and scope.")
    return {row["query_id"]: row["ranked"] for row in judged.rows(path)}
