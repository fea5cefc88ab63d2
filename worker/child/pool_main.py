"""The child process of a pool: as ``main``, over the copies of many workspaces, one after another.

The embedding model and the connections to the team stay loaded between them.
"""

from __future__ import annotations

import sys
from functools import lru_cache, partial
from pathlib import Path

from bridge.embedding.factory import create
from bridge.graph.open_stores import Stores
from bridge.interface.envelope import exit_now
from bridge.store.opening import forgive_opening
from bridge.team import opening
from bridge.team.postgres_team import PostgresTeam
from bridge.team.server import PersonsConnections
from jobs.layout import Workspace

from .main import Pipes, Server, prepare


def main() -> int:
    """``python -m worker.child.pool_main FOLDER PARENT``. The copy of a workspace is ``FOLDER/<its id>``."""
    answers, settings = prepare(int(sys.argv[2]))
    folder = Path(sys.argv[1])
    load_embedder = lru_cache(maxsize=1)(partial(create, bulk=True))
    server = opening.server_of(settings)
    opened: dict[tuple[str, str | None], Stores] = {}

    def leave() -> None:
        for workspace_id, _ in opened:
            forgive_opening(Workspace(folder / workspace_id))

    pipes = Pipes(answers, leave)

    def close() -> None:
        while opened:
            _, stores = opened.popitem()
            stores.__exit__(None, None, None)

    def stores_of(workspace_id: str | None, person: str | None) -> Stores:
        assert workspace_id is not None
        if (workspace_id, person) not in opened:
            close()
            connections = server if person is None else PersonsConnections(server, person, workspace_id)
            opened[workspace_id, person] = Stores(
                Workspace(folder / workspace_id),
                settings,
                pipes.loading,
                load_embedder=load_embedder,
                team=PostgresTeam(connections),
            )
        return opened[workspace_id, person]

    pipes.loading(False)
    try:
        Server(pipes, stores_of, close).serve()
    finally:
        close()
        server.close()
    return 0


if __name__ == "__main__":
    exit_now(main())  # as the child of one workspace
