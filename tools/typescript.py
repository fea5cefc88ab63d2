"""Writes TypeScript declarations from JSON Schemas. It supports the parts of both languages that this project's
schemas use."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

Schema = Mapping[str, Any]

_WIDTH = 100
_NO_FIELDS = "{ [name: string]: never }"
_PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


class TypeScript:
    """Writes declarations. ``named`` maps a type name such as ``State`` to its values, in any order; the types that are
    ``declared_elsewhere`` are used, but not declared by ``names``."""

    def __init__(self, named: Mapping[str, Sequence[str]], declared_elsewhere: Sequence[str] = ()) -> None:
        self._values = {name: values for name, values in named.items() if name not in declared_elsewhere}
        self._named = {frozenset(values): name for name, values in named.items()}

    def names(self) -> str:
        """The declarations of the named lists."""
        return "\n".join(alias(name, [json.dumps(v) for v in values]) for name, values in self._values.items())

    def declaration(self, name: str, schema: Schema) -> str:
        """``export interface`` for an object with properties, else ``export type``."""
        head = comment(schema.get("description", ""))
        if schema.get("properties"):
            return f"{head}export interface {name} {{\n{self.fields(schema)}}}\n"
        if schema.get("type") == "object":
            return f"{head}export type {name} = {_NO_FIELDS};\n"
        return head + alias(name, self._union(schema, all_values=True))

    def fields(self, schema: Schema, as_is: Mapping[str, str] = MappingProxyType({})) -> str:
        """The lines between the braces of an interface. ``as_is``: the types of fields that are given."""
        required = schema.get("required", ())
        lines = []
        for name, field in schema["properties"].items():
            written = as_is.get(name) or self.type_of(field)
            lines.append(comment(_description(field), "  "))
            lines.append(f"  {name}{'' if name in required else '?'}: {written};\n")
        return "".join(lines)

    def type_of(self, schema: Schema) -> str:
        """The type on one line."""
        return " | ".join(self._union(schema))

    def _union(self, schema: Schema, *, all_values: bool = False) -> list[str]:
        """The alternatives of a type, without duplicates. ``all_values``: a list of values is not replaced by its
        name."""
        if "$ref" in schema:
            return [schema["$ref"].rsplit("/", 1)[-1]]
        if "const" in schema:
            return [json.dumps(schema["const"])]
        if "enum" in schema:
            return self._values_of(schema["enum"], all_values=all_values)
        for word in ("anyOf", "oneOf"):
            if word in schema:
                branches = [self._union(branch, all_values=all_values) for branch in schema[word]]
                return list(dict.fromkeys(part for branch in branches for part in branch))
        kind = schema.get("type")
        if isinstance(kind, list):
            return [_PRIMITIVES[each] for each in kind]
        if kind == "array":
            inner = self._union(schema["items"])
            return [f"{inner[0]}[]" if len(inner) == 1 else f"({' | '.join(inner)})[]"]
        if kind == "object":
            return [self._object(schema)]
        if kind is None:
            # Any other text besides the known values, in a form that keeps an editor's completion of these.
            return ["(string & {})"] if "pattern" in schema else ["unknown"]
        return [_PRIMITIVES[kind]]

    def _values_of(self, values: Sequence[Any], *, all_values: bool) -> list[str]:
        """The values of a list, or its name, and null where it is among them."""
        some = [value for value in values if value is not None]
        name = None if all_values else self._named.get(frozenset(some))
        parts = [name] if name else [json.dumps(value) for value in some]
        return parts + ["null"] * (len(some) < len(values))

    def _object(self, schema: Schema) -> str:
        """An object on one line."""
        if properties := schema.get("properties"):
            required = schema.get("required", ())
            fields = (f"{n}{'' if n in required else '?'}: {self.type_of(field)}" for n, field in properties.items())
            return f"{{ {'; '.join(fields)} }}"
        if schema.get("maxProperties") == 0:
            return _NO_FIELDS
        more = schema.get("additionalProperties")
        inner = self.type_of(more) if isinstance(more, Mapping) and more else "unknown"
        return f"{{ [name: string]: {inner} }}"


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
