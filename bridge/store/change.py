"""A change of the memories, as a value: what one transaction is to do. A store applies it whole or not at all.

An operation looks, decides, and gathers its decisions here; nothing is written before it is complete. So a store can
embed texts before it takes a lock, try the same change again after a repair, and hand it on to another machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..memory import Memory, Status
from .applied_jobs import AppliedJob
from .compaction_history import Compaction
from .extractions import Extraction
from .forgettings import Plan
from .rows import Addition


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A memory's next status, and the time from which it holds: an older change is past."""

    memory_id: str
    status: Status
    set_at: str


@dataclass(frozen=True, slots=True)
class KeptExtraction:
    """What cognee found in a memory's text for a job."""

    memory_id: str
    found: Extraction
    job_id: str


@dataclass(frozen=True, slots=True)
class BegunForgetting:
    """A forgetting that begins with this change, and the job that asks for it."""

    job: AppliedJob
    accepted_at: str
    plan: Plan


@dataclass(slots=True)
class Change:
    """``at`` is the time of the change, ``applied`` are the jobs whose effect it is: they are recorded with it.

    The fields are in the order in which a store applies them; additions come last. ``added`` has the new memories with
    their numbers once the change is committed, in the order of ``additions``.
    """

    at: str
    applied: tuple[AppliedJob, ...] = ()
    tombstones: list[str] = field(default_factory=list)
    statuses: list[StatusChange] = field(default_factory=list)
    originals: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    undelivered: list[str] = field(default_factory=list)
    texts_to_forget: set[str] = field(default_factory=set)
    compactions: list[Compaction] = field(default_factory=list)
    restorations: list[tuple[Compaction, str]] = field(default_factory=list)
    topics_to_clear: list[str] = field(default_factory=list)
    imported_compactions: list[Mapping[str, Any]] = field(default_factory=list)
    forgettings: list[BegunForgetting] = field(default_factory=list)
    finishes_forgettings: bool = False
    extractions_to_drop: list[str] = field(default_factory=list)
    extractions: list[KeptExtraction] = field(default_factory=list)
    imported_extractions: list[Mapping[str, Any]] = field(default_factory=list)
    additions: list[Addition] = field(default_factory=list)
    added: list[Memory] = field(default_factory=list)

    # --- memories ---

    def add(self, additions: Iterable[Addition]) -> None:
        """Add new memories. A hidden memory of the same id comes back, under its number."""
        self.additions += additions

    def set_statuses(self, statuses: Iterable[StatusChange]) -> None:
        """Change statuses, whatever they were; the graph is told."""
        self.statuses += statuses

    def hide(self, memory_id: str) -> None:
        """Keep a memory, so that nothing finds it any more; the graph deletes it."""
        self.hidden.append(memory_id)

    def drop(self, memory_ids: Iterable[str]) -> None:
        """Remove memories; the graph deletes them. Their numbers are not given again."""
        self.dropped += memory_ids

    def leave_tombstones(self, memory_ids: Iterable[str]) -> None:
        """Keep ids from coming back by a job that was accepted before this change."""
        self.tombstones += memory_ids

    def link_original(self, memory_id: str, original_id: str) -> None:
        """Record which hidden original a memory was converted from, unless it has one."""
        self.originals.append((memory_id, original_id))

    def forget_embeddings(self, texts: Iterable[str]) -> None:
        """Remove the embeddings of texts, of all models and whichever memory they came from."""
        self.texts_to_forget.update(texts)

    def discard_deliveries(self, memory_ids: Iterable[str]) -> None:
        """Remove the memories' pending outbox entries: there never was a graph that could have them."""
        self.undelivered += memory_ids

    # --- what was merged ---

    def record_compaction(self, made: Compaction) -> None:
        """Add a compaction to the history."""
        self.compactions.append(made)

    def record_restoration(self, restored: Compaction, job_id: str) -> None:
        """Record that a compaction was taken back (``restored.restored``), and by which job.

        One without a ``seq`` is added to the history first.
        """
        self.restorations.append((restored, job_id))

    def clear_topics(self, topic_ids: Iterable[str]) -> None:
        """Remove the ids of forgotten topics from the history: they are made of a title."""
        self.topics_to_clear += topic_ids

    def import_compaction(self, row: Mapping[str, Any]) -> None:
        """Add a compaction as an export has it."""
        self.imported_compactions.append(row)

    # --- what was forgotten ---

    def begin_forgetting(self, job: AppliedJob, accepted_at: str, plan: Plan) -> None:
        """Record what a forgetting still has to remove beside the memories."""
        self.forgettings.append(BegunForgetting(job, accepted_at, plan))

    def finish_forgettings(self) -> None:
        """Record that no forgetting has anything left to remove from the stores."""
        self.finishes_forgettings = True

    # --- what cognee found ---

    def keep_extraction(self, memory_id: str, found: Extraction, job_id: str) -> None:
        """Keep what was found in a memory's text, instead of what was found before."""
        self.extractions.append(KeptExtraction(memory_id, found, job_id))

    def drop_extractions(self, memory_ids: Iterable[str]) -> None:
        """Remove what was found in the memories' texts."""
        self.extractions_to_drop += memory_ids

    def import_extraction(self, row: Mapping[str, Any]) -> None:
        """Keep what was found as an export has it. The graph is told of the memory again, with it."""
        self.imported_extractions.append(row)
