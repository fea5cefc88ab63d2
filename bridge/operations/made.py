"""A memory made of a segment of a captured session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..capture.session import SegmentSummary
from ..memory import Memory
from ..store.values import CapturedSegment


@dataclass(frozen=True, slots=True)
class Made:
    """A memory made of a segment. ``memory`` has its number once it is stored.

    ``supersedes`` are the ids of the memories of the same session that it replaces. ``is_new`` is whether this capture
    adds it: another session may have said the same before. ``met_at``: when a known failure was met later
    than before.
    """

    memory: Memory
    summary: SegmentSummary
    segment: CapturedSegment
    first_place: str
    last_place: str
    is_new: bool
    supersedes: tuple[str, ...] = ()
    met_at: str | None = None


def note_superseded(made: list[Made], replaced: Sequence[str]) -> None:
    """Note on the session's last memory what its new ones replace; a failure replaces nothing."""
    own = [at for at, each in enumerate(made) if each.memory.id == each.segment.memory_id]
    if replaced and own:
        made[own[-1]] = replace(made[own[-1]], supersedes=tuple(replaced))
