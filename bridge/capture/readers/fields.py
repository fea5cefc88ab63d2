"""Fields of records that another program wrote: each may be missing, or of any type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def at(record: Any, *names: str) -> Any:
    """The value at a path of names; None if there is none."""
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def text(record: Any, *names: str) -> str | None:
    """The text at the path, if there is one with something in it."""
    value = at(record, *names)
    return value if isinstance(value, str) and value else None


def items(record: Any, *names: str) -> list[Any]:
    """The list at the path; empty if there is none."""
    value = at(record, *names)
    return value if isinstance(value, list) else []


def objects(record: Any, *names: str) -> list[dict[str, Any]]:
    """The objects in the list at the path."""
    return [each for each in items(record, *names) if isinstance(each, dict)]


def strings(values: Iterable[Any]) -> tuple[str, ...]:
    """Those of the values that are texts with something in them."""
    return tuple(value for value in values if isinstance(value, str) and value)


def first_text(record: Any, names: Iterable[str]) -> str | None:
    """The first of these fields that is a text."""
    return next((value for name in names if isinstance(value := at(record, name), str)), None)
