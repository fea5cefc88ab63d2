"""check: verifies memory.db and its indexes, the model's files, and the knowledge graph against the memories.

It changes and repairs nothing. Each problem becomes a finding with its remedy.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from jobs.errors import JobError
from jobs.finding import Finding, finding

from ..embedding import local_models
from ..forgetting.leftovers import strings
from ..graph import earlier_stores, graph_files
from ..graph.open_stores import Stores
from ..privacy.masking import trace
from ..slices import Slices
from ..store.audit import Audit, finding_of, open_audit
from ..store.graph_content import ExpectedGraph
from . import Progress, Task

if TYPE_CHECKING:
    from jobs.diagnostics import Group
    from jobs.payloads import EmptyPayload

    from ..interface.result_shapes import CheckResult

log = logging.getLogger(__name__)


def run(task: Task[EmptyPayload], stores: Stores, now: datetime, progress: Progress) -> CheckResult:
    """Verify all stores.

    The payload is empty. The result has the findings, whether none of them is an error (``ok``), how many memories
    there are (0 if they cannot be counted), and the seconds that the check took. Damage is a finding, not a failure: a
    job fails only when memory.db cannot be opened (STORE_NEWER, STORE_UNREADABLE). A second run checks again.
    """
    began = time.monotonic()
    with open_audit(stores.workspace) as audit:
        findings = [] if audit is None else list(_all(stores, audit, progress))
        return {
            "ok": not any(finding.level == "error" for finding in findings),
            "findings": [finding.as_dict() for finding in findings],
            "memories": 0 if audit is None else audit.count(),
            "seconds": round(time.monotonic() - began, 3),
        }


def _all(stores: Stores, audit: Audit, progress: Progress) -> Iterator[Finding]:
    """The findings of all parts. A part that fails becomes a finding itself, and the other parts still run."""
    parts: list[tuple[Group, Callable[[], Iterator[Finding]]]] = [
        ("memory", audit.whole),
        ("memory", lambda: _format(audit)),
        ("memory", audit.full_text),
        ("memory", audit.vector_files),
        ("memory", lambda: audit.memories(Slices(progress, "reading the memories", audit.count()), _looks_secret())),
        ("memory", audit.bookkeeping),
        ("model", lambda: _model(stores)),
        ("memory", lambda: audit.embeddings(stores.embedder)),
        ("graph", lambda: _graph(stores, audit.expected_graph)),
        ("graph", lambda: _texts(stores, audit.expected_graph)),
    ]
    for number, (group, part) in enumerate(parts):
        progress({"done": number, "total": len(parts), "message": f"reading the {group}"})
        made = list(_made(group, part))
        yield from made
        if any(each.code == "STORE_OF_OLDER_FORMAT" for each in made):
            return  # the other parts read tables that an older format lacks


def _format(audit: Audit) -> Iterator[Finding]:
    """A finding where the database has an older format."""
    if not audit.is_of_present_format:
        yield finding("STORE_OF_OLDER_FORMAT", "store")


def _made(group: Group, part: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """The findings of one part, those before its failure included; the failure is the last one."""
    try:
        yield from part()
    except JobError as error:
        yield finding("CHECK_NOT_MADE", group, f"{error.code}: {error.message}", remedy=error.remediation, group=group)
    except OSError as error:
        yield finding("CHECK_NOT_MADE", group, f"{error.strerror}.", group=group)
    except Exception as error:  # damaged data can raise anything; the log has the traceback
        if (store_finding := finding_of(error)) is not None:
            yield store_finding
        else:
            log.error("a check of the group %s was not made: %s", group, trace(error))
            yield finding("CHECK_NOT_MADE", group, f"It met {type(error).__name__}.", group=group)


def _looks_secret() -> Callable[[str], bool]:
    """A predicate: whether a memory's stored JSON holds a likely secret in any of its texts."""
    # Imported here: it takes a tenth of a second, and no other part needs it.
    from ..privacy.redaction import redact

    def looks(body: str) -> bool:
        """Whether a text in this JSON value holds a likely secret; False for text that is not JSON."""
        try:
            return any(redact(text).counts for text in strings(json.loads(body)))
        except ValueError:
            return False

    return looks


def _model(stores: Stores) -> Iterator[Finding]:
    """Findings about the files of the local model."""
    try:
        local_models.verify(stores.settings.embedding)
    except JobError as error:
        code = "MODEL_ABSENT" if error.code == "MODEL_MISSING" else "MODEL_WRONG"
        yield finding(code, "model", error.message, remedy=error.remediation)


# --- the graph ---


def _graph(stores: Stores, expected: ExpectedGraph) -> Iterator[Finding]:
    """Findings about the graph, compared with the memories that it must hold."""
    if expected.embedder is None or not graph_files.all_stores_exist(stores.workspace):
        return  # there never was a graph, or the summary already reports that it is missing
    try:
        compared = stores.graph.compare(
            memories=expected.memories(),
            superseded=expected.superseded(),
            gone=expected.gone(),
            undelivered=expected.pending(),
            found=expected.extracted(),
        )
    except JobError as error:
        if error.code != "GRAPH_UNAVAILABLE":
            raise
        yield finding("GRAPH_DAMAGED", "graph", error.message)
        return
    for table, cause in compared.unreadable.items():
        why = trace(cause).splitlines()[0]
        yield finding("GRAPH_DAMAGED", "vectors", f"The table {table} cannot be read: {why}.")
    for code, ids in (("GRAPH_LACKS", compared.lacking), ("GRAPH_HOLDS_FORGOTTEN", compared.forgotten)):
        if ids:
            yield finding(code, "graph", f"In all: {len(ids)}.", count=len(ids), memory_ids=ids)
    if compared.strange:
        yield finding("GRAPH_HOLDS_MORE", "graph", f"In all: {compared.strange}.", count=compared.strange)


def _texts(stores: Stores, expected: ExpectedGraph) -> Iterator[Finding]:
    """Findings about raw texts in cognee's store that belong to no memory."""
    strange = earlier_stores.find(stores.workspace, expected.documents())
    if strange.texts:
        yield finding("TEXTS_STRAY", "texts", f"In all: {len(strange.texts)}.", count=len(strange.texts))
