"""How alike the two sides of each gap between exchanges are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from .segment import Embed


class RememberedVectors:
    """Embeds texts, and remembers the vectors of the last ones: most of them are asked for again after a cut."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._known: dict[str, NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        known = self._known | (dict(zip(new, self._embed(new), strict=True)) if new else {})
        self._known = {text: known[text] for text in texts}
        return np.stack([known[text] for text in texts])


class Gaps:
    """The gaps between exchanges, whose subjects are given as texts. Gap ``n`` is before exchange ``n``.

    On each side of a gap as many exchanges are compared as it takes for ``window`` characters, each by its length.
    """

    def __init__(self, subjects: Sequence[str], embed: Embed, window: int) -> None:
        self.count = len(subjects)
        self._lengths = [len(subject) for subject in subjects]
        self._vectors = embed(subjects)
        self._window = window
        self._known: dict[tuple[int, int], float | None] = {}

    def length(self, first: int, end: int) -> int:
        """The characters of these subjects."""
        return sum(self._lengths[first:end])

    def similarity(self, gap: int, begin: int) -> float | None:
        """The cosine of the two sides, of exchanges from ``begin`` on. None if too little was said after the gap."""
        if (gap, begin) not in self._known:
            self._known[gap, begin] = self._similarity(gap, begin)
        return self._known[gap, begin]

    def difference(self, gap: int, begin: int, ahead: int) -> float | None:
        """How unlike the two sides are, and half of how much more alike the sides of the gaps around are.

        0 to 2. Zero if one of the ``ahead`` gaps after it is deeper. None if too little was said after those.
        """
        here = self.similarity(gap, begin)
        after = [self.similarity(later, begin) for later in range(gap + 1, gap + 1 + ahead)]
        if here is None or None in after:
            return None
        right = max(found for found in [here, *after] if found is not None)
        if min(found for found in [here, *after] if found is not None) < here:
            return 0.0
        left = here
        for earlier in range(gap - 1, begin, -1):
            found = self.similarity(earlier, begin)
            if found is None or found < left:
                break
            left = found
        return 1 - here + (left - here + right - here) / 2

    def _similarity(self, gap: int, begin: int) -> float | None:
        if gap >= self.count:
            return None
        before, _ = self._mean(range(gap - 1, begin - 1, -1))
        after, is_full = self._mean(range(gap, len(self._lengths)))
        return float(before @ after) if is_full else None

    def _mean(self, exchanges: Iterable[int]) -> tuple[NDArray[np.float32], bool]:
        """The direction of the exchanges nearest to a gap, and whether they fill the window."""
        total, length = np.zeros(self._vectors.shape[1], np.float32), 0
        for exchange in exchanges:
            total += self._vectors[exchange] * min(self._lengths[exchange], self._window)
            length += self._lengths[exchange]
            if length >= self._window:
                break
        return total / max(float(np.linalg.norm(total)), 1e-9), length >= self._window
