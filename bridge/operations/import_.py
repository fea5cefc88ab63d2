"""import: checks a whole export file, then stores its memories in portions.

Each portion is one transaction, and memories that are here already stay unchanged, so a second run continues an import
that was cut off. Ids are kept, and numbers where they are free. Memories are stored before the records that merged
them, so that a record can refer to the memories of this store.
"""

from __future__ import annotations

import codecs
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

from jobs import clock, paths
from jobs.errors import JobError
from jobs.ids import is_job_id
from jobs.layout import Workspace
from jobs.parse import read_json

from ..graph.open_stores import Stores
from ..memory import LABELS, Memory
from ..privacy import redaction
from ..slices import AdaptiveBatch, Slices
from ..store.history_digests import without_texts
from ..store.values import Addition, Change, Feedback, PairVerdict, data_id_of
from ..text import decision_lines
from ..text.identity import content_id
from ..text.sections import normalise
from ..transfer import export_file
from ..transfer.export import Checksum
from ..transfer.export_lines import (
    ExportedCompaction,
    ExportedFeedback,
    ExportedMemory,
    ExportedRecord,
    ExportedVerdict,
    Follower,
)
from . import Progress, Task, attachments, redactions
from .rejected_texts import store_together

if TYPE_CHECKING:
    from jobs.payloads import Import

    from ..interface.result_shapes import ImportDetail, ImportResult
    from .attachments import Line

_FIRST, _TOGETHER = 10, 100  # memories of one transaction
_SHOWN = 100  # details in a result
_LABELS = frozenset([*LABELS, "type", "memory_id", "memory_number", "compaction_source"])  # of a line's metadata

# Counts of the secrets that were replaced in a memory, by its id; in other lines, by "". By kind of secret.
Replaced = dict[str, dict[str, int]]
_COUNTED = (
    "added", "unchanged", "duplicates", "conflicts", "forgotten", "failed", "renumbered", "kept", "compactions",
    "findings", "feedback", "verdicts",
)  # fmt: skip
What = Literal["renumbered", "kept", "duplicate", "conflict", "forgotten", "failed"]
_COUNTERS: dict[What, str] = {"duplicate": "duplicates", "conflict": "conflicts"}  # where it is not called as that


def run(task: Task[Import], stores: Stores, now: datetime, progress: Progress) -> ImportResult:
    """Import the file.

    The payload has ``path``, a file inside the workspace. The result counts the memories of the file by what became of
    them (added, unchanged, duplicates, conflicts, forgotten, failed, renumbered, kept), the compactions, findings,
    feedback and verdicts, and has details, redactions and warnings.

    A job fails with IMPORT_INVALID and the line number when the file is not a whole export; then nothing was stored,
    unless the file changed during the import. It also fails as ``paths.open_inside``, or with an error of the stores;
    then a part may be stored. A second run counts what the first one stored as added and continues with the rest.
    """
    with _opened(task, stores) as (file, replaced):
        return ImportRun(task, stores, clock.iso(now), progress, replaced).import_all(file)


def read_files(task: Task[Import], stores: Stores, progress: Progress) -> Iterator[Line]:
    """The lines of the file without secrets, and after each how many were replaced in it. Raises JobError:
    IMPORT_INVALID and as ``paths.open_inside``."""
    checksum = Checksum()
    redacts = stores.settings.redact_secrets
    with _open(stores.workspace, task.payload.path) as file:
        export_file.inspect(file, Slices(progress, "checking the file", 0))
        file.seek(0)
        for data in file:
            if not data.strip():
                continue
            line, replaced = _without_secrets(read_json(data.removeprefix(codecs.BOM_UTF8)), redacts=redacts)
            if line["type"] == "end" and line.get("sha256") is not None:
                line["sha256"] = checksum.hexdigest()
            checksum.add(_as_line(line))
            yield line
            if replaced:
                yield {"replaced": replaced}


def _without_secrets(line: Line, *, redacts: bool) -> tuple[Line, dict[str, int]]:
    """A line with the secrets of its texts replaced, and their number by kind."""
    if not redacts or line["type"] in ("header", "end"):
        return line, {}
    if line["type"] != "memory":
        return redaction.redact_value(line, pointing=frozenset())
    texts = {name: value for name, value in line["metadata"].items() if name not in _LABELS}
    texts, counts = redaction.redact_value(texts)
    text, of_text = redaction.redact_value(line.get("text"))
    line = line | {"metadata": line["metadata"] | texts} | ({"text": text} if "text" in line else {})
    return line, counts or of_text  # a structured memory's text repeats what its fields say


