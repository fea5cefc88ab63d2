"""Builds the OpenAPI document of the worker's HTTP interface from the shapes, payloads and ranges in the code."""

from __future__ import annotations

import json
from typing import Any, get_args

from bridge.argument_table import ARGUMENTS, EXPLAIN_ARGUMENTS, MOST_IDS, Argument
from bridge.interface import answer_shapes as answers
from bridge.interface.json_schema import Shape
from bridge.memory import STATUS_WORDS, TOPIC_ID, MemoryKind, Status
from bridge.search.question import BOOLEANS
from jobs.client import ControlVerb as ControlVerb
from jobs.errors import ERRORS
from jobs.ids import JOB_ID
from jobs.kinds import KIND_NAMES, TEST_ONLY
from jobs.payloads import PAYLOADS, JobFile
from jobs.states import State
from worker.http import jobs as http_jobs, queue as http_queue, schema as shapes, state as http_state
from worker.http.bodies import BODY_BYTES, LARGEST_PAGE
from worker.version import VERSION

from .json_schema import definition, payload_name

Schema = dict[str, Any]

FILE = http_state.DESCRIPTION

_NULL = {"type": "null"}
_JSON = "application/json"

_INTRODUCTION = """\
What a running worker answers on 127.0.0.1 to programs of the same user: questions, jobs, memories, and how all stands.
The port stands in `worker/heartbeat.json` under `http.url`, the token in the file that `http.token_file` names.
See docs/http.md.
"""

# --- requests ---


def _text(**more: Any) -> Schema:
    return {"type": "string", **more}


def _number(least: float, most: float, *, whole: bool) -> Schema:
    """A number, or the same as text, as the command line sends it. A value out of range is clamped, with a warning."""
    kind = "integer" if whole else "number"
    form = r"^-?[0-9]{1,9}$" if whole else r"^-?[0-9]{1,9}(\.[0-9]{1,9})?$"
    what = f"{least:.10g} to {most:.10g}; what is outside is taken for the nearest of these, with a warning."
    return {"anyOf": [{"type": kind}, _text(pattern=form), _NULL], "description": what}


def _choice(options: tuple[str, ...]) -> Schema:
    return {"enum": [*options, None]}


_TIME = {"anyOf": [_text(format="date-time"), _NULL], "description": "ISO 8601; without an offset it is UTC."}
_TOPIC = {"anyOf": [_text(pattern=f"^{TOPIC_ID.pattern}$"), _NULL]}
_FILLED = _text(pattern=r"\S")

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
        case _:
            return {"anyOf": [_FILLED, _NULL]}


_QUESTION: Schema = {name: _argument(argument) for name, argument in ARGUMENTS.items()} | {
    "query": _FILLED,
    "until": {**_TIME, "description": "ISO 8601; after `since`."},
    "as_of": {**_TIME, "description": "When ages are measured; now, where it is not given."},
}


def _asked(verb: str) -> Schema:
    schema: Schema = {"type": "object", "additionalProperties": False, "properties": _QUESTION}
    if verb != "explain":
        return {**schema, "required": ["query"]}
    lowest, highest = EXPLAIN_ARGUMENTS["ids"].range
    ids = {"type": "array", "contains": {"type": "integer", "minimum": lowest, "maximum": highest}}
    least, most = EXPLAIN_ARGUMENTS["limit"].range
    text = f"Numbers of memories, {MOST_IDS} at most. What is none is reported, and left out."
    schema["properties"] = {
        **_QUESTION,
        "query": {"description": "The question whose hits are explained. What is none is reported, and left out."},
        "ids": {"description": text},
        "project": {"anyOf": [_FILLED, _NULL]},
        "include_pack_context": {"type": ["boolean", "null"]},
        "limit": {"type": ["integer", "null"], "minimum": least, "maximum": most},
    }
    by_query = {"required": ["query"], "properties": {"query": _FILLED}}
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


_CHOICE = {"kind": {"enum": list(KIND_NAMES)}, "error": {"enum": list(ERRORS)}}


def _several(states: tuple[str, ...]) -> Schema:
    """The schema that selects jobs by ids or by filters."""
    ids = {"type": "array", "minItems": 1, "maxItems": http_jobs.MOST_IDS, "items": _text(minLength=1, maxLength=255)}
    by_ids = {"type": "object", "additionalProperties": False, "required": ["job_ids"], "properties": {"job_ids": ids}}
    fields = {"state": {"enum": list(states)}, **_CHOICE}
    by_mark = {"type": "object", "additionalProperties": False, "minProperties": 1, "properties": fields}
    return {"oneOf": [by_ids, by_mark]}


