"""The keys that this process has read from the settings, and texts without them.

Whoever reads the settings notes their secrets here, so nobody has to remember to hide them: what is logged, recorded or
answered goes through ``masked``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

SHORTEST = 8  # characters; a shorter value is a placeholder, or a part of ordinary words
MASK = "[hidden]"

_hidden: tuple[str, ...] = ()


def hide(secrets: Iterable[str]) -> None:
    """Note values that must not be shown any more. Those that are noted already stay so."""
    global _hidden
    known = {*_hidden, *(secret for secret in secrets if len(secret) >= SHORTEST)}
    _hidden = tuple(sorted(known, key=len, reverse=True))  # one may be the beginning of another


def masked(text: str) -> str:
    for secret in _hidden:
        text = text.replace(secret, MASK)
    return text


def masked_value(value: Any) -> Any:
    """The same for a value of JSON, names included."""
    if not _hidden:
        return value
    match value:
        case str():
            return masked(value)
        case dict():
            return {masked(name): masked_value(found) for name, found in value.items()}
        case list() | tuple():
            return [masked_value(found) for found in value]
        case _:
            return value
