"""The machines that wait, each with one request for each workspace, and what wakes them: one connection that listens
for changes, and no thread for each machine.

A machine need not look by itself: every half minute one transaction looks for all workspaces of a token. So waiting
costs the database nothing, however many wait. Until the next look, a request that only waits is let in as its machine
was at the last one: it gets to know no more than that something has changed.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from bridge.team import copies, notices, people, rows, unreached
from bridge.team.server import Connection, Server, name_person
from jobs.errors import JobError

from .access import Caller, named, unknown

log = logging.getLogger("gateway")

_AGAIN_SECONDS = 2.0
_LOOK_SECONDS = 30.0
_KNOWN_SECONDS = 60.0  # since it was looked up, a machine is let in without one; since it asked, it is looked up
_Place = tuple[str, str]  # a workspace, and the machine's own name there


class Heard(NamedTuple):
    """Whether something has changed, and the mark from which to wait on: a time of this machine's clock, so that
    another gateway with about the same time understands it."""

    changed: bool
    mark: float


class _Waiting(NamedTuple):
    token_id: str
    answer: asyncio.Future[bool]


class Hub:
    """Wakes who waits for a workspace. All but ``start`` and ``tell`` belongs to the event loop in which ``start`` was
    called."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._waiting: dict[str, set[_Waiting]] = {}
        self._changed_at: dict[str, float] = {}  # each workspace that has changed since ``_listens_since``
        self._listens_since: float | None = None  # None while notices are not received
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="gateway-listen", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin to listen."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def stop(self) -> None:
        """Let all go who wait."""
        self._stop.set()
        for workspace_id in list(self._waiting):
            self._answer(workspace_id, False)

    def join(self) -> None:
        """After ``stop``, wait until nothing is heard any more."""
        self._thread.join()

    async def wait(self, workspace_id: str, token_id: str, mark: float | None, seconds: float) -> Heard:
        """Wait until the workspace has changed since ``mark``, or so long; without a mark, not at all.

        Raises JobError: TEAM_UNREACHABLE while notices are not received, and what ``end`` is given.
        """
        since = self._listens_since
        if since is not None and (mark is None or max(since, self._changed_at.get(workspace_id, since)) > mark):
            return Heard(True, time.time())
        waiting = _Waiting(token_id, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(workspace_id, set()).add(waiting)
        try:
            changed = False if self._stop.is_set() else await asyncio.wait_for(waiting.answer, seconds)
        except TimeoutError:
            changed = False
        finally:
            others = self._waiting.get(workspace_id, set())
            others.discard(waiting)
            if not others:
                self._waiting.pop(workspace_id, None)
        if not changed and self._listens_since is None:
            raise JobError("TEAM_UNREACHABLE", "The gateway cannot use its database now. Its log says why.")
        return Heard(changed, time.time())

    def tell(self, workspace_id: str) -> None:
        """The workspace has changed. From any thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._change, workspace_id)

    def end(self, workspace_id: str, token_id: str, error: JobError) -> None:
        """Who waits for the workspace with this token gets this error. From any thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._fail, workspace_id, error, token_id)

    # --- in the event loop ---

    def _change(self, workspace_id: str) -> None:
        self._changed_at[workspace_id] = time.time()
        self._answer(workspace_id, True)

    def _answer(self, workspace_id: str, changed: bool) -> None:
        for _, answer in self._waiting.get(workspace_id, ()):
            if not answer.done():
                answer.set_result(changed)

    def _fail(self, workspace_id: str, error: JobError, token_id: str | None = None) -> None:
        for waiting in self._waiting.get(workspace_id, ()):
            if token_id in (None, waiting.token_id) and not waiting.answer.done():
                waiting.answer.set_exception(error)

    def _listens(self) -> None:
        """What happened before is not known: all look."""
        self._listens_since = time.time()
        self._changed_at.clear()
        for workspace_id in list(self._waiting):
            self._answer(workspace_id, True)

    def _listens_not(self, error: JobError) -> None:
        self._listens_since = None
        for workspace_id in list(self._waiting):
            self._fail(workspace_id, error)

    # --- the thread ---

    def _listen(self) -> None:
        assert self._loop is not None
        begin = partial(self._loop.call_soon_threadsafe, self._listens)
        while not self._stop.is_set():
            try:
                with self._server.connection_of_its_own() as connection:
                    notices.listen(connection, begin, self.tell, self._stop.is_set)
            except JobError as error:
                log.warning("notices are not received: %s", error)
                self._loop.call_soon_threadsafe(self._listens_not, error)
                self._stop.wait(_AGAIN_SECONDS)


