"""Answers questions about large workspaces, from copies on the gateway's host: their machines keep none.

A copy is made when somebody first asks, and follows the team while it is here. It is read as any copy is; a child
process writes it, and sees of the database what row-level security shows to the person who asked last.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from functools import partial
from pathlib import Path
from typing import Any, cast

from bridge.embedding.factory import create
from bridge.interface.answer_shapes import Response
from bridge.search.reader import Reader, Verb
from bridge.settings import Settings
from bridge.store.opening import uncompared_in
from bridge.team.postgres_team import PostgresTeam
from bridge.team.rows import Position
from bridge.team.server import PersonsConnections, Server
from jobs import clock, files
from jobs.errors import JobError
from jobs.layout import Workspace

from ..child.supervisor import Child
from ..pool.copies import Copies
from ..team import copy_follower
from ..version import VERSION

log = logging.getLogger("gateway")

_PATIENCE_SECONDS = 10.0  # for a copy to follow; then it answers as it is
_LOOK_SECONDS = 30.0
_EMBEDDER = partial(create, stays=True)
_MOST_READERS = 8  # each keeps the index of a large workspace in memory


class Reading:
    """Thread-safe. One thread makes the copies follow."""

    def __init__(self, server: Server, settings: Settings, folder: Path, most: int) -> None:
        """``most``: how many copies are kept in the folder. Raises OSError."""
        self._server = server
        self._settings = settings
        self._copies = Copies(folder, settings.config_folder, most)
        self._child = Child(Workspace(folder), settings, is_pool=True)
        self._lock = threading.Condition()
        self._wanted: OrderedDict[str, str] = OrderedDict()  # workspace -> the person who asked last
        self._failed: dict[str, JobError] = {}
        self._readers: OrderedDict[str, Reader] = OrderedDict()
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name="gateway-copies", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after what is being applied."""
        with self._lock:
            self._is_stopped = True
            self._lock.notify_all()
        self._child.end_for_good()
        self._thread.join()
        self._child.close()

    def answer(self, person: str, workspace_id: str, verb: Verb, arguments: dict[str, Any], root: str) -> Response:
        """The answer, from a copy that has all changes if it can be had in some seconds.

        The caller has checked that the person may see the workspace. Raises JobError: TEAM_READER_BUSY while there is
        no copy yet, and what made following fail.
        """
        found = self._team(person, workspace_id).registered(workspace_id)
        if found is None:
            raise JobError("TEAM_NOT_SHARED")
        self._want(workspace_id, person, found.position)
        known = self._copies.positions().get(workspace_id)
        if known is None or known.position is None or not known.position.seq:
            raise JobError("TEAM_READER_BUSY")
        answer = self._reader(workspace_id).answer(verb, arguments, clock.now(), Workspace(Path(root)))
        behind = found.position.seq - known.position.seq
        if behind > 0 and "warnings" in answer:
            cast("dict[str, Any]", answer)["warnings"].append(
                f"The gateway's copy lacks the last {behind} changes: ask again for them."
            )
        return answer

    def _want(self, workspace_id: str, person: str, position: Position) -> None:
        """Wait until the copy has this position, for some seconds at most. Raises JobError if it cannot follow."""

        def is_done() -> bool:
            known = self._copies.positions().get(workspace_id)
            is_there = known is not None and known.position is not None and known.position.seq >= position.seq
            return is_there or self._is_stopped or workspace_id in self._failed

        with self._lock:
            self._failed.pop(workspace_id, None)
            if not is_done():
                self._wanted[workspace_id] = person
                self._lock.notify_all()
                self._lock.wait_for(is_done, _PATIENCE_SECONDS)
            if workspace_id in self._failed:
                raise self._failed.pop(workspace_id)

    def _place(self, workspace_id: str) -> Workspace:
        return Workspace(self._copies.folder / workspace_id)

    def _reader(self, workspace_id: str) -> Reader:
        with self._lock:
            reader = self._readers.pop(workspace_id, None)
            if reader is None:
                reader = Reader(
                    self._place(workspace_id), self._settings.embedding, _EMBEDDER, reranking=self._settings.reranking
                )
            self._readers[workspace_id] = reader
            while len(self._readers) > _MOST_READERS:
                self._readers.popitem(last=False)
            return reader

    # --- the thread ---

    def _run(self) -> None:
        looked_at = time.monotonic()
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._wanted or self._is_stopped, _LOOK_SECONDS)
                if self._is_stopped:
                    return
                wanted = list(self._wanted.items())
                self._wanted.clear()
            left = None
            if time.monotonic() - looked_at >= _LOOK_SECONDS:
                looked_at = time.monotonic()
                known = self._all()
                wanted += [each for each in known if each not in wanted]
                left = next((each for each in known if uncompared_in(self._place(each[0]))), None)
            for workspace_id, person in wanted:
                self._try(workspace_id, person)
            if left is not None:  # the child compares in its idle time what is open; one that was opened comes last
                self._try(*left, opens=True)

    def _all(self) -> list[tuple[str, str]]:
        """Every copy, with the person through whom it follows."""
        found = []
        for workspace_id in self._copies.positions():
            try:
                found.append((workspace_id, _person_file(self._copies.folder / workspace_id).read_text("utf-8")))
            except OSError as error:
                log.warning("the copy of %s does not follow: %s", workspace_id, error)
        return found

    def _try(self, workspace_id: str, person: str, *, opens: bool = False) -> None:
        failed = None
        try:
            self._follow(workspace_id, person, opens=opens)
        except JobError as error:
            failed = error
        except OSError as error:
            failed = JobError("TEAM_READER_BUSY", f"The gateway's copy cannot follow: {type(error).__name__}.")
        except Exception:
            log.exception("a copy could not follow")
            failed = JobError("INTERNAL", "The gateway's copy cannot follow.")
        if failed is not None:
            log.warning("the copy of %s does not follow: %s", workspace_id, failed)
        with self._lock:
            if failed is not None:
                self._failed[workspace_id] = failed
            self._lock.notify_all()

    def _follow(self, workspace_id: str, person: str, *, opens: bool) -> None:
        team = self._team(person, workspace_id)
        found = team.registered(workspace_id)
        if found is None:  # the workspace is gone, or this person may no longer see it
            self._copies.remove(workspace_id, lambda gone: None)
            raise JobError("TEAM_NOT_SHARED")
        known = self._copies.positions().get(workspace_id)
        is_current = known is not None and known.position == found.position and known.has_removed_all
        if is_current and not opens:
            return
        with self._copies.use(workspace_id) as copy:
            files.replace_without_sync(_person_file(copy.workspace.root), person.encode())
            self._child.workspace_id, self._child.person = workspace_id, person
            copy_follower.follow(self._child)
        seen = self._copies.positions()[workspace_id]
        if seen.position is None or seen.position.seq < found.position.seq:
            raise JobError("TEAM_READER_BUSY", "The gateway's copy could not follow: see the gateway's log.")
        team.note_copy(
            workspace_id,
            f"gateway/{copy.membership.node}",
            seen.position.seq,
            VERSION,
            seen.has_removed_all,
        )
        self._copies.remove_oldest(
            lambda gone: self._team(person, gone.workspace_id).remove_copy(gone.workspace_id, f"gateway/{gone.node}")
        )

    def _team(self, person: str, workspace_id: str) -> PostgresTeam:
        return PostgresTeam(PersonsConnections(self._server, person, workspace_id))


def _person_file(folder: Path) -> Path:
    return folder / "person"
