"""Asks the knowledge graph a question, by cognee's own search over nodes and edges.

cognee searches the node classes that are imported. ``search`` is a coroutine for ``CogneeStore.do``.
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
    """An answer from the graph.

    ``text``: the prose, or None. ``context``: the passages that cognee selected. ``links``: (node id, node id) of the
    edges behind the answer, the most relevant first. ``decisions``: decision node id -> memory id.
    """

    text: str | None
    context: str
    links: tuple[tuple[str, str], ...]
    decisions: dict[str, str]


async def search(question: str, top_k: int, *, in_prose: bool) -> Answer:
    """The answer to a question, from at most ``top_k`` edges.

    ``in_prose`` lets the language model write a text; without it there is only the context. An empty graph gives an
    empty answer. Errors of cognee pass.
    """
    if await (await get_graph_engine()).is_empty():
        return Answer(None, "", (), {})
    (answer,) = await cognee.search(
        question, SearchType.GRAPH_COMPLETION, top_k=top_k, only_context=not in_prose, verbose=True
    )
    edges = answer["objects_result"] or []
    return Answer(
        _text(answer["text_result"]) if in_prose else None,
        answer["context_result"] or "",
        tuple((str(edge.node1.id), str(edge.node2.id)) for edge in edges),
        await _decisions([node for edge in edges for node in (edge.node1, edge.node2)]),
    )


def _text(answer: Any) -> str | None:
    """The prose in cognee's answer, which is a text, a list of texts, or nothing without context."""
    texts = answer if isinstance(answer, list) else [answer]
    return "\n".join(str(text) for text in texts if text) or None


async def _decisions(nodes: Sequence[Any]) -> dict[str, str]:
    ids = list(dict.fromkeys(str(node.id) for node in nodes if node.attributes.get("type") == _DECISION))
    if not ids:
        return {}
    decisions = await (await get_graph_engine()).get_nodes(ids)
    return {str(node["id"]): str(node["memory_id"]) for node in decisions if node.get("memory_id")}
