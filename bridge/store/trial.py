"""A copy of a store for a trial: with the vectors of another embedding model, in a folder of its own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from jobs.layout import Workspace

from ..embedding.embedder import Embedder
from . import database
from .store import Store


def copied(workspace: Workspace, folder: Path, embedder: Embedder) -> Workspace | None:
    """As ``opening.trial_copy``."""
    trial = Workspace(folder)
    trial.memory.mkdir(mode=0o700, parents=True)
    with database.failing_clearly(), database.read_connection(workspace) as connection:
        if connection is None:
            return None
        connection.execute("VACUUM INTO ?", (str(trial.memory_db),))
    with closing(database.open_for_writing(trial)) as connection, database.transaction(connection):
        database.set_meta(connection, "embedder", "none")  # the copy has no vectors of any model
    store = Store(trial, embedder, new_model=True)
    try:
        store.rebuild_vectors()
    finally:
        store.close()
    return trial
