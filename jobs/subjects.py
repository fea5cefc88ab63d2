"""What a job is about, and the memories that it made, for a row of a list. Pure.

``kinds`` says for each kind where both are. ``worker/admin/job_details`` reads the payloads of a page of jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .kinds import BY_NAME

MOST_CHARACTERS = 120
MOST_MEMORIES = 4

_WAYS = {"preview": "preview", "dry_run": "dry run", "undo": "undo"}  # flags that say that it is not the usual job


def subject_of(kind: str | None, payload: Mapping[str, Any]) -> str:
    """What a job is about, in a line of at most ``MOST_CHARACTERS``; empty if its payload names nothing that tells.

    Of a list the first entry, and how many more there are; of ids only how many.
    """
    spec = BY_NAME.get(kind or "")
    named = next((text for path in spec.about if (text := _named(payload, path))), "") if spec else ""
    ways = [word for field, word in _WAYS.items() if _value(payload, field)]
    line = ", ".join(part for part in (" ".join(named.split()), *ways) if part)
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"


def _named(payload: Mapping[str, Any], path: str) -> str:
    found = [value for value in _found(payload, path.split(".")) if isinstance(value, str) and value.strip()]
    if path.endswith("_ids") and found:
        return "1 memory" if len(found) == 1 else f"{len(found):,} memories"
    more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
    return f"{found[0]}{more}" if found else ""


def memory_numbers(kind: str | None, result: Mapping[str, Any] | None) -> list[int]:
    """The numbers of the first ``MOST_MEMORIES`` memories that a job made or changed; none of a dry run."""
    spec = BY_NAME.get(kind or "")
    if spec is None or not isinstance(result, Mapping) or result.get("dry_run") is True:
        return []
    numbers = [value for value in _found(result, spec.memories.split(".")) if type(value) is int]
    return list(dict.fromkeys(numbers))[:MOST_MEMORIES]


def _found(value: Any, path: list[str]) -> Iterator[Any]:
    """The values at a path of field names; a list on the way stands for each of its entries."""
    if isinstance(value, list):
        for each in value:
            yield from _found(each, path)
    elif not path:
        yield value
    elif isinstance(value, Mapping):
        yield from _found(_value(value, path[0]), path[1:])


def _value(fields: Mapping[str, Any], name: str) -> Any:
    """A field, which clients may write in camelCase."""
    first, *others = name.split("_")
    return fields.get(name, fields.get(first + "".join(map(str.capitalize, others))))
