"""rebuild: rebuilds derived data from memory.db: the search index, the knowledge graph, or both.

If the settings name another embedding model than the store's, it embeds the index again. Until the new index is
complete, the store answers and grows with the earlier model, if that is on this machine. A graph whose vectors are of
the earlier model is made again when it is opened next.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

from jobs import clock

from ..graph.open_stores import Stores
from . import Progress, Task

if TYPE_CHECKING:
    from jobs.payloads import Rebuild

    from ..interface.result_shapes import RebuildResult


def run(task: Task[Rebuild], stores: Stores, now: datetime, progress: Progress) -> RebuildResult:
    """Rebuild what the job names.

    The payload has ``what``: ``index``, ``graph`` or ``both``, which leaves out a graph that does not exist, or that
    cannot be made since cognee is not installed. The result has what was rebuilt, the counts of passages,
    memories and memories of the graph, and the seconds that it took. A job fails with STORE_BUSY during another
    rebuild, or with an error of the stores or the embedding provider. Readers use the former index until the new one is
    committed. A second run rebuilds again; embeddings come from the cache.
    """
    what = task.payload.what or "both"
    began = time.monotonic()
    result: RebuildResult = {"what": what, "seconds": 0.0}
    if what in ("index", "both"):
        result["passages"] = stores.rebuild_vectors(progress)
        result["memories"] = stores.store.rebuild_words(progress)
    if what == "both" and not stores.graph.is_editable:
        result["what"] = "index"
    elif what != "index":
        result["graph_memories"] = stores.graph.rebuild(clock.iso(now), progress)
    result["seconds"] = round(time.monotonic() - began, 3)
    return result
