"""Fitting hits into a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..memory import Memory
from .ranking import Factors

CUT_MARKER = "\n… [truncated to fit the token budget]"
SHORT_MARKER = "…"  # where the other would take most of the room

# No text of words has more of them. Counting the tokens of a whole megabyte would take a second.
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

    Stops at the first that does not fit; the very first is cut instead, with a visible mark.
    """
    packed: list[Packed] = []
    left = budget
    for memory, scored in ranked:
        text = text_of(memory)
        tokens = count(text) if len(text) <= left * _MOST_CHARACTERS_A_TOKEN else None
        if tokens is None or tokens > left:
            if packed:
                break
            text = cut(text, count, budget)
            return [(memory, scored, text, count(text))]
        packed.append((memory, scored, text, tokens))
        left -= tokens
    return packed


def cut(text: str, count: CountTokens, budget: int) -> str:
    """The longest beginning that fits the budget together with a visible mark; at least the mark."""
    room = budget - (long := count(CUT_MARKER))
    mark = CUT_MARKER if room >= long else SHORT_MARKER
    return _beginning(text, count, budget - count(mark)).rstrip() + mark


def _beginning(text: str, count: CountTokens, room: int) -> str:
    low, high = 0, min(len(text), max(room, 0) * _MOST_CHARACTERS_A_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]
