"""A session that grew since it was captured: which of its segments are the same, and where the new work begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from .kept_turns import digest
from .session import Turn


def split_known(turns: Iterable[Turn], known: Sequence[tuple[int, str]]) -> tuple[int, Iterator[Turn]]:
    """How many of the known segments are unchanged, and the turns after them.

    ``known`` has the number of turns and the digest of each segment that was captured before. The last one is never
    among the unchanged: it may go on. So at most one segment's turns are held in memory.
    """
    rest = iter(turns)
    for index, (count, known_digest) in enumerate(known[:-1]):
        part = list(islice(rest, count))
        if len(part) < count or digest(part) != known_digest:
            return index, chain(part, rest)
    return max(0, len(known) - 1), rest
