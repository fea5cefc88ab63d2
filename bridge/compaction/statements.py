"""Parses a decision's text into clauses, as far as the conflict detection needs it.

It has no grammar. A clause has words with the preposition that they follow, whether it is negated, the amounts that it
names, and the words for what it replaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from . import lexicon
from .labels import is_label
from .lexicon import NUMBER, TOKEN, canonical, carries_meaning

Quantities = dict[str, tuple[float | str, ...]]

_CLOCK = re.compile(r"\d{1,2}h\d\d")
_CLAUSE_END = re.compile(r"[;!?]+\s+|\.\s+|,?\s+but\s+|\n+")
_REASON = re.compile(r",?\s+\b(?:because|since|so that|due to|in order to|as (?:it|they|we|this|that))\b.*", re.DOTALL)
_DECISION = r"(?:the|our|that|this|an?) (?:\w+ )?(?:decision|plan|choice|idea) (?:to|of|that)"
_TAKE_BACK = r"(?:reversed?|revert(?:ed)?|undo|undid|rescind(?:ed)?|abandon(?:ed)?|overturn(?:ed)?)"
NAMED = "named "  # the prefix of the kind of an amount that follows its name: "Python 3.11", "Decision 7"
_MAX_CHARACTERS = 500  # of a statement that are parsed; a decision is a sentence
_MAX_CLAUSES = 12  # per statement, since each is compared with each clause of another statement

_BEGINNING = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|today|tomorrow"
    r"|next \w+|\d{4}(?:-\d\d)*)"
)  # of a time from which a decision holds, which says nothing of its subject
# Phrases, applied in this order, and the words that the tables have for them.
_PHRASES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b(\d+(?:\.\d+)?)(ms|s|sec|min|h|d|kb|mb|gb|tb|kib|mib|gib)\b", r"\1 \2"),
        (r"[‘’]", "'"),
        (r"\bcannot\b", "can not"),
        (r"\b(\w+)n't\b", r"\1 not"),
        (r"%", " percent "),
        (r"\b(\d{1,2}):(\d\d)(?::\d\d)?\b", r"\1h\2"),
        (r"\b(sign|log)(?:ed|s|ing)? (up|in|out)\b", r"\1-\2"),
        (r"\buntil further notice\b|\bfrom now on\b|\bfor now\b|\bany ?more\b|\bany longer\b", ""),
        (rf",? ?\b(?:from|as of|starting|effective) (?:{_BEGINNING})(?: \d{{1,4}})*(?: on(?:wards)?)?\b", ""),
        (r"\bre-?(writ|buil|implement)", r"\1"),
        (r"\b(?:no|not) (?:more|later|less|fewer|longer) than\b|\bat (?:most|least)\b|\bup to\b", ""),
        (r"\bnot (?:only|just|necessarily|yet)\b", ""),
        (r"\bby default\b|\bas (?:a|the) default\b", ""),
        (rf"\b(?:we )?{_TAKE_BACK} {_DECISION}\b", "reversing not "),
        (r"\b(?:drop|dropped|remove|removed|end|ended|discontinue) support (?:for|of)\b",
         "reversing not support"),
        (r"\b(?:turn|switch|turned|switched)(?:ed)? (on|off)\b", lambda m: "enable" if m[1] == "on" else "disable"),
        (r"\bopt (in|out)\b", r"opt-\1"),
        (r"\b(?:go|went|switch(?:ed)?|revert(?:ed)?|return(?:ed)?|moved?|migrated?|changed?) (?:back )?to\b", "use"),
        (r"\bin place of\b", "instead of"),
        (r"\brather than\b", "instead of"),
        (r"\bgithub actions\b", "github-actions"),
        (r"\b(?:api|access) keys?\b", "api-key"),
        (r"\bgo with\b", "use"),
    )
)  # fmt: skip
_FROM_TO = re.compile(r"\b(?:switch|mov|migrat|chang|convert|port)\w*\b(.*?)\bfrom\b(.*?)\bto\b(.*)")
_REPLACE = re.compile(r"\b(?:replac|swap|supersed|substitut)\w*\b(.*?)\b(?:with|by|for)\b(.*)")
_REPLACED = re.compile(
    r"^(.*?)\b(?:is|are|was|were|been|be|gets?) (?:\w+ly )?(?:replaced|superseded) (?:with|by)\b(.*)"
)
_INSTEAD = re.compile(
    r"(?:\binstead of|(?:,|,? and) (?:not|never) (?:from|in|with|by|via|on|to|as|through|into))\b((?:\s+[\w./+#'-]+)+?)"
    r"(?=\s+(?:for|in|on|when|to|as|at|with)\b|[,.]|$)"
)
_REJECTED = re.compile(  # up to six words, each whole, so that a long one is not tried in parts
    r"(?:,?\s(?:instead of|rather than|in place of)|,\s(?:and\s)?(?:not|never|no longer)(?!\s(?:just|only)\b))"
    r"((?:\s[\w./+#'-]+(?![\w./+#'-])){1,6}?)"
    r"(?=\s?[^\w\s./+#'-]|\s(?:for|when|because|since|as|so|but|and|while|if|to)\b|\s?$)",
    re.IGNORECASE,
)
_FROM_NOW = re.compile(
    r",?\s?\b(?:now|any ?more|from now on"
    rf"|(?:from|as of|since|starting) (?:{_BEGINNING}|version \S+|v\d\S*)(?: on(?:wards)?)?)\b",
    re.IGNORECASE,
)
_CHANGED_TO = re.compile(
    r"\b(?:(?:has been|have been|was|is|were|are) )?(?:changed|raised|lowered|increased|reduced|bumped|extended"
    r"|shortened|moved|switched) (?:from [^,.;]{1,30}? )?to\b",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """A meaningful word, with the preposition that it follows. ``is_head``: it ends its group of words."""

    stem: str
    preposition: str | None
    is_head: bool


@dataclass(frozen=True)
class Clause:
    """One clause of a statement.

    ``is_reversal``: it says that it reverses something. ``chooses``: it has a verb of choice. ``copula``: it has a form
    of "be". ``rejected``: the stems of what it replaces.
    """

    words: tuple[Word, ...]
    is_negative: bool = False
    is_reversal: bool = False
    is_addition: bool = False
    chooses: bool = False
    copula: bool = False
    order: str | None = None  # "before" or "after", between two groups of words
    quantities: Quantities = field(default_factory=dict)
    rejected: frozenset[str] = frozenset()

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words."""
        return frozenset(word.stem for word in self.words)

    @cached_property
    def repeated(self) -> frozenset[str]:
        """The stems that occur more than once, as ``token`` in "renew tokens by a token"."""
        return frozenset(stem for stem, times in Counter(word.stem for word in self.words).items() if times > 1)

    @cached_property
    def last_head(self) -> str | None:
        """The last head, which usually is the clause's object."""
        return next((word.stem for word in reversed(self.words) if word.is_head), None)

    @cached_property
    def heads(self) -> frozenset[str]:
        """The stems of all heads."""
        return frozenset(word.stem for word in self.words if word.is_head)

    def prepositions(self, stems: frozenset[str]) -> set[str | None]:
        """The prepositions that the words with these stems follow; None stands for no preposition."""
        return {word.preposition for word in self.words if word.stem in stems}


