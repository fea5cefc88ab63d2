"""The types of what tools answer beside the answers of HTTP.

Import it under TYPE_CHECKING, as ``bridge.interface.answer_shapes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from bridge.interface.answer_shapes import RetrievalHit, RetrievalSuccess
from bridge.memory_shapes import ReviewedPair
from jobs.schema import Count, JobRecord, Moment, Number
from jobs.states import State

from ..admin.shapes import WaitingJob
from ..calls.shapes import WholeMemory


class FoundHit(RetrievalHit):
    replaced: NotRequired[str]
    """What replaced it, if somebody said so."""


class Found(RetrievalSuccess):
    """The best memories first."""

    results: list[FoundHit]  # type: ignore[misc]


class MemoryPart(WholeMemory):
    """A memory with its text."""

    total_characters: Count
    """Of the whole text."""
    next_offset: Count | None
    """The offset of the next part; null at the end."""
    warnings: list[str]
    """What may be missing here, such as what others in the team have changed."""


class SimilarMemory(TypedDict):
    """A memory that was there before, about the same matter."""

    memory_number: Number
    date: Moment | None
    says: str
    """Its sentence that is nearest to what was sent."""
    says_otherwise: bool
    """Whether what was sent seems to replace it; then ``memory_mark_outdated`` may be right."""


class Accepted(TypedDict):
    """A job that stores what was sent, in the background."""

    job_id: str
    duplicate: bool
    """Whether the same job was there before: it is not run again."""
    similar: list[SimilarMemory]
    """At most 3, which no answer needs; empty where none is clearly about the same."""


class JobStatus(TypedDict):
    """Where a job is, and what it did."""

    outcome: str
    """One sentence for people."""
    worker_alive: bool
    """Whether a worker is there to run it."""
    job: JobRecord | WaitingJob


class Asked(TypedDict):
    """A change that is made, or will be."""

    job_id: str | None
    """Null if there was nothing to change."""
    state: State | Literal["in the inbox"]
    """How far the job is."""
    result: Mapping[str, Any] | None
    """What it did; null until it has succeeded."""


class Resolved(TypedDict):
    """What is disputed; or what was said of two decisions."""

    pairs: NotRequired[list[ReviewedPair]]
    job_id: NotRequired[str | None]
    state: NotRequired[State | Literal["in the inbox"]]
    result: NotRequired[Mapping[str, Any] | None]
    warnings: list[str]
