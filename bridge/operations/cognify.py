"""cognify: stores raw texts as memories, then has cognee extract nodes and edges from each by the language model.

The texts are stored first, so retrieval finds them whatever becomes of the extraction. Extraction runs one text after
another and commits each: a later attempt, after a wait or a kill, continues with the next text. Only the memory's own
text is sent to the model.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from jobs import clock, paths
from jobs.errors import ERRORS, JobError

from ..graph import installed, llm
from ..graph.open_stores import Stores
from ..memory import Memory
from ..slices import Slices, ignore_progress
from ..store.values import Extraction, KeptExtraction
from ..text.passages import whole_text
from . import Progress, Task, attachments, ingest, redactions, without_secrets
from .refusals import require_runnable
from .rejected_texts import store_together

if TYPE_CHECKING:
    from jobs.payloads import Cognify

    from ..interface.result_shapes import CognifyResult, LookedInto, NotLookedInto
    from .attachments import Line

_CALLS_PER_CHUNK = 2  # one for the graph, one for the summary
_ITS_OWN = ("LLM_FAILED", "LLM_TIMEOUT", "GRAPH_WRITE_FAILED")  # the text may be the cause: continue with the others
_FOR_GOOD = ("MEMORY_FORGOTTEN", "LLM_TEXT_REFUSED")  # permanent for this text: no retry, continue with the others
_MOST_IN_A_ROW = 3  # errors of ``_ITS_OWN`` in a row: then the texts are not the cause
_MOST_LISTED = 1000  # memories in a result


@dataclass(slots=True)
class _Work:
    """What a job covers: its memories, the file that each came from, and the failures."""

    memory_ids: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    failures: list[NotLookedInto] = field(default_factory=list)
    redactions: Counter[str] = field(default_factory=Counter)  # in files

    def want(self, memory_id: str, source: str | None) -> None:
        """Add a memory to the job once, with the path of its file, if it came from one."""
        if memory_id not in self.memory_ids:
            self.memory_ids.append(memory_id)
        if source is not None:
            self.sources[memory_id] = source

    def fail(self, error: JobError, *, memory_id: str | None = None, source: str | None = None) -> None:
        """Record that a text or file failed."""
        self.failures.append({"memory_id": memory_id, "source": source, "code": error.code, "message": error.message})


def run(task: Task[Cognify], stores: Stores, now: datetime, progress: Progress) -> CognifyResult:
    """Store the job's texts and extract from them.

    The payload has one of ``texts``, ``paths`` (files of the workspace) and ``memory_ids``; with none of them, the job
    covers all raw memories without an extraction. The result lists the memories with the counts of nodes and edges that
    were found, the calls, tokens and cost, and a failure for each text that was skipped for good.

    A job fails with MEMORY_NOT_FOUND, MEMORY_FORGOTTEN or ARGUMENT_INVALID for its memory ids, GRAPH_NOT_INSTALLED,
    LLM_NOT_CONFIGURED or LLM_CONFIG, a budget's error, or the error of the model, the embedding provider or the graph;
    the details say what is stored. It also fails when no text could be extracted. A second run continues with the
    memories that have no extraction.
    """
    work = _work(task, stores, now)
    try:
        installed.require()
        llm.require_provider(stores.settings)
        known = stores.store.extractions.known(work.memory_ids)
        left = [memory_id for memory_id in work.memory_ids if memory_id not in known]
        _look_into_all(task, left, work, stores, now, progress)
    except JobError as error:
        raise _with_what_is_done(error, work, stores) from None
    if work.failures and not stores.store.extractions.known(work.memory_ids):
        first = work.failures[0]
        why = JobError(first["code"], first["message"], details={"failures": work.failures})
        raise _with_what_is_done(why, work, stores)
    task.note_applied(stores.store, clock.iso(now))
    return _result(task, work, stores)


# --- what is to be looked into ---


def _work(task: Task[Cognify], stores: Stores, now: datetime) -> _Work:
    """The job's memories, with its texts and files stored as memories.

    Raises JobError: MEMORY_NOT_FOUND, MEMORY_FORGOTTEN or ARGUMENT_INVALID for memory ids that do not name a visible
    memory; LLM_NOT_CONFIGURED or LLM_CONFIG where the payload names nothing.
    """
    payload, work = task.payload, _Work()
    if payload.memory_ids:
        require_runnable(task, stores.store, stores.workspace)
        for memory_id in payload.memory_ids:
            work.want(memory_id, None)
    elif payload.texts:
        _store([(text, None) for text in payload.texts], work, task, stores, now)
    elif payload.paths:
        given = read_files(task, stores, ignore_progress) if stores.host is None else attachments.lines(task, stores)
        _store(list(_texts(given, work)), work, task, stores, now)
    else:
        installed.require()
        llm.require_provider(stores.settings)
        read = stores.store.extractions
        work.memory_ids = [*read.by_job(task.job_id), *read.unread()]
    return work


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the workspace: its text without secrets, and their number by kind; or why it cannot be read."""

    path: str
    text: str = ""
    redactions: dict[str, int] = field(default_factory=dict)
    code: str | None = None
    message: str = ""


