"""Pairs of vectors that are close to each other, computed in blocks, since the whole matrix may not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..embedding.embedder import Vectors

_ROWS_PER_BLOCK = 512


def similar_pairs(
    vectors: Vectors, rows: Sequence[int], min_cosine: float, max_per_block: int | None = None
) -> Iterator[tuple[float, int, int]]:
    """(cosine, earlier row, later row) of all pairs with at least ``min_cosine``, where the later row is in ``rows``.

    ``vectors`` have length 1, shape (n, d); ``rows`` ascend. ``max_per_block`` keeps only the most similar pairs of
    each 512 rows.
    """
    for start in range(0, len(rows), _ROWS_PER_BLOCK):
        later = np.asarray(rows[start : start + _ROWS_PER_BLOCK])
        cosines = vectors[later] @ vectors[: later[-1]].T
        is_earlier = np.arange(cosines.shape[1]) < later[:, None]
        at, earlier = np.nonzero((cosines >= min_cosine) & is_earlier)
        values = cosines[at, earlier]
        if max_per_block is not None and len(values) > max_per_block:
            best = np.argpartition(-values, max_per_block)[:max_per_block]
            at, earlier, values = at[best], earlier[best], values[best]
        yield from zip(values.tolist(), earlier.tolist(), later[at].tolist(), strict=True)
