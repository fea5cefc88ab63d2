"""Masks the configured keys in texts, and formats tracebacks without texts.

The loader of the settings registers their keys here. Everything that is logged, recorded or answered passes through
``masked``. Secrets inside memories are ``redaction``'s task.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from ..pattern import pattern

# Placeholder keys, for providers that require a key but ignore it. Masking them would garble every text with the word.
_PLACEHOLDER = pattern(r".{0,7}|[a-z]{,19}|[A-Z]{,19}|[A-Z][a-z]{,18}", re.DOTALL)
MASK = "[hidden]"

_hidden: tuple[str, ...] = ()


def hide(secrets: Iterable[str]) -> None:
    """Register values that ``masked`` replaces from now on, in addition to earlier ones.

    Values of less than 8 characters, and words of less than 20 letters, are ignored: they are placeholders, not keys.
    """
    global _hidden
    known = {*_hidden, *(key for secret in secrets if not _PLACEHOLDER.fullmatch(key := secret.strip()))}
    _hidden = tuple(
        sorted(known, key=len, reverse=True)
    )  # the longest first, since one may be the beginning of another


def masked(text: str) -> str:
    """The text with ``[hidden]`` in place of every registered value."""
    for secret in _hidden:
        text = text.replace(secret, MASK)
    return text


def masked_value(value: Any) -> Any:
    """A JSON value with all texts masked, names included."""
    if not _hidden:
        return value
    match value:
        case str():
            return masked(value)
        case dict():
            return {masked(name): masked_value(item) for name, item in value.items()}
        case list() | tuple():
            return [masked_value(item) for item in value]
        case _:
            return value


def trace(error: BaseException) -> str:
    """A traceback without messages: the class of the error and of each cause, with its lines of code.

    An error's message may quote a memory, so it is left out. The system's text for an OSError is included.
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
