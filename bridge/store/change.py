"""A change of the memories, as a value: everything that one transaction must do. A store commits all of it or nothing.

An operation reads, decides, and collects its decisions in a change; nothing is written before it is complete. So a
store can embed texts before it takes a lock, retry the change after a repair, or send it to another machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    # ids that are blocked for jobs that were accepted before this change
    tombstones: list[str] = field(default_factory=list)
    # set whatever they were, and enqueued for the graph
    statuses: list[StatusChange] = field(default_factory=list)
    # a memory's id, and the hidden original that it was converted from, unless it has one
    originals: list[tuple[str, str]] = field(default_factory=list)
    # deleted, also from the graph; their numbers are not used again
    dropped: list[str] = field(default_factory=list)
    # they stay in the store, but no query finds them, and the graph deletes them
    hidden: list[str] = field(default_factory=list)
    # their cached embeddings are deleted, of all models, whichever memory they came from
    texts_to_forget: set[str] = field(default_factory=set)
    # --- the history of compactions ---
    compactions: list[Compaction] = field(default_factory=list)
    # what was undone (``restored``), and the job that did it; without a ``seq``, it is added to the history first
    restorations: list[tuple[Compaction, str]] = field(default_factory=list)
    # the ids of forgotten topics go from the history, since they derive from a title
    topics_to_clear: list[str] = field(default_factory=list)
    # rows of an export, which hold no texts (``without_texts``)
    imported_compactions: list[Mapping[str, Any]] = field(default_factory=list)
    # what they still have to remove outside the memories
    forgettings: list[BegunForgetting] = field(default_factory=list)
    # no begun forgetting has anything left to remove from the stores
    finishes_forgettings: bool = False
    # --- what was extracted from texts, instead of what was before ---
    extractions_to_drop: list[str] = field(default_factory=list)
    extractions: list[KeptExtraction] = field(default_factory=list)
    # rows of an export, whose memories are enqueued for the graph
    imported_extractions: list[Mapping[str, Any]] = field(default_factory=list)
    # --- captured sessions, instead of what was recorded before ---
    captured_sessions: list[CapturedSession] = field(default_factory=list)
    # tool, session's id, digests of its turns
    captured_turns: list[tuple[str, str, Sequence[str]]] = field(default_factory=list)
    # where a memory was captured from, unless it is recorded; deleted with the memory
    capture_sources: list[CaptureSource] = field(default_factory=list)
    # instead of an earlier one of the same person on the memory; a later one is kept. On an unknown memory it is left
    # out. It is deleted with the memory.
    feedback: list[Feedback] = field(default_factory=list)
    # their questions and notes are deleted, the verdicts stay
    feedback_to_clear: list[Feedback] = field(default_factory=list)
    feedback_to_drop: list[Feedback] = field(default_factory=list)
    # instead of an earlier one on the pair; a later one is kept. One on an unknown memory is left out. It is deleted
    # with either memory.
    verdicts: list[PairVerdict] = field(default_factory=list)
    # their reasons and names are deleted; what they say stays
    verdicts_to_clear: list[PairVerdict] = field(default_factory=list)
    # if a hidden memory has the same id, the new one replaces it and gets its number
    additions: list[Addition] = field(default_factory=list)
    added: list[Memory] = field(default_factory=list)
