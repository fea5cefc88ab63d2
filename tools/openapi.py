"""Builds the OpenAPI document of the worker's HTTP interface from the shapes, payloads and ranges in the code."""

from __future__ import annotations

import json
from typing import Any

from worker.http import state as http_state
from worker.version import VERSION

from .openapi_operations import HEADERS, JSON, REFUSALS, Paths, describe

Schema = dict[str, Any]

FILE = http_state.DESCRIPTION

_INTRODUCTION = """\
The HTTP interface of a running worker on 127.0.0.1, for programs of the same user: queries, jobs, memories and status.
The port is in `worker/heartbeat.json` under `http.url`, the token in the file that `http.token_file` names.
See docs/http.md.
"""


def document() -> Schema:
    """The OpenAPI document."""
    made = Paths()
    describe(made)
    responses = {}
    for code, (name, description) in REFUSALS.items():
        responses[name] = {"description": description, "content": {JSON: {"schema": {"$ref": "#/$defs/Refusal"}}}}
        if code in HEADERS:
            responses[name]["headers"] = HEADERS[code]
    content: dict[str, Any] = {
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
    moved: dict[str, Any] = _moved(content)
    return moved


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
