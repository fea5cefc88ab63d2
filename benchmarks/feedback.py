"""Whether feedback on memories makes later questions find better: measured with simulated votes, for several weights.

``python -m benchmarks.feedback --data DIR... [--cache FOLDER] [--noise 0.1 0.3]``. Of each conversation, half of the
questions are asked first. Of what each is shown, relevant memories are voted helpful and the others wrong, and a share
of the votes (the noise) is turned round. Then the other half is asked and judged; and the same with the halves swapped.
``one voter``: a later vote on a memory replaces the earlier one, as of one person. ``all vote``: each question has a
voter of its own. ``the same questions``: the half that gave the votes is asked again.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence

import numpy as np

from bridge.embedding.embedder import Embedder
from bridge.settings import load

from . import judged, metrics, table
from .judged import Collection, Row, Run

WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5)
SHOWN = 5  # hits of an answer that are voted on
CASES = (("one voter", False), ("all vote", False), ("all vote", True))
_NDCG = [metrics.METRICS.index("nDCG@10")]


def main() -> None:
    parser = judged.parser("feedback", __doc__)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.1, 0.3], help="shares of the votes turned round")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    began = time.monotonic()
    embedder = judged.embedder(load().embedding, arguments.cache)
    sets = {
        name: judged.collections(folder, "workspace", arguments) for name, folder in judged.forms(arguments).items()
    }
    for voters, is_again in CASES:
        asked = "the same questions" if is_again else "other questions"
        for noise in arguments.noise:
            rows: dict[float, list[str]] = {weight: [] for weight in WEIGHTS}
            for given in sets.values():
                dice = random.Random(arguments.seed)
                runs = measured(given, embedder, voters == "one voter", noise, dice, is_again=is_again)
                for weight, cell in cells(given, runs).items():
                    rows[weight].append(cell)
            table.show(
                f"nDCG@10 after feedback, {voters}, {asked}, {noise:.0%} noise: gained (paired, 95 % intervals)",
                ["weight", *sets],
                [[f"{weight:g}", *found] for weight, found in rows.items()],
            )
    print(f"{time.monotonic() - began:.0f} s")


def measured(
    collections: Sequence[Collection],
    embedder: Embedder,
    is_one: bool,
    noise: float,
    dice: random.Random,
    *,
    is_again: bool,
) -> dict[float, Run]:
    """For each weight, what each question finds after the feedback of the other half, or of its own."""
    runs: dict[float, Run] = {weight: {} for weight in WEIGHTS}
    halves = [halved(collection.queries, dice) for collection in collections]
    for first in (0, 1):
        with judged.shelves(collections, embedder) as filled:
            for shelf, parts in zip(filled, halves, strict=True):
                shelf.give(votes(parts[first], shelf, is_one, noise, dice))
                for weight in WEIGHTS:
                    for query in parts[first if is_again else 1 - first]:
                        runs[weight][query["id"]] = shelf.ask(query["query"], feedback_weight=weight)
    return runs


def halved(queries: Sequence[Row], dice: random.Random) -> tuple[list[Row], list[Row]]:
    """The questions in two halves, by chance."""
    mixed = dice.sample(list(queries), len(queries))
    return mixed[::2], mixed[1::2]


def votes(
    queries: Sequence[Row], shelf: judged.Shelf, is_one: bool, noise: float, dice: random.Random
) -> list[judged.Vote]:
    """The votes on what is shown for the questions, in their order."""
    found = []
    for query in queries:
        for shown in shelf.ask(query["query"], max_results=SHOWN):
            is_helpful = (shown in query["relevant"]) != (dice.random() < noise)
            found.append(judged.Vote(shown, "one" if is_one else query["id"], is_helpful))
    return found


def cells(collections: Sequence[Collection], runs: Mapping[float, Run]) -> dict[float, str]:
    """The mean without feedback; for every other weight, what was gained on it."""
    queries = [query for one in collections for query in one.queries]
    groups = [query["conversation"] for query in queries]
    before = metrics.of_run(queries, runs[0.0])[:, _NDCG]
    shown = {0.0: f"{before.mean():.3f}"}
    for weight, run in runs.items():
        if weight:
            gained = metrics.of_run(queries, run)[:, _NDCG] - before
            low, high = metrics.interval(gained, groups)
            shown[weight] = f"{np.mean(gained):+.4f} ({low[0]:+.4f} to {high[0]:+.4f})"
    return shown


if __name__ == "__main__":
    main()
