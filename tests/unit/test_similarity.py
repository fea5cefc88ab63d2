"""Close pairs of vectors are found in blocks as in the whole matrix."""

import numpy as np
import pytest

from bridge.compaction import duplicates
from bridge.compaction.duplicates import similar_pairs
from bridge.embedding.embedder import normalised


@pytest.mark.parametrize("rows_per_block", [1, 7, 512])
def test_all_blocks_pairs_are_those_of_the_whole_matrix(rows_per_block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "_ROWS_PER_BLOCK", rows_per_block)
    vectors = normalised(np.random.default_rng(0).standard_normal((40, 3)))
    rows = range(0, 40, 2)
    cosines = vectors @ vectors.T
    wanted = {(earlier, later) for later in rows for earlier in range(later) if cosines[earlier, later] >= 0.5}
    found = list(similar_pairs(vectors, rows, 0.5))
    assert len(found) == len(wanted) > 30
    assert {(earlier, later) for _, earlier, later in found} == wanted
    assert all(cosine == pytest.approx(cosines[earlier, later]) for cosine, earlier, later in found)


def test_of_each_block_only_the_most_similar_pairs_are_kept() -> None:
    vectors = normalised(np.random.default_rng(0).standard_normal((40, 3)))
    everything = sorted(similar_pairs(vectors, range(40), 0.5), reverse=True)
    assert sorted(similar_pairs(vectors, range(40), 0.5, 10), reverse=True) == everything[:10]


def test_no_vectors_have_no_pairs() -> None:
    assert list(similar_pairs(np.zeros((0, 3), np.float32), range(0), 0.5)) == []
