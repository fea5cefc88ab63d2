"""Two statements as the judge's input: one sequence of tokens, with the statement that each belongs to."""

from __future__ import annotations

from typing import Protocol

MOST_TOKENS = 96
_BETWEEN = 3  # the special tokens: at the start, between the two, at the end


class Tokenizer(Protocol):
    """A tokenizer of the embedding model."""

    def ids(self, text: str) -> list[int]:
        """The text's tokens, with the special ones at both ends."""


def pair_tokens(tokenizer: Tokenizer, earlier: str, later: str) -> tuple[list[int], list[int]]:
    """The ids and types (0 for the earlier, 1 for the later statement), at most MOST_TOKENS each. The longer statement
    loses its end first."""
    first, second = tokenizer.ids(earlier), tokenizer.ids(later)
    start, end = first[0], first[-1]
    ours, theirs = first[1:-1], second[1:-1]
    room = MOST_TOKENS - _BETWEEN
    most = max(room // 2, room - min(len(ours), len(theirs)))
    ours, theirs = ours[:most], theirs[:most]
    return (
        [start, *ours, end, *theirs, end],
        [0] * (len(ours) + 2) + [1] * (len(theirs) + 1),
    )
