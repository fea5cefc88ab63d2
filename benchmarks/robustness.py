"""What retrieval loses when the same questions are put otherwise, and by the lengths of questions and memories.

``python -m benchmarks.robustness --data DIR... [--cache FOLDER]``: with typing errors, in lower and in upper case, with
other word order, politely; and whether short memories win too often against long ones.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bridge.embedding.embedder import Embedder
from bridge.settings import load

from . import judged, metrics, plain_methods, table
from .judged import Collection, Row, Run
from .metrics import METRICS, Scores

OURS = "cognee-memory retrieve"
QUESTION_LENGTHS = ((1, 3), (4, 7), (8, 11), (12, 17), (18, 1000))  # words
_GAIN = METRICS.index("nDCG@10")
_LEAST_LETTERS = 5  # shorter words are seldom misspelled
_WRONG_WORDS = 3  # one word of this many that are long enough

Sets = Mapping[str, Sequence[Collection]]


def misspelled(text: str, dice: random.Random) -> str:
    """One long word of three with one error: two letters in the wrong order, one missing, or one twice."""
    places = [match for match in re.finditer(r"[A-Za-z]+", text) if len(match[0]) >= _LEAST_LETTERS]
    chosen = dice.sample(places, -(-len(places) // _WRONG_WORDS))
    for match in sorted(chosen, key=lambda found: -found.start()):
        word, place = match[0], dice.randrange(1, len(match[0]) - 1)
        a, b = word[place], word[place + 1]
        wrong = dice.choice((b + a, b, a + a + b))
        text = text[: match.start()] + word[:place] + wrong + word[place + 2 :] + text[match.end() :]
    return text


def reordered(text: str, dice: random.Random) -> str:
    words = text.rstrip("?.! ").split()
    dice.shuffle(words)
    return " ".join(words)


def polite(text: str) -> str:
    return f"could you please tell me {text[:1].lower()}{text[1:].rstrip('?. ')}, thank you"


VARIANTS: dict[str, Callable[[str, random.Random], str]] = {
    "as written": lambda text, dice: text,
    "with typing errors": misspelled,
    "in lower case": lambda text, dice: text.lower(),
    "in upper case": lambda text, dice: text.upper(),
    "words in another order": reordered,
    "“could you please tell me …, thank you”": lambda text, dice: polite(text),
}


def main() -> None:
    arguments = judged.parser("robustness", __doc__).parse_args()
    embedder = judged.embedder(load().embedding, arguments.cache)
    sets = {
        name: judged.collections(folder, "workspace", arguments) for name, folder in judged.forms(arguments).items()
    }
    queries = {name: [query for one in given for query in one.queries] for name, given in sets.items()}
    found = {name: _variants(given, embedder) for name, given in sets.items()}
    rows = []
    for variant in VARIANTS:
        cells = []
        for name in sets:
            plain, other = (
                metrics.of_run(queries[name], found[name][which])[:, [_GAIN]] for which in ("as written", variant)
            )
            if variant == "as written":
                cells.append(f"{plain.mean():.3f}")
                continue
            low, high = metrics.interval(other - plain, [query["conversation"] for query in queries[name]])
            cells.append(f"{(other - plain).mean():+.3f} ({low[0]:+.3f} to {high[0]:+.3f})")
        rows.append([variant, *cells])
    table.show("Questions put otherwise: nDCG@10, and what it changes by (paired, 95 % intervals)", ["", *sets], rows)
    runs = {
        name: {OURS: found[name]["as written"]} | plain_methods.runs(given, embedder) for name, given in sets.items()
    }
    _lengths(sets, queries, runs)


def _variants(collections: Sequence[Collection], embedder: Embedder) -> dict[str, Run]:
    asked = {variant: _changed(collections, change) for variant, change in VARIANTS.items()}
    with judged.shelves(collections, embedder) as shelves:
        return {
            variant: {
                query["id"]: shelf.ask(query["query"])
                for shelf, one in zip(shelves, given, strict=True)
                for query in one.queries
            }
            for variant, given in asked.items()
        }


def _changed(collections: Sequence[Collection], change: Callable[[str, random.Random], str]) -> list[Collection]:
    """The same errors in the same question at every run."""
    return [
        Collection(
            one.memories,
            [query | {"query": change(query["query"], random.Random(query["id"]))} for query in one.queries],
        )
        for one in collections
    ]


def _lengths(sets: Sets, queries: Mapping[str, Sequence[Row]], runs: Mapping[str, Mapping[str, Run]]) -> None:
    gains = {name: metrics.of_run(queries[name], runs[name][OURS])[:, _GAIN] for name in sets}
    rows = []
    for least, most in QUESTION_LENGTHS:
        within = {
            name: np.array([least <= len(query["query"].split()) <= most for query in queries[name]]) for name in sets
        }
        words = f"{least} words or more" if most == QUESTION_LENGTHS[-1][1] else f"{least} to {most} words"
        rows.append([words, *(_mean(gains[name], within[name]) for name in sets)])
    table.show("By length of the question: nDCG@10 (questions)", ["", *sets], rows)

    sizes = {name: {row["id"]: len(row["text"].split()) for one in given for row in one.memories}
             for name, given in sets.items()}  # fmt: skip
    wanted = {name: np.array([_size(query, sizes[name]) for query in queries[name]]) for name in sets}
    thirds = {name: np.quantile(wanted[name], (1 / 3, 2 / 3)) for name in sets}
    rows = [
        [part, *(_mean(gains[name], np.digitize(wanted[name], thirds[name], right=True) == place) for name in sets)]
        for place, part in enumerate(("shortest third", "middle third", "longest third"))
    ]
    table.show("By length of the right memory: nDCG@10 (questions)", ["", *sets], rows)

    methods = list(dict.fromkeys(method for found in runs.values() for method in found))
    rows = [[method, *(_shorter(queries[name], runs[name][method], sizes[name]) for name in sets)]
            for method in methods]  # fmt: skip
    rows.append(
        ["any wrong memory, by chance", *(f"{_chance(given, sizes[name]):.0%}" for name, given in sets.items())]
    )
    table.show("Wrong first hits that are shorter than the right memory (of how many)", ["", *sets], rows)


def _size(query: Row, sizes: Mapping[str, int]) -> float:
    """The words of the relevant memories, on average."""
    return float(np.mean([sizes[memory] for memory in query["relevant"]]))


def _shorter(queries: Sequence[Row], run: Run, sizes: Mapping[str, int]) -> str:
    wrong = [
        sizes[run[query["id"]][0]] < _size(query, sizes)
        for query in queries
        if run[query["id"]] and run[query["id"]][0] not in query["relevant"]
    ]
    return f"{np.mean(wrong):.0%} of {len(wrong)}" if wrong else "–"


def _chance(collections: Sequence[Collection], sizes: Mapping[str, int]) -> float:
    """The share of a question's other memories that are shorter, over all questions."""
    shares = []
    for one in collections:
        for query in one.queries:
            others = [sizes[row["id"]] for row in one.memories if row["id"] not in query["relevant"]]
            if others:
                shares.append(np.mean(np.array(others) < _size(query, sizes)))
    return float(np.mean(shares))


def _mean(values: Scores, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
    return f"{values[chosen].mean():.3f} ({chosen.sum()})" if chosen.any() else "–"


if __name__ == "__main__":
    main()
