"""A question to the memory: its arguments, checked, clamped and completed with defaults.

The defaults and ranges are in ``argument_table``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from jobs import clock
from jobs.errors import JobError
from jobs.spelling import encodable

from ..argument_table import (
    ARGUMENTS,
    BLEND_HALF_LIFE,
    LISTED_RESULTS,
    MAX_QUERY_CHARS,
    PRESETS,
    Legacy,
    Preset,
)
from ..memory import FILTERS, STATUS_WORDS, is_topic_id, values_of
from ..pattern import pattern
from ..text.courtesy import without_courtesy
from .asked_time import AskedTime, asked_time
from .catalogue import Filters
from .ranking import Period, Ranking, near_a_period

_HISTORY = pattern(r"\b(history|all\s+summaries)\b", re.IGNORECASE)
# A question about how something was: what replaced it is no answer. A date in the question says so by itself.
_PAST = pattern(
    r"\b(?:before|previously|formerly|originally|initially|earlier|used to|at first|back then|in the past|until then"
    r"|früher|vorher|ursprünglich|damals|zuvor|avant|auparavant|autrefois|à l'origine|antes|anteriormente)\b",
    re.IGNORECASE,
)
_ASKS_WHAT_IS_OPEN = pattern(
    r"\b(?:(?:is|are|still|left) open|open questions?|next steps?|comes? next|to-?dos?|(?:ist|noch|fragen) offen"
    r"|offene[nr]? fragen?|nächste[nr]? schritte?|questions? ouvertes?|prochaines? étapes?)\b",
    re.IGNORECASE,
)
_OPEN = "open questions and next steps are listed by memories open (for agents: memory_open)"
_UUID = pattern(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")  # stored in lower case
BOOLEANS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


class Question(NamedTuple):
    """A checked question.

    ``query``: the text that is searched for, without words of courtesy and typing errors. ``asked``: the text as it was
    asked. ``include_superseded_reason``: why superseded memories are included; None if they are not.
    ``floor_is_default``: no relevance floor was given, so ``ranking.default_floor`` chooses it from the scores that the
    query gets.
    ``best_passages``: whether each hit has its best passages. ``time``: the time that the query names.
    """

    query: str
    asked: str
    max_results: int
    max_tokens: int
    ranking: Ranking
    preset: Preset
    filters: Filters
    include_superseded_reason: Literal["argument", "query", "status"] | None
    legacy: Legacy
    relevance_floor: float
    floor_is_default: bool
    best_passages: bool
    warnings: tuple[str, ...]
    time: AskedTime | None = None

    @property
    def by_date(self) -> bool:
        """Whether it is only a time ("what happened in October"): all memories of that time answer it, the newest
        first."""
        return self.time is not None and self.time.asks_for_all

    @property
    def asks_past(self) -> bool:
        """Whether it asks how something was, so that what was replaced is an answer."""
        return self.include_superseded_reason == "query" or _PAST.search(self.asked) is not None

    @property
    def seen_from(self) -> float:
        """The moment at which something has to hold to answer it, in seconds since 1970."""
        end = None if self.ranking.period is None else self.ranking.period.end
        return (self.ranking.as_of if end is None else min(end, self.ranking.as_of)).timestamp()

    def spelled(self, meant: Mapping[str, str]) -> Question:
        """The question with the words that are meant by its misspelt ones."""
        from .spelling import replaced

        warning = f"searched for {', '.join(meant.values())}: no memory has {', '.join(meant)}"
        return self._replace(query=replaced(self.query, meant), warnings=(*self.warnings, warning))

    def at(self, period: Period) -> Question:
        """The question about the newest or the oldest, once their period is known."""
        time = None if self.time is None else self.time._replace(period=period)
        return self._replace(time=time, ranking=self.ranking._replace(period=period))


def parse_question(arguments: dict[str, Any], now: datetime) -> Question:
    """The question from raw arguments (text or numbers; ``None`` means not given).

    Numbers out of range are clamped, with an entry in ``warnings``. Raises JobError: ARGUMENT_INVALID when an argument
    has a wrong type or value or the query is too long, QUERY_EMPTY when the query has no text.
    """
    query = arguments.get("query")
    if query is not None and not isinstance(query, str):
        raise JobError("ARGUMENT_INVALID", f"query must be a text, not {brief(query)}.")
    query = encodable(query or "").strip()
    if not query:
        raise JobError("QUERY_EMPTY")
    if len(query) > MAX_QUERY_CHARS:
        raise JobError("ARGUMENT_INVALID", f"query has {len(query):,} characters; it may have {MAX_QUERY_CHARS:,}.")
    warnings: list[str] = []
    preset: Preset = _choice(arguments, "preset") or "contract"
    mode = _choice(arguments, "ranking_mode")
    half_life, floor = PRESETS[preset]
    if mode == "blend" and preset == "contract":
        half_life = BLEND_HALF_LIFE
    # With the precision of the answer's ``as_of``, so that a query with that value gives the same scores.
    as_of = clock.parse(clock.iso(_moment(arguments, "as_of") or now))
    ranking = Ranking(
        mode=mode,
        half_life_days=_number(arguments, "half_life_days", warnings, half_life),
        recency_floor=_number(arguments, "recency_floor", warnings, floor),
        alpha=_number(arguments, "alpha", warnings),
        as_of=as_of,
        feedback_weight=_number(arguments, "feedback_weight", warnings),
    )
    filters, reason = _filters(arguments, query)
    time = asked_time(query, _choice(arguments, "time_phrase"), as_of)
    if time is not None and time.used != "nothing":
        given = [arguments.get(name) for name in ("half_life_days", "recency_floor")]
        ranking = near_a_period(
            ranking,
            time.period,
            None if given[0] is None else ranking.half_life_days,
            None if given[1] is None else ranking.recency_floor,
        )
        if time.used == "filter" and time.period is not None:
            filters = filters.within(time.period)
    if _ASKS_WHAT_IS_OPEN.search(query):
        warnings.append(_OPEN)
    lists_a_time = time is not None and time.asks_for_all
    asks_for_all = lists_a_time and arguments.get("relevance_floor") is None
    return Question(
        query=without_courtesy(query),
        asked=query,
        max_results=int(_number(arguments, "max_results", warnings, LISTED_RESULTS if lists_a_time else None)),
        max_tokens=int(_number(arguments, "max_tokens", warnings)),
        ranking=ranking,
        preset=preset,
        filters=filters,
        include_superseded_reason=reason,
        legacy=_choice(arguments, "legacy"),
        relevance_floor=0.0 if asks_for_all else _number(arguments, "relevance_floor", warnings),
        floor_is_default=arguments.get("relevance_floor") is None and not asks_for_all,
        best_passages=_boolean(arguments, "best_passages") or False,
        warnings=tuple(warnings),
        time=time,
    )


def _filters(arguments: dict[str, Any], query: str) -> tuple[Filters, Literal["argument", "query", "status"] | None]:
    status = _text(arguments, "status")
    if status is not None:
        if status not in STATUS_WORDS:
            raise JobError("ARGUMENT_INVALID", f"status must be one of {', '.join(STATUS_WORDS)}, not {brief(status)}.")
        status = STATUS_WORDS[status]
    labels = {name: value for name in FILTERS if (value := _READERS[ARGUMENTS[name].kind](arguments, name))}
    asked = _boolean(arguments, "include_superseded")
    reason: Literal["argument", "query", "status"] | None = None
    if status == "Superseded":
        reason = "status"
    elif asked:
        reason = "argument"
    elif asked is None and status is None and _HISTORY.search(query):
        reason = "query"
    since, until = _moment(arguments, "since"), _moment(arguments, "until")
    if since is not None and until is not None and since >= until:
        raise JobError("ARGUMENT_INVALID", "since must be before until.")
    filters = Filters(
        include_superseded=reason is not None,
        status=status,
        labels=labels,
        since=None if since is None else since.timestamp(),
        until=None if until is None else until.timestamp(),
    )
    return filters, reason


def _text(arguments: dict[str, Any], name: str) -> str | None:
    value = arguments.get(name)
    if value is None:
        return None
    if isinstance(value, str) and value.strip():
        return encodable(value)
    raise JobError("ARGUMENT_INVALID", f"{name} must be a text, not {brief(value)}.")


def _topic(arguments: dict[str, Any], name: str) -> str | None:
    topic_id = _text(arguments, name)
    if topic_id is None:
        return None
    topic_id = topic_id.lower() if _UUID.fullmatch(topic_id) else topic_id
    if not is_topic_id(topic_id):
        raise JobError("ARGUMENT_INVALID", f"{name} {brief(topic_id)} is no topic id.")
    return topic_id


def _texts(arguments: dict[str, Any], name: str) -> list[str] | None:
    value = arguments.get(name)
    values = [value] if isinstance(value, str) else value
    if values is None:
        return None
    if not isinstance(values, list) or not all(isinstance(each, str) and each.strip() for each in values):
        raise JobError("ARGUMENT_INVALID", f"{name} must be texts, not {brief(value)}.")
    return values_of([encodable(each) for each in values])


_READERS: dict[str, Callable[[dict[str, Any], str], Any]] = {"text": _text, "topic": _topic, "texts": _texts}


def _choice(arguments: dict[str, Any], name: str) -> Any:
    value = arguments.get(name)
    if value is None:
        return ARGUMENTS[name].default
    choices = ARGUMENTS[name].choices
    if value not in choices:
        raise JobError("ARGUMENT_INVALID", f"{name} must be one of {', '.join(choices)}, not {brief(value)}.")
    return value


def _boolean(arguments: dict[str, Any], name: str) -> bool | None:
    value = arguments.get(name)
    if value is None or isinstance(value, bool):
        return value
    text = value if isinstance(value, str) else brief(value)
    flag = BOOLEANS.get(text.strip().lower())
    if flag is None:
        raise JobError("ARGUMENT_INVALID", f"{name} must be true or false, not {brief(value)}.")
    return flag


def _number(arguments: dict[str, Any], name: str, warnings: list[str], default: float | None = None) -> float:
    whole = ARGUMENTS[name].kind == "whole"
    value = arguments.get(name)
    if value is None:
        value = ARGUMENTS[name].default if default is None else default
    try:
        number = float(value)
    except OverflowError:  # an integer with hundreds of digits
        number = math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or math.isnan(number) or (whole and math.isfinite(number) and number % 1):
        kind = "a whole number" if whole else "a number"
        raise JobError("ARGUMENT_INVALID", f"{name} must be {kind}, not {brief(value)}.")
    return clamp(name, number, warnings)


def clamp(name: str, value: float, warnings: list[str]) -> float:
    """The value clamped to the argument's range. Appends to ``warnings`` if it changed."""
    low, high = ARGUMENTS[name].range
    kept = float(min(high, max(low, value)))
    if kept != value:
        warnings.append(f"{name} {value:.10g} is outside {low:.10g}..{high:.10g}; {kept:.10g} was used")
    return kept


def _moment(arguments: dict[str, Any], name: str) -> datetime | None:
    value = arguments.get(name)
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return clock.parse(value)
    except ValueError:
        pass
    raise JobError("ARGUMENT_INVALID", f"{name} must be an ISO 8601 time, not {brief(value)}.")


def brief(value: Any) -> str:
    """The value's ``repr``, cut at 60 characters."""
    try:
        return f"{value!r:.60}"
    except ValueError:  # Python converts no integer of more than 4300 digits to text
        return "a number of thousands of digits"
