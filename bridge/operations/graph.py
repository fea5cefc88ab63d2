"""graph: delivers the outbox, then draws the knowledge graph as an HTML page."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from jobs import files

from ..graph.open_stores import Stores
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
    picture = stores.graph.open().picture(newest)
    files.replace(stores.workspace.picture, picture.page.encode())
    return {
        "path": str(stores.workspace.picture),
        "nodes": picture.nodes,
        "edges": picture.edges,
        "memories": len(newest),
        "memories_left_out": stores.store.count() - len(newest),
    }
