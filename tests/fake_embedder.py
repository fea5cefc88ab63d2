"""A tiny deterministic embedder: words in common give similar vectors. For tests of what surrounds embedding."""

import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256

import numpy as np

from bridge.embedding.embedder import Vectors


@cache
def _direction(name: str, dimensions: int) -> Vectors:
    seed = int.from_bytes(sha256(name.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimensions)


class FakeEmbedder:
    """Each word is a fixed random direction; a text is the sum of its words, scaled to length 1.

    ``seen`` lists every text that was embedded. A request with a text that holds a word of ``refused`` raises the error
    of that word.
    """

    tokenizer_name = "words"

    def __init__(self, dimensions: int = 16, name: str = "fake") -> None:
        self.dimensions = dimensions
        self.identity = f"{name}/{dimensions}"
        self.seen: list[str] = []
        self.refused: dict[str, BaseException] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        for word, error in self.refused.items():
            if any(word in text for text in texts):
                raise error
        return np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), self.dimensions)

    def _vector(self, text: str) -> Vectors:
        words = re.findall(r"\w+", text.lower()) or [""]
        total = np.sum([_direction(f"{self.identity} {word}", self.dimensions) for word in words], axis=0)
        return (total / np.linalg.norm(total)).astype(np.float32)

    def count_tokens(self, text: str) -> int:
        return len(re.findall(r"\w+", text))
