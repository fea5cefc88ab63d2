"""Builds the schemas of what clients send over HTTP: queries, jobs, and selections of jobs."""

from __future__ import annotations

from typing import Any

from bridge.argument_table import ARGUMENTS, EXPLAIN_ARGUMENTS, MAX_IDS, MAX_QUERY_CHARS, RETRIEVE_ARGUMENTS, Argument
from bridge.memory import STATUS_WORDS, TOPIC_ID
from bridge.search.question import BOOLEANS
from jobs.errors import ERRORS
from jobs.kinds import KIND_NAMES, TEST_ONLY
from jobs.payloads import PAYLOADS, JobFile
from worker.http import jobs as http_jobs

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


def _argument(argument: Argument) -> Schema:
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


_QUESTION: Schema = {name: _argument(argument) for name, argument in ARGUMENTS.items()} | {
    "query": _QUERY,
    "until": {**_TIME, "description": "ISO 8601; after `since`."},
    "as_of": {**_TIME, "description": "When ages are measured; now, where it is not given."},
}


def question_body(verb: str) -> Schema:
    schema: Schema = {"type": "object", "additionalProperties": False, "properties": _QUESTION}
    if verb == "retrieve":
        only = {name: _argument(argument) for name, argument in RETRIEVE_ARGUMENTS.items() if name not in ARGUMENTS}
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


def new_job(shared: Schema) -> Schema:
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


JOB_FILTERS = {"kind": {"enum": list(KIND_NAMES)}, "error": {"enum": list(ERRORS)}}


def selection_of_jobs(states: tuple[str, ...]) -> Schema:
    """The schema that selects jobs by ids or by filters."""
    ids = {
        "type": "array",
        "minItems": 1,
        "maxItems": http_jobs.MAX_IDS,
        "items": text_schema(minLength=1, maxLength=255),
    }
    by_ids = {"type": "object", "additionalProperties": False, "required": ["job_ids"], "properties": {"job_ids": ids}}
    fields = {"state": {"enum": list(states)}, **JOB_FILTERS}
    by_mark = {"type": "object", "additionalProperties": False, "minProperties": 1, "properties": fields}
    return {"oneOf": [by_ids, by_mark]}


NO_FIELDS = {"type": "object", "additionalProperties": False, "maxProperties": 0}
