"""Renders the knowledge graph as an HTML page: cognee's own page, changed to need no network and to escape texts.

It imports cognee, so only ``cognee_store`` imports it.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognee.modules.visualization import cognee_network_visualization as page, preprocessor

from .cognee_writing import SUPERSEDES, TYPES

_D3 = Path(__file__).parents[1] / "data" / "d3-7.9.0.min.js"  # the page would load it from its publisher's site
_MAX_EXTRACTED = 500  # nodes that cognee extracted from texts
_LABEL_CHARS = 90
_COLOURS = {
    "Topic": "#E4572E", "Plan": "#F3A712", "Session": "#8D99AE", "ConversationSummary": "#2E86AB",
    "DecisionRecord": "#6A4C93", "Decision": "#4CAF7A", "LegacyMemory": "#A39B8B",
}  # fmt: skip
# Node type -> column of cognee's page, by cognee's names for its columns.
_COLUMNS = {
    "Plan": "document", "Topic": "document", "Session": "document", "DecisionRecord": "chunk",
    "ConversationSummary": "entity", "LegacyMemory": "entity", "Decision": "summary",
}  # fmt: skip
# Replacements in cognee's page: the headings of its columns; the drawing of supersedes edges, highlighted here; and
# without what says nothing here: other views, an ontology, tasks, the cover over a layout whose columns are fixed.
_REPLACEMENTS = {
    "z-index:1100;display:flex;": "z-index:1100;display:none;",
    'class="stats" id="stats"': 'class="stats" id="stats" style="margin-right:110px"',
    "showLoading=N>200": "showLoading=false",
    "    ontologySection+\n": "",
    'pluralize(M,"edge")+"</span>"+': 'pluralize(M,"edge")+"</span>";""+',
    'document:"Documents"': 'document:"Topics and plans"',
    'chunk:"Chunks"': 'chunk:"Records"',
    'entity:"Entities"': 'entity:"Memories"',
    'summary:"Summaries"': 'summary:"Decisions"',
    "else{normalEdges.push(entry)}": (
        f'else if(l.relation==="{SUPERSEDES}"&&!hoveredNode&&!hasSearch)'
        "{entry.alpha=0.8;entry.lineW=2;hoverEdges.push(entry);arrowEdges.push(entry)}else{normalEdges.push(entry)}"
    ),
}
_TYPE_LABELS = {"ConversationSummary": "Summary", "DecisionRecord": "Record", "LegacyMemory": "Memory"}

# Nodes by id; edges from and to given nodes; nodes that cognee extracted.
_NODES = "MATCH (n:Node) WHERE n.id IN $ids RETURN n.id, n.name, n.type, n.properties"
_EDGES = "MATCH (n:Node)-[e:EDGE]->(m:Node) WHERE n.id IN $ids OR m.id IN $ids RETURN n.id, m.id, e.relationship_name"
_EXTRACTED = "MATCH (n:Node) WHERE NOT n.type IN $types RETURN n.id LIMIT $limit"


@dataclass(frozen=True, slots=True)
class Picture:
    """A page of HTML, and how many nodes and edges it shows."""

    page: str
    nodes: int
    edges: int


async def draw(graph: Any, memory_ids: Sequence[str], remarks: Mapping[tuple[str, str], str]) -> Picture:
    """Draw the given memories with all nodes linked to them, and up to 500 nodes that cognee extracted from texts.

    ``remarks``: a memory's id and a decision of it -> what stands before the decision.
    """
    extracted = [point for (point,) in await graph.query(_EXTRACTED, {"types": TYPES, "limit": _MAX_EXTRACTED})]
    edges = await graph.query(_EDGES, {"ids": [*memory_ids, *extracted]})
    wanted = {*memory_ids, *extracted, *(end for source, target, _ in edges for end in (source, target))}
    rows = await graph.query(_NODES, {"ids": sorted(wanted)})
    nodes = [(point, _node(name, kind, properties, remarks)) for point, name, kind, properties in rows]
    drawn = {point for point, _ in nodes}
    links = [(*edge, {}) for edge in sorted(set(edges)) if edge[0] in drawn and edge[1] in drawn]
    html = await page.cognee_network_visualization((nodes, links), "picture.html")
    return Picture(_self_contained(html), len(nodes), len(links))


def _node(name: str, kind: str, properties: str | None, remarks: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(properties or "{}") | {"ontology_valid": None}  # not known, so not shown
    label = " ".join(str(name or fields.get("text") or fields.get("name") or kind).split())
    number = f" #{fields['memory_number']}" if "memory_number" in fields else ""
    if kind in _TYPE_LABELS:
        label = f"{_TYPE_LABELS[kind]}{number}: {label}"
    if remark := remarks.get((fields.get("memory_id", ""), fields.get("text", ""))):
        label = f"[{remark}] {label}"
    shown = label if len(label) <= _LABEL_CHARS else f"{label[: _LABEL_CHARS - 1]}…"
    return {**fields, "type": kind, "name": shown}


def _self_contained(html: str) -> str:
    """The page with its external script embedded, and a policy that allows only its own scripts."""
    nonce = secrets.token_urlsafe(16)
    rules = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data: blob:;"
        " base-uri 'none'; form-action 'none'"
    )
    for theirs, ours in _REPLACEMENTS.items():
        html = html.replace(theirs, ours, 1)
    html = re.sub(r'<link [^>]*href="https?:[^>]*>\n?', "", html)
    html = re.sub(r'<script src="https?:[^>]*></script>', "<script></script>", html, count=1)
    html = html.replace("<script>", f'<script nonce="{nonce}">')
    policy = f'<head>\n<meta http-equiv="Content-Security-Policy" content="{rules}">'
    html = html.replace("<head>", policy, 1)
    opening = f'<script nonce="{nonce}">'
    return html.replace(f"{opening}</script>", f"{opening}{_D3.read_text('utf-8')}</script>", 1)


def _script_json(value: object) -> str:
    """JSON that is safe inside a script: no text can end the script, start a comment or act as a placeholder."""
    return json.dumps(value).replace("<", "\\u003c").replace("__", "\\u005f\\u005f")


class _NoStorage:
    """Replaces cognee's storage: the page is only returned; our caller stores it."""

    def __init__(self, _: str) -> None: ...

    async def store(self, *_: object, **__: object) -> None: ...


page._safe_json_embed = _script_json
page.LocalFileStorage = _NoStorage
preprocessor._TYPE_COLOR_MAP.update(_COLOURS)
preprocessor._STAGE_BY_TYPE.update(_COLUMNS)
