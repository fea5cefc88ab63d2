"""Reading every store whole: memory.db and its index, the model, the knowledge graph against the memories.

It changes nothing, and opens nothing in a way that would mend it: what is found is told with what to do about it.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.lifecycle import Failed, Succeeded

from ..embedding import model_files
from ..forgetting.quotes import strings
from ..graph import earlier_stores, graph_files
from ..graph.open_stores import Stores
from ..privacy.masking import trace
from ..slices import Slices
from ..store.audit import Audit, finding_of, open_audit
from ..store.expected_graph import ExpectedGraph
from . import Outcomes, Progress, Task

if TYPE_CHECKING:
    from jobs.diagnostics import Group

    from ..interface.result_shapes import CheckResult

log = logging.getLogger(__name__)


def run(tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    return {task.job_id: _one(stores, progress) for task in tasks}


def _one(stores: Stores, progress: Progress) -> Succeeded | Failed:
    began = time.monotonic()
    try:
        with open_audit(stores.workspace) as audit:
            if audit is None:
                return Succeeded(_result([], 0, began))
            made = list(_all(stores, audit, progress))
            count = audit.count()
    except JobError as error:
        return Failed(error)
    return Succeeded(_result(made, count, began))


def _result(made: list[Finding], memories: int, began: float) -> CheckResult:
    return {
        "ok": not any(finding.level == "error" for finding in made),
        "findings": [finding.as_dict() for finding in made],
        "memories": memories,
        "seconds": round(time.monotonic() - began, 3),
    }


def _all(stores: Stores, audit: Audit, progress: Progress) -> Iterator[Finding]:
    """What each part finds. One that cannot be made is a finding, and keeps no other from being made."""
    parts: list[tuple[Group, Callable[[], Iterator[Finding]]]] = [("memory", audit.whole)]
    if not audit.is_of_present_format:
        parts.append(("memory", lambda: iter([finding("STORE_OF_OLDER_FORMAT", "store")])))
    else:
        slices = Slices(progress, "reading the memories", audit.count())
        parts += [
            ("memory", audit.full_text),
            ("memory", audit.vector_files),
            ("memory", lambda: audit.memories(slices, _looks_secret())),
            ("memory", audit.bookkeeping),
            ("model", lambda: _model(stores)),
            ("memory", lambda: audit.embeddings(stores.embedder)),
            ("graph", lambda: _graph(stores, audit.expected_graph)),
            ("graph", lambda: _texts(stores, audit.expected_graph)),
        ]
    for number, (group, part) in enumerate(parts):
        progress({"done": number, "total": len(parts), "message": f"reading the {group}"})
        try:
            yield from part()
        except JobError as error:
            yield finding(
                "CHECK_NOT_MADE", group, f"{error.code}: {error.message}", remedy=error.remediation, group=group
            )
        except OSError as error:
            yield finding("CHECK_NOT_MADE", group, f"{error.strerror}.", group=group)
        except Exception as error:  # what damage makes of other code; where it came from is in the log
            if (of_the_store := finding_of(error)) is not None:
                yield of_the_store
                continue
            log.error("a check of the group %s was not made: %s", group, trace(error))
            yield finding("CHECK_NOT_MADE", group, f"It met {type(error).__name__}.", group=group)


def _looks_secret() -> Callable[[str], bool]:
    from ..privacy.redaction import count_secrets  # a tenth of a second, for a library that no other part needs

    def looks(body: str) -> bool:
        """Whether any of a memory's texts, which are a value of JSON, holds a likely secret."""
        try:
            return any(count_secrets(text) for text in strings(json.loads(body)))
        except ValueError:
            return False

    return looks


def _model(stores: Stores) -> Iterator[Finding]:
    if not stores.settings.embedding.is_local:
        return
    try:
        model_files.verify(model_files.model_folder(stores.settings.cache_folder))
    except JobError as error:
        yield finding("MODEL_ABSENT" if error.code == "MODEL_MISSING" else "MODEL_WRONG", "model", error.message)


# --- the graph ---


def _graph(stores: Stores, expected: ExpectedGraph) -> Iterator[Finding]:
    if expected.embedder is None or not graph_files.all_stores_exist(stores.workspace):
        return  # there never was one, or its absence is seen at a glance
    try:
        compared = stores.compare_graph(
            memories=expected.memories(),
            superseded=expected.superseded(),
            gone=expected.gone(),
            owed=expected.pending(),
            found=expected.extracted(),
        )
    except JobError as error:
        if error.code != "GRAPH_UNAVAILABLE":
            raise
        yield finding("GRAPH_DAMAGED", "graph", error.message)
        return
    for table, why in compared.unreadable.items():
        yield finding("GRAPH_DAMAGED", "vectors", f"The table {table} cannot be read: {why}.")
    if compared.lacking:
        count = len(compared.lacking)
        yield finding("GRAPH_LACKS", "graph", f"In all: {count}.", count=count, memory_ids=compared.lacking)
    if compared.forgotten:
        count = len(compared.forgotten)
        said = f"In all: {count}."
        yield finding("GRAPH_HOLDS_FORGOTTEN", "graph", said, count=count, memory_ids=compared.forgotten)
    if compared.strange:
        yield finding("GRAPH_HOLDS_MORE", "graph", f"In all: {compared.strange}.", count=compared.strange)


def _texts(stores: Stores, expected: ExpectedGraph) -> Iterator[Finding]:
    strange = earlier_stores.find(stores.workspace, expected.documents())
    if strange.texts:
        yield finding("TEXTS_STRAY", "texts", f"In all: {len(strange.texts)}.", count=len(strange.texts))
