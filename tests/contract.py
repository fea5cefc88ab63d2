"""The published shape of the answers to questions, held against every answer that a test sees.

``conftest`` looks at what readers answer in the test's own process, ``harness`` at what programs print. A test that
takes an answer from elsewhere (HTTP, a pipe) passes it through ``checked``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bridge.interface.json_schema import Shape
    from bridge.search.reader import Verb

_SCHEMAS = Path(__file__).resolve().parent.parent / "docs" / "schemas"
_FILES: dict[Verb, str] = {
    "retrieve": "retrieval-response",
    "explain": "explain-response",
    "context": "context-response",
}
# What an envelope of each verb has, of an error as well, and no other has.
_MARKS: dict[Verb, str] = {"retrieve": "total_results", "explain": "missing_ids", "context": "context"}

_STATUS_ORDER = {"DecisionRecord": 0, "Active": 1, None: 2, "Draft": 3, "Superseded": 4}
_METADATA = ("topic", "topic_id", "plan_id", "session_id", "status", "source_created_at", "created_at", "updated_at")
_STRUCTURED = ("decisions", "rationale", "open_questions", "next_steps", "references")

Envelope = dict[str, Any]


@cache
def fields_of(shape: Shape) -> dict[str, bool]:
    """The fields of an answer's type in their order, and whether each is always there."""
    from bridge.interface.json_schema import schema_of

    schema = schema_of(shape)
    return {name: name in schema.get("required", ()) for name in schema["properties"]}


def published(name: str) -> dict[str, Any]:
    """One of docs/schemas."""
    return json.loads((_SCHEMAS / f"{name}.schema.json").read_text("utf-8"))


def checked(text: str | bytes, verb: Verb = "retrieve") -> Envelope:
    """The one JSON object that the text is, nothing before and nothing behind it, if it is an answer of the verb."""
    whole = text.decode("utf-8") if isinstance(text, bytes) else text
    assert whole.startswith("{"), whole[:200]
    assert whole.endswith("}\n"), whole[-200:]
    assert whole.count("\n") == 1, "more than one line"
    value: Envelope = json.loads(whole)
    assert problems(verb, value) == []
    return value


def problems_in(text: str) -> list[str]:
    """The problems of what a program printed, if that is an answer of ours at all."""
    if not text.startswith('{"success": '):
        return []
    try:
        value = json.loads(text)
    except ValueError:
        return []
    return [problem for verb, mark in _MARKS.items() if mark in value for problem in problems(verb, value)]


def problems(verb: Verb, value: Envelope) -> list[str]:
    """Everything that is not as it should be: by the published schema, then by the rules that it cannot say."""
    sent = json.loads(json.dumps(value))
    form = _forms(verb)[sent.get("success") is True]
    found = [f"{error.instance_path}: {error.message[:300]}" for error in form.iter_errors(sent)]
    if found or verb != "retrieve" or not sent["success"]:
        return found
    return list(_broken_rules(sent))


@cache
def _forms(verb: Verb) -> tuple[Any, Any]:
    """The validators of a failure and of a success: an error then names the field instead of both forms."""
    from jsonschema_rs import Draft202012Validator

    schema = published(_FILES[verb])
    success, failure = (Draft202012Validator(form | {"$defs": schema["$defs"]}) for form in schema["oneOf"])
    return failure, success


