"""The memory store of a workspace as a process that writes keeps it: opened when it is first needed, with its embedder,
and in a team with the team.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from jobs.errors import JobError
from jobs.layout import Workspace

from ..embedding.config import EmbeddingConfig
from ..embedding.embedder import Embedder
from ..embedding.factory import create, earlier
from ..embedding.local_models import changes_by_itself, config_of
from ..settings import Settings
from ..slices import Progress, ignore_progress
from ..team import membership
from . import mounts, opening

if TYPE_CHECKING:
    from ..team.membership import Membership
    from ..team.postgres_team import PostgresTeam
    from ..team.protocol import Team
    from .memories import Memories
    from .store import Store

_LOCK_PATIENCE_SECONDS = 15.0  # the child of an earlier worker may still be closing its stores


class OpenStore:
    """Not thread-safe. ``close`` ends it, and the next use opens what is there then."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        loading: Callable[[bool], None] = lambda _: None,
        *,
        load_embedder: Callable[[EmbeddingConfig], Embedder] | None = None,
        team: Team | None = None,
    ) -> None:
        """``loading`` is called with True before, and with False after, a step that takes seconds once per process.

        ``load_embedder`` and ``team`` are what the stores of several workspaces share; the caller closes the team.
        """
        self.workspace = workspace
        self.settings = settings
        self._on_loading = loading
        self._embedder: Embedder | None = None
        self._is_embedder_earlier = False
        self._store: Store | None = None
        self._bulk = load_embedder or partial(create, bulk=True)
        self._shared_team = team
        self._team: tuple[Membership, Team] | None = None
        self._lease: int | None = None

    def close(self) -> None:
        """Close the store, and the team unless it is shared."""
        store, self._store = self._store, None
        if store is not None:
            store.checkpoint()
            store.close()
        team, self._team = self._team, None
        if team is not None and self._shared_team is None:
            team[1].close()

    @property
    def is_in_team(self) -> bool:
        """Whether the workspace belongs to a team. Raises JobError: SETTING_INVALID."""
        return self.team is not None

    @property
    def host(self) -> PostgresTeam | None:
        """The team, where its jobs run; None elsewhere: there, jobs read the files of their own machine."""
        if self.team is None:
            return None
        from ..team.postgres_team import PostgresTeam

        reached = self.team[1]
        return reached if isinstance(reached, PostgresTeam) else None

    def use_lease(self, number: int | None) -> None:
        """In a team: the lease under which the next changes are committed."""
        self._lease = number
        if self._store is not None:
            self._store.use_lease(number)

    @property
    def team(self) -> tuple[Membership, Team] | None:
        """The workspace's team; None if it has none. Raises JobError: SETTING_INVALID."""
        if self._team is None:
            found = membership.membership_of(self.workspace, self.settings.config_folder)
            if found is not None:
                from ..team import opening  # only a team needs a client of its own

                reach = opening.whole_team_of if found.is_pool else opening.team_of
                self._team = (found, self._shared_team or reach(self.settings))
        return self._team

    @contextmanager
    def loading(self) -> Iterator[None]:
        """A step that takes seconds once per process, for the block."""
        self._on_loading(True)
        try:
            yield
        finally:
            self._on_loading(False)

    @property
    def embedder(self) -> Embedder:
        """The embedder of the store's vectors, for bulk work: the one that the settings name, or the earlier one if the
        store is still to be embedded with the new one. Raises JobError: MODEL_MISSING, EMBEDDING_CONFIG."""
        if self._embedder is None:
            recorded = None
            with contextlib.suppress(JobError):  # opening the store reports it
                recorded = opening.embedder_of(self.workspace)
            with self.loading():
                former = earlier(recorded, self.settings.embedding, self._bulk)
                self._is_embedder_earlier = former is not None
                self._embedder = former or self._bulk(self.settings.embedding)
        return self._embedder

    def rebuild_vectors(self, progress: Progress = ignore_progress) -> int:
        """Rebuild the vectors with the model that the settings name, and switch to them. Returns the number of
        passages. Until the switch, jobs in the pauses use the earlier model.

        Raises JobError: STORE_BUSY during another rebuild, and as ``open_store``.
        """
        store = self.open_store(new_model=True)
        target = self.embedder
        if self._is_embedder_earlier:
            with self.loading():
                target = self._bulk(self.settings.embedding)
        count = store.rebuild_vectors(progress, target)
        if target is not self._embedder:
            self._embedder, self._is_embedder_earlier = target, False
        return count

    @property
    def store(self) -> Store:
        """The memory store, opened if necessary. Raises as ``open_store``."""
        return self.open_store()

    def store_if_open(self) -> Store | None:
        """The memory store, if something has opened it."""
        return self._store

    def team_if_open(self) -> Team | None:
        """The team, if the open store belongs to one."""
        return None if self._team is None else self._team[1]

    def open_store(self, *, new_model: bool = False) -> Store:
        """The memory store, opened if necessary; ``new_model`` for the rebuild with a new embedding model.

        Raises JobError: STORE_BUSY, STORE_NEWER, STORE_UNREADABLE, EMBEDDER_MISMATCH, EMBEDDER_CHANGING, MODEL_MISSING.
        """
        if self._store is not None and self._store.model_changed and not new_model:
            if self._store.is_rebuilding:  # this job runs in a pause of the rebuild
                raise JobError("EMBEDDER_CHANGING")
            self._store.close()  # a rebuild was interrupted: the store still has the vectors of the former model
            self._store = None
        if self._store is None:
            self._forget_other_embedder()
            deadline = time.monotonic() + _LOCK_PATIENCE_SECONDS
            while True:
                try:
                    mounts.require_safe(self.workspace, self.settings.allow_unsafe_mount)
                    embedder = self.embedder
                    with self.loading():  # opening rebuilds a damaged index
                        self._store = opening.open_store(self.workspace, embedder, new_model=new_model, team=self.team)
                    self._store.use_lease(self._lease)
                    break
                except JobError as error:
                    if error.code == "EMBEDDER_MISMATCH" and self._changes_by_itself():
                        raise JobError("EMBEDDER_CHANGING", error.message) from None
                    if error.code != "STORE_BUSY" or time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)
        return self._store

    def _changes_by_itself(self) -> bool:
        return changes_by_itself(opening.embedder_of(self.workspace), self.settings.embedding)

    def _forget_other_embedder(self) -> None:
        """Drop the loaded embedder if the store has another one by now, such as after files were replaced."""
        if self._embedder is None:
            return
        recorded = opening.embedder_of(self.workspace)
        is_known = config_of(recorded, self.settings.embedding) is not None
        if recorded != self._embedder.identity and (self._is_embedder_earlier or is_known):
            self._embedder = None

    def open_for_reading(self) -> AbstractContextManager[Memories]:
        """The memories for reading, without opening the store; empty if nothing was ever stored.

        Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY.
        """
        return opening.open_memories(self.workspace)
