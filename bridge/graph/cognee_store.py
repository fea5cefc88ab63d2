"""The knowledge graph in cognee's stores: one class with all operations that the other modules use.

Memories are written as DataPoints under derived ids, so writes are idempotent. cognee uses our embedder and its cache,
so each text is embedded once.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from cognee.infrastructure.databases.graph import get_graph_engine

from jobs.errors import JobError
from jobs.layout import Workspace

from .. import critical
from ..embedding.embedder import Embedder, Vectors
from ..memory import Memory
from ..privacy.masking import trace
from ..store.graph_content import ExpectedGraph
from ..store.values import Extraction
from . import cognee_audit, cognee_cognify, cognee_search, cognee_upkeep, cognee_writing, graph_files, lance
from .cognee_audit import GraphComparison, Wanted
from .cognee_opening import Engines, SharedEmbeddings, give_embeddings, unavailable
from .cognee_process import run
from .llm_budget import Meter

if TYPE_CHECKING:
    from .cognee_picture import Picture

log = logging.getLogger(__name__)

T = TypeVar("T")

_MANY_VERSIONS = 80  # of a vector table; beyond them it is compacted at once, not in idle maintenance
_LARGE_LOG_BYTES = 32 * 1024 * 1024  # of the graph; beyond it, a checkpoint runs between two writes


class CogneeStore:
    """cognee's stores of one workspace, which this process does not share. Not thread-safe."""

    def __init__(self, workspace: Workspace, embedder: Embedder, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self._workspace = workspace
        self._embeddings = SharedEmbeddings(embedder, embed)
        self._unsynced = lance.LanceSync(graph_files.databases_of(workspace))
        self._engines = Engines(workspace)
        self._identity: tuple[int, int] | None = None
        self.is_broken = False  # found by a write or a read: the stores must be opened and compared again
        give_embeddings(self._embeddings)

    def open(self) -> bool:
        """As ``Engines.open``."""
        existed = self._engines.open()
        self._identity = graph_files.graph_identity(self._workspace)
        return existed

    def is_in_place(self) -> bool:
        """Whether the open graph's file is still at its path: it was neither removed nor replaced."""
        return self._identity is not None and graph_files.graph_identity(self._workspace) == self._identity

    def close(self) -> bool:
        """As ``Engines.close``; False also if the stores are broken."""
        return self._engines.close() and not self.is_broken

    # --- writing ---

    def write(self, memories: Sequence[Memory], superseded: Sequence[tuple[str, str]] = ()) -> None:
        """Write memories with all their nodes and edges. Idempotent.

        ``superseded``: (record id, source id); pairs of existing nodes become edges. Raises JobError:
        GRAPH_UNAVAILABLE when the stores cannot be used, GRAPH_WRITE_FAILED when cognee fails, DISK_FULL, and the
        errors of the embedder.
        """
        if memories:
            self.do(cognee_writing.write(memories, superseded, self._unsynced.sync))

    def delete(self, memory_ids: Sequence[str]) -> None:
        """Remove memories' nodes, edges and vectors, and the nodes to which only they linked. Idempotent.

        Raises as ``write``.
        """
        if memory_ids:
            self.do(cognee_writing.delete(memory_ids, self._unsynced.sync))

    def extract(self, memory_id: str, text: str, meter: Meter, pause: Callable[[], None]) -> Extraction:
        """Let cognee extract nodes and edges from a text and write them, on a job's budget. ``pause`` as in ``do``.

        Raises as ``do``, and JobError: LLM_… codes.
        """
        return self.do(_metered(meter, cognee_cognify.extract(memory_id, text)), pause)

    def write_findings(self, found: Extraction) -> None:
        """Write an extraction again, without the language model. Idempotent. Raises as ``do``."""
        self.do(cognee_cognify.write(found))

    def remove_findings(self, found: Extraction) -> None:
        """Remove an extraction's nodes and edges, with their vectors. Idempotent. Raises as ``do``."""
        self.do(cognee_cognify.remove(found))

    def written_of(self, memory_ids: Sequence[str]) -> Extraction:
        """The nodes and edges that cognee recorded for these memories' texts, also those of interrupted runs."""
        return self.do(cognee_cognify.written(memory_ids))

    def clear_texts(self, memory_ids: Sequence[str]) -> None:
        """Remove what cognee stores of these memories' texts outside the graph: their files and all rows about them."""
        self.do(cognee_cognify.clear(memory_ids))

    def topics(self, memory_ids: Sequence[str]) -> list[str]:
        """The ids of the topics of the memories, from the graph. Raises as ``write``."""
        return self.do(cognee_writing.topics(memory_ids)) if memory_ids else []

    def _as_job_error(self, error: Exception) -> JobError:
        """The JobError for an error of cognee: of the embedder, the disk, the stores, or the content."""
        if self._embeddings.failure is not None:
            return self._embeddings.failure
        log.error("cognee refused a write: %s", trace(error))
        if graph_files.has_no_room(self._workspace):
            return JobError("DISK_FULL")
        failure = graph_files.access_error(self._workspace) or self._engines.try_to_open(reading_all=True)
        if failure is not None:
            self.is_broken = True
            return unavailable(failure)
        return JobError("GRAPH_WRITE_FAILED", f"cognee raised {type(error).__name__} while writing.")

    def do(self, work: Coroutine[Any, Any, T], pause: Callable[[], None] = lambda: None) -> T:
        """Run long work of cognee over these stores, as ``Engines.work``. Raises as it does, and as ``write``."""
        self._embeddings.failure = None
        try:
            return self._engines.work(work, pause)
        except JobError:
            raise
        except Exception as error:
            raise self._as_job_error(error) from error

    # --- upkeep ---

    def sync(self) -> None:
        """Force all writes to the medium. Only LanceDB needs this: Ladybug syncs its log, SQLite its file."""
        self._unsynced.sync()
        self.checkpoint(_LARGE_LOG_BYTES)
        for table in lance.overgrown(graph_files.vectors_of(self._workspace), _MANY_VERSIONS):
            self.compact(table)  # each further write would scan all of them

    def checkpoint(self, log_bytes: int) -> None:
        """Checkpoint the graph in a critical section if its log is larger than ``log_bytes``.

        Raises JobError: DISK_FULL, GRAPH_UNAVAILABLE.
        """
        if graph_files.log_bytes(self._workspace) <= log_bytes:
            return
        try:
            with critical.critical_section():
                run(cognee_upkeep.checkpoint())
        except Exception as error:
            log.error("the graph's log was not folded in: %s", trace(error))
            has_no_room = graph_files.has_no_room(self._workspace)
            raise (JobError("DISK_FULL") if has_no_room else unavailable(error)) from error

    def overgrown(self) -> list[str]:
        """The vector tables with so many versions that ``compact`` is due."""
        return lance.overgrown(graph_files.vectors_of(self._workspace))

    def compact(self, table: str) -> None:
        """Rewrite a vector table's many files into one. A failure is logged; the table then stays large but intact."""
        try:
            run(cognee_upkeep.compact(table, self._unsynced.sync))
        except Exception as error:
            log.error("a vector table was not compacted: %s", trace(error))

    def scrub(self) -> None:
        """As ``cognee_upkeep.scrub``. Raises as ``write``."""
        self.do(cognee_upkeep.scrub(self._unsynced.sync))

    def memory_count(self) -> int:
        """As ``cognee_upkeep.memory_count``; 0 if they cannot be counted, so that the caller compares them in full."""
        try:
            return run(cognee_upkeep.memory_count())
        except Exception as error:
            log.error("the graph's memories cannot be counted: %s", trace(error))
            return 0

    def missing(self, expected: ExpectedGraph, undelivered: Collection[str]) -> list[str]:
        """The ids of the memories that the graph lacks, save for the undelivered ones. Raises GraphDamaged, JobError:
        GRAPH_UNAVAILABLE."""
        wanted, found = Wanted(expected.memories(), expected.superseded(), (), undelivered, {}), GraphComparison()
        try:
            run(cognee_audit.find_lacking(wanted, found))
            for error in found.unreadable.values():
                raise error
        except Exception as error:
            raise self._engines.explained(error) from error
        return found.lacking

    # --- reading ---

    def compare(self, wanted: Wanted) -> GraphComparison:
        """The whole content compared with the expected one. Changes nothing. Raises JobError: GRAPH_UNAVAILABLE."""
        try:
            return run(cognee_audit.compare(wanted))
        except Exception as error:
            raise unavailable(error) from error

    def node(self, memory_id: str) -> dict[str, Any] | None:
        """The properties of a memory's node in cognee; None without one."""

        async def get() -> dict[str, Any] | None:
            properties: dict[str, Any] | None = await (await get_graph_engine()).get_node(memory_id)
            return properties

        return run(get())

    def neighbours(self, memory_id: str) -> list[tuple[str, dict[str, Any]]]:
        """The edges of a memory's node: (relationship name, properties of the node at the other end)."""

        async def get() -> list[tuple[str, dict[str, Any]]]:
            edges = await (await get_graph_engine()).get_edges(memory_id)
            return [(edge[1], edge[2] if edge[0].get("id") == memory_id else edge[0]) for edge in edges]

        return run(get())

    def ask(self, question: str, top_k: int) -> cognee_search.Found:
        """As ``cognee_search.search``. Raises as ``do``."""
        return self.do(cognee_search.search(question, top_k))

    def in_prose(self, question: str, context: str, meter: Meter) -> str:
        """As ``cognee_search.in_prose``, on a job's budget. Raises as ``do``, and JobError: LLM_… codes."""
        return self.do(_metered(meter, cognee_search.in_prose(question, context)))

    def picture(self, memory_ids: Sequence[str], remarks: Mapping[tuple[str, str], str]) -> Picture:
        """The page that shows these memories, as ``cognee_picture.draw``. Raises as ``write``."""
        from . import cognee_picture  # not at the top: it takes half a second

        async def work() -> Picture:
            return await cognee_picture.draw(await get_graph_engine(), memory_ids, remarks)

        return self.do(work())


def _metered(meter: Meter, work: Awaitable[T]) -> Coroutine[Any, Any, T]:
    from .cognee_llm import metered  # not at the top: it imports LiteLLM

    return metered(meter, work)