def read_files(task: Task[Cognify], stores: Stores, progress: Progress) -> Iterator[Line]:
    """The files that the job names."""
    limit = stores.settings.max_job_bytes
    for path in task.payload.paths or ():
        try:
            clean = without_secrets(stores, paths.text_inside(stores.workspace.root, path, limit))
            yield {"file": _File(path, clean.text, dict(clean.counts))}
        except JobError as error:
            yield {"file": _File(path, code=error.code, message=error.message)}
        except OSError as error:
            yield {"file": _File(path, code="FILE_UNSAFE", message=f"{path[:200]!r} cannot be read: {error.strerror}.")}


def _texts(given: Iterable[Line], work: _Work) -> Iterator[tuple[str, str | None]]:
    """The texts of files, each with its path. A file that cannot be read is recorded as a failure."""
    for line in given:
        file = attachments.checked(_File, line.get("file"))
        if file.code is not None:
            work.fail(JobError(file.code if file.code in ERRORS else "FILE_UNSAFE", file.message), source=file.path)
            continue
        work.redactions.update(file.redactions)
        yield file.text, file.path


def _store(
    texts: Sequence[tuple[str, str | None]], work: _Work, task: Task[Cognify], stores: Stores, now: datetime
) -> None:
    """Store the texts as memories, so that retrieval finds them even if the extraction fails."""
    store, at = stores.store, clock.iso(now)
    new: dict[str, Memory] = {}
    for text, source in texts:
        memory = ingest.raw(task, text, stores, at)
        if store.known(memory.id) is None:
            if store.was_forgotten_since(memory.id, task.accepted_at):
                work.fail(JobError("MEMORY_FORGOTTEN"), memory_id=memory.id, source=source)
                continue
            new[memory.id] = memory
        elif store.is_hidden(memory.id):
            error = JobError("ARGUMENT_INVALID", "The text is a hidden memory's: it was converted, or withdrawn.")
            work.fail(error, memory_id=memory.id, source=source)
            continue
        work.want(memory.id, source)

    def add(memories: Sequence[Memory]) -> None:
        store.add([(memory, task.job_id) for memory in memories], at)

    def reject(memory: Memory, error: JobError) -> None:
        work.memory_ids.remove(memory.id)
        work.fail(error, memory_id=memory.id, source=work.sources.get(memory.id))

    store_together(list(new.values()), add, reject)


# --- looking into it ---


def _look_into_all(
    task: Task[Cognify], memory_ids: Sequence[str], work: _Work, stores: Stores, now: datetime, progress: Progress
) -> None:
    """Extract from each memory. Errors that one text may cause are collected, and the other texts still run.

    Raises JobError at once for any other error, and for the third such error in a row; at the end, the first collected
    one.
    """
    slices = Slices(progress, "cognee looks into texts", len(memory_ids))
    failed: list[tuple[str, JobError]] = []
    in_a_row = 0
    for memory_id in memory_ids:
        try:
            _look_into(task, memory_id, stores, now, slices, progress)
            in_a_row = 0
        except JobError as error:
            if error.code in _FOR_GOOD:
                work.fail(error, memory_id=memory_id, source=work.sources.get(memory_id))
                if error.code == "MEMORY_FORGOTTEN":
                    work.memory_ids.remove(memory_id)
            elif error.code not in _ITS_OWN or in_a_row + 1 == _MOST_IN_A_ROW:
                raise
            else:
                in_a_row += 1
                failed.append((memory_id, error))
        slices.advance(1)
    if failed:
        first = failed[0][1]
        raise first.with_message(first.message, failed={memory_id: error.code for memory_id, error in failed})


