"""The question to the language model that a worker asks by itself: which of two decisions that may contradict each
other holds.

Only with a configured model. In a team, each machine that has one asks, under the workspace's lease: about a pair of
which another one has kept the answer, nobody asks again.
"""

from __future__ import annotations

from bridge.graph import installed, llm
from bridge.store.opening import reader_of

from .own_job import OwnJob


class Judging(OwnJob):
    """The job."""

    kind = "judge"

    def is_needed(self) -> bool:
        settings = self._settings
        may_ask = settings.review_with_llm and settings.llm_calls_per_job and settings.llm_calls_per_day
        can_ask = llm.is_configured(settings) and (settings.llm_tool or installed.is_installed())
        if not (may_ask and can_ask):
            return False
        from bridge.search.standings import is_doubtful  # an idle worker without a model holds no search

        with reader_of(self._workspace).lists() as lists:
            return lists is not None and any(map(is_doubtful, lists.unsaid()))
