"""A segment, a part of a session about one subject, and the summary made of it, as values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..memory import Content
from .session import Turn

if TYPE_CHECKING:
    from ..embedding.embedder import Vectors

# Vectors of the texts, shape (n, dimensions), each of length 1.
Embed = Callable[[Sequence[str]], "Vectors"]

Section = Literal["topic", "context", "decisions", "rationale", "open_questions", "next_steps"]

# Why a segment begins where it does.
Cut = Literal["start", "silence", "subject", "marker", "size"]


@dataclass(frozen=True, slots=True)
class Segment:
    """Turns that belong together, in order, and why the segment begins there. ``index`` counts from 0 in its
    session."""

    index: int
    turns: tuple[Turn, ...]
    cut: Cut = "start"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of a summary, and the place in the transcript where it stands."""

    section: Section
    text: str
    place: str


@dataclass(frozen=True, slots=True)
class SegmentSummary:
    """A segment's summary in the fields of the template.

    ``importance`` and ``confidence`` are 0 to 1: how much the segment holds that is worth recalling, and how sure the
    choice of its sentences is. ``method`` is how it was made. ``evidence`` has each sentence with its place; a sentence
    that a model wrote has the place of the turn that supports it.
    """

    content: Content
    importance: float
    confidence: float
    method: Literal["rules", "model"]
    evidence: tuple[Evidence, ...] = ()
