"""Memories, what is open, topics, disputed pairs and compactions. These calls only read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from bridge.interface.envelope import SUCCESS
from bridge.memory import values_of
from bridge.search import about_file, listing, waiting_jobs
from bridge.store.opening import reader_of

from ..wording import cut
from .call import Scope

if TYPE_CHECKING:
    from .shapes import History, MemoriesPage, OpenItems, Review, Topics, WholeMemory


def memories(
    scope: Scope,
    *,
    topic_id: str | None,
    status: str | None,
    type: str | None,
    limit: int,
    after: int | None,
    **lists: str | Sequence[str] | None,
) -> MemoriesPage:
    """A page of memories, the highest numbers first; ``lists``: the values that each is to have of properties with
    several. Raises JobError: TOPIC_NOT_FOUND."""
    waiting = waiting_jobs.warnings(scope.workspace)
    values = {name: values_of(given) for name, given in lists.items()}
    lines, total = listing.page(
        scope.workspace, limit, before=after, topic_id=topic_id, status=status, kind=type, **values
    )
    shown = lines[:limit]
    following = str(shown[-1]["memory_number"]) if len(lines) > limit else None
    return {**SUCCESS, "memories": shown, "total": total, "next": following, "warnings": waiting}


def recent(
    scope: Scope,
    *,
    limit: int,
    since: datetime | None = None,
    topic_id: str | None = None,
    include_superseded: bool = False,
    file: str | None = None,
) -> MemoriesPage:
    """The memories with the latest dates; with ``file``, those that name it. Raises JobError: TOPIC_NOT_FOUND,
    ARGUMENT_INVALID."""
    waiting = waiting_jobs.warnings(scope.workspace)
    among = None if file is None else [each.memory.number for each in about_file.about(scope.workspace, file)]
    found, total = listing.recent(
        scope.workspace, limit, since=since, topic_id=topic_id, include_superseded=include_superseded, among=among
    )
    lines = listing.lines_of(scope.workspace, found)
    return {**SUCCESS, "memories": lines, "total": total, "next": None, "warnings": waiting}


def memory(scope: Scope, *, memory: str) -> WholeMemory:
    """A memory by its id or number. Raises JobError: MEMORY_NOT_FOUND."""
    return {**SUCCESS, "memory": listing.memory(scope.workspace, memory)}


def open_items(scope: Scope, *, limit: int, topic_id: str | None = None) -> OpenItems:
    """What is open. Raises JobError: TOPIC_NOT_FOUND."""
    from bridge.search.open_items import open_items

    waiting = waiting_jobs.warnings(scope.workspace)
    items = open_items(scope.workspace, topic_id)
    return {**SUCCESS, "items": items[:limit], "total": len(items), "warnings": waiting}


def topics(scope: Scope, *, limit: int | None = None) -> Topics:
    """All topics, or the first ``limit``, the largest first."""
    waiting = waiting_jobs.warnings(scope.workspace)
    found = listing.topics(scope.workspace)
    shown = found[:limit]
    return {**SUCCESS, "topics": shown, "warnings": [*cut(len(shown), len(found), "limit", ()), *waiting]}


def review(scope: Scope, *, all: bool) -> Review:
    """The disputed pairs; with ``all`` also what was replaced or settled."""
    from bridge.search.review import pairs

    return {**SUCCESS, "pairs": pairs(scope.workspace, all_of_them=all)}


def review_version(scope: Scope) -> str:
    """A text that changes when a pair may have changed. Raises JobError as ``review``."""
    snapshot = reader_of(scope.workspace).snapshot()
    if snapshot is None:
        return ""
    with closing(snapshot):
        return sha256(snapshot.position.encode()).hexdigest()[:16]


def history(scope: Scope, *, topic_id: str | None, limit: int) -> History:
    """The last compactions. Raises JobError: TOPIC_NOT_FOUND."""
    return {**SUCCESS, "compactions": listing.history(scope.workspace, limit, topic_id)}
