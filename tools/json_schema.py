"""JSON Schemas of answers' types and of pydantic models, as docs/schemas and the OpenAPI document show them."""

from __future__ import annotations

from typing import Any

from bridge.interface.json_schema import Shape, schema_of
from jobs.payloads import Model


def definition(shape: Shape, name: str, shared: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type, under a name. What it refers to goes to ``shared``."""
    found = _tidy(schema_of(shape), asked=isinstance(shape, type) and issubclass(shape, Model))
    shared |= found.pop("$defs", {})
    head = {"title": name, "description": found.get("description")}
    return {key: value for key, value in (head | {**found, **head}).items() if value is not None}


def _tidy(schema: Any, *, asked: bool, names: bool = False) -> Any:
    """Descriptions with Markdown's backticks, and no defaults that only stand for absence.

    ``asked``: the schema is of what an asker writes. ``names``: the keys are names of fields.
    """
    if isinstance(schema, list):
        return [_tidy(item, asked=asked) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidy: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "default" and not names and (value is None or not asked):
            continue
        if key == "description" and not names:
            value = value.replace("``", "`")
        tidy[key] = _tidy(value, asked=asked, names=key in ("properties", "$defs"))
    return tidy


def payload_name(kind: str) -> str:
    """``SetStatusPayload`` for the kind ``set_status``."""
    return "".join(part.capitalize() for part in kind.split("_")) + "Payload"
