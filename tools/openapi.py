"""Builds the OpenAPI document of the worker's HTTP interface from the table of calls and the types of its answers."""

from __future__ import annotations

import json
from typing import Any

from bridge.argument_table import Argument
from bridge.interface import answer_shapes as answers
from bridge.interface.json_schema import Shape
from worker.calls import shapes
from worker.calls.call import Arguments, Call
from worker.calls.table import CALLS, PARAMETERS, QUESTIONS
from worker.http import state as http_state
from worker.http.bodies import BODY_BYTES
from worker.version import VERSION

from .json_schema import definition
from .openapi_requests import argument_schema, body_schema, text_schema

Schema = dict[str, Any]

FILE = http_state.DESCRIPTION

_INTRODUCTION = """\
The HTTP interface of a running worker on 127.0.0.1, for programs of the same user: queries, jobs, memories and status.
The port is in `worker/heartbeat.json` under `http.url`, the token in the file that `http.token_file` names.
See docs/http.md.
"""
_JSON = "application/json"
_REFUSALS = {
    400: ("BadUsage", "Wrong usage: ARGUMENT_INVALID, QUERY_EMPTY, or what is not HTTP."),
    401: ("Unauthorized", "No token, or an old one; or an invalid ticket."),
    403: ("Forbidden", "The Host is not a name of this machine, or the request is from a page of another site."),
    404: ("NotFound", "There is no such item, or no such path."),
    408: ("TooSlow", "The body did not arrive in time."),
    409: ("Conflict", "The current state does not allow it."),
    413: ("TooLarge", f"The body is larger than {BODY_BYTES} bytes."),
    415: ("NotJson", "The Content-Type is not application/json."),
    422: ("Unprocessable", "A job that the worker would reject."),
    500: ("Failed", "A failure that a repetition does not help."),
    503: ("Busy", "A failure that passes: repeat the request."),
}
_HEADERS = {
    401: {"WWW-Authenticate": {"required": True, "schema": text_schema()}},
    503: {"Retry-After": {"required": True, "schema": {"type": "integer", "minimum": 1}}},
}
_ALWAYS = {400, 401, 403, 500, 503}
_WITH_BODY = {408, 413, 415}
_REFUSAL = {"$ref": "#/$defs/Refusal"}


def document() -> Schema:
    """The OpenAPI document."""
    shared: Schema = {}
    _reference(answers.Refusal, shared)
    paths: Schema = {}
    for call in CALLS:
        paths.setdefault(call.path, {})[call.method.lower()] = _operation(call, shared)
    content: Schema = {
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
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "The content of the token file."}
            },
            "responses": {name: _refused(code, _REFUSAL) for code, (name, _) in _REFUSALS.items()},
            "schemas": dict(sorted(shared.items())),
        },
    }
    moved: Schema = _moved(content)
    return moved


def _operation(call: Call, shared: Schema) -> Schema:
    """The operation of a call. The schemas that it refers to are added to ``shared``."""
    good = _success(call, shared)
    body = None if call.body is None else body_schema(call, shared)
    responses: Schema = {str(call.status): good}
    if "If-None-Match" in call.headers:
        good["headers"] = {"ETag": {"required": True, "schema": text_schema()}}
        unchanged = "The answer has not changed since the one with that tag."
        responses["304"] = {"description": unchanged, "headers": good["headers"]}
    responses |= _refusals(call, shared)
    parameters = [
        *_parameters("path", {name: each for name, each in PARAMETERS.items() if f"{{{name}}}" in call.path}),
        *_parameters("query", call.arguments),
        *_parameters("header", call.headers),
    ]
    return {
        "operationId": call.name,
        "summary": call.summary,
        "tags": [call.path.split("/")[-1 if "v1" not in call.path else 2]],
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": {"required": True, "content": {_JSON: {"schema": body}}}} if body is not None else {}),
        **({"security": []} if call.is_open else {}),
        "responses": responses,
    }


def _success(call: Call, shared: Schema) -> Schema:
    good: Schema = {"description": call.summary}
    if call.answer_type:
        answer = getattr(answers if call.name in QUESTIONS else shapes, call.answer_type)
        good["content"] = {_JSON: {"schema": _reference(answer, shared)}}
    else:
        schema = {"type": "object"} if call.media == (_JSON,) else text_schema()
        good["content"] = {media: {"schema": schema} for media in call.media}
    links = {
        other.name: {"operationId": other.name, "parameters": {name: f"$response.body#/{place}"}}
        for name, place in call.links.items()
        for other in CALLS
        if f"{{{name}}}" in other.path
    }
    return {**good, "links": links} if links else good


def _refusals(call: Call, shared: Schema) -> Schema:
    has_token = not call.is_open or call.body is not None
    codes = {*_ALWAYS, *call.errors, *(_WITH_BODY if call.body is not None else ())} - (set() if has_token else {401})
    if call.name not in QUESTIONS:
        return {str(code): {"$ref": f"#/components/responses/{_REFUSALS[code][0]}"} for code in sorted(codes)}
    own = _reference(getattr(answers, call.answer_type.replace("Success", "Failure")), shared)
    return {str(code): _refused(code, {"anyOf": [own, _REFUSAL]}) for code in sorted(codes)}


def _refused(code: int, schema: Schema) -> Schema:
    """The reply with an error of this HTTP status."""
    refused: Schema = {"description": _REFUSALS[code][1], "content": {_JSON: {"schema": schema}}}
    return {**refused, "headers": _HEADERS[code]} if code in _HEADERS else refused


def _parameters(place: str, arguments: Arguments) -> list[Schema]:
    return [_parameter(place, name, argument) for name, argument in arguments.items()]


def _parameter(place: str, name: str, argument: Argument) -> Schema:
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "description": argument.help,
        "schema": argument_schema(argument),
        **({"style": "form", "explode": False} if argument.kind == "choices" else {}),
    }


def _reference(shape: Shape, shared: Schema) -> Schema:
    """Add the schema of a type; returns the reference to it."""
    shared[shape.__name__] = definition(shape, shape.__name__, shared)
    return {"$ref": f"#/$defs/{shape.__name__}"}


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
