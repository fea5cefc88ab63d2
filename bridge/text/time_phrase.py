"""A time in a question: where it is and of which kind. ``bridge/search/period`` computes its dates.

Import it only for a question that has a word of ``time_words``, since its patterns take a while to compile.

It finds phrases of fixed forms, not single words, since most words of time have another meaning as well: ``may`` and
``march`` are verbs, ``second`` is a number, ``latest`` a tag, ``spring`` a framework. English, German and French.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from ..pattern import pattern
from .function_words import function_words
from .terms import STOP_WORDS, query_terms
from .time_words import Language

PhraseKind = Literal["in", "since", "after", "before", "until", "between", "latest", "earliest", "event"]

_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|„[^“]*“|«[^»]*»")

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_SHORT = "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SEASONS = "spring|summer|autumn|fall|winter"
_COUNT = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a\ couple\ of|a\ few|several)"
_UNIT = "(?:hour|day|week|month|year)s?"
_MONTHS_DE = "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
_DAYS_DE = "montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag"
_COUNT_DE = "(?:[0-9]{1,3}|eine[mr]|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)"
_MONTHS_FR = "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
_DAYS_FR = "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
_COUNT_FR = "(?:[0-9]{1,3}|une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|quelques)"
_YEAR = r"20\d\d(?![.\d:-])(?!\ (?:bits?|bytes?|[kmg]i?b|ms|px|[a-z]+s\b(?<!does)(?<!was)(?<!is)))"

# Expressions that mean a time wherever they stand.
_CLEAR = rf"""
    (?:the\ )?day\ before\ yesterday | yesterday(?:\ (?:morning|afternoon|evening))? | last\ night
  | (?:earlier\ )?today(?!['’]s)
  | (?:last|past|previous)\ (?:week(?:end)?|month|year|quarter)\b(?:['’]s\b)?
  | this\ (?:week(?:end)?|month|year|quarter)\b(?!['’]s)
  | (?:last|this\ past)\ (?:{_DAYS}|{_MONTHS})\b(?!\ \d)
  | (?:last|this)\ (?:{_SEASONS})\b(?!\ (?:back|through|of|boot|framework))
  | {_COUNT}\ {_UNIT}\ ago
  | (?:the\ )?(?:last|past)\ (?:{_COUNT}\ )?{_UNIT}\b
  | \d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?(?:{_MONTHS}|{_SHORT})\b\.?(?:,?\ {_YEAR})?
  | (?:{_MONTHS}|{_SHORT})\.?\ \d{{1,2}}(?:st|nd|rd|th)?(?![.\d:/])(?:,?\ {_YEAR})?
  | (?:{_MONTHS}|{_SHORT})\ {_YEAR}
  | (?:{_SEASONS})\ (?:of\ )?{_YEAR}
  | 20\d\d-[01]\d-[0-3]\d(?![\dT:-]) | 20\d\d-[01]\d(?![\d-])
  | q[1-4](?:\ (?:of\ )?{_YEAR})
"""
# Expressions that mean a time only after a preposition such as ``in`` or ``since``.
_BARE = rf"""
    (?:(?:early|mid|late|the\ (?:start|beginning|middle|end)\ of)[ -])?(?:{_MONTHS})\b(?!\ (?:\d|through))
  | (?:the\ )(?:{_SEASONS})\b(?!\ (?:boot|framework|batch|cloud|security|mvc|data|back|config|\d))
  | (?:{_DAYS})\b | q[1-4]\b | {_YEAR}
"""
_ENGLISH = rf"""
    (?:\b(?P<word>between|from|(?:ever\ )?since|after|before|until|till|up\ to
      |(?:back\ )?in|on|during|over|within|at|of)\ )?
    (?<![\w/.-])(?:(?:the\ (?:start|beginning|middle|end)\ of\ )?(?P<clear>{_CLEAR})|(?P<bare>{_BARE}))
"""
_SECOND = re.compile(r"\ (?:and|to|until|till)\ ", re.IGNORECASE)
_ONWARDS = re.compile(r"\ on(?:wards?)?\b", re.IGNORECASE)
_KINDS: dict[str, PhraseKind] = {
    "since": "since", "ever since": "since", "after": "after", "before": "before", "until": "until", "till": "until",
    "up to": "until", "seit": "since", "depuis": "since",
}  # fmt: skip
_GERMAN = rf"""
    \b(?:(?P<word>seit|in\ der|im|am)\ )?(?:
      (?P<clear>(?:vor)?gestern\b | (?:letzte|vorige|vergangene|diese)[nrms]?\ (?:woche|monat|jahr|{_DAYS_DE})\b
      | vor\ {_COUNT_DE}\ (?:tag(?:en)?|wochen?|monat(?:en)?|jahr(?:en)?)\b)
    | (?P<bare>(?:\d{{1,2}}\.\ )?(?:{_MONTHS_DE})\b(?:\ 20\d\d)?))
"""
_FRENCH = rf"""
    (?:\b(?P<word>depuis|en|de|d['’])\ ?)?\b(?:
      (?P<clear>avant-hier\b | (?<=[d]['’])hier\b | hier(?=\s*\?|$)
      | la\ semaine\ (?:dernière|passée) | le\ mois\ (?:dernier|passé) | l['’]an(?:née)?\ (?:dernière|dernier|passée?)
      | cette\ semaine | ce\ mois(?:-ci)? | cette\ année | (?:{_DAYS_FR})\ dernier
      | il\ y\ a\ {_COUNT_FR}\ (?:jours?|semaines?|mois|ans?)\b
      | le\ \d{{1,2}}(?:er)?\ (?:{_MONTHS_FR})\b(?:\ 20\d\d)?)
    | (?P<bare>(?:{_MONTHS_FR})\b(?:\ 20\d\d)?))
"""
_NOTED = "(?:decision|discussion|status|state|news|thinking|note|word|agreement|conversation|session|summary|plan)s?"
_CHOSE = r"(?:decid|cho[os]|pick|agre|plann?|discuss|talk|propos|settl|introduc|mention|chang|tr(?:y|ied))\w*"
_LATEST = rf"""
    (?<!call\ )\bmost\ recent(?:ly)?\b(?!\ (?:call|used)|ly\ used|-) | \b(?:the\ )?(?:latest|newest)\ {_NOTED}\b
  | \bthe\ latest\ (?:on|about|regarding|with)\b | \b(?:the\ )?last\ (?:time|{_NOTED})\b
  | (?:\b(?:did|have|had)\ )?\b(?:we|i|you)\ (?:last|recently)\ (?={_CHOSE})
  | \bzuletzt\b | \b(?:pour\ )?la\ dernière\ fois\b
"""
_EARLIEST = rf"""
    \b(?:for\ )?the\ (?:very\ )?first\ time\b | \b(?:the\ )?(?:first|earliest)\ {_NOTED}\b(?!\ page)
  | (?:\b(?:did|have|had)\ )?\b(?:we|i|you)\ first\ (?={_CHOSE})
  | \b(?:originally|initially)\b(?=\ {_CHOSE}) | (?<=\b)in\ the\ beginning\b
  | \bzum\ ersten\ mal\b | \b(?:pour\ )?la\ première\ fois\b
"""
_EVENT = (
    r"\b(?:before|after|since|until|during)\ (?:the|our|that|this)\ (?:\w[\w.-]*\ ){0,2}?"
    r"(?:release|launch|migration|incident|outage|rewrite|upgrade|meeting|offsite|holidays|freeze|kick-?off|audit)\b"
)
_FLAGS = re.IGNORECASE | re.VERBOSE
_DATED = {"en": pattern(_ENGLISH, _FLAGS), "de": pattern(_GERMAN, _FLAGS), "fr": pattern(_FRENCH, _FLAGS)}
_UNDATED: dict[PhraseKind, re.Pattern[str]] = {
    "latest": pattern(_LATEST, _FLAGS),
    "earliest": pattern(_EARLIEST, _FLAGS),
    "event": pattern(_EVENT, _FLAGS),
}

# A deadline or a plan is no time of a memory.
_AHEAD = re.compile(
    r"\b(?:will|shall|going\ to|due|deadline|upcoming|next|tomorrow|expires?|expiry|scheduled|planned\ for|supposed\ to"
    r"|should|must|can|may\ (?:i|we)|werden|soll(?:en|te)?|fällig|doit|devons|prochaine?)\b",
    re.IGNORECASE | re.VERBOSE,
)
_BEHIND = re.compile(
    r"\b(?:ago|last|past|yesterday|since|gestern|vor|seit|derni[eè]re?|hier|depuis|il\ y\ a)\b", re.IGNORECASE
)
_PAST = re.compile(
    r"\b(?:did|was|were|had|has|have|been|came|went|said|made|found|broke|wrote|chose|got|ran|took|met|saw|gave|kept"
    r"|left|built|fell|began|(?!need|speed|feed|seed|embed|exceed|proceed|shared?|red|bed)\w{2,}ed)\b",
    re.IGNORECASE,
)
# Words of a question about everything of a time.
_NO_SUBJECT = frozenset(
    "happen happened happening decide decided decision decisions do did done work worked working discuss discussed"
    " discussion discussions change changed changes learn learned new talk talked agree agreed notes memories things"
    " everything anything something summary summarise summarize recap show list tell get find news"
    " entschieden beschlossen passiert passierte geschah geschehen gemacht getan besprochen gelernt geändert los alles"
    " zeig zeige décidé décidée fait passé passée discuté changé appris tout montre".split()
)
_PRESENT = re.compile(r"\b(?:is|are|do|does|gets?)\b", re.IGNORECASE)
_DAY_OR_YEAR = re.compile(rf"(?:{_DAYS}|20\d\d$)", re.IGNORECASE)


class TimePhrase(NamedTuple):
    """A time in a question.

    ``text``: its words. ``rest``: the question without them. ``first`` and ``second``: its date expressions, the second
    one only with ``between``; empty for ``latest``, ``earliest`` and ``event``.
    """

    text: str
    rest: str
    kind: PhraseKind
    first: str = ""
    second: str = ""
    language: Language = "en"

    @property
    def has_subject(self) -> bool:
        """Whether the rest asks for something, and not only what happened or was decided."""
        idle = _NO_SUBJECT | STOP_WORDS
        if self.language != "en":
            idle |= function_words(self.language)
        return any(
            term.text not in _NO_SUBJECT and not idle.issuperset(re.findall(r"\w+", term.match[1:-1]))
            for term in query_terms(self.rest)
        )


def find_time_phrase(question: str, languages: Iterable[Language] = ("en", "de", "fr")) -> TimePhrase | None:
    """The time that the question asks for; None if there is none, or more than one.

    The kind ``event`` is one that is named but has no date: ``before the release``.
    """
    text = _QUOTED.sub(lambda quoted: "\0" * len(quoted[0]), question)
    found = [each for language in languages for each in _dated(text, language)]
    if not found:
        found = [
            (match.start(), match.end(), TimePhrase("", "", kind))
            for kind, form in _UNDATED.items()
            if (match := form.search(text))
        ][:1]
    if len(found) != 1:  # of two times it is not clear which one is meant
        return None
    start, end, phrase = found[0]
    rest = " ".join(f"{question[:start]} {question[end:]}".split())
    return phrase._replace(text=question[start:end].strip(), rest=rest)


def _dated(text: str, language: Language) -> Iterator[tuple[int, int, TimePhrase]]:
    """The phrases of the text that have a date, with their start and end."""
    form, at = _DATED[language], 0
    while match := form.search(text, at):
        at = end = match.end()
        word, first, second = (match["word"] or "").casefold(), match["clear"] or match["bare"], ""
        if match["bare"] and not word:
            continue
        kind = _KINDS.get(word, "in")
        if word in ("between", "from"):
            joint = _SECOND.match(text, end)
            other = joint and form.match(text, joint.end())
            if other and not other["word"]:
                kind, second, at = "between", other["clear"] or other["bare"], other.end()
                end = at
            elif onwards := _ONWARDS.match(text, end):
                kind, at = "since", onwards.end()
                end = at
        if _is_meant(text, text[match.start() : end], kind, first):
            yield match.start(), end, TimePhrase("", "", kind, first, second, language)


def _is_meant(text: str, phrase: str, kind: PhraseKind, first: str) -> bool:
    """Whether the phrase is about the past: ``on Friday`` may be a habit, ``of 2019`` a property, ``until March`` a
    deadline."""
    if _AHEAD.search(text):
        return _BEHIND.search(phrase) is not None
    if kind not in ("before", "until") and not _DAY_OR_YEAR.match(first):
        return True
    return _PAST.search(text) is not None and not (kind == "in" and _PRESENT.search(text) and _DAY_OR_YEAR.match(first))
