"""How well conflicts between decisions are found, on the labelled pairs of ``tests/data``; ``--fit`` prints weights.

``conflicts_dev.jsonl`` is what rules and weights were made with, so its figures say little. ``conflicts_unseen.jsonl``
was not.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.compaction import conflict_model
from bridge.compaction.conflicts import Finding, find_conflicts
from bridge.compaction.decision_features import DecisionFeatures, extract_features
from bridge.embedding.factory import create
from bridge.settings import load

from .table import show

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
_KINDS = ("negation", "choice", "value", "toggle", "reversal")
_RIDGE = 0.5  # of the fit
_NEAR = 0.3  # cosine from which two decisions that do not belong together teach the fit what is no conflict
_FOREIGN = 0.5  # weight of one of these

Pair = dict[str, Any]
Matrix = NDArray[np.float64]


def labelled(name: str) -> list[Pair]:
    return [json.loads(line) for line in (DATA / f"conflicts_{name}.jsonl").read_text("utf-8").splitlines()]


def compare(earlier: str, later: str, similarity: float | None = None) -> Finding | None:
    """The conflict of two decisions; without the cosine of their vectors, by the rules alone."""
    cosine = -1.0 if similarity is None else similarity
    vectors = np.array([[1.0, 0.0], [cosine, math.sqrt(max(0.0, 1 - cosine * cosine))]], np.float32)
    found = find_conflicts((earlier, later), (frozenset("a"), frozenset("b")), vectors)
    return found[0].found if found else None


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks quality conflicts", description=__doc__)
    parser.add_argument("--fit", action="store_true", help="print the weights of conflict_model")
    if parser.parse_args(list(argv)).fit:
        _fit()
        return
    for name in ("dev", "unseen"):
        _report(name, labelled(name))


def _report(name: str, pairs: Sequence[Pair]) -> None:
    rows = []
    for part in [*dict.fromkeys(pair["part"] for pair in pairs), "all"]:
        chosen = [pair for pair in pairs if part in (pair["part"], "all")]
        found = [compare(p["earlier"], p["later"], p["similarity"]) is not None for p in chosen]
        right = sum(f and p["conflict"] for f, p in zip(found, chosen, strict=True))
        there = sum(p["conflict"] for p in chosen)
        kinds = [[f for f, p in zip(found, chosen, strict=True) if p.get("kind") == kind] for kind in _KINDS]
        rows.append(
            [part, str(len(chosen)), _share(right, sum(found)), _share(right, there)]
            + [f"{sum(each)} of {len(each)}" for each in kinds]
            + [_mismatched(chosen) if part not in ("short", "all") else "–"]
        )
    show(f"Conflicts, {name}", ["part", "pairs", "precision", "recall", *_KINDS, "mismatched"], rows)


def _mismatched(pairs: Sequence[Pair]) -> str:
    """How many are found between the earlier half of one pair and the later half of another: hardly any is one."""
    embed = create(load().embedding).embed
    cosines = embed([pair["earlier"] for pair in pairs]) @ embed([pair["later"] for pair in pairs]).T
    found = sum(
        compare(a["earlier"], b["later"], float(cosines[x, y])) is not None
        for x, a in enumerate(pairs)
        for y, b in enumerate(pairs)
        if x != y
    )
    return f"{found} of {len(pairs) * (len(pairs) - 1):,}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part} of {whole})" if whole else "–"


# --- the fit ---


def _fit() -> None:
    pairs = labelled("dev")
    decisions = [(extract_features(pair["earlier"]), extract_features(pair["later"])) for pair in pairs]
    rows = [_row(a, b, pair["similarity"]) for (a, b), pair in zip(decisions, pairs, strict=True)]
    right = [float(pair["conflict"]) for pair in pairs]
    weights = [1.0] * len(rows)
    embed = create(load().embedding).embed
    for part in ("web", "mixed"):  # among the short ones there are conflicts across the pairs
        at = [place for place, pair in enumerate(pairs) if pair["part"] == part]
        cosines = embed([pairs[n]["earlier"] for n in at]) @ embed([pairs[n]["later"] for n in at]).T
        near = [(x, y) for x, y in zip(*np.nonzero(cosines >= _NEAR), strict=True) if x != y]
        foreign = [_row(decisions[at[x]][0], decisions[at[y]][1], float(cosines[x, y])) for x, y in near]
        rows += foreign
        right += [0.0] * len(foreign)
        weights += [_FOREIGN] * len(foreign)
    # A pair without any difference that sets one against the other is never a conflict: nothing to be learnt from it.
    kept = [place for place, row in enumerate(rows) if row is not None]
    names = list(rows[kept[0]] or ())
    features = np.array([[row[name] for name in names] for row in rows if row is not None])
    solved = solve(features, np.array(right)[kept], np.array(weights)[kept])
    print("WEIGHTS: dict[str, float] = {")
    for name, weight in zip([*names, "bias"], solved, strict=True):
        print(f'    "{name}": {weight:.2f},')
    print("}")


def _row(a: DecisionFeatures, b: DecisionFeatures, similarity: float) -> dict[str, float] | None:
    found = conflict_model.compare(a, b, similarity)
    return None if found.difference is None else found.features


def solve(features: Matrix, right: Matrix, weights: Matrix) -> Matrix:
    """The weights of a logistic regression with a ridge, the constant last."""
    inputs = np.c_[features, np.ones(len(features))]
    ridge = np.diag([_RIDGE] * features.shape[1] + [0.0])
    solved: Matrix = np.zeros(inputs.shape[1])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-inputs @ solved))
        curve = (inputs * (weights * likely * (1 - likely))[:, None]).T @ inputs + ridge
        solved = solved - np.linalg.solve(curve, inputs.T @ (weights * (likely - right)) + ridge @ solved)
    return solved
