"""Writes TypeScript declarations from JSON Schemas. It supports the parts of both languages that this project's
schemas use."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]

_WIDTH = 100
_ANY_OBJECT = "{ [name: string]: unknown }"
_PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


class TypeScript:
    """Writes declarations. ``named`` maps a type name such as ``State`` to its list of values."""

    def __init__(self, named: Mapping[str, Sequence[str]]) -> None:
        self._named = {tuple(values): name for name, values in named.items()}

    def names(self) -> str:
        """The declarations of the named lists."""
        return "\n".join(alias(name, [json.dumps(v) for v in values]) for values, name in self._named.items())

    def declaration(self, name: str, schema: Schema) -> str:
        """``export interface`` for an object with properties, else ``export type``."""
        head = comment(schema.get("description", ""))
        if schema.get("properties"):
            return f"{head}export interface {name} {{\n{self.fields(schema)}}}\n"
        if schema.get("type") == "object":
            return f"{head}export type {name} = {{ [name: string]: never }};\n"
        return head + alias(name, self._union(schema))

    def fields(self, schema: Schema) -> str:
        """The lines between the braces of an interface."""
        required = schema.get("required", ())
        lines = []
        for name, field in schema["properties"].items():
            lines.append(comment(_description(field), "  "))
            lines.append(f"  {name}{'' if name in required else '?'}: {' | '.join(self._union(field))};\n")
        return "".join(lines)

    def _union(self, schema: Schema) -> list[str]:
        """The alternatives of a type, without duplicates."""
        if "$ref" in schema:
            return [schema["$ref"].rsplit("/", 1)[1]]
        if "const" in schema:
            return [json.dumps(schema["const"])]
        if "enum" in schema:
            name = self._named.get(tuple(schema["enum"]))
            return [name] if name else [json.dumps(value) for value in schema["enum"]]
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return list(dict.fromkeys(part for branch in schema[word] for part in self._union(branch)))
        kind = schema.get("type")
        if kind == "array":
            inner = self._union(schema["items"])
            return [f"{inner[0]}[]" if len(inner) == 1 else f"({' | '.join(inner)})[]"]
        if kind == "object":
            return [_ANY_OBJECT]
        if kind is None:
            # Any other text besides the known values, in a form that keeps an editor's completion of these.
            return ["(string & {})"] if "pattern" in schema else ["unknown"]
        return [_PRIMITIVES[kind]]


def alias(name: str, parts: Sequence[str]) -> str:
    """The declaration of a type as a union, on several lines if it is long."""
    line = f"export type {name} = {' | '.join(parts)};\n"
    if len(line) <= _WIDTH:
        return line
    return f"export type {name} =\n" + "\n".join(f"  | {part}" for part in parts) + ";\n"


def comment(text: str, indent: str = "") -> str:
    """A JSDoc comment; empty without text."""
    if not text:
        return ""
    lines = text.replace("*/", "*\\/").splitlines()
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return "".join([f"{indent}/**\n", *(f"{indent} * {line}".rstrip() + "\n" for line in lines), f"{indent} */\n"])


def _description(field: Schema) -> str:
    """The description of a field, or else of its type, with its default."""
    text: str = field.get("description") or next(
        (branch["description"] for branch in field.get("anyOf", ()) if "description" in branch), ""
    )
    if "default" in field:
        text = f"{text} Default: {json.dumps(field['default'])}.".strip()
    return text
