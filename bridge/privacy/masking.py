"""The keys that this process has read from the settings, and texts without them.

Whoever reads the settings notes their secrets here, so nobody has to remember to hide them: what is logged, recorded or
answered goes through ``masked``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

# Placeholders, where a provider asks for a key and reads none. Hidden, they would spoil every text that has the word.
_PLACEHOLDER = re.compile(r".{0,7}|[a-z]{,19}|[A-Z]{,19}|[A-Z][a-z]{,18}", re.DOTALL)
MASK = "[hidden]"

_hidden: tuple[str, ...] = ()


def hide(secrets: Iterable[str]) -> None:
    """Note values that must not be shown any more. Those that are noted already stay so.

    What has less than 8 characters, or is a word of less than 20 letters, is no key.
    """
    global _hidden
    known = {*_hidden, *(key for secret in secrets if not _PLACEHOLDER.fullmatch(key := secret.strip()))}
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
