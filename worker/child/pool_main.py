"""The child process of a pool: as ``main``, over the copies of many workspaces, one after another.

The embedding model and the connections to the team stay loaded between them.
"""

from __future__ import annotations

import sys
from functools import lru_cache, partial
from pathlib import Path

from bridge.embedding.factory import create
from bridge.graph.open_stores import Stores
from bridge.store.opening import forgive_opening
from bridge.team import opening
from jobs.layout import Workspace

from .main import Pipes, Server, prepare


def main() -> int:
    """``python -m worker.child.pool_main FOLDER PARENT``. The copy of a workspace is ``FOLDER/<its id>``."""
    answers, settings = prepare(int(sys.argv[2]))
    folder = Path(sys.argv[1])
    load_embedder = lru_cache(maxsize=1)(partial(create, bulk=True))
    team = opening.team_of(settings)
    opened: dict[str, Stores] = {}

    def leave() -> None:
        for workspace_id in opened:
            forgive_opening(Workspace(folder / workspace_id))

    pipes = Pipes(answers, leave)

    def loading(is_loading: bool) -> None:
        pipes.send({"loading": is_loading})

    def close() -> None:
        while opened:
            _, stores = opened.popitem()
            stores.__exit__(None, None, None)

    def stores_of(workspace_id: str | None) -> Stores:
        assert workspace_id is not None
        if workspace_id not in opened:
            close()
            workspace = Workspace(folder / workspace_id)
            opened[workspace_id] = Stores(workspace, settings, loading, load_embedder=load_embedder, team=team)
        return opened[workspace_id]

    loading(False)
    try:
        Server(pipes, stores_of, close).serve()
    finally:
        close()
        team.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
