"""cognee's engines of one workspace: opens and closes them. The embedding engine is over our embedder and its
cache, so that each text is embedded once, by one model.

It imports cognee, so only ``cognee_store`` imports it.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.graph.get_graph_engine import _create_graph_engine
from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
from cognee.infrastructure.databases.relational import get_relational_engine
from cognee.infrastructure.databases.relational.create_relational_engine import create_relational_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async
from cognee.infrastructure.databases.vector.create_vector_engine import _create_vector_engine
from cognee.infrastructure.databases.vector.embeddings.EmbeddingEngine import EmbeddingEngine, EmbeddingResult
from cognee.infrastructure.databases.vector.lancedb import LanceDBAdapter  # noqa: F401 - slow: not at the opening
from cognee.modules.engine.operations.setup import setup

from jobs.errors import JobError
from jobs.layout import Workspace

from .. import critical
from ..embedding.embedder import Embedder, Vectors
from ..privacy.masking import trace
from ..store.opening import failing_clearly
from . import graph_files, lance
from .cognee_process import cancel, result_of, run, start

_BATCH = 1000  # texts per write to a vector table; each write makes a version of the table and scans all of it

log = logging.getLogger(__name__)
T = TypeVar("T")


class SharedEmbeddings(EmbeddingEngine):  # type: ignore[misc]
    """cognee's embedding engine over our embedder and its cache."""

    def __init__(self, embedder: Embedder, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self._embed = embed
        self.failure: JobError | None = None  # the provider's error, since cognee wraps it into another class
        self.model = embedder.identity
        self.dimensions = embedder.dimensions
        self.max_completion_tokens = 510
        self.tokenizer = self  # cognee splits texts by its ``count_tokens``
        self._count = embedder.count_tokens

    async def embed_text(self, text: list[str]) -> EmbeddingResult:
        """The vectors of texts, for cognee. Raises JobError, which ``failure`` keeps."""
        try:
            with failing_clearly():  # the cache is in memory.db
                vectors = self._embed(text)
        except JobError as error:
            self.failure = error
            raise
        return EmbeddingResult([vector.tolist() for vector in vectors], tokens=0)

    def count_tokens(self, text: str) -> int:
        """The number of tokens in a text."""
        return self._count(text)

    def get_vector_size(self) -> int:
        """The number of dimensions."""
        return self.dimensions

    def get_batch_size(self) -> int:
        """The number of texts per call of ``embed_text``."""
        return _BATCH

    async def input_limit(self) -> int | None:
        """The limit of a text in tokens."""
        return self.max_completion_tokens


def give_embeddings(engine: SharedEmbeddings) -> None:
    """Make cognee use our engine, both in its vector engine and where it splits texts, which would otherwise load the
    model a second time to count tokens. cognee's vector engine keeps the first engine that it gets."""
    for name in ("infrastructure.databases.vector.create_vector_engine", "tasks.chunks.chunk_by_sentence"):
        sys.modules[f"cognee.{name}"].get_embedding_engine = lambda: engine  # type: ignore[attr-defined]


class Engines:
    """The engines, which this process does not share. Not thread-safe."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._long: set[asyncio.Task[Any]] = set()
        self._has_database = False  # since cognee's own SQLite database was opened
        LadybugAdapter.checkpoint = _no_checkpoint

    # --- opening ---

    def open(self) -> bool:
        """Open the graph. Returns whether there was one; otherwise it is empty, and all memories must be enqueued for
        it. Raises GraphDamaged, JobError: GRAPH_UNAVAILABLE.
        """
        try:
            existed = graph_files.require_whole_or_absent(self._workspace)
        except JobError:
            raise
        except Exception as error:  # the graph's engine raises RuntimeError for everything
            raise unavailable(error) from error
        failure = self.try_to_open()
        if failure is not None:
            self.close()
            raise self.explained(failure) from failure
        return existed

    def try_to_open(self, *, reading_all: bool = False) -> Exception | None:
        """Open each engine, and read its tables completely if ``reading_all``. Returns the error, or None."""
        try:
            run(self._open(reading_all))
        except Exception as error:  # cognee's stores raise what their engines raise
            return error
        return None

    async def _open(self, reading_all: bool) -> None:
        self._has_database = False
        await setup()
        self._has_database = True
        graph = await get_graph_engine()
        await graph.query("CALL auto_checkpoint = false;")  # it would run inside a write, outside a critical section
        await graph.get_graph_counts()
        vector = await get_vector_engine_async()
        for name in await lance.table_names(vector):
            await lance.count(vector, name)
        if reading_all:
            await lance.read_all(vector)

    def explained(self, error: Exception) -> JobError:
        """GraphDamaged for an engine's error, or GRAPH_UNAVAILABLE when it has another cause than damage."""
        log.error("the graph cannot be used: %s", trace(error))
        at_fault = graph_files.is_system_error(error) or graph_files.access_error(self._workspace)
        is_another = not self._has_database and not graph_files.has_damaged_database(self._workspace)
        if at_fault or is_another or graph_files.has_no_room(self._workspace):
            return unavailable(error)
        return graph_files.GraphDamaged(graph_files.first_line(error))

    # --- long work ---

    def work(self, work: Coroutine[Any, Any, T], pause: Callable[[], None]) -> T:
        """Run long work of cognee and return its result. Twice a second it calls ``pause``, in which other jobs may use
        the engines.

        Raises JobError: STORE_BUSY when they close the engines, which cancels the work. Errors of the work pass.
        """
        task = start(work)
        self._long.add(task)
        try:
            return result_of(task, pause)
        except asyncio.CancelledError:
            raise JobError("STORE_BUSY", "The graph was closed while cognee was at work: it is done again.") from None
        finally:
            self._long.discard(task)

    # --- closing ---

    def close(self) -> bool:
        """Checkpoint and close the engines in a critical section. Returns whether that succeeded."""

        async def fold() -> None:
            graph = await get_graph_engine()
            if isinstance(graph, LadybugAdapter):
                await graph.query("CHECKPOINT;")

        async def shut_graph() -> None:
            await (await get_graph_engine()).close()

        async def shut_vectors() -> None:
            await (await get_vector_engine_async()).close()

        async def shut_relational() -> None:
            await get_relational_engine().engine.dispose()

        for task in list(self._long):
            cancel(task)
        with critical.critical_section():
            is_clean = True
            # Each one even if another fails: an engine that stays open would share its files with the next one.
            for shut in (fold, shut_graph, shut_vectors, shut_relational):
                try:
                    run(shut())
                except Exception as error:
                    log.error("the graph did not close cleanly: %s", trace(error))
                    is_clean = False
            # Otherwise cognee would return the closed engines again.
            _create_graph_engine.cache_clear()
            _create_vector_engine.cache_clear()
            create_relational_engine.cache_clear()
            return is_clean


async def _no_checkpoint(adapter: Any) -> None:
    """Replaces cognee's checkpoint inside its writes, where a kill would make the graph unusable. The graph's log is
    synced without it; ``close`` checkpoints in a critical section."""


def unavailable(error: Exception) -> JobError:
    """The error GRAPH_UNAVAILABLE for an engine's error."""
    why = graph_files.first_line(error)
    return JobError("GRAPH_UNAVAILABLE", f"cognee's knowledge graph cannot be opened: {why}")