def _as_line(line: Line) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


@contextmanager
def _opened(task: Task[Import], stores: Stores) -> Iterator[tuple[BinaryIO, Replaced]]:
    """The file, and the secrets that were replaced in it already."""
    if stores.host is None:
        with _open(stores.workspace, task.payload.path) as file:
            yield file, {}
        return
    with attachments.temporary_file(stores) as kept:
        replaced: Replaced = {}
        memory_id = ""
        for line in attachments.lines(task, stores):
            if "type" in line:
                kept.write(_as_line(line))
                memory_id = str(line["metadata"].get("memory_id")) if line["type"] == "memory" else ""
            else:
                counts = attachments.checked(dict[str, int], line.get("replaced"))
                replaced[memory_id] = dict(Counter(replaced.get(memory_id, {})) + Counter(counts))
        yield cast("BinaryIO", kept), replaced


def _open(workspace: Workspace, text: str) -> BinaryIO:
    """The file inside the workspace, or in the folder of uploaded imports. Raises as ``paths.open_inside``."""
    path = workspace.root / PurePath(text)
    if path.parent == workspace.imports:
        return paths.open_inside(workspace.imports, path.name)
    return paths.open_inside(workspace.root, text)


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to be added, with its line in the file and its number there."""

    line: int
    number: int
    addition: Addition


class ImportRun:
    """One import in progress."""

    def __init__(self, task: Task[Import], stores: Stores, now: str, progress: Progress, replaced: Replaced) -> None:
        self._task = task
        self._stores = stores
        self._now = now
        self._progress = progress
        self._counts = Counter(dict.fromkeys(_COUNTED, 0))
        self._details: list[ImportDetail] = []
        self._here: dict[str, str] = {}  # ids in the file -> ids in this store, where they differ
        self._numbers: dict[int, int] = {}  # of memories: in the file -> here
        self._above = 0  # renumbered memories get numbers above this
        self._given: dict[str, Memory] = {}  # memories as in the file, where secrets were replaced
        self._replaced = replaced
        self._redactions = Counter(replaced.pop("", {}))
        # Converted memories that were here already, by their ids in the file: (id, original, whether it has its words).
        self._converted: list[tuple[str, str, bool]] = []

    def import_all(self, file: BinaryIO) -> ImportResult:
        """Import everything. Returns the job's result.

        Raises JobError: IMPORT_INVALID, and errors of the stores.
        """
        began = time.monotonic()
        checked = export_file.inspect(file, Slices(self._progress, "checking the file", 0))
        self._above = checked.highest_number
        slices = Slices(self._progress, "storing memories", checked.memories)
        try:
            self._store_lines(file, slices, records=False)
            self._link_originals()
            if checked.followers:
                self._store_lines(file, slices, records=True)
        except JobError as error:
            if error.code != "IMPORT_INVALID":
                raise
            raise JobError(
                "IMPORT_INVALID",
                f"The file was changed while it was imported. {error.message}",
                remediation="A part of it is stored. Import the file again once it is whole.",
            ) from None
        self._task.note_applied(self._stores.store, self._now)
        result: dict[str, Any] = {
            "memories": checked.memories,
            **self._counts,
            "details": self._details,
            "redactions": redactions(self._stores, self._redactions),
            "warnings": list(self._warnings(checked)),
            "seconds": round(time.monotonic() - began, 3),
            "graph": "follows",
        }
        return cast("ImportResult", result)

    def _store_lines(self, file: BinaryIO, slices: Slices, *, records: bool) -> None:
        """Store the file's records and what follows them (``records``), or its other memories."""
        portion = AdaptiveBatch(_FIRST, _TOGETHER)
        batch: list[tuple[int, Addition]] = []
        others: list[Follower] = []
        for number, line in export_file.lines(file):
            if isinstance(line, ExportedMemory) and isinstance(line, ExportedRecord) == records:
                batch.append((number, self._with_numbers_here(self._without_secrets(export_file.addition_of(line)))))
            elif isinstance(line, Follower) and records:
                others.append(line)
            else:
                slices.advance()
            if len(batch) >= portion.size or len(others) >= _TOGETHER or (others and batch):
                with portion:
                    self._store(batch)
                    if len(others) >= _TOGETHER:
                        self._store_others(others)
                        others.clear()
                slices.advance(len(batch))
                batch.clear()
        self._store(batch)
        slices.advance(len(batch))
        self._store_others(others)

    # --- memories ---

    def _without_secrets(self, addition: Addition) -> Addition:
        """The addition with its secrets replaced; the original memory is kept for comparison."""
        if not self._stores.settings.redact_secrets:
            return addition
        memory = addition.memory
        (content, text), counts = redaction.redact_value((memory.content, memory.text))
        if not counts:
            return addition
        self._given[memory.id], self._replaced[memory.id] = memory, counts
        content = None if content is None else normalise(content)
        return addition._replace(memory=memory._replace(content=content, text=text))

    def _with_numbers_here(self, addition: Addition) -> Addition:
        """A record whose decisions name memories by the numbers that these have in this store."""
        memory = addition.memory
        if memory.kind != "decision_record" or memory.content is None:
            return addition
        content = decision_lines.renumbered(memory.content, lambda number: self._numbers.get(number, number))
        return addition._replace(memory=memory._replace(content=content))

    def _store(self, batch: Sequence[tuple[int, Addition]]) -> None:
        """Store the new memories of a portion, one at a time where the embedding provider rejects a text."""
        new: list[NewMemory] = []
        words: dict[tuple[object, ...], str] = {}
        for line, addition in batch:
            memory = addition.memory
            same = (memory.kind, memory.metadata.topic_id, memory.content, memory.text)
            if self._is_to_be_added(line, addition, words.get(same)):
                new.append(NewMemory(line, memory.number, self._fitted(addition)))
                if not addition.hidden:
                    words[same] = memory.id
            elif addition.migrated_from is not None:
                ours = self._stores.store.get(self._id_here(memory.id))
                is_same = ours is not None and _has_words_of(ours, memory)
                self._converted.append((memory.id, addition.migrated_from, is_same))

        def reject(one: NewMemory, error: JobError) -> None:
            self._report(one.line, one.addition.memory.id, "failed", f"{error.code}: {error.message}")

        store_together(new, self._add, reject)

    def _is_to_be_added(self, line: int, addition: Addition, twin: str | None) -> bool:
        """Whether the memory is new in this store; otherwise it is counted as what it is. ``twin`` is the id of a
        memory of this portion with the same text.
        """
        store, memory = self._stores.store, addition.memory
        given = self._given.pop(memory.id, memory)  # it may have been stored before redaction existed
        ours = store.get(memory.id)
        if ours is not None:
            self._numbers[memory.number] = ours.number
            if not (_has_words_of(ours, memory) or _has_words_of(ours, given)):
                self._report(line, memory.id, "conflict", "The memory of this id has other words here.", memory.id)
            elif self._is_ours(memory.id):  # stored by an earlier attempt of this job
                self._count_added(line, memory.number, ours)
            else:
                self._counts["unchanged"] += 1
                self._compare(line, addition, ours)
            return False
        own = [content_id(store.workspace_id, each) for each in (memory, given)]
        if any(store.was_forgotten_since(each, self._task.accepted_at) for each in (memory.id, *own)):
            self._report(line, memory.id, "forgotten", "It was forgotten after this import was asked for.")
            return False
        if not addition.hidden:
            twin = twin or store.same_as(memory) or store.same_as(given)
        if twin is None and memory.kind != "decision_record":
            twin = next((each for each in own if store.known(each) is not None), None)
        if twin is None:
            self._here.pop(memory.id, None)
            return True
        self._here |= {memory.id: twin, data_id_of(memory.id): data_id_of(twin)}
        self._report(line, memory.id, "duplicate", "The same words are here under another id.", twin)
        if (same := store.get(twin)) is not None:
            self._numbers[memory.number] = same.number
            self._compare(line, addition, same)
        return False

    def _link_originals(self) -> None:
        """Link originals that this import added to memories that were here already, so that a forgetting removes both.

        An original whose memory has another one is removed again. Memories may share an original, so this waits until
        all of them are stored.
        """
        store = self._stores.store
        found = [(self._id_here(memory_id), self._id_here(origin), same) for memory_id, origin, same in self._converted]
        found = [each for each in found if store.is_hidden(each[1]) and self._is_ours(each[1])]
        if not found:
            return
        links: dict[str, str] = {}
        for memory_id, original, is_same in found:
            known = store.known(memory_id)
            if is_same and known is not None and known.migrated_from is None:
                links.setdefault(memory_id, original)
        used = set(links.values())
        unused = [each for each in {original: None for _, original, _ in found} if each not in used]
        unused = [each for each in unused if not store.conversions_of(each)]
        with store.change(self._now) as change:
            change.originals += links.items()
            change.dropped += unused
        self._counts["added"] -= len(unused)
        self._counts["duplicates"] += len(unused)

    def _is_ours(self, memory_id: str) -> bool:
        """Whether this import stored the memory."""
        known = self._stores.store.known(memory_id)
        return known is not None and known.origin_job == self._task.job_id

    def _compare(self, line: int, addition: Addition, ours: Memory) -> None:
        """Report where the file's labels differ from the store's, which are kept."""
        theirs, hidden = addition.memory.metadata, self._stores.store.is_hidden(ours.id)
        if ours.metadata == theirs and hidden == addition.hidden:
            return
        in_file, here = ("hidden" if h else m.status for h, m in ((addition.hidden, theirs), (hidden, ours.metadata)))
        note = (
            f"It is {here} here, and {in_file} in the file."
            if in_file != here
            else "The file has other dates or labels."
        )
        self._report(line, addition.memory.id, "kept", note, ours.id)

    def _fitted(self, addition: Addition) -> Addition:
        """The addition as it is stored here: with its number if that is free, and with the ids of this store."""
        store, memory = self._stores.store, addition.memory
        if memory.number == 0 or not store.is_free(memory.number):
            # Above the file's numbers, so that no other memory of the file loses its own.
            self._above = max(self._above, store.last_number()) + 1
            memory = memory._replace(number=self._above)
        sources = tuple(map(self._id_here, memory.sources))
        origin = addition.migrated_from
        return addition._replace(
            memory=memory._replace(sources=sources),
            origin_job=self._task.job_id,
            migrated_from=None if origin is None else self._id_here(origin),
        )

    def _id_here(self, memory_id: str) -> str:
        """The id that a memory of the file has in this store."""
        return self._here.get(memory_id, memory_id)

    def _add(self, new: Sequence[NewMemory]) -> None:
        """Add the memories in one transaction."""
        if not new:
            return
        with self._stores.store.change(self._now) as change:
            change.additions += (one.addition for one in new)
        for one, memory in zip(new, change.added, strict=True):
            self._count_added(one.line, one.number, memory)

    def _count_added(self, line: int, number: int, stored: Memory) -> None:
        """Count a stored memory, and report a changed number."""
        self._counts["added"] += 1
        self._numbers[number] = stored.number
        self._redactions.update(self._replaced.pop(stored.id, {}))
        if number not in (0, stored.number):
            note = f"The number {number} was taken; it has {stored.number} here."
            self._report(line, stored.id, "renumbered", note, stored.id)

    # --- what was done with them ---

    def _store_others(self, others: Sequence[Follower]) -> None:
        """Store compactions, findings, feedback and verdicts of memories that are here, each once."""
        if not others:
            return
        with self._stores.store.change(self._now) as change:
            for line in others:
                self._store_other(line, change)

    def _store_other(self, line: Follower, change: Change) -> None:
        """Add one compaction, finding, feedback or verdict to the change, unless the store has it."""
        values = self._translated(line.model_dump(exclude={"type"}))
        counts: dict[str, int] = {}
        if self._stores.settings.redact_secrets:
            values, counts = redaction.redact_value(values, pointing=frozenset())  # any field may hold any text
        if isinstance(line, ExportedCompaction):
            if not self._is_new_compaction(values, change):
                return
            # A forgetting does not look for texts in the history, so none may get there.
            record = self._stores.store.get(values["record_id"])
            is_its_topic = record is not None and record.metadata.topic_id == line.topic_id
            topic_id = line.topic_id if is_its_topic else ""
            change.imported_compactions.append(without_texts(values) | {"topic_id": topic_id})
            self._counts["compactions"] += 1
        elif isinstance(line, ExportedFeedback):
            feedback = Feedback(**values)
            if not self._is_new_feedback(feedback):
                return
            change.feedback.append(feedback)
            self._counts["feedback"] += 1
        elif isinstance(line, ExportedVerdict):
            verdict = PairVerdict(**{**values, "job_id": line.job_id if is_job_id(line.job_id) else ""})
            if not self._is_new_verdict(verdict):
                return
            change.verdicts.append(verdict)
            self._counts["verdicts"] += 1
        else:
            if not self._is_new_extraction(values["memory_id"], change):
                return
            # enqueues the memory, which the graph may have without the finding
            change.imported_extractions.append(values)
            self._counts["findings"] += 1
        self._redactions.update(counts)

    def _is_new_compaction(self, values: Mapping[str, Any], change: Change) -> bool:
        """Whether its record is here, and the history does not have the compaction."""
        store, key = self._stores.store, (values["record_id"], values["applied_at"])
        if any((each["record_id"], each["applied_at"]) == key for each in change.imported_compactions):
            return False
        return store.known(key[0]) is not None and not store.compactions.has(*key)

    def _is_new_extraction(self, memory_id: str, change: Change) -> bool:
        """Whether its memory is here and has no extraction."""
        store = self._stores.store
        if any(each["memory_id"] == memory_id for each in change.imported_extractions):
            return False
        return store.known(memory_id) is not None and not store.extractions.known([memory_id])

    def _is_new_feedback(self, feedback: Feedback) -> bool:
        """Whether its memory is here, and has no feedback as late of the same person."""
        store = self._stores.store
        here = store.feedback(feedback.memory_id, withdrawn=True)
        is_known = any(each.by == feedback.by and clock.parse(each.at) >= clock.parse(feedback.at) for each in here)
        return store.known(feedback.memory_id) is not None and not is_known

    def _is_new_verdict(self, verdict: PairVerdict) -> bool:
        """Whether its memories are here, and have no verdict on the two decisions that counts as much."""
        here = self._said.get(_key(verdict))
        is_known = here is not None and here >= _weight(verdict)
        return not is_known and len(self._stores.store.select([verdict.older, verdict.newer])) == 2

    @cached_property
    def _said(self) -> dict[tuple[str, ...], tuple[bool, datetime]]:
        """The weights of the verdicts that were here before."""
        return {_key(each): _weight(each) for each in self._stores.store.all_verdicts()}

    def _translated(self, value: Any) -> Any:
        """The JSON value with the ids of this store."""
        match value:
            case dict():
                return {name: self._translated(item) for name, item in value.items()}
            case list():
                return [self._translated(item) for item in value]
            case str():
                return self._id_here(value)
        return value

    # --- the result ---

    def _report(self, line: int, memory_id: str, what: What, note: str, here: str | None = None) -> None:
        """Count what became of a memory, and add it to the details of the result, up to the limit."""
        self._counts[_COUNTERS.get(what, what)] += 1
        if len(self._details) < _SHOWN:
            self._details.append({"line": line, "memory_id": memory_id, "what": what, "here": here, "note": note})

    def _warnings(self, checked: export_file.Checked) -> Iterator[str]:
        """The warnings of the result."""
        store = self._stores.store
        if checked.was_edited:
            yield "The file says that it was edited: whether it is complete cannot be checked."
        if checked.strays:
            where = ", ".join(map(str, checked.strays[:10])) + (", …" if len(checked.strays) > 10 else "")
            yield f"What is not read differs from the fields, which count (text, references, time_scope): line {where}."
        lost = sum(named not in checked.ids and store.known(named) is None for named in checked.named)
        if lost:
            yield f"{lost} memories that others come from are neither in the file nor here."
        reported = sum(
            self._counts[n] for n in ("renumbered", "kept", "duplicates", "conflicts", "forgotten", "failed")
        )
        if reported > len(self._details):
            yield f"The details name the first {len(self._details)} of {reported}."


def _key(verdict: PairVerdict) -> tuple[str, ...]:
    return verdict.older, verdict.older_sha256, verdict.newer, verdict.newer_sha256


def _weight(verdict: PairVerdict) -> tuple[bool, datetime]:
    """Anybody's verdict counts more than a language model's; then the later one."""
    return verdict.confidence is None, clock.parse(verdict.at)


def _has_words_of(ours: Memory, theirs: Memory) -> bool:
    """Whether two memories have the same kind, topic and text."""
    content = None if ours.content is None else normalise(ours.content)
    mine = (ours.kind, ours.metadata.topic_id, content, ours.text)
    return mine == (theirs.kind, theirs.metadata.topic_id, theirs.content, theirs.text)
