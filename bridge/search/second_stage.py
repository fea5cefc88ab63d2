"""The second stage of a question's ranking: a reranker judges the first hits again. Optional.

It belongs to one question. If the reranker fails, the first stage decides alone, with a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..reranking.reranker import Reranker, RerankError
from ..text.passages import whole_text
from .ranking import Ranking, Scored, factors, reranked

if TYPE_CHECKING:
    from ..interface.answer_shapes import RerankerUsed


class SecondStage:
    """The second stage of one question. ``warnings`` says why it was not used, if so."""

    def __init__(self, reranker: Reranker, hits: int) -> None:
        self._reranker = reranker
        self._hits = hits
        self.warnings: list[str] = []

    @property
    def has_failed(self) -> bool:
        """Whether the reranker failed; then it is not asked again for this question."""
        return bool(self.warnings)

    def depth(self, max_results: int) -> int:
        """How many of the first hits are judged."""
        return max(self._hits, max_results)

    def judged(self, query: str, scored: Sequence[Scored], ranking: Ranking) -> list[Scored]:
        """The memories in their order with their final factors; those of the first stage if the reranker fails."""
        if self.has_failed:
            return list(scored)
        try:
            found = self._reranker.relevance(query, [whole_text(memory) for memory, _ in scored])
        except RerankError as error:
            self.warnings.append(error.warning)
            return list(scored)
        return [
            (memory, factors(memory, reranked(first.query_match, share), ranking, first.votes))
            for (memory, first), share in zip(scored, found.tolist(), strict=True)
        ]

    def reported(self) -> RerankerUsed | None:
        """The reranker as answers name it; None if it has failed."""
        return None if self.has_failed else {"model": self._reranker.identity, "hits": self._hits}
