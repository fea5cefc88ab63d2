"""The question to the language model that a worker asks by itself: which of two decisions that may contradict each
other holds.

Only with a configured model. In a team, the service asks, with its own.
"""

from __future__ import annotations

from bridge.graph import installed, llm
from bridge.settings import Settings
from bridge.store.opening import reader_of

from .own_job import OwnJob


def may_ask(settings: Settings) -> bool:
    """Whether there is a model that may be asked."""
    is_allowed = settings.review_with_llm and settings.llm_calls_per_job and settings.llm_calls_per_day
    can_ask = llm.is_configured(settings) and (settings.llm_tool or installed.is_installed())
    return bool(is_allowed and can_ask)


class Judging(OwnJob):
    """The job."""

    kind = "judge"

    def is_needed(self) -> bool:
        if not may_ask(self._settings):
            return False
        from bridge.search.standings import is_doubtful  # an idle worker without a model holds no search

        with reader_of(self._workspace).lists() as lists:
            return lists is not None and any(map(is_doubtful, lists.unsaid()))
