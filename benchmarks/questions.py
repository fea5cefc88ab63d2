"""Questions to a store of ``synthetic``; run in a child, put to a reader that stays warm."""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from pathlib import Path
from typing import Any

from bridge.interface.question_arguments import with_settings
from bridge.search import retrieval, snapshot as search
from bridge.search.question import parse_question
from bridge.search.reader import Reader
from bridge.settings import load
from jobs import clock
from jobs.layout import Workspace

from . import corpus

WARM_UP = 5
EVERYTHING = 10**12


def questions(count: int, seed: int = 3) -> list[str]:
    """As people ask: about a problem, a cause, a choice, an error, an identifier."""
    dice = random.Random(seed)
    found = []
    for _ in range(count):
        part = dice.choice(corpus.PARTS)
        ident = f"{dice.choice(corpus.VERBS)}_{dice.choice(corpus.NOUNS)}"
        (choice,) = corpus.choices(dice, 1, ident)
        found.append(
            dice.choice(
                (
                    f"why was it that {part} {dice.choice(corpus.PROBLEMS)}?",
                    f"which part was wrong because {dice.choice(corpus.CAUSES)}",
                    f"did we decide to {choice[0].lower()}{choice[1:]} in {part}?",
                    f"error E{dice.randint(1000, 1999)}",
                    f"what touches {ident}",
                    f"open questions about {part} before release {dice.randint(0, 11)}",
                )
            )
        )
    return found


def resident() -> dict[str, float]:
    """MiB of this process: of its own, and of files that are mapped, which other processes share (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    values = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Rss")}
    return {"own": int(values["RssAnon"]) / 1024, "files": int(values["RssFile"]) / 1024}


def warm(workspace: Workspace, count: int) -> dict[str, Any]:
    """Milliseconds of each question put to one reader, one after another; and what the process holds in memory."""
    settings = load()
    reader = Reader(workspace, settings.embedding)
    taken, considered = [], []
    for place, text in enumerate(questions(WARM_UP + count)):
        asked = with_settings({"query": text}, settings)
        began = time.perf_counter()
        found = reader.answer("retrieve", asked, clock.now())
        if place >= WARM_UP:
            taken.append((time.perf_counter() - began) * 1000)
            considered.append(found["total_results"])
    return {"ms": taken, "considered": statistics.mean(considered), "memory": resident()}


def recall(workspace: Workspace, count: int, best: int = 10) -> dict[str, Any]:
    """Of the best hits when every passage is compared, the share that two stages give as well, and what the scores of
    those that they give come to beside the best ones' scores."""
    settings = load()
    reader = Reader(workspace, settings.embedding)
    with reader.snapshot() as snapshot:
        assert snapshot is not None
        model = reader.embedder(snapshot)
        assert model is not None
    kept, worth, words = [], [], []
    for text in questions(count):
        question = parse_question(with_settings({"query": text, "max_results": best}, settings), clock.now())
        found = {}
        for stages, search.EXACT_ROWS in ((1, EVERYTHING), (2, 0)):
            with reader.snapshot() as snapshot:
                assert snapshot is not None
                ranked = retrieval.rank(snapshot, question, model)
                found[stages] = {memory.number: scored.score for memory, scored in ranked.hits}
                words.append(len(snapshot.lexical(text).numbers) / snapshot.memory_count)
        if found[1]:
            kept.append(len(found[1].keys() & found[2].keys()) / len(found[1]))
            worth.append(sum(found[2].values()) / sum(found[1].values()))
    return {
        "questions": len(kept),
        "recall": statistics.mean(kept),
        "worth": statistics.mean(worth),
        "having_words": statistics.mean(words),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("what", choices=("warm", "recall"))
    parser.add_argument("count", type=int)
    given = parser.parse_args()
    run = {"warm": warm, "recall": recall}[given.what]
    print(json.dumps(run(Workspace(given.workspace), given.count)))


if __name__ == "__main__":
    main()
