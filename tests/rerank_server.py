"""A server that judges texts over HTTP, on this machine: real, and as good or bad as a test wants it."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.headers["Authorization"], asked))
                if outer.held is not None:
                    outer.held.wait(60)
                answer = outer.answer(asked)
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                try:
                    self.send_response(outer.status)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass  # the client has left

            def log_message(self, *arguments: Any) -> None:
                """Nothing is logged."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1/rerank"

    def close(self) -> None:
        if self.held is not None:
            self.held.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
