"""A question to the memory: its arguments, their defaults and ranges, and how the answer was ranked."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from jobs import clock
from jobs.errors import JobError
from jobs.spelling import encodable

from ..memory import STATUS_WORDS, is_topic_id
from .catalogue import Filters
from .ranking import ALPHA_RANGE, BLEND_HALF_LIFE, HALF_LIFE_RANGE, PRESETS, Ranking, clamp

MAX_RESULTS_RANGE = (1, 1000)
MAX_TOKENS_RANGE = (1, 1_000_000)
RELEVANCE_FLOOR = 0.2  # as the setting's default

_HISTORY = re.compile(r"\b(history|all\s+summaries)\b", re.IGNORECASE)
_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")  # stored in lower case
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Question:
    """A checked question. ``include_superseded_reason`` says who asked for superseded memories."""

    query: str
    max_results: int
    max_tokens: int
    ranking: Ranking
    preset: str
    filters: Filters
    include_superseded_reason: Literal["argument", "query", "status"] | None
    legacy: Literal["mixed", "append"]
    relevance_floor: float
    warnings: tuple[str, ...]


def parse_question(arguments: dict[str, Any], now: datetime) -> Question:
    """The question from raw arguments (text or numbers; ``None`` means not given).

    Out of range is clamped and reported in ``warnings``. Raises ARGUMENT_INVALID for nonsense and
    QUERY_EMPTY.
    """
    query = arguments.get("query")
    if query is not None and not isinstance(query, str):
        raise JobError("ARGUMENT_INVALID", f"query must be a text, not {brief(query)}.")
    query = encodable(query or "").strip()
    if not query:
        raise JobError("QUERY_EMPTY")
    warnings: list[str] = []
    preset = _choice(arguments, "preset", ("contract", "long-lived"), "contract")
    mode = _choice(arguments, "ranking_mode", ("product", "blend"), "product")
    half_life, floor = PRESETS[preset]
    if mode == "blend" and preset == "contract":
        half_life = BLEND_HALF_LIFE
    # As exactly as it is echoed, so that asking again with what was echoed gives the same scores.
    as_of = clock.parse(clock.iso(_moment(arguments, "as_of") or now))
    ranking = Ranking(
        mode=mode,
        half_life_days=_ranged(arguments, "half_life_days", half_life, HALF_LIFE_RANGE, warnings),
        recency_floor=_ranged(arguments, "recency_floor", floor, (0.0, 1.0), warnings),
        alpha=_ranged(arguments, "alpha", 0.8, ALPHA_RANGE, warnings),
        as_of=as_of,
    )
    filters, reason = _filters(arguments, query)
    return Question(
        query=query,
        max_results=int(_ranged(arguments, "max_results", 5, MAX_RESULTS_RANGE, warnings, whole=True)),
        max_tokens=int(_ranged(arguments, "max_tokens", 2000, MAX_TOKENS_RANGE, warnings, whole=True)),
        ranking=ranking,
        preset=preset,
        filters=filters,
        include_superseded_reason=reason,
        legacy=_choice(arguments, "legacy", ("mixed", "append"), "mixed"),
        relevance_floor=_ranged(arguments, "relevance_floor", RELEVANCE_FLOOR, (0.0, 1.0), warnings),
        warnings=tuple(warnings),
    )


def _filters(arguments: dict[str, Any], query: str) -> tuple[Filters, Literal["argument", "query", "status"] | None]:
    status = _text(arguments, "status")
    if status is not None:
        if status not in STATUS_WORDS:
            raise JobError("ARGUMENT_INVALID", f"status must be one of {', '.join(STATUS_WORDS)}, not {brief(status)}.")
        status = STATUS_WORDS[status]
    topic_id = _text(arguments, "topic_id")
    if topic_id is not None:
        topic_id = topic_id.lower() if _UUID.fullmatch(topic_id) else topic_id
        if not is_topic_id(topic_id):
            raise JobError("ARGUMENT_INVALID", f"topic_id {brief(topic_id)} is no topic id.")
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
        topic_id=topic_id,
        plan_id=_text(arguments, "plan_id"),
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


def _choice(arguments: dict[str, Any], name: str, options: tuple[str, ...], default: str) -> Any:
    value = arguments.get(name)
    if value is None:
        return default
    if value not in options:
        raise JobError("ARGUMENT_INVALID", f"{name} must be one of {', '.join(options)}, not {brief(value)}.")
    return value


def _boolean(arguments: dict[str, Any], name: str) -> bool | None:
    value = arguments.get(name)
    if value is None or isinstance(value, bool):
        return value
    text = value if isinstance(value, str) else brief(value)
    found = _BOOLEANS.get(text.strip().lower())
    if found is None:
        raise JobError("ARGUMENT_INVALID", f"{name} must be true or false, not {brief(value)}.")
    return found


def _ranged(
    arguments: dict[str, Any],
    name: str,
    default: float,
    limits: tuple[float, float],
    warnings: list[str],
    *,
    whole: bool = False,
) -> float:
    value = arguments.get(name)
    if value is None:
        value = default
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        number = math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or math.isnan(number) or (whole and math.isfinite(number) and number % 1):
        kind = "a whole number" if whole else "a number"
        raise JobError("ARGUMENT_INVALID", f"{name} must be {kind}, not {brief(value)}.")
    return clamp(name, number, *limits, warnings)


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
    """A value as it would be typed, cut at 60 characters."""
    try:
        return f"{value!r:.60}"
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "a number of thousands of digits"
