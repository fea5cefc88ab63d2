"""Asks the knowledge graph a question, by cognee's own search over nodes and edges and its own prompts.

cognee searches the node classes that are imported. ``search`` and ``in_prose`` are coroutines for ``CogneeStore.do``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cognee
from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.modules.retrieval.utils.completion import generate_completion
from cognee.modules.search.types import SearchType

_DECISION = "Decision"
_USER_PROMPT, _SYSTEM_PROMPT = "graph_context_for_question.txt", "answer_simple_question.txt"


@dataclass(frozen=True, slots=True)
class Found:
    """What the graph has for a question.

    ``context``: the passages that cognee selected. ``links``: (node id, node id) of the edges behind them, the most
    relevant first. ``decisions``: decision node id -> memory id.
    """

    context: str
    links: tuple[tuple[str, str], ...]
    decisions: dict[str, str]


async def search(question: str, top_k: int) -> Found:
    """What fits a question, from at most ``top_k`` edges. An empty graph has nothing. Errors of cognee pass."""
    if await (await get_graph_engine()).is_empty():
        return Found("", (), {})
    (answer,) = await cognee.search(question, SearchType.GRAPH_COMPLETION, top_k=top_k, only_context=True, verbose=True)
    edges = answer["objects_result"] or []
    return Found(
        answer["context_result"] or "",
        tuple((str(edge.node1.id), str(edge.node2.id)) for edge in edges),
        await _decisions([node for edge in edges for node in (edge.node1, edge.node2)]),
    )


async def in_prose(question: str, context: str) -> str:
    """The language model's answer to a question from a context. Errors of cognee pass."""
    return str(await generate_completion(question, context, _USER_PROMPT, _SYSTEM_PROMPT))


async def _decisions(nodes: Sequence[Any]) -> dict[str, str]:
    ids = list(dict.fromkeys(str(node.id) for node in nodes if node.attributes.get("type") == _DECISION))
    if not ids:
        return {}
    decisions = await (await get_graph_engine()).get_nodes(ids)
    return {str(node["id"]): str(node["memory_id"]) for node in decisions if node.get("memory_id")}
