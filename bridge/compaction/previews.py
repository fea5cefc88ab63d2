"""Previews of compactions: their JSON form, and their files, one per digest, so that exactly what was shown is applied.

The digest covers only what would be applied: the sources with the digests of their contents, the whole record, and of
which pairs it says that both hold.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from jobs import files, plain_files, steps
from jobs.layout import Workspace
from jobs.model import canonical_json

from ..memory import LABELS, LISTS, Content, Memory, Metadata, References, TimeScope
from ..store import history_digests
from ..store.values import AppliedJob, Compaction, Source
from .contradictions import Conflict, Statement, date_of
from .record_draft import Draft

if TYPE_CHECKING:
    from ..interface.result_shapes import CompactionConflict, ConflictSide, PreviewedRecord

FORMAT = 3
MAX_KEPT = 100
DAYS_KEPT = 30.0

# field of Content -> its name in a record
_LISTS = {
    "decisions": "consolidated_decisions",
    "rationale": "consolidated_rationale",
    "open_questions": "key_open_questions",
    "next_steps": "next_steps",
}
_LIMIT = 64 * 1024 * 1024
_DAY = 86_400.0
_MOST_PAIRS = 100  # of the memories that have the two decisions of a rejected conflict


class Preview(NamedTuple):
    """What a compaction would do. ``sources``: (memory id, content digest), the oldest first. ``record``: field ->
    value, as in the JSON form. ``kept_both``: the rejected conflicts. ``both_hold``: their decisions where they are
    stated: id and digest of one, id and digest of the other."""

    topic_id: str
    sources: tuple[tuple[str, str], ...]
    record: PreviewedRecord
    conflicts: Sequence[CompactionConflict] = ()
    warnings: Sequence[str] = ()
    kept_both: Sequence[CompactionConflict] = ()
    both_hold: Sequence[tuple[str, str, str, str]] = ()

    @property
    def digest(self) -> str:
        """The SHA-256, in hex, of what would be applied."""
        return sha256(canonical_json(self._applied()).encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """The content of the preview's file."""
        shown = {"conflicts": list(self.conflicts), "kept_both": list(self.kept_both), "warnings": list(self.warnings)}
        return {**self._applied(), **shown}

    def _applied(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "topic_id": self.topic_id,
            "sources": [{"memory_id": memory_id, "content_sha256": digest} for memory_id, digest in self.sources],
            "decision_record": dict(self.record),
            "both_hold": [list(pair) for pair in self.both_hold],
        }


def preview_of(draft: Draft, topic_id: str) -> Preview:
    """The preview of a record that is not stored yet."""
    return Preview(
        topic_id=topic_id,
        sources=tuple((memory.id, content_digest(memory)) for memory in draft.sources),
        record=_record(draft),
        conflicts=[_conflict(conflict) for conflict in draft.conflicts],
        kept_both=[_conflict(conflict) for conflict in draft.kept_both],
        warnings=draft.warnings,
        both_hold=[pair for conflict in draft.kept_both for pair in _places(conflict)],
    )


def _places(conflict: Conflict) -> Iterator[tuple[str, str, str, str]]:
    """The memories that state the two decisions of a conflict, with the digests of their words."""
    pairs = product(sorted(conflict.earlier.held), sorted(conflict.later.held))
    return ((*one, *other) for one, other in islice(pairs, _MOST_PAIRS))


def _record(draft: Draft) -> PreviewedRecord:
    """The record: field name -> value."""
    content, metadata = draft.content, draft.metadata
    scope = content.time_scope
    assert metadata.topic_id is not None
    assert metadata.source_created_at is not None
    record: dict[str, Any] = {
        "topic": content.topic,
        "topic_id": metadata.topic_id,
        "session_id": metadata.session_id,
        "plan_id": metadata.plan_id,
        "status": "DecisionRecord",
        "source_created_at": metadata.source_created_at,
        "importance": metadata.importance,
        "summary_text": content.context,
        **{field: list(getattr(content, name)) for name, field in _LISTS.items()},
        **{f"key_references_{kind}": list(named) for kind, named in content.references._asdict().items()},
        "time_scope": {"text": scope.text, "start": scope.start, "end": scope.end, "turn_count": scope.turn_count},
        "compaction_source": [memory.id for memory in draft.sources],
        "narrative_source": draft.narrative_source,
        **{name: list(getattr(metadata, name)) for name in LISTS},
    }
    return cast("PreviewedRecord", record)


