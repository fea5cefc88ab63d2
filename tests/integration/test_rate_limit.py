"""A provider that asks for a pause: the job waits outside the child, and goes on by itself."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from harness import Place, until


class Provider(ThreadingHTTPServer):
    """Embeddings by the OpenAI protocol; refuses for as long as ``limited`` is set."""

    def __init__(self) -> None:
        self.limited = threading.Event()
        self.limited.set()
        self.asked = 0
        super().__init__(("127.0.0.1", 0), _Answers)


class _Answers(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked += 1
        if self.server.limited.is_set():
            self._send(429, {"error": {"message": "too many requests"}})
            return
        vectors = [[float(len(text) % 7 + 1), *[0.0] * 7] for text in request["input"]]
        self._send(200, {"data": [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]})

    def _send(self, status: int, content: object) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status == 429:
            self.send_header("Retry-After", "2")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.cognee
def test_a_job_that_meets_a_rate_limit_waits_uncounted_and_lets_others_run(tmp_path: Path, provider: Provider) -> None:
    place = Place(
        tmp_path,
        EMBEDDING_PROVIDER="openai_compatible",
        EMBEDDING_MODEL="made-up",
        EMBEDDING_DIMENSIONS="8",
        EMBEDDING_ENDPOINT=f"http://127.0.0.1:{provider.server_address[1]}/v1",
        EMBEDDING_API_KEY="sk-not-a-key",
    )
    with place.worker():
        limited = place.submit("ingest", {"summary": {"topic": "Pauses", "context": "We wait."}}, max_attempts=1)
        record = place.in_state(limited, "retrying")
        assert record.error is not None
        assert (record.error["code"], record.errors) == ("RATE_LIMITED", 0)
        assert place.ended(place.submit("noop", {})).state == "succeeded"
        until(lambda: provider.asked >= 2, "it is tried again by itself")
        provider.limited.clear()
        record = place.ended(limited, seconds=120)
        assert (record.state, record.errors, record.crashes) == ("succeeded", 0, 0)
        assert "sk-not-a-key" not in place.log()
