"""A change of the memories, as a value: everything that one transaction must do. A store commits all of it or nothing.

An operation reads, decides, and collects its decisions in a change; nothing is written before it is complete. So a
store can embed texts before it takes a lock, retry the change after a repair, or send it to another machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..memory import Memory, Status
from .values import (
    Addition,
    AppliedJob,
    CapturedSession,
    CaptureSource,
    Compaction,
    Extraction,
    Feedback,
    PairVerdict,
    Plan,
)


class StatusChange(NamedTuple):
    """A memory's new status, and the time from which it holds. ``set_status`` ignores requests older than that time.
    ``updated_at``: the memory's new date, if that is not the change's."""

    memory_id: str
    status: Status
    set_at: str
    updated_at: str | None = None


class KeptExtraction(NamedTuple):
    """What cognee extracted from a memory's text for a job."""

    memory_id: str
    found: Extraction
    job_id: str


class BegunForgetting(NamedTuple):
    """A forgetting that begins with this change, and its job."""

    job: AppliedJob
    accepted_at: str
    plan: Plan


@dataclass(slots=True)
class Change:
    """A change. ``at`` is its time; ``applied`` are the jobs whose effect it is, recorded with it.

    A store applies the fields in this order, additions last. After the commit, ``added`` has the new memories with
    their numbers, in the order of ``additions``.
    """

    at: str
    applied: tuple[AppliedJob, ...] = ()
    tombstones: list[str] = field(default_factory=list)
    statuses: list[StatusChange] = field(default_factory=list)
    originals: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
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
    captured_sessions: list[CapturedSession] = field(default_factory=list)
    captured_turns: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    capture_sources: list[CaptureSource] = field(default_factory=list)
    feedback: list[Feedback] = field(default_factory=list)
    feedback_to_clear: list[tuple[str, str]] = field(default_factory=list)
    feedback_to_drop: list[tuple[str, str]] = field(default_factory=list)
    verdicts: list[PairVerdict] = field(default_factory=list)
    verdicts_to_clear: list[PairVerdict] = field(default_factory=list)
    additions: list[Addition] = field(default_factory=list)
    added: list[Memory] = field(default_factory=list)

    # --- memories ---

    def add(self, additions: Iterable[Addition]) -> None:
        """Add new memories. If a hidden memory has the same id, the new one replaces it and gets its number."""
        self.additions += additions

    def set_statuses(self, statuses: Iterable[StatusChange]) -> None:
        """Set statuses, whatever they were, and enqueue them for the graph."""
        self.statuses += statuses

    def hide(self, memory_id: str) -> None:
        """Hide a memory: it stays in the store, but no query finds it, and the graph deletes it."""
        self.hidden.append(memory_id)

    def drop(self, memory_ids: Iterable[str]) -> None:
        """Delete memories, also from the graph. Their numbers are not used again."""
        self.dropped += memory_ids

    def leave_tombstones(self, memory_ids: Iterable[str]) -> None:
        """Block these ids for jobs that were accepted before this change."""
        self.tombstones += memory_ids

    def link_original(self, memory_id: str, original_id: str) -> None:
        """Record the hidden original that a memory was converted from, unless it has one."""
        self.originals.append((memory_id, original_id))

    def forget_embeddings(self, texts: Iterable[str]) -> None:
        """Delete the cached embeddings of texts, of all models, whichever memory they came from."""
        self.texts_to_forget.update(texts)

    # --- compactions ---

    def record_compaction(self, made: Compaction) -> None:
        """Add a compaction to the history."""
        self.compactions.append(made)

    def record_restoration(self, restored: Compaction, job_id: str) -> None:
        """Record that a job undid a compaction (``restored.restored``).

        A compaction without a ``seq`` is added to the history first.
        """
        self.restorations.append((restored, job_id))

    def clear_topics(self, topic_ids: Iterable[str]) -> None:
        """Delete the ids of forgotten topics from the history, since they derive from a title."""
        self.topics_to_clear += topic_ids

    def import_compaction(self, row: Mapping[str, Any]) -> None:
        """Add a compaction from an export to the history. The row holds no texts (``without_texts``)."""
        self.imported_compactions.append(row)

    # --- forgettings ---

    def begin_forgetting(self, job: AppliedJob, accepted_at: str, plan: Plan) -> None:
        """Record what a forgetting still has to remove outside the memories."""
        self.forgettings.append(BegunForgetting(job, accepted_at, plan))

    def finish_forgettings(self) -> None:
        """Record that no begun forgetting has anything left to remove from the stores."""
        self.finishes_forgettings = True

    # --- extractions ---

    def keep_extraction(self, memory_id: str, found: Extraction, job_id: str) -> None:
        """Store what was extracted from a memory's text, instead of an earlier extraction."""
        self.extractions.append(KeptExtraction(memory_id, found, job_id))

    def drop_extractions(self, memory_ids: Iterable[str]) -> None:
        """Delete what was extracted from the memories' texts."""
        self.extractions_to_drop += memory_ids

    def import_extraction(self, row: Mapping[str, Any]) -> None:
        """Store an extraction from an export, and enqueue the memory for the graph."""
        self.imported_extractions.append(row)

    # --- captured sessions ---

    def record_session(self, session: CapturedSession) -> None:
        """Record what is captured from a session, instead of what was recorded before."""
        self.captured_sessions.append(session)

    def record_turns(self, tool: str, session_id: str, digests: Iterable[str]) -> None:
        """Record the digests of a session's turns, instead of what was recorded before."""
        self.captured_turns.append((tool, session_id, tuple(digests)))

    def record_source(self, source: CaptureSource) -> None:
        """Record where a memory was captured from, unless it is recorded. Deleting the memory deletes it."""
        self.capture_sources.append(source)

    # --- feedback ---

    def give_feedback(self, given: Feedback) -> None:
        """Store a feedback instead of an earlier one of the same person on the memory; a later one is kept. Feedback on
        an unknown memory is left out. A memory's feedback is deleted with it.
        """
        self.feedback.append(given)

    def clear_feedback(self, given: Iterable[Feedback]) -> None:
        """Delete the questions and the notes of feedback, and keep the verdicts."""
        self.feedback_to_clear += [(one.memory_id, one.by) for one in given]

    def drop_feedback(self, given: Iterable[Feedback]) -> None:
        """Delete feedback, with the verdicts."""
        self.feedback_to_drop += [(one.memory_id, one.by) for one in given]

    # --- verdicts ---

    def settle(self, verdict: PairVerdict) -> None:
        """Store a verdict instead of an earlier one on the pair; a later one is kept. One on an unknown memory is left
        out. It is deleted with either memory.
        """
        self.verdicts.append(verdict)

    def clear_verdicts(self, given: Iterable[PairVerdict]) -> None:
        """Delete the reasons and the names of verdicts, and keep what they say."""
        self.verdicts_to_clear += given
