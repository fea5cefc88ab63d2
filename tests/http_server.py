"""The real HTTP server on a real socket, in a thread, and a client that sends what it is told to.

What it answers is held against the OpenAPI document.
"""

import asyncio
import http.client
import json
import re
import socket
import threading
from functools import cache
from typing import Any

from harness import PATIENCE, until
from jsonschema_rs import Draft202012Validator

from worker.http.state import DESCRIPTION
from worker.server.endpoint import listen
from worker.server.idle_server import Server, server

TOKEN = "a-token-that-is-right"


class Running:
    """The server in a thread."""

    def __init__(self, answers: Any, idle_seconds: float = 3600.0) -> None:
        self.told = answers
        self.listening = listen(0)
        self.port = self.listening.getsockname()[1]
        self.server: Server = server(self.listening, answers, TOKEN, idle_seconds)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        until(lambda: self.server.started, "the server runs")

    def _run(self) -> None:
        self.loop = asyncio.new_event_loop()
        try:
            self.loop.run_until_complete(self.server.serve(sockets=[self.listening.dup()]))
        finally:
            self.loop.close()

    def close(self) -> None:
        self.server.request_exit()
        self._thread.join(20)
        assert not self._thread.is_alive()
        self.listening.close()

    @property
    def runs(self) -> bool:
        return self._thread.is_alive()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 20)

    def raw(self, data: bytes) -> bytes:
        """What comes back until the server closes."""
        with self.connect() as connection:
            connection.sendall(data)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def ask(
        self,
        path: str = "/v1/retrieve",
        body: Any = None,
        *,
        method: str = "POST",
        token: str | None = TOKEN,
        **headers: str | None,
    ) -> "Reply":
        """A well-formed request, but for what is given otherwise; a header that is None is left out."""
        data = body if isinstance(body, bytes) else json.dumps({"query": "x"} if body is None else body).encode()
        sent: dict[str, str | None] = {"Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host="Host" in sent, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if method == "POST":
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data if method == "POST" else None)
            return Reply(connection.getresponse())
        finally:
            connection.close()


class Reply:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.data = response.read()

    @property
    def code(self) -> str | None:
        found = json.loads(self.data)
        assert found["success"] is (self.status < 300)
        return found.get("error_code")

    @property
    def outcome(self) -> tuple[int, str | None]:
        return self.status, self.code


# --- held against the document ---


@cache
def document() -> dict[str, Any]:
    return json.loads(DESCRIPTION.read_text("utf-8"))


def undescribed(method: str, path: str, reply: Reply) -> list[str]:
    """What the document says against an answer."""
    path = path.partition("?")[0]
    templates = [each for each in document()["paths"] if re.fullmatch(re.sub(r"{[a-z_]+}", "[^/]+", each), path)]
    plain = [each for each in templates if "{" not in each]
    if not templates:
        return [] if reply.status in (401, 403, 404) else [f"{path} is not in the document"]
    operation = document()["paths"][(plain or templates)[0]].get({"HEAD": "GET"}.get(method, method).lower())
    if operation is None:
        return [] if reply.status in (401, 403, 405) else [f"{method} {path} is not in the document"]
    answer = operation["responses"].get(str(reply.status))
    if answer is None:
        return [f"{method} {path}: {reply.status} is not in the document"]
    if "$ref" in answer:
        answer = document()["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    kind = reply.headers.get("content-type", "").partition(";")[0]
    if method == "HEAD" or "content" not in answer:
        return []
    if kind not in answer["content"]:
        return [f"{method} {path}: {kind} is not in the document"]
    if kind != "application/json":
        return []
    schema = {**answer["content"][kind]["schema"], "components": document()["components"]}
    found = Draft202012Validator(schema).iter_errors(json.loads(reply.data))
    return [f"{method} {path}: {error.json_path}: {error.message[:300]}" for error in found]
