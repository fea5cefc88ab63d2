"""The failures of a captured session as memories: each error with its fix once, for as long as it is of use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jobs import clock

from ..capture.failures import failures
from ..memory import FAILURE, Memory, Metadata
from ..text import failures as text
from ..text.error_lines import normalised
from ..text.identity import content_id
from ..text.sections import normalise

if TYPE_CHECKING:
    from ..capture.failures import Failure
    from ..capture.session import Transcript, Turn
    from ..store.memories import Memories
    from ..store.store import Store

_IMPORTANCE = 0.3


@dataclass(frozen=True, slots=True)
class Met:
    """A failure as a memory, and where it was met. ``is_new``: the store has no such error with this fix.
    ``met_again``: it has, and this is later."""

    memory: Memory
    place: str
    is_new: bool
    met_again: bool


def met(turns: Sequence[Turn], made: Iterable[Memory], transcript: Transcript, store: Memories, now: str) -> list[Met]:
    """The failures of a segment. ``made`` are new memories that are not stored yet."""
    mended = failures(turns)
    known = [*store.tagged(FAILURE), *made] if mended else []
    found: list[Met] = []
    for failure in mended:
        memory = _memory(failure, transcript, store.workspace_id, now)
        if not text.is_current(memory, clock.parse(now)) or store.forgotten_at(memory.id) is not None:
            continue
        alike = text.same([*known, *(each.memory for each in found)], {normalised(failure.error)})
        fix = normalised(text.fix(memory))
        twin = next((each for each in alike if normalised(text.fix(each)) == fix), None)
        if twin is not None:
            is_later = twin.number > 0 and (twin.metadata.updated_at or "") < (memory.metadata.updated_at or "")
            found.append(Met(twin, failure.place, is_new=False, met_again=is_later))
        elif store.known(memory.id) is None:  # else somebody has made an ordinary memory of it
            found.append(Met(memory, failure.place, is_new=True, met_again=False))
    return found


def remove_expired(store: Store, now: str) -> None:
    """Delete the failures that were not met for so long that they are of no use. Raises JobError of the store."""
    at = clock.parse(now)
    old = [each.id for each in store.tagged(FAILURE) if text.is_failure(each) and not text.is_current(each, at)]
    if old:
        with store.change(now) as change:
            change.drop(old)


def _memory(failure: Failure, transcript: Transcript, workspace_id: str, now: str) -> Memory:
    content = normalise(text.content(
        failure.command, failure.exit_code, failure.error, failure.fix, failure.files, failure.said
    ))  # fmt: skip
    at = failure.at or transcript.modified_at or now
    known = Metadata(
        topic_id=text.TOPIC, session_id=f"{transcript.tool}/{transcript.session_id}"[:256], status=text.STATUS,
        created_at=at, updated_at=at, importance=_IMPORTANCE, tags=(FAILURE,),
    )  # fmt: skip
    memory = Memory("", 0, "summary", known, now, content)
    return replace(memory, id=content_id(workspace_id, memory))
