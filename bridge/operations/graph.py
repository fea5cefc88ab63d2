"""graph: delivers the outbox, then draws the knowledge graph as an HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from jobs import files
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

from ..graph.open_stores import Stores
from . import Outcomes, Progress, Task

if TYPE_CHECKING:
    from jobs.payloads import EmptyPayload

    from ..interface.result_shapes import GraphResult

_MOST_MEMORIES = 200  # a page with all of ten thousand would be unreadable


def run(tasks: Sequence[Task[EmptyPayload]], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    """Draw one page for all jobs.

    The payload is empty. The result has the page's path, the counts of nodes and edges, and how many memories are shown
    (the newest) and left out. All jobs fail with GRAPH_NOT_INSTALLED, GRAPH_UNAVAILABLE, DISK_FULL or an error of the
    embedding provider. A second run replaces the page.
    """
    try:
        stores.graph.deliver_all(progress)
        newest = stores.store.newest(_MOST_MEMORIES)
        picture = stores.graph.open().picture(newest)
        files.replace(stores.workspace.picture, picture.page.encode())
    except JobError as error:
        return {task.job_id: Failed(error) for task in tasks}
    result: GraphResult = {
        "path": str(stores.workspace.picture),
        "nodes": picture.nodes,
        "edges": picture.edges,
        "memories": len(newest),
        "memories_left_out": stores.store.count() - len(newest),
    }
    return {task.job_id: Succeeded(result) for task in tasks}