_NOTHING = {"type": "object", "additionalProperties": False, "maxProperties": 0}

# --- replies ---

_REFUSALS = {
    400: ("BadUsage", "Wrong usage: ARGUMENT_INVALID, QUERY_EMPTY, or what is no HTTP at all."),
    401: ("Unauthorized", "No token, or a former one; or a ticket that is none."),
    403: ("Forbidden", "The Host is no name of this machine, or a page of another site asks."),
    404: ("NotFound", "There is no such thing, or no such path."),
    408: ("TooSlow", "The body did not arrive in time."),
    409: ("Conflict", "What is there does not allow it."),
    413: ("TooLarge", f"The body is larger than {BODY_BYTES} bytes."),
    415: ("NotJson", "The Content-Type is not application/json."),
    422: ("Unprocessable", "What the worker would reject."),
    500: ("Failed", "What asking again does not help."),
    503: ("Busy", "What passes: ask again."),
}
_HEADERS = {
    401: {"WWW-Authenticate": {"required": True, "schema": _text()}},
    503: {"Retry-After": {"required": True, "schema": {"type": "integer", "minimum": 1}}},
}
_ALWAYS = (400, 401, 403, 500, 503)
_WITH_BODY = (408, 413, 415)


class _Document:
    """Collects the paths and the shared schemas."""

    def __init__(self) -> None:
        self.shared: Schema = {}
        self.paths: Schema = {}

    def shape(self, shape: Shape) -> Schema:
        """Add the schema of a shape; returns the reference to it."""
        self.shared[shape.__name__] = definition(shape, shape.__name__, self.shared)
        return {"$ref": f"#/$defs/{shape.__name__}"}

    def add(
        self,
        method: str,
        path: str,
        name: str,
        summary: str,
        answer: Schema | None,
        *,
        status: int = 200,
        errors: tuple[int, ...] = (),
        parameters: tuple[Schema, ...] = (),
        body: Schema | None = None,
        refused: Schema | None = None,
        is_open: bool = False,
        links: Schema | None = None,
        media: dict[str, Schema] | None = None,
    ) -> None:
        """Add an operation. ``refused`` is the shape of its own errors, if it has one besides the common shape."""
        common = {"$ref": "#/$defs/Refusal"}
        good: Schema = {"description": summary}
        if answer is not None:
            good["content"] = {_JSON: {"schema": answer}}
        if media is not None:
            good["content"] = media
        if links:
            good["links"] = links
        responses: Schema = {str(status): good}
        tags = {"ETag": {"required": True, "schema": _text()}}
        if any(each["name"] == "If-None-Match" for each in parameters):
            good["headers"] = tags
            responses["304"] = {"description": "Nothing has changed since the answer with that tag.", "headers": tags}
        wanted = {*_ALWAYS, *errors, *(_WITH_BODY if body else ())} - ({401} if is_open and not body else set())
        for code in sorted(wanted):
            kind, description = _REFUSALS[code]
            schema = {"anyOf": [refused, common]} if refused else common
            responses[str(code)] = {"description": description, "content": {_JSON: {"schema": schema}}}
            if code in _HEADERS:
                responses[str(code)]["headers"] = _HEADERS[code]
            if not refused:
                responses[str(code)] = {"$ref": f"#/components/responses/{kind}"}
        operation: Schema = {
            "operationId": name,
            "summary": summary,
            "tags": [path.split("/")[-1 if "v1" not in path else 2]],
        }
        if parameters:
            operation["parameters"] = list(parameters)
        if body is not None:
            operation["requestBody"] = {"required": True, "content": {_JSON: {"schema": body}}}
        if is_open:
            operation["security"] = []
        self.paths.setdefault(path, {})[method] = {**operation, "responses": responses}


def _query(name: str, schema: Schema, said: str, **more: Any) -> Schema:
    return {"name": name, "in": "query", "required": False, "description": said, "schema": schema, **more}


def _limit(default: int = 50) -> Schema:
    return _query(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": default},
        "The most that are given.",
    )


_JOB = {
    "name": "job_id",
    "in": "path",
    "required": True,
    "description": "A job's id, whole.",
    "schema": _text(pattern=f"^{JOB_ID.pattern}$"),
}
_KNOWN = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of an earlier answer: 304 where nothing has changed since.",
    "schema": _text(),
}
_AFTER = "`next` of the page before."
_WORD = _text(minLength=1, maxLength=128)


