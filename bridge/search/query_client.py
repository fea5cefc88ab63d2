"""A question to a workspace's memory: answered by the running worker when it is quick, else by this process itself.

Either way the answer is the same, byte for byte: what the settings say goes along with the question. Light to import,
since starting Python is most of the time that a question takes.
"""

from __future__ import annotations

import json
import sys
import time
from _thread import allocate_lock  # threading takes a millisecond to import
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs import files, heartbeat
from jobs.errors import JobError
from jobs.layout import Workspace, find_workspace
from jobs.lock import is_held

from .. import trust
from ..interface.question_arguments import with_settings
from ..privacy.masking import trace

if TYPE_CHECKING:
    from ..embedding.embedder import EmbeddingConfig
    from ..settings import Settings
    from .reader import Reader, Verb

# What a person does not notice beside the time that answering ourselves takes. From the first byte to the last.
PATIENCE_SECONDS = 0.15

# Elsewhere embedding takes longer than that: each question would be embedded, and paid for, by the worker and by us.
_EMBEDS_HERE = ("fastembed", "ollama")

_ADDRESS = "http://127.0.0.1:"
_TOKEN_BYTES = 256
_HEAD_BYTES = 16 * 1024
_ANSWER_BYTES = 64 * 1024 * 1024

# One reader is kept for whoever asks more than once, such as the MCP server: the model is loaded once.
_kept: tuple[tuple[Workspace, EmbeddingConfig], Reader] | None = None
_making = allocate_lock()


def ask_for(verb: Verb, workspace_path: str | None, arguments: dict[str, Any]) -> bytes:
    """The envelope's JSON, of an error as well; ``None`` among the arguments means not given."""
    workspace = None
    try:
        # A folder that was named does not depend on ours, which may be gone.
        workspace = find_workspace(workspace_path, Path.cwd() if workspace_path is None else Path())
        settings = trust.settings_of(workspace)
        asked = with_settings(arguments, settings)
        return from_worker(verb, workspace, settings, asked) or _ourselves(verb, workspace, settings, asked)
    except JobError as error:
        return _failure(verb, error, arguments, workspace)
    except Exception as error:
        from ..interface import envelope

        print(trace(error), file=sys.stderr)  # noqa: T201 - for whoever reports it
        return _failure(verb, envelope.unexpected(error), arguments, workspace)


def _ourselves(verb: Verb, workspace: Workspace, settings: Settings, arguments: dict[str, Any]) -> bytes:
    from jobs import clock

    from ..interface import envelope
    from ..settings import calm_numpy

    calm_numpy()
    return envelope.encoded(_reader(workspace, settings.embedding).answer(verb, arguments, clock.now()))


def _reader(workspace: Workspace, embedding: EmbeddingConfig) -> Reader:
    global _kept
    from .reader import Reader

    with _making:
        if _kept is None or _kept[0] != (workspace, embedding):
            _kept = (workspace, embedding), Reader(workspace, embedding)
        return _kept[1]


def _failure(verb: Verb, error: JobError, arguments: dict[str, Any], workspace: Workspace | None) -> bytes:
    from ..interface import envelope
    from .reader import failure

    return envelope.encoded(failure(verb, error, arguments, workspace))


def from_worker(verb: Verb, workspace: Workspace, settings: Settings, arguments: dict[str, Any]) -> bytes | None:
    """A living worker's answer. None when there is any doubt: whoever asks then has to answer himself."""
    try:
        if not settings.http or settings.embedding_provider not in _EMBEDS_HERE or not is_held(workspace.spool.lock):
            return None
        said = heartbeat.read(workspace.spool)
        if said is None:
            return None
        http = said["http"]
        if http is None or http["url"] is None or said["embedder"] != settings.embedder_identity:
            return None
        port = port_of(http["url"])
        deadline = time.monotonic() + PATIENCE_SECONDS
        if not http["serving"]:
            _poke(port, deadline)
            return None
        token = files.read_plain(workspace.spool.token, _TOKEN_BYTES)[0].decode("ascii")
        body = json.dumps(arguments).encode()
        return _checked(_exchange(port, f"/v1/{verb}?settings=none", token, body, deadline))
    except (OSError, JobError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def port_of(url: str) -> int:
    """The port of an address that leads to this machine alone: no other is ever sent the token. Raises ValueError."""
    port = int(url.removeprefix(_ADDRESS)) if url.startswith(_ADDRESS) else 0
    if not 1 <= port <= 65535:
        raise ValueError("not an address of this machine")
    return port


def _poke(port: int, deadline: float) -> None:
    """Let the worker start the process that answers, for the next question."""
    _connected(port, deadline).close()


def _connected(port: int, deadline: float) -> Any:
    import socket

    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.settimeout(_left(deadline))
        made.connect(("127.0.0.1", port))
    except BaseException:
        made.close()
        raise
    return made


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _exchange(port: int, path: str, token: str, body: bytes, deadline: float) -> bytes:
    """One request and its answer, as strictly as our own server speaks: http.client takes as long to import as the
    rest of the question. Raises OSError, ValueError for anything else than a whole answer."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with _connected(port, deadline) as connection:
        connection.settimeout(_left(deadline))
        connection.sendall(head.encode("ascii") + body)
        found = bytearray()
        end = length = -1
        while end < 0 or len(found) < end + length:
            connection.settimeout(_left(deadline))
            part = connection.recv(1 << 18)
            if not part:
                raise ValueError("the answer was cut off")
            found += part
            if end < 0 and (end := found.find(b"\r\n\r\n") + 4) < 4:
                end = -1
                if len(found) > _HEAD_BYTES:
                    raise ValueError("the answer has no end of its head")
            elif length < 0:
                length = _length(bytes(found[:end]))
    if len(found) != end + length:
        raise ValueError("more than one answer")
    return bytes(found[end:])


def _length(head: bytes) -> int:
    """How long the body of a good answer is. Raises ValueError for what is no such answer."""
    status, *lines = head.lower().split(b"\r\n")[:-2]
    fields = dict(line.split(b": ", 1) for line in lines)
    length = int(fields.get(b"content-length", b"-1"))
    if not status.startswith(b"http/1.1 200 ") or b"transfer-encoding" in fields or not 0 <= length <= _ANSWER_BYTES:
        raise ValueError("not an answer")
    return length


def _checked(data: bytes) -> bytes:
    """The bytes, if they are an answer. Raises ValueError."""
    found = json.loads(data)
    if not isinstance(found, dict) or found.get("success") is not True or not data.endswith(b"}\n"):
        raise ValueError("not an answer")
    return data
