"""Run in a child: put a question to cognee's own vector search in a fresh process, and read the nodes back."""

from __future__ import annotations

import asyncio
import json
import sys

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async


async def ask(question: str) -> list[object]:
    engine = await get_vector_engine_async()
    found = await engine.search("ConversationSummary_summary_text", query_text=question, limit=5)
    graph = await get_graph_engine()
    return [(await graph.get_node(str(hit.id)), hit.score) for hit in found]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(ask(sys.argv[2])), default=str))
