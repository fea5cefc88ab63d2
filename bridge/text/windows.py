"""The windows of a long text: parts that overlap, each with its own row in the full-text index.

BM25 divides by the length of a row. In a row of ten thousand words, the few that answer a question would count for
nothing; in a window they count as in a short memory.
"""

from __future__ import annotations

from ..pattern import pattern
from .terms import CHARACTERS

# A text of at most so many words and characters has one window: itself. An ordinary memory has a tenth.
LONGEST_WHOLE, MOST_CHARACTERS = 1600, 9_500
# The words of a window, and from one window's beginning to the next: a sentence lies whole in one of two.
WINDOW, STEP = 64, 32
_WORD = pattern(rf"[{CHARACTERS}]|[^\W_{CHARACTERS}]+")


def windows(text: str) -> list[str]:
    """The windows of a text, in order, at least one. A character of a script without blanks counts as a word."""
    if len(text) <= LONGEST_WHOLE:
        return [text]
    starts = [word.start() for word in _WORD.finditer(text)]
    if len(starts) <= (LONGEST_WHOLE if len(text) <= MOST_CHARACTERS else WINDOW):
        return [text]
    bounds = [0, *starts[1:], len(text)]
    last = len(starts)
    return [text[bounds[first] : bounds[min(first + WINDOW, last)]] for first in range(0, last - WINDOW + STEP, STEP)]
