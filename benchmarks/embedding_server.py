"""An embedder as a local server that speaks OpenAI's protocol, so that other products use the same model."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from bridge.embedding.embedder import Embedder


@contextmanager
def serving(embedder: Embedder) -> Iterator[str]:
    """The address of a server of this machine, until the block ends."""
    one_at_a_time = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            with one_at_a_time:
                vectors = embedder.embed(texts)
            in_base64 = asked.get("encoding_format") == "base64"
            data = [
                {
                    "object": "embedding",
                    "index": place,
                    "embedding": base64.b64encode(vector.astype(np.float32).tobytes()).decode()
                    if in_base64
                    else vector.tolist(),
                }
                for place, vector in enumerate(vectors)
            ]
            usage = {"prompt_tokens": 0, "total_tokens": 0}
            body = json.dumps({"object": "list", "model": asked["model"], "data": data, "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
