"""Checks the stores: memory.db and its index, the graph, and the embedding model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from bridge.embedding import local_models
from bridge.graph import graph_files, installed
from bridge.search import listing
from bridge.search.standings import FEW_UNCOMPARED
from bridge.settings import Settings
from bridge.store import inspection, migrations
from bridge.store.inspection import size_of
from bridge.transfer import lost_memories
from jobs import clock
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.layout import Workspace

from ..wording import MIB, counted

_LARGE_LOG = 256 * MIB
_UNFINISHED = timedelta(minutes=15)
_STALE_SECONDS = 0.5


class Facts:
    """The state of memory.db, and of the files of the graph, of quarantined graphs and of earlier versions beside it.
    No store of cognee is opened. ``model`` is the error of a local embedding model's files. ``stale``: how many
    memories name what is no longer in the code. Sizes are in bytes."""

    def __init__(self, workspace: Workspace, settings: Settings, now: datetime, seconds: float) -> None:
        """Read the facts. Reading all of memory.db stops after ``seconds``. Raises OSError."""
        self.settings = settings
        self.now = now
        self.model: JobError | None = None
        try:
            local_models.verify(settings.embedding)
        except JobError as error:
            self.model = error
        self.store = inspection.store_status(workspace, seconds)
        self.stale = _stale(workspace)
        self.cognee = graph_files.store_exists(workspace)
        self.has_our_memories = graph_files.has_our_memories(workspace)
        self.has_graph = graph_files.has_graph(workspace) and graph_files.vectors_of(workspace).is_dir()
        self.cut_off = graph_files.leftovers(workspace)
        lost = {kept.folder for kept in lost_memories.all_set_aside(workspace)}  # reported by the team's checks
        self.quarantined = [_size_below(path) for path in _entries(workspace.quarantine) if path not in lost]
        self.earlier = len(_entries(workspace.earlier_stores))
        self.backups = [path.name for path in sorted(workspace.memory.glob("memory.format-*.db"))]


def _stale(workspace: Workspace) -> int:
    try:
        return listing.stale(workspace, 0, _STALE_SECONDS)[1]
    except JobError:  # the store has a finding of its own
        return 0


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _size_below(path: Path) -> int:
    if not path.is_dir():
        return size_of(path)
    return sum(size_of(Path(place, name)) for place, _, names in os.walk(path) for name in names)


def database_file(facts: Facts) -> Iterator[Finding]:
    """Findings about memory.db itself: damage, its format, its size."""
    store = facts.store
    if store.problem is not None:
        code = "STORE_OF_NEWER_FORMAT" if store.problem.code == "STORE_NEWER" else "STORE_CLOSED"
        damaged = "malformed" in store.problem.message or "not a database" in store.problem.message
        yield finding("STORE_DAMAGED" if damaged else code, "store", store.problem.message)
        return
    if not store.is_there or store.format == 0:
        return
    if store.whole is None:
        yield finding("STORE_NOT_READ_WHOLE", "store", f"It has {store.size / MIB:,.0f} MiB.")
    elif store.whole:
        yield finding("STORE_DAMAGED", "store", f"SQLite says: {store.whole[0]}.")
    if store.format < migrations.FORMAT:
        yield finding(
            "STORE_OF_OLDER_FORMAT", "store", f"It is {store.format}; {migrations.FORMAT} is the present one."
        )
    if store.log_size > _LARGE_LOG:
        yield finding("LOG_OF_STORE_LARGE", "store", f"It has {store.log_size / MIB:,.0f} MiB.")
    if facts.backups:
        yield finding("BACKUPS_LEFT", "backups", f"There is {', '.join(facts.backups)}.", count=len(facts.backups))


def index(facts: Facts) -> Iterator[Finding]:
    """Findings about the vectors and the word index."""
    store = facts.store
    if not store.is_present or store.whole:
        return
    wanted = facts.settings.embedding.identity
    if store.embedder is not None and store.embedder != wanted:
        message = f"They have {store.embedder}; the settings name {wanted}."
        former = all(local_models.known(each, facts.settings.cache_folder) for each in (store.embedder, wanted))
        yield finding("MODEL_FORMER" if former else "MODEL_CHANGED", "embedding", message)
    if store.words_outdated:
        yield finding("INDEX_OF_OLDER_FORMAT", "index")
    if store.vectors_lacking:
        yield finding("VECTORS_LACKING", "vectors", f"It is about {', '.join(store.vectors_lacking)}.")
    if store.words != store.memories and not store.words_outdated:
        has = "There is no index" if store.words < 0 else f"It has {store.words:,}"
        yield finding("WORDS_LACKING", "words", f"{has} for {counted(store.memories, 'memory')}.")
    if store.uncompared > FEW_UNCOMPARED:
        message = f"It is about {counted(store.uncompared, 'memory')}."
        yield finding("MEMORIES_UNCOMPARED", "memories", message, count=store.uncompared)
    if store.unfinished_since and facts.now - clock.parse(store.unfinished_since) > _UNFINISHED:
        message = f"It began at {store.unfinished_since}."
        yield finding("FORGETTING_UNFINISHED", "forgetting", message, count=store.unfinished)


def code(facts: Facts) -> Iterator[Finding]:
    """A finding about memories that name what is no longer in the code."""
    if facts.stale:
        yield finding("MEMORIES_STALE", "memories", f"It is about {counted(facts.stale, 'memory')}.", count=facts.stale)


def graph(facts: Facts) -> Iterator[Finding]:
    """Findings about the outbox, the knowledge graph and quarantined graphs."""
    store = facts.store
    if not installed.is_installed():
        yield finding("GRAPH_ABSENT", "graph")
    if (failure := store.meta.get("graph_failure")) and store.pending:
        message = f"{counted(store.pending, 'change')} wait; the last try ended with {failure}."
        yield finding("GRAPH_BEHIND", "outbox", message, count=store.pending)
    for code, count in store.refused.items():
        yield finding("GRAPH_REFUSED", "outbox", f"{count} with {code}.", count=count)
    graph_model = store.meta.get("graph_embedder")
    if graph_model is not None and not facts.has_graph:
        yield finding("GRAPH_GONE", "graph")
    if graph_model is not None and store.embedder is not None and graph_model != store.embedder:
        yield finding("GRAPH_OF_OTHER_MODEL", "graph", f"They have {graph_model}; the memories have {store.embedder}.")
    if facts.cut_off:
        yield finding("GRAPH_CUT_OFF", "graph", f"There is {', '.join(facts.cut_off)}.")
    openings = store.meta.get("graph_openings", "0")
    if openings.isdecimal() and int(openings) > 1:
        yield finding("GRAPH_DEADLY", "graph", f"It did so {openings} times in a row.", count=int(openings))
    if facts.quarantined:
        message = f"{len(facts.quarantined)} of {sum(facts.quarantined) / MIB:,.1f} MiB."
        yield finding("SET_ASIDE", "set-aside", message, count=len(facts.quarantined))
    ours = graph_model is not None or store.meta.get("cognee_is_ours") == "yes"
    is_unknown = facts.cognee and store.problem is None and not ours
    if is_unknown and facts.has_our_memories:
        yield finding("GRAPH_ORPHANED", "graph")
    if facts.earlier or (is_unknown and not facts.has_our_memories):
        yield finding("OLD_STORES", "cognee", count=max(1, facts.earlier))


def embedding_model(facts: Facts) -> Iterator[Finding]:
    """A finding when the files of the local embedding model are missing or wrong."""
    if facts.model is not None:
        code = "MODEL_ABSENT" if facts.model.code == "MODEL_MISSING" else "MODEL_WRONG"
        yield finding(code, "model", facts.model.message, remedy=facts.model.remediation)


CHECKS = (database_file, index, code, graph, embedding_model)