def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a statement; empty for a text without meaningful words."""
    plain = unicodedata.normalize("NFKC", text[:_MAX_CHARACTERS]).lower()
    for pattern, replacement in _PHRASES:
        plain = pattern.sub(replacement, plain)
    plain = plain.strip().rstrip(".")
    parts = _CLAUSE_END.split(plain)[:_MAX_CLAUSES]
    parsed = (_clause(_REASON.sub("", part).replace(":", " is ", 1).replace(" = ", " is ", 1)) for part in parts)
    return tuple(clause for clause in parsed if clause.words)


def without_rejected(earlier: str, later: str) -> str:
    """The later statement without what it rejects, where the earlier one says just that: "Return JSON" of "Return JSON
    instead of XML" after "The API returns XML". Otherwise as it is."""
    said = _stems_of(earlier.lower())

    def left(match: re.Match[str]) -> str:
        rejected = _stems_of(match[1].lower())
        return "" if rejected and rejected <= said else match[0]

    return _REJECTED.sub(left, later)


def without_change(text: str) -> str:
    """A statement without the words which say that it is new: "The limit is 20" of "The limit was raised to 20 now"."""
    return _CHANGED_TO.sub("is", _FROM_NOW.sub("", text)).strip(" ,")


def _clause(text: str) -> Clause:
    text, rejected = _split_replacement(text)
    tokens = TOKEN.findall(text)
    quantities, kept = _amounts_in(tokens)
    denials = sum(token in lexicon.NEGATIONS for token in kept)
    if denials and "without" in kept:
        denials += 1  # "never without" means always with
    words = tuple(_words(kept))
    order = next((token for token in kept if token in ("before", "after")), None)
    return Clause(
        words=words,
        is_negative=denials % 2 == 1,
        is_reversal="reversing" in kept,
        is_addition=any(token in lexicon.ADDITIONS for token in kept),
        chooses=any(canonical(token) in lexicon.CHOOSING for token in kept),
        copula=any(token in ("is", "are", "be") for token in kept),
        order=order,
        quantities=quantities,
        rejected=rejected,
    )