def record_of(preview: Preview) -> tuple[Content, Metadata]:
    """The record of a preview, without id and dates. Raises KeyError or TypeError for a malformed one."""
    record: Mapping[str, Any] = preview.record  # it may come from a file
    lists = {name: tuple(record[field]) for name, field in _LISTS.items()}
    content = Content(
        topic=record["topic"],
        context=record["summary_text"],
        references=References(**{kind: tuple(record[f"key_references_{kind}"]) for kind in References._fields}),
        time_scope=TimeScope(**record["time_scope"]),
        **lists,
    )
    return content, Metadata(
        **{name: record[name] for name in LABELS if name in record and name not in LISTS},
        **cast("Any", {name: tuple(record[name]) for name in LISTS}),
    )


def compaction_of(
    preview: Preview, record_id: str, effect: AppliedJob, now: str, sources: Sequence[Source]
) -> Compaction:
    """What the history keeps of applying the preview. ``sources``: as they were before."""
    return Compaction(
        record_id=record_id,
        topic_id=preview.topic_id,
        applied_at=now,
        effect=effect,
        preview_digest=preview.digest,
        sources=tuple(sources),
        conflicts=history_digests.digested(preview.conflicts),
        narrative_source=preview.record["narrative_source"],
    )


def _conflict(conflict: Conflict) -> CompactionConflict:
    """A conflict as JSON, with memory, text and date of both sides."""
    shown: CompactionConflict = {
        "conflict_id": conflict.id,
        "kind": conflict.kind,
        "confidence": conflict.confidence,
        "judged_by": conflict.judged_by,
        "earlier": _side(conflict.earlier),
        "later": _side(conflict.later),
    }
    if conflict.reason:
        shown["reason"] = conflict.reason
    return shown


def _side(statement: Statement) -> ConflictSide:
    """One of the two decisions of a conflict."""
    memory, before = statement.memory, statement.stated_before
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "text": statement.text,
        "date": f"{before.day}T00:00:00Z" if before else date_of(memory),
    }


def content_digest(memory: Memory) -> str:
    """The SHA-256, in hex, of a memory's text; it does not depend on status, dates and labels."""
    words = memory.text if memory.content is None else memory.content.as_dict()
    return sha256(canonical_json(words).encode()).hexdigest()


def store(workspace: Workspace, preview: Preview, now: datetime) -> str:
    """Write a preview durably and remove expired ones. Returns its digest, which names its file. Raises OSError."""
    digest = preview.digest
    files.make_folder(workspace.previews, parents=False)
    data = json.dumps(preview.as_dict(), ensure_ascii=False).encode()
    with steps.fault_point("preview.write"):
        files.replace(workspace.preview(digest), data)
    _prune(workspace.previews, digest, now)
    return digest


def load(workspace: Workspace, digest: str) -> Preview | None:
    """The preview with that digest; None without one, or if the file's content has another digest.

    Raises JobError: FILE_UNSAFE, FILE_TOO_LARGE.
    """
    try:
        return of_dict(json.loads(plain_files.read_own(workspace.preview(digest), _LIMIT)), digest)
    except (FileNotFoundError, ValueError):
        return None


def of_dict(content: Any, digest: str) -> Preview | None:
    """The preview of such a file's content; None if that has another digest."""
    try:
        preview = Preview(
            topic_id=content["topic_id"],
            sources=tuple((source["memory_id"], source["content_sha256"]) for source in content["sources"]),
            record=content["decision_record"],
            conflicts=content["conflicts"],
            kept_both=content["kept_both"],
            both_hold=[(a, words, b, other) for a, words, b, other in content["both_hold"]],
            warnings=content["warnings"],
        )
        is_intact = content["format"] == FORMAT and preview.digest == digest
    except (ValueError, KeyError, TypeError):
        return None
    return preview if is_intact else None


def _prune(folder: Path, kept: str, now: datetime) -> None:
    """Remove previews that are too old or too many, the oldest first, but not ``kept``, which was written just now."""
    previews = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                previews.append((entry.stat(follow_symlinks=False).st_mtime, entry.name))
    newest_first = sorted((entry for entry in previews if Path(entry[1]).stem != kept), reverse=True)
    for number, (at, name) in enumerate(newest_first, 1):
        if number >= MAX_KEPT or (now.timestamp() - at) / _DAY > DAYS_KEPT:
            files.remove(folder / name)
