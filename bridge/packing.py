"""Fitting hits into a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .memory import Memory
from .ranking import Factors

CUT_MARKER = "\n… [truncated to fit the token budget]"

_MOST_CHARACTERS_A_TOKEN = 64

CountTokens = Callable[[str], int]
Packed = tuple[Memory, Factors, str, int]


def pack(
    ranked: Iterable[tuple[Memory, Factors]],
    text_of: Callable[[Memory], str],
    count: CountTokens,
    budget: int,
) -> list[Packed]:
    """The first hits that fit, with text and token count each.

    Stops at the first that does not fit; the very first is cut instead, with a visible marker.
    """
    packed: list[Packed] = []
    left = budget
    for memory, scored in ranked:
        text = text_of(memory)
        tokens = count(text)
        if tokens > left:
            if packed:
                break
            text = cut(text, count, budget)
            return [(memory, scored, text, count(text))]
        packed.append((memory, scored, text, tokens))
        left -= tokens
    return packed


def cut(text: str, count: CountTokens, budget: int) -> str:
    """The longest beginning that fits the budget together with the marker (the marker alone may exceed it)."""
    room = budget - count(CUT_MARKER)
    # A token is some characters of a word; counting all of a very long text again and again would cost seconds.
    low, high = 1, min(len(text), max(room, 1) * _MOST_CHARACTERS_A_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + CUT_MARKER if text[:low].strip() else text[:1] + CUT_MARKER
