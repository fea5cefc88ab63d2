"""What a copy lacks, asked within a time that a question may take: nothing of the team's clients is imported, which
would take longer than the question.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from jobs.errors import JobError

from .gap import Missing

if TYPE_CHECKING:
    from ..settings import Settings

_PREFIX = "/v1/team/"
_MOST_BYTES = 64 * 1024


class CopyPlace(NamedTuple):
    """A copy: of which workspace, and up to which change."""

    workspace_id: str
    seq: int
    change: str


def ask(settings: Settings, place: CopyPlace, seconds: float) -> Missing | None:
    """What the copy lacks; None if that is not known after so many seconds, for whatever reason."""
    found: list[Missing] = []

    def run() -> None:
        try:
            found.append(_of_gateway(settings, place, seconds))
        except (OSError, ValueError, KeyError, TypeError, JobError):
            pass

    # A name may take long to be looked up, and nothing ends that.
    asking = threading.Thread(target=run, name="team-missing", daemon=True)
    asking.start()
    asking.join(seconds)
    return found[0] if found else None


def _of_gateway(settings: Settings, place: CopyPlace, seconds: float) -> Missing:
    """The gateway's answer, over a connection of its own. Raises OSError, JobError; ValueError for what is none."""
    import socket
    import ssl

    from .opening import require_private

    require_private(settings)
    parts = urlsplit(settings.team or "")
    host, is_secured = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if is_secured else 80)
    if not is_secured and host not in ("localhost", "127.0.0.1", "::1"):
        raise ValueError("the token would cross the network readable")
    body = json.dumps(place._asdict()).encode()
    head = (
        f"POST {parts.path.rstrip('/')}{_PREFIX}missing HTTP/1.0\r\nHost: {parts.netloc.rpartition('@')[2]}\r\n"
        f"Authorization: Bearer {settings.team_token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    connection: socket.socket
    with socket.create_connection((host, port), seconds) as connection:
        if is_secured:
            context = ssl.create_default_context(cafile=settings.team_ca_file)
            connection = context.wrap_socket(connection, server_hostname=host)
        with connection:
            connection.sendall(head.encode("latin-1") + body)
            data = bytearray()
            while part := connection.recv(_MOST_BYTES):
                data += part
                if len(data) > _MOST_BYTES:
                    raise ValueError("not an answer")
    status, _, answer = bytes(data).partition(b"\r\n\r\n")
    if status.split(b" ", 2)[1:2] != [b"200"]:
        raise ValueError("not an answer")
    return Missing(**json.loads(answer)["value"])
