"""The HTTP of our own server, as a client on this machine speaks it: one request on one connection, within a deadline.

It is light to import: ``http.client`` takes as long to import as the rest of a query. A deadline is a moment of
``time.monotonic``, in seconds.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

_ADDRESS = "http://127.0.0.1:"
_HEAD_BYTES = 16 * 1024
_ANSWER_BYTES = 64 * 1024 * 1024


def port_of(url: str) -> int:
    """The port of a loopback address. Raises ValueError for any other, so that only this machine gets the token."""
    port = int(url.removeprefix(_ADDRESS)) if url.startswith(_ADDRESS) else 0
    if not 1 <= port <= 65535:
        raise ValueError("not an address of this machine")
    return port


def poke(port: int, deadline: float) -> None:
    """Make the worker start its server process for the next query: it does so on a connection."""
    _connected(port, deadline).close()


def _connected(port: int, deadline: float) -> Any:
    import socket

    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        connection.settimeout(_left(deadline))
        connection.connect(("127.0.0.1", port))
    except BaseException:
        connection.close()
        raise
    return connection


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def exchange(port: int, path: str, token: str, body: bytes, deadline: float) -> bytes:
    """Send one request and return the body of its answer. It understands only the HTTP of our own server.

    ``http.client`` is not used, since its import takes as long as the rest of the query. Raises OSError, and ValueError
    for anything but one complete answer.
    """
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with _connected(port, deadline) as connection:
        connection.settimeout(_left(deadline))
        connection.sendall(head.encode("ascii") + body)
        data = bytearray()
        end = length = -1
        while end < 0 or len(data) < end + length:
            connection.settimeout(_left(deadline))
            part = connection.recv(1 << 18)
            if not part:
                raise ValueError("the answer was cut off")
            data += part
            if end < 0 and (end := data.find(b"\r\n\r\n") + 4) < 4:
                end = -1
                if len(data) > _HEAD_BYTES:
                    raise ValueError("the answer has no end of its head")
            elif length < 0:
                length = _length(bytes(data[:end]))
    if len(data) != end + length:
        raise ValueError("more than one answer")
    return bytes(data[end:])


def _length(head: bytes) -> int:
    """The length of the body in bytes. Raises ValueError unless the head is that of a successful answer."""
    status, *lines = head.lower().split(b"\r\n")[:-2]
    fields = dict(line.split(b": ", 1) for line in lines)
    length = int(fields.get(b"content-length", b"-1"))
    if not status.startswith(b"http/1.1 200 ") or b"transfer-encoding" in fields or not 0 <= length <= _ANSWER_BYTES:
        raise ValueError("not an answer")
    return length
