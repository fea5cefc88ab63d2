"""What retrieval loses when the same questions are put otherwise: with typing errors, in lower and in upper case, with
other word order, politely.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from bridge.embedding.embedder import Embedder
from bridge.settings import load

from . import judged, metrics, table
from .judged import Collection, Run
from .metrics import METRICS

_GAIN = METRICS.index("nDCG@10")
_LEAST_LETTERS = 5  # shorter words are seldom misspelled
_WRONG_WORDS = 3  # one word of this many that are long enough


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


def main(argv: Sequence[str] = ()) -> None:
    arguments = judged.parser("robustness", __doc__).parse_args(list(argv))
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


def _variants(collections: Sequence[Collection], embedder: Embedder) -> dict[str, Run]:
    asked = {variant: _changed(collections, change) for variant, change in VARIANTS.items()}
    with judged.shelves(collections, embedder) as shelves:
        return {variant: judged.answers(shelves, given) for variant, given in asked.items()}


def _changed(collections: Sequence[Collection], change: Callable[[str, random.Random], str]) -> list[Collection]:
    """The same errors in the same question at every run."""
    return [
        Collection(
            one.memories,
            [query | {"query": change(query["query"], random.Random(query["id"]))} for query in one.queries],
        )
        for one in collections
    ]
