"""Previews of compactions: how they are shown, and kept under their digest, so that what is applied is what was seen.

The digest covers what would be applied, and no more: the sources with digests of their contents, and the whole record.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from jobs import files, steps
from jobs.layout import Workspace
from jobs.model import canonical_json

from ..memory import Content, Memory, Metadata, References, TimeScope
from .record_draft import Conflict, Draft, date_of

FORMAT = 1
MOST_KEPT = 100
DAYS_KEPT = 30.0

# a record's name of each list of a memory
_LISTS = {
    "decisions": "consolidated_decisions",
    "rationale": "consolidated_rationale",
    "open_questions": "key_open_questions",
    "next_steps": "next_steps",
}
_LIMIT = 64 * 1024 * 1024
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Preview:
    """What a compaction would do. ``sources`` are memory ids, the oldest first, with the digests of their contents."""

    topic_id: str
    sources: tuple[tuple[str, str], ...]
    record: Mapping[str, Any]
    conflicts: Sequence[Mapping[str, Any]] = ()
    warnings: Sequence[str] = ()

    @property
    def digest(self) -> str:
        return sha256(canonical_json(self._applied()).encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        return {**self._applied(), "conflicts": list(self.conflicts), "warnings": list(self.warnings)}

    def _applied(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "topic_id": self.topic_id,
            "sources": [{"memory_id": memory_id, "content_sha256": digest} for memory_id, digest in self.sources],
            "decision_record": dict(self.record),
        }


def preview_of(made: Draft, topic_id: str) -> Preview:
    """The preview of a record that is not stored yet."""
    return Preview(
        topic_id=topic_id,
        sources=tuple((memory.id, content_digest(memory)) for memory in made.sources),
        record=_record(made),
        conflicts=[_conflict(conflict) for conflict in made.conflicts],
        warnings=made.warnings,
    )


def _record(made: Draft) -> dict[str, Any]:
    """The record under the names that a record's fields have."""
    content, metadata = made.content, made.metadata
    return {
        "topic": content.topic,
        "topic_id": metadata.topic_id,
        "session_id": metadata.session_id,
        "plan_id": metadata.plan_id,
        "status": metadata.status,
        "source_created_at": metadata.source_created_at,
        "importance": metadata.importance,
        "summary_text": content.context,
        **{field: list(getattr(content, name)) for name, field in _LISTS.items()},
        **{f"key_references_{kind}": list(values) for kind, values in asdict(content.references).items()},
        "time_scope": asdict(content.time_scope),
        "compaction_source": [memory.id for memory in made.sources],
        "narrative_source": made.narrative_source,
    }


def record_of(preview: Preview) -> tuple[Content, Metadata]:
    """The record of a preview, which has neither id nor dates of its own. Raises KeyError, TypeError: it is none."""
    record = preview.record
    lists = {name: tuple(record[field]) for name, field in _LISTS.items()}
    kinds = ("files", "plans", "branches", "issues")
    content = Content(
        topic=record["topic"],
        context=record["summary_text"],
        references=References(**{kind: tuple(record[f"key_references_{kind}"]) for kind in kinds}),
        time_scope=TimeScope(**record["time_scope"]),
        **lists,
    )
    labels = ("topic_id", "session_id", "plan_id", "source_created_at", "importance")
    return content, Metadata(status="DecisionRecord", **{name: record[name] for name in labels})


def _conflict(conflict: Conflict) -> dict[str, Any]:
    """A conflict with both memories, both texts and both dates."""
    sides = {"earlier": conflict.earlier, "later": conflict.later}
    return {
        "kind": conflict.kind,
        "confidence": conflict.confidence,
        "judged_by": conflict.judged_by,
        **{
            name: {
                "memory_id": side.memory.id,
                "memory_number": side.memory.number,
                "text": side.text,
                "date": date_of(side.memory),
            }
            for name, side in sides.items()
        },
    }


def content_digest(memory: Memory) -> str:
    """The SHA-256 of a memory's words; its status, dates and labels do not count."""
    words = memory.text if memory.content is None else asdict(memory.content)
    return sha256(canonical_json(words).encode()).hexdigest()


def store(workspace: Workspace, preview: Preview, now: datetime) -> str:
    """Keep a preview, durably, and forget those whose time is over. Returns the digest that it lies under."""
    digest = preview.digest
    files.make_folder(workspace.previews)
    data = json.dumps(preview.as_dict(), ensure_ascii=False).encode()
    with steps.fault_point("preview.write"):
        files.replace(workspace.preview(digest), data)
    _prune(workspace.previews, digest, now)
    return digest


def load(workspace: Workspace, digest: str) -> Preview | None:
    """The preview of that digest; None where there is none, or where it is not what the digest is of.

    Raises FILE_UNSAFE, FILE_TOO_LARGE.
    """
    try:
        found = json.loads(files.read_own(workspace.preview(digest), _LIMIT))
        preview = Preview(
            topic_id=found["topic_id"],
            sources=tuple((source["memory_id"], source["content_sha256"]) for source in found["sources"]),
            record=found["decision_record"],
            conflicts=found["conflicts"],
            warnings=found["warnings"],
        )
        is_whole = found["format"] == FORMAT and preview.digest == digest
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return preview if is_whole else None


def _prune(folder: Path, kept: str, now: datetime) -> None:
    """Remove what is too old or too many, the oldest first, but not the one that was just written."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                found.append((entry.stat(follow_symlinks=False).st_mtime, entry.name))
    newest_first = sorted((each for each in found if Path(each[1]).stem != kept), reverse=True)
    for number, (at, name) in enumerate(newest_first, 1):
        if number >= MOST_KEPT or (now.timestamp() - at) / _DAY > DAYS_KEPT:
            files.remove(folder / name)
