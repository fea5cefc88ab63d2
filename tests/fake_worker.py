"""What clients see of a running worker: a heartbeat, a token, a held lock, and a socket that answers as it is told."""

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bridge import trust
from bridge.search import query_client
from bridge.settings import load
from jobs.layout import Workspace
from jobs.lock import Lock

GOOD = b'{"success": true, "results": [], "note": "\xc3\xbc"}\n'


class FakeWorker:
    """A heartbeat, a token, a held lock, and a socket that answers as it is told."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(folder / "workspace")
        self.workspace.root.mkdir(parents=True)
        trust.adopt(self.workspace, folder / "config")
        self.settings = load({"config_dir": folder / "config"}, environment={})
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.requests: list[bytes] = []
        self.respond: Callable[[socket.socket], object] = lambda connection: connection.sendall(ok(GOOD))
        self.lock = Lock(self.workspace.spool.lock)
        assert self.lock.acquire()
        self.token("secret")
        self.heartbeat()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def heartbeat(self, **other: Any) -> None:
        http = {"url": f"http://127.0.0.1:{self.port}", "serving": True} | other.pop("http", {})
        beat = {"embedder": self.settings.embedding.identity, "http": http, **other}
        self._write(self.workspace.spool.heartbeat, json.dumps(beat))

    def token(self, text: str) -> None:
        self._write(self.workspace.spool.token, text)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, "utf-8")
        path.chmod(0o600)

    def ask(self, **arguments: Any) -> bytes | None:
        return query_client.from_worker("retrieve", self.workspace, self.settings, arguments or {"query": "x"})

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            with connection:
                self.requests.append(_request(connection))
                try:
                    self.respond(connection)
                except OSError:
                    pass  # the asker has lost its patience

    def close(self) -> None:
        self.lock.release()
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        self._thread.join()


def _request(connection: socket.socket) -> bytes:
    """Everything up to the end of the body, or of the connection."""
    found = b""
    while part := connection.recv(65536):
        found += part
        head, end, body = found.partition(b"\r\n\r\n")
        if end and len(body) >= int(dict(field.split(b": ") for field in head.split(b"\r\n")[1:])[b"Content-Length"]):
            break
    return found


def ok(body: bytes, length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\ncontent-type: application/json\r\n\r\n%b" % (size, body)
