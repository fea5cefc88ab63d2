"""A server that judges texts over HTTP, on this machine: real, and as good or bad as a test wants it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import loopback

Judge = Callable[[dict[str, Any]], Any]


def words_in_common(request: dict[str, Any]) -> Any:
    """The share of the query's words in each document, the best first, as servers answer."""
    asked = set(request["query"].lower().split())
    shares = [len(asked & set(text.lower().split())) / len(asked) for text in request["documents"]]
    results = [{"index": index, "relevance_score": share} for index, share in enumerate(shares)]
    return {"results": sorted(results, key=lambda result: -result["relevance_score"])}


class RerankServer:
    """``requests``: what it was sent, with the ``Authorization`` header. ``answer`` may be replaced, or its status."""

    def __init__(self) -> None:
        self.answer: Judge = words_in_common
        self.status = 200
        self.held: threading.Event | None = None
        self.requests: list[tuple[str | None, dict[str, Any]]] = []
        self.url = ""

    @contextmanager
    def running(self) -> Iterator["RerankServer"]:
        """Serve for the block."""
        outer = self

        class Handler(loopback.Handler):
            def do_POST(self) -> None:
                asked = json.loads(self.body())
                outer.requests.append((self.headers["Authorization"], asked))
                if outer.held is not None:
                    outer.held.wait(60)
                answer = outer.answer(asked)
                self.answer(answer if isinstance(answer, bytes) else json.dumps(answer).encode(), outer.status)

        with loopback.serving(Handler) as port:
            self.url = f"http://127.0.0.1:{port}/v1/rerank"
            yield self
            if self.held is not None:
                self.held.set()
