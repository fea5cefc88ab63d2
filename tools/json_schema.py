"""Builds the JSON Schemas of answer types and pydantic models, in the form that docs/schemas and the OpenAPI
document publish."""

from __future__ import annotations

from typing import Any

from bridge.interface.json_schema import Shape, schema_of
from jobs.payloads import Model


def definition(shape: Shape, name: str, shared: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type with ``name`` as its title. The definitions that it refers to are added to ``shared``."""
    schema = _tidy(schema_of(shape), asked=isinstance(shape, type) and issubclass(shape, Model))
    shared |= schema.pop("$defs", {})
    head = {"title": name, "description": schema.get("description")}
    return {key: value for key, value in (head | {**schema, **head}).items() if value is not None}


def _tidy(schema: Any, *, asked: bool, names: bool = False) -> Any:
    """The schema with Markdown's backticks in descriptions, and without defaults that only mean absence.

    ``asked``: a client writes this JSON, so its defaults matter. ``names``: the keys are field names.
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
