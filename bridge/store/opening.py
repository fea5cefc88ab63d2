"""Opens the store and its readers.

Importing it loads the reader of queries; the writer and everything else load when they are opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jobs.errors import JobError
from jobs.layout import Workspace

from ..embedding import local_models
from . import database
from .database import failing_clearly as failing_clearly
from .reader import StoreReader

if TYPE_CHECKING:
    from ..embedding.config import EmbeddingConfig
    from ..embedding.embedder import Embedder
    from ..team.membership import Membership
    from ..team.protocol import Team
    from .memories import Memories
    from .store import Store
    from .team.position import CopyState


def open_store(
    workspace: Workspace,
    embedder: Embedder,
    *,
    new_model: bool = False,
    team: tuple[Membership, Team] | None = None,
) -> Store:
    """The store with its one writer; ``new_model`` for the rebuild with a new embedding model. ``team``: for a
    workspace of a team.

    Raises JobError: STORE_BUSY, STORE_NEWER, STORE_UNREADABLE, EMBEDDER_MISMATCH; in a team as ``TeamStore``, too.
    """
    if team is not None:
        from ..team.rows import Author
        from .team.team_store import TeamStore

        membership, reached = team
        return TeamStore(
            workspace,
            embedder,
            reached,
            membership.workspace_id,
            Author(membership.node),
            may_share=membership.shares,
            name=membership.name,
        )
    from .store import Store  # imported here: only the child process writes

    return Store(workspace, embedder, new_model=new_model)


def trial_copy(workspace: Workspace, folder: Path, embedder: Embedder) -> Workspace | None:
    """A workspace in the new ``folder`` with this one's memories, embedded by ``embedder``; None if nothing was ever
    stored. Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY, DISK_FULL, and as ``Embedder.embed``."""
    from .store import Store

    trial = Workspace(folder)
    trial.memory.mkdir(mode=0o700, parents=True)
    with database.read_connection(workspace) as connection:
        if connection is None:
            return None
        connection.execute("VACUUM INTO ?", (str(trial.memory_db),))
    with closing(database.open_for_writing(trial)) as connection, database.transaction(connection):
        database.set_meta(connection, "embedder", "none")  # the copy has no vectors of any model
    with closing(Store(trial, embedder, new_model=True)) as store:
        store.rebuild_vectors()
    return trial


def require_model(workspace: Workspace, embedding: EmbeddingConfig) -> None:
    """Raise the error with which every job that stores memories would fail until a person has done something: the model
    that the settings name is not here, or cannot be reached with them; or it is another one than the store's, which
    serves while it is here.

    Raises JobError: MODEL_MISSING, MODEL_CORRUPT, EMBEDDING_CONFIG, EMBEDDER_MISMATCH.
    """
    recorded = None
    with suppress(JobError):  # a store that cannot be read is another problem
        recorded = embedder_of(workspace)
    if recorded not in (None, embedding.identity):
        former = local_models.known(recorded, embedding.cache_dir)
        if former is not None and former.is_installed(embedding.cache_dir):
            return
    local_models.require(embedding)
    if recorded not in (None, embedding.identity) and not local_models.changes_by_itself(recorded, embedding):
        message = f"The store was made with {recorded}; the settings name {embedding.identity}. Nothing was stored."
        raise JobError("EMBEDDER_MISMATCH", message)


def embedder_of(workspace: Workspace) -> str | None:
    """The identity of the embedder of the store's vectors; None if nothing was ever stored.

    Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY.
    """
    snapshot = reader_of(workspace).snapshot()
    if snapshot is None:
        return None
    try:
        return snapshot.vectors.embedder
    finally:
        snapshot.close()


def uncompared_in(workspace: Workspace) -> int:
    """How many memories were not compared with the others yet; 0 if memory.db cannot be read, as each job reports."""
    try:
        with reader_of(workspace).lists() as lists:
            return 0 if lists is None else lists.uncompared()
    except JobError:
        return 0


def copy_state(workspace: Workspace) -> CopyState:
    """How far memory.db is as a copy of a team's workspace. It opens no vectors.

    Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY.
    """
    from .team.position import copy_state

    return copy_state(workspace)


def workspace_id_of(workspace: Workspace) -> str | None:
    """The id of the workspace, from which its memories' ids are derived; None if nothing was ever stored.

    Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY.
    """
    with database.read_connection(workspace) as connection:
        return None if connection is None else database.meta(connection, "workspace_id")


def known_format() -> int:
    """The latest format of memory.db that this program knows."""
    from .migrations import FORMAT

    return FORMAT


def leave_team(workspace: Workspace) -> None:
    """Make memory.db this machine's alone. Raises JobError: STORE_BUSY while a writer has it open."""
    if not workspace.memory_db.exists():
        return
    with (
        database.failing_clearly(),
        closing(database.open_for_writing(workspace)) as connection,
        database.transaction(connection),
    ):
        connection.execute(
            "DELETE FROM meta WHERE key IN ('team_seq', 'team_change', 'team_sharing', 'team_set_aside')"
        )


@contextmanager
def open_memories(workspace: Workspace) -> Iterator[Memories]:
    """The memories for reading, for the block, beside the writer. There are none if the store does not exist yet.

    Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY.
    """
    from .memories import Memories  # imported here: a query does not need it

    with database.read_connection(workspace) as connection:
        if connection is not None:
            yield Memories(connection)
            return
    with database.nothing_stored() as connection:
        yield Memories(connection)


def reader_of(workspace: Workspace, *, stays: bool = False) -> StoreReader:
    """The reader of the workspace's store. ``stays``: for a process of many questions, which keeps it."""
    return StoreReader(workspace, stays=stays)


def forgive_opening(workspace: Workspace) -> None:
    """Reset the count of openings of the graph that ended their process: this process ends on request.

    Safe from any thread, beside the writer of this process: it uses its own connection, and gives up instead of waiting
    for a lock. Raises nothing.
    """
    with suppress(sqlite3.Error):
        connection = sqlite3.connect(f"{workspace.memory_db.as_uri()}?mode=rw", uri=True, timeout=0.2)
        with closing(connection), connection:
            connection.execute("UPDATE meta SET value = '0' WHERE key = 'graph_openings'")