def _broken_rules(value: Envelope) -> Iterator[str]:
    hits, ranking = value["results"], value["ranking"]
    if value["result_count"] != len(hits):
        yield f"result_count is {value['result_count']}, with {len(hits)} results"
    if value["total_results"] < len(hits):
        yield f"total_results is {value['total_results']}, with {len(hits)} results"
    if value["total_tokens"] != sum(hit["tokens"] for hit in hits):
        yield "total_tokens is not the sum of the hits' tokens"
    if value["half_life_days"] != ranking["half_life_days"]:
        yield "half_life_days stands there twice, with two values"
    if value["include_superseded"] is not (value["include_superseded_reason"] is not None):
        yield "include_superseded disagrees with its reason"
    if not value["include_superseded"] and any(hit["status"] == "Superseded" for hit in hits):
        yield "a superseded memory was shown to nobody who asked"
    if len({hit["memory_id"] for hit in hits}) < len(hits):
        yield "a memory is there twice"
    mixed = _is_sorted(hits)
    legacy = [hit["memory_type"] == "legacy" for hit in hits]
    appended = legacy == sorted(legacy) and all(
        _is_sorted([hit for hit, is_legacy in zip(hits, legacy, strict=True) if is_legacy is which])
        for which in (False, True)
    )
    if ranking.get("order") == "date":
        dates = [hit["source_created_at"] or hit["created_at"] or "" for hit in hits if hit["memory_type"] != "legacy"]
        if dates != sorted(dates, reverse=True):
            yield "the hits are not in the order of their dates"
    elif not mixed and not appended:
        yield "the hits are not in the order of their scores, ties by status"
    # Without one half of the index, which a warning says, the floor is lower in proportion.
    is_whole = not any("rebuild --what index" in warning for warning in value["warnings"])
    if is_whole and any(_first_relevance(hit) < ranking["relevance_floor"] for hit in hits):
        yield "a semantic_score is below the floor"
    if {"rerank_score" in hit for hit in hits} - {"reranker" in ranking}:
        yield "a rerank_score is there without a reranker, or is missing"
    if {"feedback_multiplier" in hit for hit in hits} - {"feedback_weight" in ranking}:
        yield "a feedback_multiplier is there without a weight, or is missing"
    for place, hit in enumerate(hits):
        yield from (f"results[{place}]: {broken}" for broken in _broken_rules_of(hit, ranking))


def _first_relevance(hit: Envelope) -> float:
    """The relevance without the reranker's part, as the page about the contract says."""
    if "rerank_score" not in hit:
        return float(hit["semantic_score"])
    return float(f"{0.6 * hit['vector_score'] + 0.4 * hit['lexical_score']:.10g}")


def _is_sorted(hits: list[Envelope]) -> bool:
    keys = [(-hit["score"], _STATUS_ORDER[hit["status"]]) for hit in hits]
    return keys == sorted(keys)


def _broken_rules_of(hit: Envelope, ranking: Envelope) -> Iterator[str]:
    for alias, name in (
        ("final_score", "score"),
        ("relevance_score", "score"),
        ("recency_score", "recency_multiplier"),
        ("text", "summary_text"),
    ):
        if hit[alias] != hit[name]:
            yield f"{alias} is not {name}"
    if hit["score"] != recomputed(hit, ranking):
        yield f"score {hit['score']!r} is not what its factors give, {recomputed(hit, ranking)!r}"
    if hit["recency_multiplier"] < ranking["recency_floor"]:
        yield "recency_multiplier is below the floor"
    yield from (f"{name} is empty instead of null" for name in _METADATA if hit[name] == "")
    is_legacy = hit["memory_type"] == "legacy"
    if is_legacy:
        yield from (f"{name} of a legacy memory is not null" for name in _METADATA if hit[name] is not None)
    yield from (f"{name} is there, or is not" for name in _STRUCTURED if (name in hit) is is_legacy)
    if (hit["status"] == "DecisionRecord") is not (hit["memory_type"] == "decision_record"):
        yield "status and memory_type disagree"
    if ("compaction_source" in hit) is not (hit["memory_type"] == "decision_record"):
        yield "compaction_source belongs to decision records"


def recomputed(hit: Envelope, ranking: Envelope) -> float:
    """The score from the factors as they are shown, as the page about the contract says."""
    relevance, recency = hit["semantic_score"], hit["recency_multiplier"]
    if ranking["mode"] == "product":
        score = relevance * recency * hit["status_multiplier"]
    else:
        score = (ranking["alpha"] * relevance + (1 - ranking["alpha"]) * recency) * hit["status_multiplier"]
    return float(f"{score * hit.get('feedback_multiplier', 1.0):.10g}")
