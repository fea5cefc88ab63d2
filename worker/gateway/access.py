"""The person behind a token: what they may see, how much they may ask of this gateway, and how many wrong tokens an
address may try.

Tokens are looked up at each request, so revoking is immediate; for a request that only waits, see ``polls``. Requests
beyond the limit of a minute are refused. Bytes beyond it wait, and so do transfers of rows beyond a few at once. The
time is an argument.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from bridge.team import people, unreached
from bridge.team.postgres_team import PostgresTeam
from bridge.team.server import PersonsConnections, Server
from jobs.errors import JobError

_TRANSFERS = 4  # at once, of a person
_QUESTIONS_OF_PERSON, _QUESTIONS = 2, 4  # at once; a long one takes some 100 MB
_TURN_SECONDS = 20.0
_WRONG_TOKENS = 20.0  # a minute, of an address; then none is looked up that was not right before
_WRONG_SECONDS = 60.0  # that a wrong token is not looked up again: a machine that was revoked tries one for long
_MOST_NOTED = 10_000  # addresses, and tokens of either kind


class Caller(NamedTuple):
    """Who asks, by which token."""

    person: str
    token_id: str


def caller_of(server: Server, authorization: str | None) -> Caller:
    """The caller of a request. Raises JobError: TEAM_REFUSED."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() == "bearer" and token:
        with server.connection() as connection:
            found = people.person_of(connection, token.strip())
        if found is not None:
            return Caller(*found)
    raise unreached.refused_by_gateway()


def unknown() -> JobError:
    """The error for a workspace that is another's, or that there is not."""
    return JobError("TEAM_NOT_SHARED", "There is no such workspace for you.")


def named(caller: Caller, node: str) -> str:
    """A machine's name, which nobody else can take: it begins with the person's."""
    return f"{caller.person}/{node}"


def require_visible(server: Server, caller: Caller, workspace_id: str) -> None:
    """The first wall. Raises JobError: TEAM_NOT_SHARED, whether the workspace is another's or there is none."""
    with PersonsConnections(server, caller.person, workspace_id).connection() as connection:
        if not people.may_see(connection, caller.person, workspace_id):
            raise unknown()


def team_for(server: Server, caller: Caller, workspace_id: str | None) -> PostgresTeam:
    """The team as row-level security shows it to the person: the second wall."""
    return PostgresTeam(PersonsConnections(server, caller.person, workspace_id, caller.token_id))


def require_group(server: Server, caller: Caller, group: str | None) -> None:
    """Raises JobError: ARGUMENT_INVALID for a group that the person is not in."""
    if group is None:
        return
    with server.connection() as connection:
        mine = {each.name: each.groups for each in people.persons(connection)}.get(caller.person, ())
    if group not in mine:
        raise JobError("ARGUMENT_INVALID", f"You are in no group {group!r}.")


@dataclass(slots=True)
class _Bucket:
    """A token bucket: it holds a minute's worth."""

    most: float
    left: float
    at: float

    def fill(self, now: float) -> None:
        self.left = min(self.most, self.left + max(0.0, now - self.at) * self.most / 60)
        self.at = now

    def wait_for(self, wanted: float) -> float:
        """The seconds until so much is there."""
        return max(0.0, (wanted - self.left) / (self.most / 60))


class Limits:
    """The limits of all persons, in this process. Thread-safe, but for ``transfer`` and ``question``, which are of one
    event loop."""

    def __init__(self, requests_per_minute: float, bytes_per_minute: float) -> None:
        self._requests: dict[str, _Bucket] = {}
        self._bytes: dict[str, _Bucket] = {}
        self._transfers: dict[str, asyncio.Semaphore] = {}
        self._questions: dict[str, asyncio.Semaphore] = {}
        self._all_questions = asyncio.Semaphore(_QUESTIONS)
        self._trials: dict[str, _Bucket] = {}
        self._right: set[bytes] = set()
        self._wrong_until: dict[bytes, float] = {}
        self._most = (requests_per_minute, bytes_per_minute)
        self._lock = threading.Lock()

    def spend(self, person: str, now: float) -> None:
        """Count a request. ``now`` is in seconds. Raises JobError: TEAM_LIMITED, with the seconds to wait in its
        details; then nothing is counted.
        """
        with self._lock:
            bucket = self._requests.setdefault(person, _Bucket(self._most[0], self._most[0], now))
            bucket.fill(now)
            if wait := bucket.wait_for(1):
                raise _limited(person, wait)
            bucket.left -= 1

    def require_trial(self, address: str, token: str, now: float) -> None:
        """Whether a token may be looked up. Raises JobError: TEAM_REFUSED for one that was wrong a moment ago;
        TEAM_LIMITED for an address that tried too many wrong ones, unless this one was right before: others may have
        the same address."""
        digest = _digest(token)
        with self._lock:
            if now < self._wrong_until.get(digest, now):
                raise unreached.refused_by_gateway()
            bucket = self._trials.get(address)
            if bucket is None or digest in self._right:
                return
            bucket.fill(now)
            if wait := bucket.wait_for(1):
                raise _limited("This address", wait)

    def note_right(self, token: str) -> None:
        """Note a token that was looked up, and is a person's."""
        with self._lock:
            if len(self._right) >= _MOST_NOTED:
                self._right.clear()
            self._right.add(_digest(token))

    def note_wrong(self, address: str, token: str, now: float) -> None:
        """Note a token that was looked up, and is nobody's."""
        digest = _digest(token)
        with self._lock:
            self._right.discard(digest)  # it was revoked, or has expired
            for noted in (self._wrong_until, self._trials):
                if len(noted) >= _MOST_NOTED:
                    noted.clear()
            self._wrong_until[digest] = now + _WRONG_SECONDS
            bucket = self._trials.setdefault(address, _Bucket(_WRONG_TOKENS, _WRONG_TOKENS, now))
            bucket.fill(now)
            bucket.left = max(0.0, bucket.left - 1)

    def pause(self, person: str, size: int, now: float) -> float:
        """Count so many bytes that came or go. Returns the seconds to wait before more of them."""
        with self._lock:
            bucket = self._bytes.setdefault(person, _Bucket(self._most[1], self._most[1], now))
            bucket.fill(now)
            bucket.left -= size
            return bucket.wait_for(0)

    def transfer(self, person: str) -> AbstractAsyncContextManager[None]:
        """A turn to send or get rows. Raises JobError: TEAM_LIMITED if none comes for a while."""
        return _turn(self._transfers.setdefault(person, asyncio.Semaphore(_TRANSFERS)), person)

    @asynccontextmanager
    async def question(self, person: str) -> AsyncIterator[None]:
        """A turn to ask, as ``transfer``. One person's questions leave room for another's."""
        turns = self._questions.setdefault(person, asyncio.Semaphore(_QUESTIONS_OF_PERSON))
        async with _turn(turns, person), _turn(self._all_questions, person):
            yield


@asynccontextmanager
async def _turn(turns: asyncio.Semaphore, person: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(_TURN_SECONDS):
            await turns.acquire()
    except TimeoutError:
        raise _limited(person, 1.0) from None
    try:
        yield
    finally:
        turns.release()


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "replace")).digest()


def _limited(person: str, wait: float) -> JobError:
    return JobError(
        "TEAM_LIMITED",
        f"{person} asks too much: try again in {wait:.0f} s.",
        details={"retry_after_seconds": round(wait, 1)},
    )
