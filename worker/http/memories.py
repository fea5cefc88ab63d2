"""The routes of the memory: list and show memories, what is open, topics, compactions. They only read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.interface.envelope import SUCCESS
from bridge.memory import LISTS, MemoryKind, Status, values_of
from bridge.search import listing, waiting_jobs

from .bodies import Query
from .executor import RequestExecutor
from .replies import computed_reply, route

if TYPE_CHECKING:
    from .schema import History, MemoriesPage, OpenItems, Review, Topics, WholeMemory


def routes(executor: RequestExecutor) -> list[Route]:
    """The routes below ``/v1/memories``, ``/v1/open``, ``/v1/topics``, ``/v1/review`` and ``/v1/history``."""
    workspace = executor.workspace

    async def listed(request: Request) -> Response:
        query = Query(request, "topic_id", "status", "type", "limit", "after", *LISTS)
        wanted: dict[str, Any] = {
            "topic_id": query.text("topic_id"),
            "status": query.choice("status", get_args(Status)),
            "kind": query.choice("type", get_args(MemoryKind)),
            "before": query.integer("after", 2**53, most=2**53),
        }
        wanted |= {name: values_of(query.text(name)) for name in LISTS}
        limit = query.integer("limit", 50)

        def find(_: object) -> MemoriesPage:
            waiting = waiting_jobs.warnings(workspace)
            lines, total = listing.page(workspace, limit, **wanted)
            shown = lines[:limit]
            following = str(shown[-1]["memory_number"]) if len(lines) > limit else None
            return {**SUCCESS, "memories": shown, "total": total, "next": following, "warnings": waiting}

        return await computed_reply(executor, find)

    async def shown(request: Request) -> Response:
        Query(request)
        wanted = str(request.path_params["memory"])

        def find(_: object) -> WholeMemory:
            return {**SUCCESS, "memory": listing.memory(workspace, wanted)}

        return await computed_reply(executor, find)

    async def topics(request: Request) -> Response:
        Query(request)

        def find(_: object) -> Topics:
            waiting = waiting_jobs.warnings(workspace)
            return {**SUCCESS, "topics": listing.topics(workspace), "warnings": waiting}

        return await computed_reply(executor, find)

    async def review(request: Request) -> Response:
        all_of_them = Query(request, "all").choice("all", ("true", "false")) == "true"

        def find(_: object) -> Review:
            from bridge.search.review import pairs

            return {**SUCCESS, "pairs": pairs(workspace, all_of_them=all_of_them)}

        return await computed_reply(executor, find)

    async def history(request: Request) -> Response:
        query = Query(request, "topic_id", "limit")
        topic_id, limit = query.text("topic_id"), query.integer("limit", 50)

        def find(_: object) -> History:
            return {**SUCCESS, "compactions": listing.history(workspace, limit, topic_id)}

        return await computed_reply(executor, find)

    async def still_open(request: Request) -> Response:
        query = Query(request, "topic_id", "limit")
        topic_id, limit = query.text("topic_id"), query.integer("limit", 50)

        def find(_: object) -> OpenItems:
            from bridge.search.open_items import open_items

            waiting = waiting_jobs.warnings(workspace)
            items = open_items(workspace, topic_id)
            return {**SUCCESS, "items": items[:limit], "total": len(items), "warnings": waiting}

        return await computed_reply(executor, find)

    return [
        route("/v1/open", get=still_open),
        route("/v1/memories", get=listed),
        route("/v1/memories/{memory}", get=shown),
        route("/v1/topics", get=topics),
        route("/v1/review", get=review),
        route("/v1/history", get=history),
    ]
