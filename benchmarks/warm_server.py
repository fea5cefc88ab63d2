"""Run by ``warm_beside`` in either checkout: the worker's HTTP server on a workspace, without the worker.

With ``stored``, the embedder returns vectors that it computed before, so that only the rest of a question is measured.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.questions import questions
from bridge.embedding.embedder import Embedder, Vectors
from bridge.embedding.factory import create
from bridge.search.reader import Reader
from bridge.settings import load
from jobs.layout import Workspace
from worker.http import executor
from worker.server.endpoint import listen

try:
    from worker.server.idle_server import server
except ImportError:  # another checkout
    from worker.server.main import server  # type: ignore[attr-defined,no-redef]

TOKEN = "t" * 32
SEEDS = {1: 60, 3: 200} | dict.fromkeys(range(100, 108), 50)
"""The seed and number of the questions that ``warm_beside`` asks."""


class Stored:
    """An embedder that knows the vectors of the questions; other texts are embedded by the model."""

    def __init__(self, model: Embedder, vectors: Path) -> None:
        self._model = model
        self.identity, self.dimensions = model.identity, model.dimensions
        self.tokenizer_name = model.tokenizer_name
        asked = dict.fromkeys(text for seed, count in SEEDS.items() for text in questions(count, seed=seed))
        if not vectors.exists():
            np.save(vectors, np.concatenate([model.embed([text]) for text in asked]))
        self._known = dict(zip(asked, np.load(vectors), strict=True))

    def embed(self, texts: Sequence[str]) -> Vectors:
        if all(text in self._known for text in texts):
            return np.array([self._known[text] for text in texts], np.float32).reshape(len(texts), self.dimensions)
        return self._model.embed(texts)

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)


def main() -> None:
    workspace, embedding, vectors = Workspace(Path(sys.argv[1])), sys.argv[2], Path(sys.argv[3])
    if embedding == "stored":
        stored = Stored(create(load().embedding), vectors)
        executor.Reader = lambda place, config, *_, **given: Reader(place, config, lambda _: stored, **given)  # type: ignore[attr-defined,assignment]
    listening = socket.socket(fileno=listen(0).detach())  # as the server process inherits it
    answers = executor.RequestExecutor(workspace, lambda: None)
    served = server(listening, answers, TOKEN, 600.0)
    answers.warm()
    print(listening.getsockname()[1], flush=True)
    served.run(sockets=[listening])


if __name__ == "__main__":
    main()
