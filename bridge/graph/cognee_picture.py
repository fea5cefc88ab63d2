"""The picture of the knowledge graph: cognee's own page, made to need no network and to show texts as texts.

Imported by ``cognee_store`` alone, since it imports cognee.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognee.modules.visualization import cognee_network_visualization as page, preprocessor

from .cognee_nodes import SUPERSEDES, TYPES

_D3 = Path(__file__).parents[1] / "data" / "d3-7.9.0.min.js"  # which the page would load from its maker's site
_MOST_FOUND = 500  # nodes that cognee found in texts
_LABEL_CHARS = 90
_COLOURS = {
    "Topic": "#E4572E", "Plan": "#F3A712", "Session": "#8D99AE", "ConversationSummary": "#2E86AB",
    "DecisionRecord": "#6A4C93", "Decision": "#4CAF7A", "LegacyMemory": "#A39B8B",
}  # fmt: skip
# The columns of cognee's page, from left to right, by the names that it has for them.
_COLUMNS = {
    "Plan": "document", "Topic": "document", "Session": "document", "DecisionRecord": "chunk",
    "ConversationSummary": "entity", "LegacyMemory": "entity", "Decision": "summary",
}  # fmt: skip
# In cognee's page: its columns' headings, and lines that are drawn as if one pointed at them.
_CHANGED = {
    'document:"Documents"': 'document:"Topics and plans"',
    'chunk:"Chunks"': 'chunk:"Records"',
    'entity:"Entities"': 'entity:"Memories"',
    'summary:"Summaries"': 'summary:"Decisions"',
    "else{normalEdges.push(entry)}": (
        f'else if(l.relation==="{SUPERSEDES}"&&!hoveredNode&&!hasSearch)'
        "{entry.alpha=0.8;entry.lineW=2;hoverEdges.push(entry);arrowEdges.push(entry)}else{normalEdges.push(entry)}"
    ),
}
_NAMES_IN_WORDS = {"ConversationSummary": "Summary", "DecisionRecord": "Record", "LegacyMemory": "Memory"}

# By id, from the memories that are to be drawn; then what they lead to, and what leads to them.
_NODES = "MATCH (n:Node) WHERE n.id IN $ids RETURN n.id, n.name, n.type, n.properties"
_EDGES = "MATCH (n:Node)-[e:EDGE]->(m:Node) WHERE n.id IN $ids OR m.id IN $ids RETURN n.id, m.id, e.relationship_name"
_FOUND = "MATCH (n:Node) WHERE NOT n.type IN $types RETURN n.id LIMIT $limit"


@dataclass(frozen=True, slots=True)
class Picture:
    """A page of HTML, and how many nodes and edges it shows."""

    page: str
    nodes: int
    edges: int


async def draw(graph: Any, memory_ids: Sequence[str]) -> Picture:
    """Draw the given memories with all that they lead to, and what cognee found in texts, at most 500 nodes of it."""
    found = [point for (point,) in await graph.query(_FOUND, {"types": TYPES, "limit": _MOST_FOUND})]
    edges = await graph.query(_EDGES, {"ids": [*memory_ids, *found]})
    wanted = {*memory_ids, *found, *(end for source, target, _ in edges for end in (source, target))}
    rows = await graph.query(_NODES, {"ids": sorted(wanted)})
    nodes = [(row[0], _node(*row[1:])) for row in rows]
    there = {point for point, _ in nodes}
    links = [(*edge, {}) for edge in sorted(set(edges)) if edge[0] in there and edge[1] in there]
    html = await page.cognee_network_visualization((nodes, links), "picture.html")
    return Picture(_closed(html), len(nodes), len(links))


def _node(name: str, kind: str, properties: str | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(properties or "{}")
    label = " ".join(str(name or found.get("text") or found.get("name") or kind).split())
    number = f" #{found['memory_number']}" if "memory_number" in found else ""
    if kind in _NAMES_IN_WORDS:
        label = f"{_NAMES_IN_WORDS[kind]}{number}: {label}"
    shown = label if len(label) <= _LABEL_CHARS else f"{label[: _LABEL_CHARS - 1]}…"
    return {**found, "type": kind, "name": shown}


def _closed(html: str) -> str:
    """The page with what it loads from elsewhere put into it, and forbidden everything but its own scripts."""
    nonce = secrets.token_urlsafe(16)
    rules = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data: blob:;"
        " base-uri 'none'; form-action 'none'"
    )
    for theirs, ours in _CHANGED.items():
        html = html.replace(theirs, ours, 1)
    html = re.sub(r'<link [^>]*href="https?:[^>]*>\n?', "", html)
    html = re.sub(r'<script src="https?:[^>]*></script>', "<script></script>", html, count=1)
    html = html.replace("<script>", f'<script nonce="{nonce}">')
    policy = f'<head>\n<meta http-equiv="Content-Security-Policy" content="{rules}">'
    html = html.replace("<head>", policy, 1)
    opening = f'<script nonce="{nonce}">'
    return html.replace(f"{opening}</script>", f"{opening}{_D3.read_text('utf-8')}</script>", 1)


def _as_text(value: object) -> str:
    """JSON for a script in which no text can end the script, begin a comment or be a placeholder of the page."""
    return json.dumps(value).replace("<", "\\u003c").replace("__", "\\u005f\\u005f")


class _Nowhere:
    """In place of cognee's storage: the page is returned, and where it is kept is not cognee's to say."""

    def __init__(self, _: str) -> None: ...

    async def store(self, *_: object, **__: object) -> None: ...


page._safe_json_embed = _as_text
page.LocalFileStorage = _Nowhere
preprocessor._TYPE_COLOR_MAP.update(_COLOURS)
preprocessor._STAGE_BY_TYPE.update(_COLUMNS)
