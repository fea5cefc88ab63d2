"""Tickets that sign a browser in. A ticket works once, for one minute, and only for the worker that it was made for.

A ticket is signed with the worker's token but does not contain it, so a ticket in a browser's history is useless.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Callable

from jobs.errors import JobError

SECONDS = 60
_FORM = re.compile(r"([0-9]{1,15})\.([A-Za-z0-9_-]{22})\.([0-9a-f]{64})")


def issue(token: str, now: float | None = None) -> str:
    """A new ticket. ``now`` is in seconds since the epoch."""
    made_at = f"{(time.time() if now is None else now) * 1000:.0f}"
    nonce = secrets.token_urlsafe(16)
    return f"{made_at}.{nonce}.{_seal(token, made_at, nonce)}"


def _seal(token: str, made_at: str, nonce: str) -> str:
    return hmac.new(token.encode(), f"cognee-memory page {made_at} {nonce}".encode(), "sha256").hexdigest()


class Tickets:
    """The tickets that this process has accepted. It refuses tickets made before it started, because its predecessor
    may have accepted them."""

    def __init__(self, token: str, clock: Callable[[], float] = time.time) -> None:
        self._token = token
        self._clock = clock
        self._since = clock()
        self._used: dict[str, float] = {}

    def redeem(self, ticket: str) -> None:
        """Accept a ticket. Raises JobError: HTTP_TICKET_INVALID, without the reason, when it is malformed, forged,
        expired or used."""
        now = self._clock()
        form = _FORM.fullmatch(ticket)
        if form is None:
            raise JobError("HTTP_TICKET_INVALID")
        made_at, nonce, seal = form.groups()
        if not hmac.compare_digest(seal, _seal(self._token, made_at, nonce)):
            raise JobError("HTTP_TICKET_INVALID")
        age = now - int(made_at) / 1000
        if not 0 <= age + 0.001 <= SECONDS or int(made_at) / 1000 + 0.001 < self._since or nonce in self._used:
            raise JobError("HTTP_TICKET_INVALID")
        self._used = {each: at for each, at in self._used.items() if now - at <= SECONDS}
        self._used[nonce] = now
