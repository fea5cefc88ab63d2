"""The OpenAPI document of the gateway, made from the models that check its requests."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bridge.team import wire
from bridge.team.protocol import CALLS

from ..version import VERSION

_ROWS: dict[str, type[BaseModel]] = {"share": wire.Share, "incoming": wire.Incoming}
_ERROR = {
    "type": "object",
    "required": ["success", "error", "error_code"],
    "properties": {
        "success": {"const": False},
        "error": {"type": "string"},
        "error_code": {"type": "string"},
        "remediation": {"type": "string"},
        "error_details": {"type": "object"},
    },
}


def document() -> dict[str, Any]:
    """The document."""
    bodies = {name: call.body for name, call in CALLS.items()} | {"listen": wire.Listen, "answer": wire.Question}
    paths = {wire.PREFIX + name: _path(name, body) for name, body in (bodies | _ROWS).items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "cognee-memory gateway", "version": VERSION},
        "paths": dict(sorted(paths.items())),
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR},
        },
    }


def _path(name: str, body: type[BaseModel]) -> dict[str, Any]:
    schema = body.model_json_schema(ref_template="#/components/schemas/{model}")
    inner = schema.pop("$defs", {})
    schema = _inlined(schema, inner)
    media, about = "application/json", ""
    if name in _ROWS:
        media, about = "application/x-ndjson", 'A stream of lines: this header, then a row a line, then "end".'
    return {
        "post": {
            "operationId": name,
            "description": about,
            "requestBody": {"required": True, "content": {media: {"schema": schema}}},
            "responses": {
                "200": {"description": "The answer is in `value`, or a stream of rows."},
                "default": {
                    "description": "An error.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
                },
            },
        }
    }


def _inlined(value: Any, inner: dict[str, Any]) -> Any:
    """A schema with the models that it refers to in their places."""
    if isinstance(value, dict):
        if "$ref" in value:
            return _inlined(inner[value["$ref"].rsplit("/", 1)[1]], inner)
        return {name: _inlined(each, inner) for name, each in value.items()}
    if isinstance(value, list):
        return [_inlined(each, inner) for each in value]
    return value
