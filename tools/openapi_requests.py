"""Builds the schemas of what clients send over HTTP: parameters, queries, jobs, and other bodies."""

from __future__ import annotations

from math import isfinite
from typing import Any

from bridge.argument_table import ARGUMENTS, EXPLAIN_ARGUMENTS, MAX_IDS, MAX_QUERY_CHARS, RETRIEVE_ARGUMENTS, Argument
from bridge.memory import STATUS_WORDS, TOPIC_ID
from bridge.search.question import BOOLEANS
from jobs.kinds import TEST_ONLY
from jobs.payloads import PAYLOADS, JobFile
from worker.calls.call import Call
from worker.calls.table import QUESTIONS

from .json_schema import definition, payload_name

Schema = dict[str, Any]

_NULL = {"type": "null"}


def text_schema(**more: Any) -> Schema:
    return {"type": "string", **more}


def _number(least: float, most: float, *, whole: bool) -> Schema:
    """A number, or the same as text, as the command line sends it. A value out of range is clamped, with a warning."""
    kind = "integer" if whole else "number"
    form = r"^-?[0-9]{1,9}$" if whole else r"^-?[0-9]{1,9}(\.[0-9]{1,9})?$"
    what = f"{least:.10g} to {most:.10g}; what is outside is taken for the nearest of these, with a warning."
    return {"anyOf": [{"type": kind}, text_schema(pattern=form), _NULL], "description": what}


def _choice(options: tuple[str, ...]) -> Schema:
    return {"enum": [*options, None]}


_TIME = {"anyOf": [text_schema(format="date-time"), _NULL], "description": "ISO 8601; without an offset it is UTC."}
_TOPIC = {"anyOf": [text_schema(pattern=f"^{TOPIC_ID.pattern}$"), _NULL]}
_FILLED = text_schema(pattern=r"\S")
_QUERY = text_schema(pattern=r"\S", maxLength=MAX_QUERY_CHARS)

_FLAG = {"anyOf": [{"type": "boolean"}, {"enum": [*BOOLEANS, 1, 0, None]}]}


def _of_question(argument: Argument) -> Schema:
    """The schema of an optional query argument."""
    match argument.kind:
        case "whole" | "number":
            return _number(*argument.range, whole=argument.kind == "whole")
        case "choice":
            return _choice(argument.choices)
        case "status":
            return _choice(tuple(STATUS_WORDS))
        case "flag":
            return _FLAG
        case "topic":
            return _TOPIC
        case "time":
            return _TIME
        case "texts":
            return {"anyOf": [{"type": "array", "items": _FILLED}, _FILLED, _NULL]}
        case _:
            return {"anyOf": [_FILLED, _NULL]}


_QUESTION: Schema = {name: _of_question(argument) for name, argument in ARGUMENTS.items()} | {
    "query": _QUERY,
    "until": {**_TIME, "description": "ISO 8601; after `since`."},
    "as_of": {**_TIME, "description": "When ages are measured; now, where it is not given."},
}


def _question_body(verb: str) -> Schema:
    schema: Schema = {"type": "object", "additionalProperties": False, "properties": _QUESTION}
    if verb == "retrieve":
        only = {name: _of_question(argument) for name, argument in RETRIEVE_ARGUMENTS.items() if name not in ARGUMENTS}
        schema["properties"] = {**_QUESTION, **only}
    if verb != "explain":
        return {**schema, "required": ["query"]}
    lowest, highest = EXPLAIN_ARGUMENTS["ids"].range
    ids = {"type": "array", "contains": {"type": "integer", "minimum": lowest, "maximum": highest}}
    least, most = EXPLAIN_ARGUMENTS["limit"].range
    text = f"Numbers of memories, {MAX_IDS} at most. What is none is reported, and left out."
    schema["properties"] = {
        **_QUESTION,
        "query": {"description": "The question whose hits are explained. What is none is reported, and left out."},
        "ids": {"description": text},
        "project": {"anyOf": [_FILLED, _NULL]},
        "include_pack_context": {"type": ["boolean", "null"]},
        "limit": {"type": ["integer", "null"], "minimum": least, "maximum": most},
    }
    by_query = {"required": ["query"], "properties": {"query": _QUERY}}
    by_ids = {"required": ["ids"], "properties": {"ids": ids}}
    return {**schema, "anyOf": [by_query, by_ids]}


def _new_job(shared: Schema) -> Schema:
    """The schema of a job file, one branch for each kind; its id and version are optional."""
    whole = definition(JobFile, "JobFile", shared)
    branches = []
    for kind, model in PAYLOADS.items():
        if kind in TEST_ONLY:
            continue
        name = payload_name(kind)
        shared[name] = _dated(definition(model, name, shared))
        fields = {**whole["properties"], "kind": {"const": kind}, "payload": {"$ref": f"#/$defs/{name}"}}
        branch = {
            "type": "object",
            "additionalProperties": False,
            "properties": fields,
            "required": ["kind", "payload"],
        }
        branches.append({"title": kind, **_dated(branch)})
    for name, schema in shared.items():
        shared[name] = _dated(schema)
    return {"title": "NewJob", "description": "A job file; its id and version may be left out.", "oneOf": branches}


def _dated(schema: Any) -> Any:
    """The schema with ``format: date-time`` wherever the description says ISO 8601, for programs that read the
    schema."""
    if isinstance(schema, list):
        return [_dated(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    dated = {name: _dated(value) for name, value in schema.items()}
    description = str(dated.get("description", ""))
    if "ISO 8601" in description:
        if dated.get("type") == "string":
            dated["format"] = "date-time"
        for each in dated.get("anyOf", ()):
            if each.get("type") == "string":
                each["format"] = "date-time"
    return dated


def argument_schema(argument: Argument) -> Schema:
    """The schema of a parameter, or of a field of a body, of other calls than queries."""
    least, most = argument.range
    default = {} if argument.default is None else {"default": argument.default}
    match argument.kind:
        case "whole":
            return {"type": "integer", "minimum": least, "maximum": most, **default}
        case "number":
            return {"type": "number", "minimum": least, "maximum": most, **default}
        case "choice" if len(argument.choices) == 1:
            return {"const": argument.choices[0]}
        case "choice" | "flag":
            return {"enum": list(argument.choices)}
        case "choices":
            return {"type": "array", "minItems": 1, "items": {"enum": list(argument.choices)}}
        case "ids":
            return {
                "type": "array",
                "minItems": least,
                "maxItems": most,
                "items": text_schema(minLength=1, maxLength=255),
            }
        case "numbers":
            return {"type": "array", "items": {"type": "integer", "minimum": least, "maximum": most}}
        case _:
            lengths = {"minLength": least, "maxLength": most} if isfinite(most) else {}
            return text_schema(**lengths, **({"pattern": argument.pattern} if argument.pattern else {}))


def body_schema(call: Call, shared: Schema) -> Schema:
    """The schema of a call's body. The schemas that it refers to are added to ``shared``."""
    if call.name in QUESTIONS:
        return _question_body(call.name)
    if call.name == "submitJob":
        return _new_job(shared)
    properties = {name: argument_schema(argument) for name, argument in (call.body or {}).items()}
    if not properties:
        return {**_closed({}), "maxProperties": 0}
    if "job_ids" in properties:
        ids = {"job_ids": properties.pop("job_ids")}
        return {"oneOf": [_closed(ids, required=["job_ids"]), _closed(properties, minProperties=1)]}
    return _closed(properties, required=[name for name, each in (call.body or {}).items() if each.is_required])


def _closed(properties: Schema, **more: Any) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        **more,
        **({"properties": properties} if properties else {}),
    }