def _split_replacement(text: str) -> tuple[str, frozenset[str]]:
    """The text rewritten as a statement of the new choice, and the stems of what it replaces."""
    if match := _FROM_TO.search(text):
        return f"use {match[3]} for {match[1]}", _stems_of(match[2])
    if match := _REPLACED.search(text):
        return f"use {match[2]}", _stems_of(match[1])
    if match := _REPLACE.search(text):
        return f"use {match[2]}", _stems_of(match[1])
    if match := _INSTEAD.search(text):
        return text[: match.start()] + text[match.end() :], _stems_of(match[1])
    return text, frozenset()


def _stems_of(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in _words(TOKEN.findall(text)))


def _words(tokens: list[str]) -> Iterator[Word]:
    preposition: str | None = None
    for index, word in enumerate(tokens):
        if word in lexicon.PREPOSITIONS:
            preposition = word
            continue
        if word == ",":
            preposition = None
        if not carries_meaning(word):
            continue
        word_stem = canonical(word)
        if word_stem in lexicon.CHOOSING:
            preposition = None
        if word_stem in lexicon.LIGHT_VERBS:
            continue
        after = tokens[index + 1] if index + 1 < len(tokens) else ""
        is_last = not after or not carries_meaning(after) or after.endswith("ly")
        yield Word(word_stem, preposition, is_last and preposition != "of")


def _amounts_in(tokens: list[str]) -> tuple[Quantities, list[str]]:
    """The amounts (kind -> values), and the tokens without them. A number that is part of a name stays in its token.

    The kinds: ``time`` (seconds), ``size`` (bytes), ``share`` (percent), ``times``, ``every`` (a period in seconds),
    ``clock`` (a time of day), ``of X`` (a number of X), ``named X`` (a number behind the name X).
    """
    amounts: dict[str, list[float | str]] = {}
    kept: list[str] = []
    at = 0
    while at < len(tokens):
        token, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else ""
        number = token if NUMBER.fullmatch(token) else None
        value = _value(number) if number is not None else float(lexicon.NUMBERS.get(token, -1))  # -1: not a number
        if token in ("per", "every", "each", "a") and after in lexicon.UNITS and lexicon.UNITS[after][0] == "time":
            amounts.setdefault("every", []).append(lexicon.UNITS[after][1])
            at += 2
        elif token in lexicon.FREQUENCIES:
            amounts.setdefault("every", []).append(lexicon.FREQUENCIES[token])
            at += 1
        elif value < 0 and not _CLOCK.fullmatch(token):
            kept.append(token)
            at += 1
        elif after not in lexicon.UNITS and is_label(tokens, at, kept):
            kept[-1] += f"-{token}"
            at += 1
        elif number is not None and _is_http(number, kept, after):
            kept.append(token)
            at += 1
        elif _CLOCK.fullmatch(token):
            amounts.setdefault("clock", []).append(token)
            at += 1
        elif after in lexicon.UNITS:
            kind, size = lexicon.UNITS[after]
            every = kept and kept[-1] in ("every", "each", "per")
            amounts.setdefault("every" if every and kind == "time" else kind, []).append(round(value * size, 6))
            at += 2
        else:
            counts = bool(after) and carries_meaning(after) and not NUMBER.fullmatch(after)
            name = next(filter(carries_meaning, reversed(kept)), "")
            kind = f"of {canonical(after)}" if counts else f"{NAMED}{canonical(name)}"
            amounts.setdefault(kind, []).append(number if number is not None else str(int(value)))
            at += 1
    return {kind: tuple(values) for kind, values in amounts.items()}, kept


def _value(number: str) -> float:
    try:
        return float(number.replace(",", ""))
    except ValueError:  # a version with several dots, which is compared as text
        return 0.0


def _is_http(number: str, kept: list[str], after: str) -> bool:
    looks = len(number) == 3 and number[0] in "12345"
    return looks and (after in lexicon.HTTP_WORDS or (bool(kept) and kept[-1] in lexicon.HTTP_WORDS))