def _to_job(place: str) -> Schema:
    return {
        name: {"operationId": name, "parameters": {"job_id": f"$response.body#/{place}"}}
        for name in ("showJob", "cancelJob", "retryJob", "dismissJob")
    }


def _describe(document: _Document) -> None:
    add, shape = document.add, document.shape
    shape(answers.Refusal)

    for verb, success, failure in (
        ("retrieve", answers.RetrievalSuccess, answers.RetrievalFailure),
        ("explain", answers.ExplainSuccess, answers.ExplainFailure),
        ("context", answers.ContextSuccess, answers.ContextFailure),
    ):
        own = _query("settings", {"const": "none"}, "Nothing that is not given comes from the settings.")
        what = {
            "retrieve": "The memories that fit a question, best first",
            "explain": "Why memories fit, or do not",
            "context": "A block for a prompt",
        }[verb]
        add(
            "post",
            f"/v1/{verb}",
            verb,
            what,
            shape(success),
            errors=(404, 409, 422),
            parameters=(own,),
            body=_asked(verb),
            refused=shape(failure),
        )

    add("get", "/v1/status", "status", "How the workspace stands", shape(shapes.QueueStatus), parameters=(_KNOWN,))
    add(
        "get",
        "/v1/activity",
        "activity",
        "What ended when, and how long it took",
        shape(shapes.Activity),
        parameters=(
            _query(
                "hours",
                {"type": "number", "minimum": 0.01, "maximum": http_queue.MOST_HOURS, "default": 24},
                "How far back.",
            ),
            _query(
                "buckets",
                {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": 48},
                "Equal spans of it.",
            ),
        ),
    )
    add(
        "get",
        "/v1/rejected",
        "rejected",
        "Files that could not become jobs",
        shape(shapes.RejectedFiles),
        parameters=(_limit(),),
    )
    verbs = {"enum": list(get_args(ControlVerb))}
    add(
        "post",
        "/v1/control",
        "control",
        "What the worker is to do",
        shape(shapes.Controlled),
        body={
            "type": "object",
            "additionalProperties": False,
            "required": ["request"],
            "properties": {"request": verbs},
        },
    )

    states = {"type": "array", "minItems": 1, "items": {"enum": list(get_args(State))}}
    add(
        "get",
        "/v1/jobs",
        "listJobs",
        "Jobs, the newest first",
        shape(shapes.JobsPage),
        parameters=(
            _query("state", states, "Of these states.", style="form", explode=False),
            _query("kind", _CHOICE["kind"], "Of this kind."),
            _query("error", _CHOICE["error"], "With this error."),
            _query("contains", _text(minLength=1, maxLength=256), "Whose id or correlation id contains this."),
            _limit(),
            _query("after", _WORD, _AFTER),
            _KNOWN,
        ),
        links=_to_job("jobs/0/job_id"),
    )
    correlation = {
        "name": "X-Correlation-Id",
        "in": "header",
        "required": False,
        "schema": _text(pattern="^[!-~]{1,256}$"),
        "description": "The job's correlation id, where its file names none.",
    }
    add(
        "post",
        "/v1/jobs",
        "submitJob",
        "Submit a job",
        shape(shapes.Submitted),
        status=202,
        errors=(409, 422),
        parameters=(correlation,),
        body=_new_job(document.shared),
        links=_to_job("job_id"),
    )
    for verb, states, said in (
        ("cancel", http_jobs.CANCELLABLE, "End jobs"),
        ("retry", http_jobs.RETRIABLE, "Run jobs again"),
        ("dismiss", http_jobs.DISMISSIBLE, "Take ended jobs off the list"),
    ):
        add("post", f"/v1/jobs/{verb}", f"{verb}Jobs", said, shape(shapes.ManyAsked), body=_several(states))
    add("get", "/v1/jobs/{job_id}", "showJob", "A job whole", shape(shapes.WholeJob), errors=(404,), parameters=(_JOB,))
    for verb, said in (
        ("cancel", "End a job"),
        ("retry", "Run a job again"),
        ("dismiss", "Take an ended job off the list"),
    ):
        add(
            "post",
            f"/v1/jobs/{{job_id}}/{verb}",
            f"{verb}Job",
            said,
            shape(shapes.Asked),
            errors=(404, 409),
            parameters=(_JOB,),
            body=_NOTHING,
        )

    add(
        "get",
        "/v1/memories",
        "listMemories",
        "Memories, the newest first",
        shape(shapes.MemoriesPage),
        parameters=(
            _query("topic_id", _WORD, "Of this topic."),
            _query("status", {"enum": list(get_args(Status))}, "Of this status."),
            _query("type", {"enum": list(get_args(MemoryKind))}, "Of this type."),
            _limit(),
            _query("after", {"type": "integer", "minimum": 1, "maximum": 2**53}, _AFTER),
        ),
        links={
            "showMemory": {
                "operationId": "showMemory",
                "parameters": {"memory": "$response.body#/memories/0/memory_id"},
            }
        },
    )
    memory = {
        "name": "memory",
        "in": "path",
        "required": True,
        "description": "A memory's id or number.",
        "schema": _text(minLength=1, maxLength=256, pattern="^[A-Za-z0-9._:-]+$"),
    }
    add(
        "get",
        "/v1/memories/{memory}",
        "showMemory",
        "A memory whole",
        shape(shapes.WholeMemory),
        errors=(404,),
        parameters=(memory,),
    )
    add("get", "/v1/topics", "topics", "Topics, the fullest first", shape(shapes.Topics))
    add(
        "get",
        "/v1/history",
        "history",
        "The last compactions",
        shape(shapes.History),
        parameters=(_query("topic_id", _WORD, "Of this topic."), _limit()),
    )

    add("get", "/v1/settings", "settings", "Every setting, and where it came from", shape(shapes.SettingsTable))
    add("get", "/v1/doctor", "doctor", "What is wrong here, and what to do", shape(shapes.Findings))
    add("get", "/healthz", "healthz", "Whether it lives", shape(shapes.Health), is_open=True)
    add("get", "/readyz", "readyz", "Whether it can answer", shape(shapes.Health))
    add(
        "get",
        "/metrics",
        "metrics",
        "Figures for Prometheus",
        None,
        media={
            "text/plain": {"schema": _text()},
            "application/openmetrics-text": {"schema": _text()},
        },
    )
    add("get", "/openapi.json", "openapi", "This document", {"type": "object"})
    ticket = {
        "type": "object",
        "additionalProperties": False,
        "required": ["ticket"],
        "properties": {"ticket": _text()},
    }
    add(
        "post",
        "/v1/session",
        "session",
        "The token, for a ticket of cognee-memory open",
        shape(shapes.Session),
        is_open=True,
        body=ticket,
    )
    add(
        "get",
        "/",
        "page",
        "The page",
        None,
        is_open=True,
        parameters=(_KNOWN,),
        media={"text/html": {"schema": _text()}},
    )
    name = {"name": "name", "in": "path", "required": True, "description": "A file of the page.", "schema": _WORD}
    kinds = ("text/javascript", "text/css", "image/svg+xml", "image/png", "image/x-icon", "text/plain")
    files = {kind: {"schema": _text()} for kind in kinds}
    add(
        "get",
        "/assets/{name}",
        "asset",
        "What the page is made of",
        None,
        errors=(404,),
        is_open=True,
        parameters=(name, _KNOWN),
        media=files,
    )


def document() -> Schema:
    """The OpenAPI document."""
    made = _Document()
    _describe(made)
    responses = {}
    for code, (name, description) in _REFUSALS.items():
        responses[name] = {"description": description, "content": {_JSON: {"schema": {"$ref": "#/$defs/Refusal"}}}}
        if code in _HEADERS:
            responses[name]["headers"] = _HEADERS[code]
    content = {
        "openapi": "3.1.0",
        "info": {
            "title": "cognee-memory",
            "version": VERSION,
            "description": _INTRODUCTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [
            {
                "url": "http://127.0.0.1:{port}",
                "variables": {"port": {"default": "8765", "description": "As in the heartbeat's http.url."}},
            }
        ],
        "security": [{"token": []}],
        "paths": made.paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "The content of the token file."}
            },
            "responses": responses,
            "schemas": dict(sorted(made.shared.items())),
        },
    }
    return _moved(content)


def _moved(schema: Any) -> Any:
    """The schema with its references pointing to OpenAPI's ``components/schemas``."""
    if isinstance(schema, list):
        return [_moved(each) for each in schema]
    if isinstance(schema, dict):
        return {
            name: value.replace("#/$defs/", "#/components/schemas/") if name == "$ref" else _moved(value)
            for name, value in schema.items()
        }
    return schema


def text() -> str:
    """The document as JSON text."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"
