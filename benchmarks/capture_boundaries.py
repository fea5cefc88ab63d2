"""How well a session is cut where people found a new subject, beside fixed windows and no cut.

``python -m benchmarks.capture_boundaries --data DIR... [--join N] [--cache FOLDER]``. A ``DIR`` has ``sessions.jsonl``
(see ``transcript_sets``), or is a folder of such. With ``--join``, whole sessions of different conversations, one to N
together, are one session, and the cuts are between them. Times are left out, so that silence says nothing.

Pk (Beeferman and others, 1999) and WindowDiff (Pevzner and Hearst, 2002) are shares of windows, of half the mean length
of a segment, in which cuts are missed or wrong: less is better. A cut is found if one is at most a turn away.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bridge.capture.boundaries import DEFAULTS, Limits, segments
from bridge.capture.segment import Embed
from bridge.capture.session import Turn
from bridge.settings import load

from . import judged, table
from .capture_quality import SESSIONS, found_sets
from .judged import Row

_NEAR = 1  # turns between a cut and one that counts as found
_SEED = 5
_UNBOUNDED = Limits(turns=10**9, characters=10**9, prose=10**9)


@dataclass(frozen=True, slots=True)
class Cuts:
    """A session of ``turns`` turns, and the turns before which it is cut."""

    turns: int
    right: tuple[int, ...]
    found: tuple[int, ...]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture_boundaries", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help=f"folders with {SESSIONS}, or of such")
    parser.add_argument("--join", type=int, default=0, help="join this many sessions at most")
    parser.add_argument("--cache", type=Path, help="a folder that keeps embeddings")
    arguments = parser.parse_args()
    embedder = judged.embedder(load().embedding, arguments.cache)
    for name, folder in found_sets(arguments.data).items():
        sessions = judged.rows(folder / SESSIONS)
        if arguments.join:
            sessions = joined(sessions, arguments.join)
        right = [tuple(_changes([turn.get("subject") for turn in session["turns"]])) for session in sessions]
        lengths = [len(session["turns"]) for session in sessions]
        mean = max(2, round(sum(lengths) / (sum(map(len, right)) + len(sessions))))
        forms: dict[str, list[tuple[int, ...]]] = {
            "capture, by subject alone": [found_cuts(session, embedder.embed, _UNBOUNDED) for session in sessions],
            "capture, also by size": [found_cuts(session, embedder.embed, DEFAULTS) for session in sessions],
            "no cut": [() for _ in sessions],
            f"every {mean} turns (the mean of the right cuts)": [tuple(range(mean, n, mean)) for n in lengths],
            "every 10 turns": [tuple(range(10, n, 10)) for n in lengths],
        }
        rows = [
            [form, *measured([Cuts(*given) for given in zip(lengths, right, found, strict=True)])]
            for form, found in forms.items()
        ]
        title = f"Boundaries, {name}: {len(sessions)} sessions, {sum(lengths):,} turns, {sum(map(len, right))} cuts"
        table.show(title, ["cut", "Pk", "WindowDiff", "precision", "recall", "F1"], rows)


def joined(sessions: Sequence[Row], most: int) -> list[Row]:
    """Sessions in a fixed random order, two to ``most`` together; each of them is a subject."""
    order = random.Random(_SEED)
    left = list(sessions)
    order.shuffle(left)
    together = []
    while left:
        count = order.randint(2, most)
        group, left = left[:count], left[count:]
        turns = [turn | {"subject": number} for number, one in enumerate(group) for turn in one["turns"]]
        together.append({"turns": turns})
    return together


def found_cuts(session: Row, embed: Embed, limits: Limits) -> tuple[int, ...]:
    """The turns, counted from 0, before which capture cuts."""
    turns = (Turn(turn["speaker"], turn["text"], "") for turn in session["turns"])
    ends = np.cumsum([len(segment.turns) for segment in segments(turns, embed, limits)])
    return tuple(int(end) for end in ends[:-1])


def measured(sessions: Sequence[Cuts]) -> list[str]:
    """Pk, WindowDiff, precision, recall and F1, as cells of a table."""
    windows = np.array([_in_windows(one) for one in sessions if one.turns > 2]).mean(axis=0)
    hits = sum(_hits(one) for one in sessions)
    precision = hits / max(1, sum(len(one.found) for one in sessions))
    recall = hits / max(1, sum(len(one.right) for one in sessions))
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return [f"{value:.3f}" for value in (*windows, precision, recall, f1)]


def _in_windows(one: Cuts) -> tuple[float, float]:
    """Pk and WindowDiff of one session."""
    size = max(2, round(one.turns / (len(one.right) + 1) / 2))
    if one.turns <= size:
        return 0.0, 0.0
    in_right, in_found = _counts(one.right, one.turns, size), _counts(one.found, one.turns, size)
    return float(np.mean((in_right == 0) != (in_found == 0))), float(np.mean(in_right != in_found))


def _counts(cuts: tuple[int, ...], turns: int, size: int) -> NDArray[np.int64]:
    """The number of cuts in each window of ``size`` turns."""
    before = np.cumsum(np.isin(np.arange(turns), cuts))
    counts: NDArray[np.int64] = before[size:] - before[:-size]
    return counts


def _hits(one: Cuts) -> int:
    left = set(one.right)
    for cut in one.found:
        near = [other for other in left if abs(other - cut) <= _NEAR]
        if near:
            left.remove(min(near, key=lambda other: abs(other - cut)))
    return len(one.right) - len(left)


def _changes(subjects: Sequence[object]) -> list[int]:
    return [place for place in range(1, len(subjects)) if subjects[place] != subjects[place - 1]]


if __name__ == "__main__":
    main()
