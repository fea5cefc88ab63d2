"""How much of what all vectors of a model share is to be removed, measured on texts beside the default model.

The ranking's constants, the relevance floor first of all, are those of the default model. So as much is removed that
questions and unrelated texts get cosines as low as with the default model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .centre import Centre
from .embedder import Embedder, Vectors, embed_query
from .local_embedder import LocalEmbedder

SENTENCES = Path(__file__).parents[1] / "data" / "parallel_sentences.json"
LEVEL = 0.9  # the share of unrelated pairs whose cosine is to be as low as with the default model
_STEPS = 100


def sentences() -> list[str]:
    """Sentences on various subjects, where a workspace has too few texts."""
    found: list[str] = json.loads(SENTENCES.read_text("utf-8"))["en"]
    return found


def measure(
    model: LocalEmbedder, default: Embedder, pairs: Sequence[tuple[str, str]]
) -> tuple[NDArray[np.float32], float]:
    """What the model's vectors share, as ``Centre`` reads it, and the share of it that is to be removed, 0..1.

    ``pairs``: a question and the text that answers it. No text answers another pair's question.
    """
    questions, texts = [question for question, _ in pairs], [text for _, text in pairs]
    asked, given = model.plain(questions, is_query=True), model.plain(texts, is_query=False)
    rows = np.stack([given.mean(axis=0), asked.mean(axis=0)]).astype("<f4")
    wanted = _level(np.stack([embed_query(default, question) for question in questions]), default.embed(texts))
    for step in range(_STEPS):
        centre = Centre(rows, step / _STEPS)
        if _level(centre.remove(asked, is_query=True), centre.remove(given, is_query=False)) <= wanted:
            return rows, step / _STEPS
    return rows, 1.0


def _level(questions: Vectors, texts: Vectors) -> Any:
    """The cosine that LEVEL of the questions and the other pairs' texts stay below."""
    cosines = questions @ texts.T
    return np.quantile(cosines[~np.eye(len(cosines), dtype=np.bool_)], LEVEL)
