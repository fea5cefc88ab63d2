"""The knowledge graph: cognee's stores.

Every memory is written as DataPoints under derived ids, so that writing it again changes nothing. cognee's
embedding engine is given our own embedder and its cache: each text is embedded once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async

from jobs.errors import JobError
from jobs.layout import Workspace

from ..embedding.embedder import Embedder, Vectors
from ..memory import Memory
from ..privacy.masking import trace
from ..store.extractions import Extraction
from . import (
    cognee_audit,
    cognee_cognify,
    cognee_llm,
    cognee_search,
    cognee_upkeep,
    cognee_writing,
    graph_files,
    lance,
)
from .cognee_audit import GraphComparison, Wanted
from .cognee_embeddings import SharedEmbeddings, give_embeddings
from .cognee_opening import Engines, unavailable
from .cognee_process import run
from .llm_budget import Meter

if TYPE_CHECKING:
    from .cognee_picture import Picture

log = logging.getLogger(__name__)

T = TypeVar("T")

_MANY_VERSIONS = 80  # of a vector table: more are not left to maintenance, which waits for an idle moment
_LARGE_LOG_BYTES = 32 * 1024 * 1024  # of the graph: folded in between two writes


class CogneeStore:
    """cognee's stores of one workspace, in a process that nobody else shares. Not thread-safe."""

    def __init__(self, workspace: Workspace, embedder: Embedder, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self._workspace = workspace
        self._embeddings = SharedEmbeddings(embedder, embed)
        self._unsynced = lance.LanceSync(graph_files.databases_of(workspace))
        self._engines = Engines(workspace)
        give_embeddings(self._embeddings)

    def open(self) -> graph_files.GraphState:
        """As ``Engines.open``."""
        return self._engines.open()

    def open_without_repair(self) -> None:
        """As ``Engines.open_without_repair``."""
        self._engines.open_without_repair()

    def close(self) -> bool:
        """As ``Engines.close``."""
        return self._engines.close()

    # --- writing ---

    def write(self, memories: Sequence[Memory], superseded: Sequence[tuple[str, str]] = ()) -> None:
        """Write memories with all their nodes and edges; again is the same as once.

        ``superseded`` are pairs of a record and one of its sources; those become edges of which both are there.
        Raises GRAPH_UNAVAILABLE when the stores are gone, GRAPH_WRITE_FAILED when cognee refuses.
        """
        if memories:
            self._guarded(cognee_writing.write(memories, superseded, self._unsynced.sync))

    def set_status(self, memory: Memory) -> None:
        """Change a node's status without embedding anything."""
        self._guarded(cognee_writing.set_status(memory))

    def delete(self, memory_ids: Sequence[str]) -> None:
        """Remove memories' nodes, edges and vectors, and what they alone were linked to; again is the same as once.

        Raises as ``write`` does.
        """
        if memory_ids:
            self._guarded(cognee_writing.delete(memory_ids, self._unsynced.sync))

    def extract(self, memory_id: str, text: str, meter: Meter, pause: Callable[[], None]) -> Extraction:
        """Have cognee read a text, and write what it finds, at the expense of a job. ``pause`` as of ``do``.

        Raises what the language model failed with, else as ``do``.
        """
        return self.do(cognee_llm.metered(meter, cognee_cognify.extract(memory_id, text)), pause)

    def write_findings(self, found: Extraction) -> None:
        """Write what cognee had found in texts, without a language model; again is the same as once."""
        self.do(cognee_cognify.write(found))

    def remove_findings(self, found: Extraction) -> None:
        """Remove nodes and edges that were found in texts, with their vectors; again is the same as once."""
        self.do(cognee_cognify.remove(found))

    def written_of(self, memory_ids: Sequence[str]) -> Extraction:
        """What cognee says it has written of these memories' texts, in looks that were cut off as well."""
        return self.do(cognee_cognify.written(memory_ids))

    def clear_texts(self, memory_ids: Sequence[str]) -> None:
        """Remove what cognee keeps of these memories' texts beside the graph: their files, and every row about them."""
        self.do(cognee_cognify.clear(memory_ids))

    def topics(self, memory_ids: Sequence[str]) -> list[str]:
        """The ids of the topics that memories are about. A topic's node may have its name from any of its memories.

        Raises as ``write`` does.
        """
        return self._guarded(cognee_writing.topics(memory_ids)) if memory_ids else []

    def _guarded(self, work: Coroutine[Any, Any, T]) -> T:
        self._embeddings.failure = None
        try:
            return run(work)
        except Exception as error:
            raise self._refusal(error) from error

    def _refusal(self, error: Exception) -> JobError:
        """What an error of cognee's means: a provider's, the disk's, the stores', or the content's own."""
        if self._embeddings.failure is not None:
            return self._embeddings.failure
        log.error("cognee refused a write: %s", trace(error))
        if self._engines.has_no_room():
            return JobError("DISK_FULL")
        gone = graph_files.access_error(self._workspace) or self._engines.try_to_open(reading_all=True)
        if gone is not None:
            return unavailable(gone)
        return JobError("GRAPH_WRITE_FAILED", f"cognee raised {type(error).__name__} while writing.")

    def do(self, work: Coroutine[Any, Any, T], pause: Callable[[], None] = lambda: None) -> T:
        """Long work of cognee's own over these stores, as ``Engines.work``. Else raises as ``write`` does."""
        self._embeddings.failure = None
        try:
            return self._engines.work(work, pause)
        except JobError:
            raise
        except Exception as error:
            raise self._refusal(error) from error

    # --- upkeep ---

    def sync(self) -> None:
        """Bring what was written to the medium. Ladybug syncs its log by itself, and SQLite its file."""
        self._unsynced.sync()
        self.checkpoint(_LARGE_LOG_BYTES)
        for table in lance.overgrown(graph_files.vectors_of(self._workspace), _MANY_VERSIONS):
            self.compact(table)  # each further write would look through all of them

    def checkpoint(self, log_bytes: int) -> None:
        """As ``cognee_upkeep.checkpoint``."""
        cognee_upkeep.checkpoint(self._workspace, self._engines, log_bytes)

    def overgrown(self) -> list[str]:
        """The vector tables that have gathered so many files that ``compact`` is due."""
        return lance.overgrown(graph_files.vectors_of(self._workspace))

    def compact(self, table: str) -> None:
        """As ``cognee_upkeep.compact``."""
        cognee_upkeep.compact(table, self._unsynced.sync)

    def scrub(self) -> None:
        """As ``cognee_upkeep.scrub``. Raises as ``write`` does."""
        self._guarded(cognee_upkeep.scrub(self._unsynced.sync))

    def memory_count(self) -> int:
        """As ``cognee_upkeep.memory_count``; 0 where the tables cannot say it, so that the caller looks closely."""
        try:
            return run(cognee_upkeep.memory_count())
        except Exception as error:
            log.error("the graph's memories cannot be counted: %s", trace(error))
            return 0

    def missing(self, memories: Iterable[Sequence[Memory]]) -> list[str]:
        """As ``cognee_upkeep.missing``."""
        return cognee_upkeep.missing(self._engines, memories)

    # --- looking ---

    def compare(self, wanted: Wanted) -> GraphComparison:
        """Everything that is held, compared with what is wanted. Changes nothing. Raises GRAPH_UNAVAILABLE."""
        try:
            return run(cognee_audit.compare(wanted))
        except Exception as error:
            raise unavailable(error) from error

    def node(self, memory_id: str) -> dict[str, Any] | None:
        """A node's properties as cognee has them."""

        async def get() -> dict[str, Any] | None:
            found: dict[str, Any] | None = await (await get_graph_engine()).get_node(memory_id)
            return found

        return run(get())

    def neighbours(self, memory_id: str) -> list[tuple[str, dict[str, Any]]]:
        """The edges of a node: relationship name and the node at the other end."""

        async def get() -> list[tuple[str, dict[str, Any]]]:
            edges = await (await get_graph_engine()).get_edges(memory_id)
            return [(edge[1], edge[2] if edge[0].get("id") == memory_id else edge[0]) for edge in edges]

        return run(get())

    def search(self, text: str, collection: str, limit: int) -> list[tuple[str, float]]:
        """cognee's own vector search: node ids and cosine distances, nearest first."""

        async def find() -> list[tuple[str, float]]:
            engine = await get_vector_engine_async()
            found = await engine.search(collection, query_text=text, limit=limit)
            return [(str(result.id), float(result.score)) for result in found]

        return run(find())

    def ask(self, question: str, top_k: int, meter: Meter | None) -> cognee_search.Answer:
        """cognee's answer from the graph: in prose at the expense of a job, or without a meter its context alone.

        Raises what the language model failed with, else as ``do``.
        """
        if meter is None:
            return self.do(cognee_search.search(question, top_k, in_prose=False))
        return self.do(cognee_llm.metered(meter, cognee_search.search(question, top_k, in_prose=True)))

    def picture(self, memory_ids: Sequence[str]) -> Picture:
        """The page that shows these memories. Raises as ``write`` does."""
        from . import cognee_picture  # half a second that only a picture needs

        async def work() -> Picture:
            return await cognee_picture.draw(await get_graph_engine(), memory_ids)

        try:
            return run(work())
        except Exception as error:
            raise self._refusal(error) from error

    def counts(self) -> tuple[int, int]:
        """Nodes and edges in the graph."""

        async def count() -> tuple[int, int]:
            nodes, edges = await (await get_graph_engine()).get_graph_counts()
            return int(nodes), int(edges)

        return run(count())
