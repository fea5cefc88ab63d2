"""What cognee has of a memory: DataPoints with their links, and where each of their points lies.

Imported by ``cognee_store`` and ``cognee_picture`` alone, since it imports cognee.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cognee.infrastructure.engine import DataPoint, Edge
from pydantic import SkipValidation

from .. import datapoints
from ..memory import Memory


def _contract(model: type[datapoints._Node]) -> dict[str, Any]:
    """What cognee is to know of a node: the fields to embed, and those that make its id."""
    return {"index_fields": list(model.INDEX_FIELDS), "identity_fields": list(model.IDENTITY_FIELDS)}


class Topic(datapoints.Topic, DataPoint):  # type: ignore[misc]
    metadata: dict[str, Any] = _contract(datapoints.Topic)


class Plan(datapoints.Plan, DataPoint):  # type: ignore[misc]
    metadata: dict[str, Any] = _contract(datapoints.Plan)


class Session(datapoints.Session, DataPoint):  # type: ignore[misc]
    metadata: dict[str, Any] = _contract(datapoints.Session)


# A link is cognee's pair of an Edge and one node or several.
Link = tuple[Edge, Any] | None


class _Linked(DataPoint):  # type: ignore[misc]
    about: SkipValidation[Link] = None
    of_plan: SkipValidation[Link] = None
    of_session: SkipValidation[Link] = None


class Decision(datapoints.Decision, DataPoint):  # type: ignore[misc]
    metadata: dict[str, Any] = _contract(datapoints.Decision)


class ConversationSummary(datapoints.ConversationSummary, _Linked):
    metadata: dict[str, Any] = _contract(datapoints.ConversationSummary)
    decided: SkipValidation[Link] = None


class DecisionRecord(datapoints.DecisionRecord, _Linked):
    metadata: dict[str, Any] = _contract(datapoints.DecisionRecord)
    decided: SkipValidation[Link] = None


class LegacyMemory(datapoints.LegacyMemory, DataPoint):  # type: ignore[misc]
    metadata: dict[str, Any] = _contract(datapoints.LegacyMemory)


NODES = ""  # among the places where something of a memory lies: the graph itself
MEMORIES: dict[str, type[datapoints._Node]] = {
    "summary": ConversationSummary, "decision_record": DecisionRecord, "legacy": LegacyMemory,
}  # fmt: skip


SHARED: list[type[datapoints._Node]] = [Topic, Plan, Session]  # nodes that memories have in common
SUPERSEDES = "supersedes"

# As cognee names them in its graph.
SHARED_TYPES = [model.__name__ for model in SHARED]
TYPES = ["ConversationSummary", "DecisionRecord", "LegacyMemory", "Decision", "Topic", "Plan", "Session"]


def collections(model: type[datapoints._Node]) -> list[str]:
    return [f"{model.__name__}_{field}" for field in model.INDEX_FIELDS]


def decision_ids(memory_id: str) -> list[str]:
    """The nodes of all decisions that a memory can have, whatever it says."""
    return [str(Decision.id_for(f"{memory_id}:{position}")) for position in range(datapoints.MAX_DECISIONS)]


def supersedes(record: str, source: str) -> tuple[str, str, str, dict[str, str]]:
    """The edge from a record to what was merged into it, as cognee takes edges between nodes that are there."""
    return (record, source, SUPERSEDES, {"relationship_name": SUPERSEDES, "edge_text": SUPERSEDES})


def points(memory: Memory) -> Iterator[tuple[str, str]]:
    """What the graph has of a memory: places, and the id that stands there."""
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
                if str(getattr(node, field)).strip():  # else it has a vector of zeros
                    yield place, point


def data_point(memory: Memory) -> Any:
    """The DataPoint of a memory, with the nodes that it leads to."""
    if memory.content is None:
        return LegacyMemory(id=memory.id, **datapoints.legacy_from(memory).model_dump())
    links: dict[str, Any] = {}
    for name, node_type, found in (
        ("about", Topic, datapoints.topic_from(memory)),
        ("of_plan", Plan, datapoints.plan_from(memory)),
        ("of_session", Session, datapoints.session_from(memory)),
    ):
        if found is not None:
            links[name] = _link(name, node_type(**found.model_dump()))
    decided = [Decision(**decision.model_dump()) for decision in datapoints.decisions_from(memory)]
    if decided:
        links["decided"] = _link("decided", decided)
    if memory.kind == "decision_record":
        return DecisionRecord(id=memory.id, **datapoints.record_from(memory).model_dump(), **links)
    return ConversationSummary(id=memory.id, **datapoints.summary_from(memory).model_dump(), **links)


def _link(name: str, target: Any) -> Link:
    """An edge whose text is its name. cognee would make one of both nodes' texts, embed it for each edge, and
    keep it in an index where a forgotten memory would live on."""
    return (Edge(relationship_type=name, edge_text=name.replace("_", " ")), target)
