"""The time that a question asks for, as the ranking and the answer use it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from jobs import clock

from ..argument_table import TimePhraseUse
from ..text.time_words import time_languages
from .ranking import Period

if TYPE_CHECKING:
    from ..interface.answer_shapes import TimeUsed


class AskedTime(NamedTuple):
    """A time in a question.

    ``period``: its dates; None for ``newest`` and ``oldest`` until the search has found them, and for an event, which
    has none (``used`` is ``nothing``). ``asks_for_all``: without the time, nothing is left to search for.

    The phrase's words still count for the relevance, since a memory's text may have them.
    """

    phrase: str
    period: Period | None
    used: Literal["preference", "filter", "newest", "oldest", "nothing"]
    asks_for_all: bool = False

    def reported(self) -> TimeUsed:
        """What the answer says of it."""
        start, end = (None, None) if self.period is None else (self.period.start, self.period.end)
        return {
            "phrase": self.phrase,
            "since": None if start is None else clock.iso(start),
            "until": None if end is None else clock.iso(end),
            "used": self.used,
        }


def asked_time(query: str, use: TimePhraseUse, as_of: datetime) -> AskedTime | None:
    """The time that the query names; None if there is none, or if ``use`` is ``off``.

    Days are those of the local time zone. Most queries cost a look at their words; the others load the patterns, and
    those with a date also dateparser.
    """
    languages = [] if use == "off" else time_languages(query)
    if not languages:
        return None
    from ..text.time_phrase import find_time_phrase

    phrase = find_time_phrase(query, languages)
    if phrase is None:
        return None
    if phrase.kind == "event":
        return AskedTime(phrase.text, None, "nothing")
    if phrase.kind in ("latest", "earliest"):
        return AskedTime(phrase.text, None, "newest" if phrase.kind == "latest" else "oldest")
    from .period import period_of

    period = period_of(phrase, as_of.astimezone())
    if period is None:
        return None
    asks_for_all = not phrase.has_subject
    used: Literal["preference", "filter"] = "filter" if use == "filter" or asks_for_all else "preference"
    return AskedTime(phrase.text, period, used, asks_for_all)
