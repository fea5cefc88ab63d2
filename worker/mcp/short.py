"""Answers as HTTP gives them, short enough for a model: the fields that are kept, and the schema of what is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.text.orders import marked
from bridge.text.template import sections

from .answer import NOTICE

Kept = Mapping[str, "Kept"]
"""The fields of an answer that are kept, by name; of each its own. Without any, all are kept."""
Schema = dict[str, Any]

_WORDS_OF_MEMORIES = ("summary_text", "excerpt", "title", "text", "statement", "says", "says_otherwise")
_MOST_WORDS = 8  # of an enumeration that a schema lists


def only(*names: str, **nested: Kept) -> dict[str, Kept]:
    """These fields; of those that are named by keyword, a part."""
    return {**{name: {} for name in names}, **nested}


def short(answer: Mapping[str, Any], kept: Kept) -> dict[str, Any]:
    """The fields of an answer that are kept, after the notice. Below the first level, absent values are left out."""
    return {"notice": NOTICE, **{name: _short(name, answer[name], kept[name]) for name in kept if name in answer}}


def _short(name: str, value: Any, kept: Kept) -> Any:
    if isinstance(value, list):
        return [_short(name, each, kept) for each in value]
    if isinstance(value, float):
        return round(value, 3)
    if name in _WORDS_OF_MEMORIES and isinstance(value, str):
        return marked(sections(value) if name == "summary_text" else value)
    if not kept or not isinstance(value, Mapping):
        return value
    found = {each: _short(each, value[each], kept[each]) for each in kept if each in value}
    found = {each: part for each, part in found.items() if part not in (None, [], {})}
    if "source_created_at" in found:  # the date that counts
        found.pop("created_at", None)
    return found


def schema_of(shape: Any, kept: Kept) -> Schema:
    """The JSON Schema of what ``short`` returns of an answer of a type. Building it takes time."""
    from bridge.interface.json_schema import schema_of

    whole = schema_of(shape)
    fields: dict[str, Schema] = whole["properties"]
    named: Schema = whole.get("$defs", {})
    return {
        "type": "object",
        "properties": {
            "notice": {"type": "string"},
            **{name: _reduced(fields[name], kept[name], named, may_be_null=True) for name in kept},
        },
        "required": [name for name in kept if name in whole["required"]],
    }


def _reduced(schema: Schema, kept: Kept, named: Schema, *, may_be_null: bool = False) -> Schema:
    """Without what is left out, and without what says nothing to a model and costs tokens in every conversation."""
    about = {"description": schema["description"]} if "description" in schema else {}
    if "$ref" in schema:
        schema = named[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        options = [_reduced(each, kept, named) for each in schema["anyOf"] if may_be_null or each.get("type") != "null"]
        if len(options) == 1:
            return options[0] | about
        if all(option.keys() == {"type"} for option in options):
            return {"type": [option["type"] for option in options], **about}
        return {"anyOf": options, **about} if all(options) else about
    reduced: Schema = {"type": schema["type"]} if "type" in schema else {}
    if "const" in schema:
        reduced["const"] = schema["const"]
    if len(schema.get("enum", ())) in range(1, _MOST_WORDS + 1):
        reduced["enum"] = schema["enum"]
    if "items" in schema:
        reduced["items"] = _reduced(schema["items"], kept, named)
    if "properties" in schema and kept:
        fields = schema["properties"]
        reduced["properties"] = {name: _reduced(fields[name], kept[name], named) for name in kept if name in fields}
    return reduced | about
