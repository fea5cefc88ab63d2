"""Text as it was typed: in characters that can be encoded, and the known word that a misspelt one probably means."""

from __future__ import annotations

from collections.abc import Iterable


def encodable(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which no encoding takes: arguments and names of
    files that are not UTF-8 arrive with them."""
    return text.encode("utf-8", "replace").decode()


def nearest(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """At most so many of the known words that look like one, the most alike first. ``cutoff`` in 0..1: 1 is equal."""
    from difflib import get_close_matches  # not at the top: only a misspelt word pays for it

    return get_close_matches(word, list(known), most, cutoff)


def did_you_mean(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6, *, quoted: bool = True) -> str:
    """`` Did you mean 'compact'?``, to follow a sentence; nothing where no known word is near."""
    near = nearest(word, known, most, cutoff)
    return f" Did you mean {' or '.join(map(repr, near) if quoted else near)}?" if near else ""
