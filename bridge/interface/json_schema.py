"""The JSON Schemas of the answers' types, with the docstrings of their fields as descriptions."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import TypedDictSchema
from typing_extensions import TypeAliasType, get_original_bases, is_typeddict

from jobs.errors import ERRORS

Shape = type[Any] | TypeAliasType
"""A TypedDict, a pydantic model, or a named union of them."""

Schema = dict[str, Any]

# Named types whose values are in a table of the program.
_VALUES: dict[str, Schema] = {
    "ErrorCode": {"anyOf": [{"enum": sorted(ERRORS)}, {"pattern": "^[A-Z][A-Z_]*[A-Z]$"}]},
}


def schema_of(shape: Shape) -> Schema:
    """The JSON Schema of one type; the types to which it refers are in its ``$defs``."""
    adapter: TypeAdapter[Any] = TypeAdapter(cast(Any, shape))
    schema = adapter.json_schema(schema_generator=_Described)
    definitions = schema.get("$defs", {})
    for name in definitions.keys() & _VALUES.keys():
        definitions[name] = _VALUES[name] | definitions[name]
    if "$ref" in schema:  # a named union is a definition of its own
        schema |= definitions.pop(schema.pop("$ref").rpartition("/")[2])
    return schema


class _Described(GenerateJsonSchema):
    """Adds the docstrings of a TypedDict's fields; pydantic itself omits those of inherited fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """No titles: they would only repeat the fields' names."""
        return False

    def typed_dict_schema(self, schema: TypedDictSchema) -> JsonSchemaValue:
        """The schema with a description for each documented field."""
        described = super().typed_dict_schema(schema)
        for name, text in _field_docstrings(schema["cls"]).items():
            described["properties"][name].setdefault("description", text)
        return described


def _field_docstrings(shape: type[Any]) -> dict[str, str]:
    """Field name -> the docstring below it, for a TypedDict with its inherited fields."""
    docstrings: dict[str, str] = {}
    for base in get_original_bases(shape):
        if is_typeddict(base):
            docstrings |= _field_docstrings(base)
    return docstrings | _docstrings_of_module(shape.__module__).get(shape.__name__, {})


@cache
def _docstrings_of_module(module: str) -> dict[str, dict[str, str]]:
    """Class name -> field name -> docstring."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: dict(_docstrings_of(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _docstrings_of(node: ast.ClassDef) -> list[tuple[str, str]]:
    return [
        (field.target.id, inspect.cleandoc(below.value.value))
        for field, below in zip(node.body, node.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    ]