def _look_into(
    task: Task[Cognify], memory_id: str, stores: Stores, now: datetime, slices: Slices, progress: Progress
) -> None:
    """Extract from one memory and commit what was found."""
    memory = _visible(memory_id, stores)
    text = without_secrets(stores, whole_text(memory)).text  # the memory may be older than redaction
    meter = stores.meter(task.job_id)
    meter.require_room(least_calls(stores.embedder.count_tokens(text)))
    stores.graph.deliver_all(progress)
    if error := stores.graph.deliver([memory_id]).get(memory_id):
        raise error
    stores.graph.forget_extractions([memory_id])  # leftovers of an extraction that was cut off
    extraction = stores.graph.open().extract(memory_id, text, meter, lambda: slices.advance())
    stores.graph.open().sync()
    _keep(task, memory_id, extraction, stores, now)


def _keep(task: Task[Cognify], memory_id: str, found: Extraction, stores: Stores, now: datetime) -> None:
    """Commit what was found. Raises JobError: MEMORY_FORGOTTEN when the memory was forgotten or hidden meanwhile."""
    try:
        _visible(memory_id, stores)
    except JobError:
        stores.graph.forget_extractions([memory_id])
        raise
    with stores.store.change(clock.iso(now)) as change:
        change.extractions.append(KeptExtraction(memory_id, found, task.job_id))


def _visible(memory_id: str, stores: Stores) -> Memory:
    """The memory. Raises JobError: MEMORY_FORGOTTEN when it is forgotten or hidden."""
    memory = stores.store.get(memory_id)
    if memory is None or stores.store.is_hidden(memory_id):
        raise JobError("MEMORY_FORGOTTEN", "The memory was forgotten or converted while it waited.")
    return memory


CHUNK_TOKENS = 510  # the chunk size of cognee for this embedding engine


def least_calls(tokens: int) -> int:
    """The fewest calls to the language model that a text of this many tokens needs."""
    return _CALLS_PER_CHUNK * max(1, math.ceil(tokens / CHUNK_TOKENS))


# --- what it gives ---


def _with_what_is_done(error: JobError, work: _Work, stores: Stores) -> JobError:
    """The error, with what is stored nevertheless in its message and details."""
    done, total = len(stores.store.extractions.known(work.memory_ids)), len(work.memory_ids)
    if total == 0:
        return error
    kept = "The text is kept and found" if total == 1 else f"The {total} texts are kept and found"
    message = f"{error.message} {kept} as {'a memory' if total == 1 else 'memories'}."
    if done:
        message += f" cognee has looked into {done} of them, and that stays."
    details = {"memory_ids": work.memory_ids[:_MOST_LISTED], "done": done, "total": total}
    if work.failures:
        details["failures"] = work.failures
    return error.with_message(message, **details)


def _result(task: Task[Cognify], work: _Work, stores: Stores) -> CognifyResult:
    """The job's result. ``before`` marks memories whose extraction an earlier job made."""
    read = stores.store.extractions
    own = set(read.by_job(task.job_id))
    listed: list[LookedInto] = []
    nodes = edges = looked = before = 0
    for memory_id in work.memory_ids:
        extraction = read.of([memory_id]).get(memory_id)
        memory = stores.store.known(memory_id)
        if extraction is None or memory is None:
            continue
        looked, before = looked + (memory_id in own), before + (memory_id not in own)
        if memory_id in own:
            nodes, edges = nodes + len(extraction.nodes), edges + len(extraction.edges)
        if len(listed) < _MOST_LISTED:
            listed.append(
                {
                    "memory_id": memory_id,
                    "memory_number": memory.number,
                    "source": work.sources.get(memory_id),
                    "nodes": len(extraction.nodes),
                    "edges": len(extraction.edges),
                    "before": memory_id not in own,
                }
            )
    spent = stores.store.llm_usage.of_job(task.job_id)
    return {
        "memories": listed,
        "looked_into": looked,
        "before": before,
        "nodes": nodes,
        "edges": edges,
        "calls": spent.calls,
        "tokens": spent.tokens,
        "cost_usd": spent.cost_usd,
        "failures": work.failures,
        "redactions": redactions(stores, task.redactions, work.redactions),
    }
