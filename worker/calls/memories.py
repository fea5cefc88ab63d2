"""Memories, what is open, topics, disputed pairs and compactions. These calls only read."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bridge.interface.envelope import SUCCESS
from bridge.search import listing, waiting_jobs

from .call import Scope

if TYPE_CHECKING:
    from .shapes import History, MemoriesPage, OpenItems, Review, Topics, WholeMemory


def memories(
    scope: Scope, *, topic_id: str | None, status: str | None, type: str | None, limit: int, after: int | None
) -> MemoriesPage:
    """A page of memories, the highest numbers first. Raises JobError: TOPIC_NOT_FOUND."""
    waiting = waiting_jobs.warnings(scope.workspace)
    lines, total = listing.page(
        scope.workspace, limit, before=after, topic_id=topic_id, status=status, kind=type
    )  # fmt: skip
    shown = lines[:limit]
    following = str(shown[-1]["memory_number"]) if len(lines) > limit else None
    return {**SUCCESS, "memories": shown, "total": total, "next": following, "warnings": waiting}


def recent(
    scope: Scope, *, limit: int, since: datetime | None, topic_id: str | None, include_superseded: bool
) -> MemoriesPage:
    """The memories with the latest dates. Raises JobError: TOPIC_NOT_FOUND."""
    waiting = waiting_jobs.warnings(scope.workspace)
    found, total = listing.recent(
        scope.workspace, limit, since=since, topic_id=topic_id, include_superseded=include_superseded
    )
    lines = [listing.line(memory) for memory in found]
    return {**SUCCESS, "memories": lines, "total": total, "next": None, "warnings": waiting}


def memory(scope: Scope, *, memory: str) -> WholeMemory:
    """A memory by its id or number. Raises JobError: MEMORY_NOT_FOUND."""
    return {**SUCCESS, "memory": listing.memory(scope.workspace, memory)}


def open_items(scope: Scope, *, topic_id: str | None, limit: int) -> OpenItems:
    """What is open. Raises JobError: TOPIC_NOT_FOUND."""
    from bridge.search.open_items import open_items

    waiting = waiting_jobs.warnings(scope.workspace)
    items = open_items(scope.workspace, topic_id)
    return {**SUCCESS, "items": items[:limit], "total": len(items), "warnings": waiting}


def topics(scope: Scope) -> Topics:
    """All topics, the largest first."""
    waiting = waiting_jobs.warnings(scope.workspace)
    return {**SUCCESS, "topics": listing.topics(scope.workspace), "warnings": waiting}


def review(scope: Scope, *, all: bool) -> Review:
    """The disputed pairs; with ``all`` also what was replaced or settled."""
    from bridge.search.review import pairs

    return {**SUCCESS, "pairs": pairs(scope.workspace, all_of_them=all)}


def history(scope: Scope, *, topic_id: str | None, limit: int) -> History:
    """The last compactions. Raises JobError: TOPIC_NOT_FOUND."""
    return {**SUCCESS, "compactions": listing.history(scope.workspace, limit, topic_id)}
