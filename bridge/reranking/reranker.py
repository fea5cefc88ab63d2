"""The interface of rerankers, which judge how well texts answer a query by reading both together.

``factory`` creates the one that the settings name. This module imports little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


class Reranker(Protocol):
    """Judges texts. Threads may share it."""

    @property
    def identity(self) -> str:
        """Which model it is, as in ``RerankConfig.identity``."""

    def relevance(self, query: str, texts: Sequence[str]) -> Scores:
        """How well each text answers the query, 0..1, shape (len(texts),). Raises RerankError."""


class RerankError(Exception):
    """A reranker gave no scores. Questions are then answered without them, with ``warning``."""

    def __init__(self, message: str, remedy: str) -> None:
        """``message`` and ``remedy`` are sentences. They contain no key and no address."""
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    @property
    def warning(self) -> str:
        """What happened, what was done instead, and the remedy. It begins with a stable word for programs."""
        return f"RERANK_UNAVAILABLE: {self.message} The hits are ranked without it. {self.remedy}"


def probabilities(logits: Scores) -> Scores:
    """The logistic function of each value, 0..1."""
    shares: Scores = 0.5 * (1.0 + np.tanh(0.5 * logits))  # the usual form overflows for large negative values
    return shares
