"""The dates of a time phrase: from ``last week`` to a period, by the asker's calendar.

dateparser reads the dates; it is imported only for a question that has a time phrase with a date. Quarters, seasons
(those of the north), weekends and "the last three days" it does not know; they are computed here.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

from ..pattern import pattern
from ..text.time_phrase import TimePhrase
from .ranking import Period

_Span = tuple[datetime, datetime]

_MIDDLES = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}
_MONTH, _YEAR = timedelta(days=30), timedelta(days=365)
_ROUGH = {"a couple of": "2", "a few": "3", "several": "4", "quelques": "3"}
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # the first month of each

_AGO = pattern(r"\bago$|^vor\b|^il y a\b")
_AGO_UNIT = {
    "hour": "hour", "day": "day", "tag": "day", "jour": "day", "week": "week", "woche": "week", "semaine": "week",
    "month": "month", "monat": "month", "mois": "month", "year": "year", "jahr": "year", "an": "year",
}  # fmt: skip
_LAST_UNITS = pattern(r"^(?:the )?(?:last|past)(?: (.+))? (hour|day|week|month|year)s?$")
_QUARTER = pattern(r"^(?:(last|previous|this) quarter|q([1-4])(?: (?:of )?(20\d\d))?)$")
_SEASON = pattern(r"^(?:(?:the|last|this) )?(spring|summer|autumn|fall|winter)(?: (?:of )?(20\d\d))?$")
_PART = pattern(r"^(?:the (?:start|beginning|middle|end) of |(?:early|mid|late)[ -])")


def period_of(phrase: TimePhrase, now: datetime) -> Period | None:
    """The period of a phrase, by the calendar of the zone of ``now``; None if it has no dates or is in the future."""
    here, zone = now.replace(tzinfo=None), now.tzinfo
    first = _span(phrase.first, phrase, here)
    if first is None or first[0] > here:
        return None
    start: datetime | None
    end: datetime | None
    start, end = first
    if phrase.kind == "between":
        second = _span(phrase.second, phrase, here)
        if second is None:
            return None
        if second[0] < start and not re.search(r"20\d\d", phrase.first):  # from November to March
            start = start.replace(year=start.year - 1)
        end = second[1]
    elif phrase.kind == "since":
        end = None
    elif phrase.kind == "after":
        start, end = end, None
    elif phrase.kind == "before":
        start, end = None, start
    elif phrase.kind == "until":
        start = None
    if start is not None and (start > here or (end is not None and start >= end)):
        return None
    return Period(_aware(start, zone), _aware(end, zone))


def _aware(moment: datetime | None, zone: tzinfo | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=zone)


def _span(expression: str, phrase: TimePhrase, here: datetime) -> _Span | None:
    text = _PART.sub("", " ".join(expression.casefold().replace("’", "'").split())).removesuffix("'s")
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
    if found := _QUARTER.match(text):
        return _quarter(found[1], found[2], found[3], midnight)
    if found := _SEASON.match(text):
        return _season(found[1], found[2], text.startswith("last"), midnight)
    if text.endswith("weekend"):
        saturday = midnight - timedelta(days=midnight.weekday() + 2)
        if text.startswith("this") and midnight.weekday() >= 5:
            saturday += timedelta(weeks=1)
        return saturday, saturday + timedelta(days=2)
    found = _LAST_UNITS.match(text)
    if found and (found[1] or found[0].endswith("s") or text.startswith("the ")):
        return _start_of_last(found[1] or ("3" if found[0].endswith("s") else "1"), found[2], here), here
    return _read(text, phrase, here)


def _quarter(which: str | None, number: str | None, year: str | None, midnight: datetime) -> _Span:
    present = (midnight.month - 1) // 3 + 1
    wanted = int(number) if number else present - (which != "this")
    first = midnight.replace(day=1, month=1, year=int(year) if year else midnight.year)
    start = _months_later(first, 3 * (wanted - 1))
    if number and not year and start > midnight:
        start = _months_later(start, -12)
    return start, _months_later(start, 3)


def _season(name: str, year: str | None, is_last: bool, midnight: datetime) -> _Span:
    start = midnight.replace(day=1, month=_SEASONS[name], year=int(year) if year else midnight.year)
    # "last summer" in September is this year's: it is over.
    if not year and (start > midnight or (is_last and _months_later(start, 3) > midnight)):
        start = _months_later(start, -12)
    return start, _months_later(start, 3)


def _start_of_last(count: str, unit: str, here: datetime) -> datetime:
    count = _ROUGH.get(count, count)
    number = 1 if count in ("a", "an") else _NUMBERS.index(count) + 1 if count in _NUMBERS else int(count)
    if unit in ("month", "year"):
        start = _months_later(here.replace(day=1), -number * (12 if unit == "year" else 1))
        return start + timedelta(days=here.day - 1)
    start = here - number * _MIDDLES[unit]
    return start if unit == "hour" else start.replace(hour=0, minute=0, second=0, microsecond=0)


def _read(text: str, phrase: TimePhrase, here: datetime) -> _Span | None:
    """What dateparser reads, widened to the day, week, month or year that the text means."""
    from dateparser.date import DateDataParser

    is_rough = any(rough in text for rough in _ROUGH)
    for rough, number in _ROUGH.items():
        text = text.replace(rough, number)
    if phrase.language == "de":
        text = re.sub(r"(?<=\d)\. ", " ", re.sub(r"letzte[mr]\b", "letzte", text))
    parser = DateDataParser(
        languages=[phrase.language],
        settings={
            "RELATIVE_BASE": here, "PREFER_DATES_FROM": "past", "RETURN_TIME_AS_PERIOD": False, "DATE_ORDER": "YMD",
        },
    )  # fmt: skip
    data = parser.get_date_data(text)
    if data.date_obj is None:
        return None
    day: datetime = data.date_obj.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    unit = data.period
    if _AGO.search(text):
        named = next((unit for word, unit in _AGO_UNIT.items() if re.search(rf"\b{word}", text)), "day")
        if named in ("week", "month", "year"):  # about then: half of the unit to either side
            half = {"week": timedelta(weeks=1), "month": _MONTH, "year": _YEAR}[named] / 2
            middle = parser.get_date_data(text).date_obj.replace(tzinfo=None)
            return (middle - half).replace(hour=0, minute=0, second=0, microsecond=0), middle + half
        if is_rough and named == "day":
            return day - timedelta(days=2), day + timedelta(days=3)
        unit = "day"
    if unit == "week":
        start = day - timedelta(days=day.weekday())
        return start, start + timedelta(weeks=1)
    if unit == "month":
        start = day.replace(day=1)
        return start, _months_later(start, 1)
    if unit == "year":
        return day.replace(month=1, day=1), day.replace(year=day.year + 1, month=1, day=1)
    return day, day + timedelta(days=1)


def _months_later(first_of_month: datetime, count: int) -> datetime:
    months = first_of_month.year * 12 + first_of_month.month - 1 + count
    return first_of_month.replace(year=months // 12, month=months % 12 + 1)
