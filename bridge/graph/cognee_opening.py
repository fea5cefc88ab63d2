"""cognee's engines of one workspace: opened, repaired where they are damaged, and closed.

Imported by ``cognee_store`` and ``cognee_upkeep`` alone, since it imports cognee.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, Literal, TypeVar

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.graph.get_graph_engine import _create_graph_engine
from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
from cognee.infrastructure.databases.relational import get_relational_engine
from cognee.infrastructure.databases.relational.create_relational_engine import create_relational_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async
from cognee.infrastructure.databases.vector.create_vector_engine import _create_vector_engine
from cognee.modules.engine.operations.setup import setup

from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

from .. import critical
from ..privacy.masking import trace
from ..slices import SLICE_SECONDS
from . import graph_files, lance
from .cognee_process import run

log = logging.getLogger(__name__)

T = TypeVar("T")

_NO_ROOM_BYTES = 1024 * 1024  # with less than this free, it is the disk that refused

Part = Literal["relational", "graph", "vectors"]


class Engines:
    """The engines, in a process that nobody else shares. Not thread-safe.

    ``part`` is the engine that was used last: after an error, the one to repair.
    """

    _has_repaired: ClassVar = False  # once a process: what does not help once is not repeated

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._long: set[asyncio.Task[Any]] = set()
        self.part: Part = "relational"
        LadybugAdapter.checkpoint = _no_checkpoint

    # --- opening ---

    def open(self) -> graph_files.GraphState:
        """Open the graph; what a former process left of it is made to open first, and what is damaged quarantined.

        After "set aside" or "absent" the graph is empty and every memory is owed to it. Raises GRAPH_UNAVAILABLE.
        """
        try:
            found = graph_files.make_ready(self._workspace)
        except Exception as error:  # the graph's engine raises RuntimeError for everything
            raise unavailable(error) from error
        refused = self.try_to_open()
        return found if refused is None else self.repair(refused, found)

    def open_without_repair(self) -> None:
        """Open the graph to inspect it, all stores being there: nothing is repaired or quarantined.

        Raises GRAPH_UNAVAILABLE.
        """
        try:
            graph_files.require_openable(self._workspace)
        except Exception as error:  # the graph's engine raises RuntimeError for everything
            raise unavailable(error) from error
        refused = self.try_to_open()
        if refused is not None:
            self.close()
            raise unavailable(refused) from refused

    def try_to_open(self, *, reading_all: bool = False) -> Exception | None:
        """Open each engine, and read its tables whole if asked to. Returns what it was refused with."""
        try:
            run(self._open(reading_all))
        except Exception as error:  # cognee's stores raise what their engines raise
            return error
        return None

    async def _open(self, reading_all: bool) -> None:
        self.part = "relational"
        await setup()
        self.part = "graph"
        graph = await get_graph_engine()
        await graph.query("CALL auto_checkpoint = false;")  # it would come inside a write, in no declared section
        await graph.get_graph_counts()
        self.part = "vectors"
        vector = await get_vector_engine_async()
        for name in await lance.table_names(vector):
            await lance.count(vector, name)
        if reading_all:
            await lance.read_all(vector)

    def repair(self, error: Exception, found: graph_files.GraphState) -> graph_files.GraphState:
        """Quarantine what is damaged and open again. Raises GRAPH_UNAVAILABLE when damage is not the matter."""
        part = self.part
        self.close()
        at_fault = graph_files.is_system_error(error) or graph_files.access_error(self._workspace)
        if at_fault or Engines._has_repaired or self.has_no_room():
            raise unavailable(error) from error
        Engines._has_repaired = True
        log.error("the graph cannot be used (%s): %s", part, trace(error))
        label = f"graph-{clock.iso(clock.now())}"
        if part == "relational":
            if not graph_files.quarantine_relational(self._workspace, label):
                raise unavailable(error) from error
        else:
            graph_files.quarantine(self._workspace, label)
            found = "set aside"
        refused = self.try_to_open()
        if refused is not None:
            self.close()
            raise unavailable(refused) from refused
        return found

    def has_no_room(self) -> bool:
        return shutil.disk_usage(self._workspace.root).free < _NO_ROOM_BYTES

    # --- long work ---

    def work(self, work: Coroutine[Any, Any, T], pause: Callable[[], None]) -> T:
        """Long work of cognee's own. Twice a second it stops for ``pause``, in which others may use the engines; where
        they close them, it is given up with STORE_BUSY. Raises what the work raises."""
        task = run(_begun(work))
        self._long.add(task)
        try:
            while not task.done():
                run(asyncio.wait({task}, timeout=SLICE_SECONDS))
                if not task.done():
                    pause()
            return task.result()
        except asyncio.CancelledError:
            raise JobError("STORE_BUSY", "The graph was closed while cognee was at work: it is done again.") from None
        finally:
            self._give_up(task)

    def _give_up(self, task: asyncio.Task[Any]) -> None:
        self._long.discard(task)
        if not task.done():
            task.cancel()
            run(asyncio.wait({task}))

    # --- closing ---

    def close(self) -> bool:
        """Checkpoint and close, where no kill may interfere. Returns whether all went well."""

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
            self._give_up(task)
        with critical.critical_section():
            is_clean = True
            # Each whatever becomes of the others: an engine that stays open would hold the files beside the next one.
            for shut in (fold, shut_graph, shut_vectors, shut_relational):
                try:
                    run(shut())
                except Exception as error:
                    log.error("the graph did not close cleanly: %s", trace(error))
                    is_clean = False
            # cognee would hand out the closed engines again
            _create_graph_engine.cache_clear()
            _create_vector_engine.cache_clear()
            create_relational_engine.cache_clear()
            return is_clean


async def _begun(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Work that goes on whenever the loop runs."""
    return asyncio.ensure_future(work)


async def _no_checkpoint(adapter: Any) -> None:
    """cognee checkpoints inside its writes, where a kill would brick the graph. Its log is synced anyway;
    ``close`` checkpoints in a declared section."""


def unavailable(error: Exception) -> JobError:
    first_line = (str(error).splitlines() or [""])[0][:200]  # what follows may quote statements and values
    return JobError(
        "GRAPH_UNAVAILABLE",
        f"cognee's knowledge graph cannot be opened: {type(error).__name__}: {first_line}",
    )
