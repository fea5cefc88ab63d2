"""graph: delivers the outbox, then draws the knowledge graph as an HTML page."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

from jobs import files

from ..graph.open_stores import Stores
from ..search import standings
from ..search.snapshot import open_snapshot
from . import Progress, Task

if TYPE_CHECKING:
    from jobs.payloads import EmptyPayload

    from ..interface.result_shapes import GraphResult

_MOST_MEMORIES = 200  # a page with all of ten thousand would be unreadable


def run(task: Task[EmptyPayload], stores: Stores, now: datetime, progress: Progress) -> GraphResult:
    """Draw the page.

    The payload is empty. The result has the page's path, the counts of nodes and edges, and how many memories are shown
    (the newest) and left out. The job fails with GRAPH_NOT_INSTALLED, GRAPH_UNAVAILABLE, DISK_FULL or an error of the
    embedding provider. A second run replaces the page.
    """
    stores.graph.deliver_all(progress)
    newest = stores.store.newest(_MOST_MEMORIES)
    picture = stores.graph.open().picture(newest, _remarks(newest, stores))
    files.replace(stores.workspace.picture, picture.page.encode())
    return {
        "path": str(stores.workspace.picture),
        "nodes": picture.nodes,
        "edges": picture.edges,
        "memories": len(newest),
        "memories_left_out": stores.store.count() - len(newest),
    }


def _remarks(memory_ids: list[str], stores: Stores) -> dict[tuple[str, str], str]:
    """A memory's id and a decision of it -> what became of it, if it does not hold any more or is disputed."""
    snapshot = open_snapshot(stores.workspace)
    if snapshot is None:
        return {}
    with closing(snapshot):
        memories = filter(None, map(stores.store.get, memory_ids))
        return {
            (memory.id, decision): remark
            for memory in memories
            for decision, remark in standings.remarks(snapshot.standings, memory, snapshot.memories).items()
        }
