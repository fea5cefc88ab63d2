"""A question to the knowledge graph, by cognee's own search over nodes and edges of all classes that are imported.

A coroutine for ``CogneeStore.do``; imported with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cognee
from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.modules.search.types import SearchType

_DECISION = "Decision"


@dataclass(frozen=True, slots=True)
class Answer:
    """``links`` are pairs of the nodes that the answer rests on, the most telling first; ``decisions`` names the memory
    of each decision among them."""

    text: str | None
    context: str
    links: tuple[tuple[str, str], ...]
    decisions: dict[str, str]


async def search(question: str, top_k: int, *, in_prose: bool) -> Answer:
    """``in_prose`` asks the language model; else there is the context alone. An empty graph gives an empty answer."""
    if await (await get_graph_engine()).is_empty():
        return Answer(None, "", (), {})
    (found,) = await cognee.search(
        question, SearchType.GRAPH_COMPLETION, top_k=top_k, only_context=not in_prose, verbose=True
    )
    edges = found["objects_result"] or []
    return Answer(
        _text(found["text_result"]) if in_prose else None,
        found["context_result"] or "",
        tuple((str(edge.node1.id), str(edge.node2.id)) for edge in edges),
        await _decisions([node for edge in edges for node in (edge.node1, edge.node2)]),
    )


def _text(answer: Any) -> str | None:
    """cognee gives a list of texts, or none where it found no context."""
    texts = answer if isinstance(answer, list) else [answer]
    return "\n".join(str(text) for text in texts if text) or None


async def _decisions(nodes: Sequence[Any]) -> dict[str, str]:
    ids = list(dict.fromkeys(str(node.id) for node in nodes if node.attributes.get("type") == _DECISION))
    if not ids:
        return {}
    found = await (await get_graph_engine()).get_nodes(ids)
    return {str(node["id"]): str(node["memory_id"]) for node in found if node.get("memory_id")}