@dataclass(slots=True)
class _Machine:
    caller: Caller
    checked_at: float
    changes: dict[_Place, str | None] = field(default_factory=dict)  # its workspaces; the last change of each
    asked_at: dict[_Place, float] = field(default_factory=dict)


class Polls:
    """Thread-safe. ``tell`` is called for a workspace that has changed, ``end`` for one that may not be waited for any
    more, with the token's id and the reason."""

    def __init__(self, server: Server, tell: Callable[[str], None], end: Callable[[str, str, JobError], None]) -> None:
        self._server = server
        self._tell = tell
        self._end = end
        self._machines: dict[bytes, _Machine] = {}  # by the digest of what a request says of its token
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gateway-polls", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End after the present look, and wait for it."""
        self._stop.set()
        self._thread.join()

    def caller(self, authorization: str | None) -> Caller | None:
        """Whose request this is, as of the last look; None if that is not known."""
        with self._lock:
            machine = self._machines.get(_digest(authorization))
            is_known = machine is not None and time.monotonic() - machine.checked_at < _KNOWN_SECONDS
            return machine.caller if machine is not None and is_known else None

    def may_wait(self, authorization: str | None, workspace_id: str, node: str) -> bool:
        """Whether the machine was seen to see the workspace. If so, it is looked up from now on."""
        with self._lock:
            machine = self._machines.get(_digest(authorization))
            if machine is None or (workspace_id, node) not in machine.changes:
                return False
            machine.asked_at[workspace_id, node] = time.monotonic()
            return True

    def add(self, authorization: str | None, caller: Caller, workspace_id: str, node: str) -> None:
        """Note a machine that was just seen to see the workspace."""
        now = time.monotonic()
        with self._lock:
            machine = self._machines.setdefault(_digest(authorization), _Machine(caller, now))
            machine.changes.setdefault((workspace_id, node), None)
            machine.asked_at[workspace_id, node] = now

    def _run(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            try:
                self.look()
            except JobError as error:
                log.warning("who waits is not looked up: %s", error)
            except Exception:  # this thread must not end
                log.exception("who waits is not looked up")

    def look(self) -> None:
        """Look for all machines. Raises JobError as ``Server.connection``."""
        with self._lock:
            machines = list(self._machines.items())
        for digest, machine in machines:
            self._look_for(digest, machine)

    def _look_for(self, digest: bytes, machine: _Machine) -> None:
        with self._lock:
            waits_since = time.monotonic() - _KNOWN_SECONDS
            for place in [place for place, at in machine.asked_at.items() if at < waits_since]:
                del machine.changes[place], machine.asked_at[place]
            known = dict(machine.changes)
            if not known:
                self._machines.pop(digest, None)
                return
        found: dict[_Place, str | None] = {}
        with self._server.connection() as connection, connection.transaction():
            is_in_force = people.is_in_force(connection, machine.caller.token_id)
            for place in known if is_in_force else ():
                found[place] = self._look_at(connection, machine.caller, place, known[place])
        with self._lock:
            machine.checked_at = time.monotonic()
            for place in known:
                if found.get(place) is None:
                    machine.changes.pop(place, None)
                    machine.asked_at.pop(place, None)
                elif place in machine.changes:
                    machine.changes[place] = found[place]
            if not is_in_force:
                self._machines.pop(digest, None)
        for workspace_id, node in known:
            if found.get((workspace_id, node)) is None:
                error = unknown() if is_in_force else unreached.refused_by_gateway()
                self._end(workspace_id, machine.caller.token_id, error)

    def _look_at(self, connection: Connection, caller: Caller, place: _Place, known: str | None) -> str | None:
        """The last change of a workspace, after telling of what nobody has told; None if the person may not see it."""
        workspace_id, node = place
        name_person(connection, caller.person, workspace_id, caller.token_id)
        registered = rows.registered(connection, workspace_id)
        if registered is None or not people.may_see(connection, caller.person, workspace_id):
            return None
        copies.note_seen(connection, workspace_id, named(caller, node))
        if known not in (None, registered.position.change):
            self._tell(workspace_id)
        return registered.position.change


def _digest(authorization: str | None) -> bytes:
    return sha256((authorization or "").encode()).digest()
