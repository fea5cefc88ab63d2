"""The memories made of a captured session: one of each segment, and its failures, each error with its fix once, for as
long as it is of use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jobs import clock

from ..capture.failures import failures
from ..capture.session import Segment, SegmentSummary, Transcript
from ..memory import FAILURE, Content, Memory, Metadata
from ..store.values import CapturedSegment
from ..text import failures as text
from ..text.identity import new_memory
from ..text.sections import normalise

if TYPE_CHECKING:
    from ..store.memories import Memories
    from ..store.store import Store

_IMPORTANCE = 0.3
_SURE = 0.6  # how sure it is that what was done after a failure is its fix


@dataclass(frozen=True, slots=True)
class SessionMemory:
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


def note_superseded(made: list[SessionMemory], replaced: Sequence[str]) -> None:
    """Note on the session's last memory what its new ones replace; a failure replaces nothing."""
    own = [at for at, each in enumerate(made) if each.memory.id == each.segment.memory_id]
    if replaced and own:
        made[own[-1]] = replace(made[own[-1]], supersedes=tuple(replaced))


def failures_met(
    segment: Segment,
    of: SessionMemory,
    made: Iterable[SessionMemory],
    transcript: Transcript,
    store: Memories,
    now: str,
) -> list[SessionMemory]:
    """The failures of a segment as memories beside its own, ``of``; ``made`` are those that may not be stored yet."""
    mended = failures(segment.turns)
    before = [*(each.memory for each in made), *store.about(text.TOPIC)] if mended else []
    known = {text.key(each): each for each in before if text.is_failure(each)}
    found: list[SessionMemory] = []
    for failure in mended:
        content = normalise(text.content(failure))
        memory = _memory(content, failure.at or transcript.modified_at or now, transcript, store.workspace_id, now)
        twin = known.get(text.key(memory))
        is_ordinary = twin is None and store.known(memory.id) is not None  # somebody has made it one
        if is_ordinary or not text.is_current(memory, clock.parse(now)) or store.forgotten_at(memory.id) is not None:
            continue
        present = known.setdefault(text.key(memory), memory)
        met_at = memory.metadata.updated_at
        is_later = present.number > 0 and (present.metadata.updated_at or "") < (met_at or "")
        found.append(replace(
            of, memory=present, summary=SegmentSummary(content, 0.0, _SURE, "rules"), first_place=failure.place,
            last_place=failure.place, is_new=twin is None, met_at=met_at if is_later else None,
        ))  # fmt: skip
    return found


def remove_expired(store: Store, now: str) -> None:
    """Delete the failures that were not met for so long that they are of no use. Raises JobError of the store."""
    at = clock.parse(now)
    old = [each.id for each in store.about(text.TOPIC) if text.is_failure(each) and not text.is_current(each, at)]
    if old:
        with store.change(now) as change:
            change.dropped += old


def _memory(content: Content, at: str, transcript: Transcript, workspace_id: str, now: str) -> Memory:
    known = Metadata(
        topic_id=text.TOPIC, session_id=f"{transcript.tool}/{transcript.session_id}"[:256], status=text.STATUS,
        created_at=at, updated_at=at, importance=_IMPORTANCE, tags=(FAILURE,),
    )  # fmt: skip
    return new_memory(workspace_id, "summary", known, now, content)
