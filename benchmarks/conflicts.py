"""How well conflicts between decisions are found, on the labelled pairs of ``tests/data``: by the rules, and by the
judge that compares memories when they are stored.

``conflicts_dev.jsonl`` is what the rules were made with, so its figures say little. ``conflicts_unseen.jsonl`` was not.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bridge.compaction.conflicts import Finding, find_conflicts
from bridge.embedding.factory import create
from bridge.search.standings import DISPUTED
from bridge.settings import load
from bridge.standing import judge

from .table import show

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
_KINDS = ("negation", "choice", "value", "toggle", "reversal")

Pair = dict[str, Any]


def labelled(name: str) -> list[Pair]:
    return [json.loads(line) for line in (DATA / f"conflicts_{name}.jsonl").read_text("utf-8").splitlines()]


def compare(earlier: str, later: str) -> Finding | None:
    """The conflict of two decisions by the rules."""
    found = find_conflicts((earlier, later), (frozenset("a"), frozenset("b")))
    return found[0].found if found else None


def main(argv: Sequence[str] = ()) -> None:
    argparse.ArgumentParser(prog="python -m benchmarks quality conflicts", description=__doc__).parse_args(list(argv))
    for name in ("dev", "unseen"):
        _report(name, labelled(name))


def _report(name: str, pairs: Sequence[Pair]) -> None:
    embed = create(load().embedding).embed
    said = judge.replaces([(pair["earlier"], pair["later"]) for pair in pairs], embed)
    for by, found in (
        ("by the rules", [compare(pair["earlier"], pair["later"]) is not None for pair in pairs]),
        ("by the judge", [probability >= DISPUTED for probability in said]),
    ):
        rows = []
        for part in [*dict.fromkeys(pair["part"] for pair in pairs), "all"]:
            chosen = [(f, p) for f, p in zip(found, pairs, strict=True) if part in (p["part"], "all")]
            right = sum(f and p["conflict"] for f, p in chosen)
            kinds = [[f for f, p in chosen if p.get("kind") == kind] for kind in _KINDS]
            rows.append(
                [part, str(len(chosen)), _share(right, sum(f for f, _ in chosen))]
                + [_share(right, sum(p["conflict"] for _, p in chosen))]
                + [f"{sum(each)} of {len(each)}" for each in kinds]
            )
        show(f"Conflicts, {name}, {by}", ["part", "pairs", "precision", "recall", *_KINDS], rows)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part} of {whole})" if whole else "–"
