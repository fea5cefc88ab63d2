"""The local embedding models beside each other: the time of a question, the rate of texts, loading, and disk.

``python -m benchmarks.models``. The models take turns in one run. Both must be installed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from bridge.embedding.embedder import embed_query
from bridge.embedding.factory import create
from bridge.embedding.local_models import LOCAL_MODELS
from bridge.settings import load

from . import table

ROUNDS = 30
QUESTION = "what did we decide about the retry policy of the payment queue"
TEXTS = [f"Decision {n}: the queue {n} keeps its jobs in SQLite, since a second service costs more." for n in range(48)]

_LOAD = """
import sys
from bridge.embedding.embedder import embed_query
from bridge.embedding.factory import create
from bridge.embedding.local_models import LOCAL_MODELS
from bridge.settings import load
embed_query(create(LOCAL_MODELS[sys.argv[1]].config(load().embedding)), "x")
"""


def main() -> None:
    base = load().embedding
    models = list(LOCAL_MODELS.values())
    single = {model.name: create(model.config(base)) for model in models}
    bulk = {model.name: create(model.config(base), bulk=True) for model in models}
    times: dict[str, list[list[float]]] = {model.name: [[], [], []] for model in models}
    for number in range(ROUNDS):
        for model in models:
            question, texts, loading = times[model.name]
            question.append(_seconds(lambda name=model.name, n=number: embed_query(single[name], f"{QUESTION} {n}")))  # type: ignore[misc]
            if number < 5:
                texts.append(_seconds(lambda name=model.name: bulk[name].embed(TEXTS)))  # type: ignore[misc]
                command = [sys.executable, "-c", _LOAD, model.identity]
                loading.append(_seconds(lambda command=command: subprocess.run(command, check=True)))  # type: ignore[misc]
    rows = []
    for model in models:
        asked, embedded, loaded = (statistics.median(found) for found in times[model.name])
        cells = [f"{asked * 1000:.1f} ms", f"{len(TEXTS) / embedded:.0f}", f"{loaded:.2f} s", f"{model.size_mb} MB"]
        rows.append([model.name, *cells])
    table.show(
        "Local embedding models", ["model", "a question", "texts/s", "a process with one question", "disk"], rows
    )


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
