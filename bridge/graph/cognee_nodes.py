"""A memory as cognee's DataPoints with their links, and the places where their points are stored.

The fields are in ``bridge/datapoints``. It imports cognee, so only other ``cognee_*`` modules import it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cognee.infrastructure.engine import DataPoint, Edge
from pydantic import SkipValidation

from .. import datapoints
from ..memory import Memory


def _contract(model: type[datapoints._Node]) -> dict[str, Any]:
    """A node's metadata for cognee: the fields to embed, and those from which its id is derived."""
    return {"index_fields": list(model.INDEX_FIELDS), "identity_fields": list(model.IDENTITY_FIELDS)}


class Topic(datapoints.Topic, DataPoint):  # type: ignore[misc]
    """``datapoints.Topic`` as a DataPoint."""

    metadata: dict[str, Any] = _contract(datapoints.Topic)


class Plan(datapoints.Plan, DataPoint):  # type: ignore[misc]
    """``datapoints.Plan`` as a DataPoint."""

    metadata: dict[str, Any] = _contract(datapoints.Plan)


class Session(datapoints.Session, DataPoint):  # type: ignore[misc]
    """``datapoints.Session`` as a DataPoint."""

    metadata: dict[str, Any] = _contract(datapoints.Session)


# A link in cognee's form: an Edge, and one node or several.
Link = tuple[Edge, Any] | None


class _Linked(DataPoint):  # type: ignore[misc]
    about: SkipValidation[Link] = None
    of_plan: SkipValidation[Link] = None
    of_session: SkipValidation[Link] = None


class Decision(datapoints.Decision, DataPoint):  # type: ignore[misc]
    """``datapoints.Decision`` as a DataPoint."""

    metadata: dict[str, Any] = _contract(datapoints.Decision)


class ConversationSummary(datapoints.ConversationSummary, _Linked):
    """``datapoints.ConversationSummary`` as a DataPoint with links."""

    metadata: dict[str, Any] = _contract(datapoints.ConversationSummary)
    decided: SkipValidation[Link] = None


class DecisionRecord(datapoints.DecisionRecord, _Linked):
    """``datapoints.DecisionRecord`` as a DataPoint with links."""

    metadata: dict[str, Any] = _contract(datapoints.DecisionRecord)
    decided: SkipValidation[Link] = None


class LegacyMemory(datapoints.LegacyMemory, DataPoint):  # type: ignore[misc]
    """``datapoints.LegacyMemory`` as a DataPoint."""

    metadata: dict[str, Any] = _contract(datapoints.LegacyMemory)


NODES = ""  # the place that means the graph itself; the other places are vector tables
MEMORIES: dict[str, type[datapoints._Node]] = {
    "summary": ConversationSummary, "decision_record": DecisionRecord, "legacy": LegacyMemory,
}  # fmt: skip


SHARED: list[type[datapoints._Node]] = [Topic, Plan, Session]  # nodes that several memories share
SUPERSEDES = "supersedes"

_ALL: list[type[datapoints._Node]] = [*MEMORIES.values(), Decision, *SHARED]
# The node types as cognee names them in its graph.
SHARED_TYPES = [model.__name__ for model in SHARED]
TYPES = [model.__name__ for model in _ALL]


def collections(model: type[datapoints._Node]) -> list[str]:
    """The vector tables of a node type, one per index field, in their order."""
    return [f"{model.__name__}_{field}" for field in model.INDEX_FIELDS]


TABLES = {table for model in _ALL for table in collections(model)}
"""The vector tables of all node types."""


def decision_ids(memory_id: str) -> list[str]:
    """The ids of all decision nodes that a memory can have, whatever its content."""
    return [str(Decision.id_for(f"{memory_id}:{position}")) for position in range(datapoints.MAX_DECISIONS)]


def supersedes(record: str, source: str) -> tuple[str, str, str, dict[str, str]]:
    """The edge from a record to a merged memory, in cognee's form for edges between existing nodes."""
    return (record, source, SUPERSEDES, {"relationship_name": SUPERSEDES, "edge_text": SUPERSEDES})


def points(memory: Memory) -> Iterator[tuple[str, str]]:
    """The (place, id) of everything that the graph stores of a memory; a place is ``NODES`` or a vector table."""
    yield NODES, memory.id
    yield collections(MEMORIES[memory.kind])[0], memory.id
    if memory.content is None:
        return
    nodes: list[tuple[Any, datapoints._Node | None, Any]] = [
        (Decision, decision, decision.decision_id) for decision in datapoints.decisions_from(memory)
    ]
    topic, plan, session = (
        datapoints.topic_from(memory), datapoints.plan_from(memory), datapoints.session_from(memory),
    )  # fmt: skip
    nodes += [
        (Topic, topic, topic and topic.topic_id),
        (Plan, plan, plan and plan.plan_key),
        (Session, session, session and session.session_id),
    ]
    for model, node, identity in nodes:
        if node is not None:
            point = str(model.id_for(identity))
            yield NODES, point
            for field, place in zip(model.INDEX_FIELDS, collections(model), strict=True):
                if str(getattr(node, field)).strip():  # a blank text has a vector of zeros
                    yield place, point


def data_point(memory: Memory) -> Any:
    """The DataPoint of a memory, with the nodes that it links to."""
    if memory.content is None:
        return LegacyMemory(id=memory.id, **datapoints.legacy_from(memory).model_dump())
    links: dict[str, Any] = {}
    for name, node_type, node in (
        ("about", Topic, datapoints.topic_from(memory)),
        ("of_plan", Plan, datapoints.plan_from(memory)),
        ("of_session", Session, datapoints.session_from(memory)),
    ):
        if node is not None:
            links[name] = _link(name, node_type(**node.model_dump()))
    decided = [Decision(**decision.model_dump()) for decision in datapoints.decisions_from(memory)]
    if decided:
        links["decided"] = _link("decided", decided)
    if memory.kind == "decision_record":
        return DecisionRecord(id=memory.id, **datapoints.record_from(memory).model_dump(), **links)
    return ConversationSummary(id=memory.id, **datapoints.summary_from(memory).model_dump(), **links)


def _link(name: str, target: Any) -> Link:
    """A link with an edge whose text is its name. By default, cognee would compose it of both nodes' texts, embed it
    for each edge, and store it in an index that keeps the text of forgotten memories."""
    return (Edge(relationship_type=name, edge_text=name.replace("_", " ")), target)
