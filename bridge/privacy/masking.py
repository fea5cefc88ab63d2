"""The keys that this process has read from the settings, texts without them, and tracebacks without any text.

Whoever reads the settings notes their secrets here, so nobody has to remember to hide them: what is logged, recorded or
answered goes through ``masked``.
"""

from __future__ import annotations

import os
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


def trace(error: BaseException) -> str:
    """A traceback without texts: the kinds of the error and of its causes, each with the lines of code that led to it.

    An error's message may quote a memory, so it is left out; the system's own word for its error is not.
    """
    import traceback  # not at the top: the query path pays for each import

    parts = []
    seen: BaseException | None = error
    while seen is not None:
        frames = traceback.extract_tb(seen.__traceback__)
        lines = [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        kind = type(seen).__name__
        if isinstance(seen, OSError) and isinstance(seen.errno, int):
            kind += f" ({os.strerror(seen.errno)})"
        parts.append("\n".join([kind, *lines]))
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "\ncaused by ".join(parts)
