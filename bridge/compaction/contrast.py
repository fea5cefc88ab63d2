"""How likely it is that two decisions of any wording cannot both hold: what they share and how they differ, weighed.

The rules of ``conflicts`` want two statements of much the same form. This does not: it reads of each what it speaks
of, whether it denies, which amounts and names it has, and whether it turns from something; how two of these readings
differ, together with how close the texts are in meaning, makes a probability. The weights of that sum are fitted to
labelled pairs (``python -m benchmarks.conflicts --fit``), not chosen. English alone, as the tables are.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..embedding.embedder import Vectors
from . import lexicon
from .statements import MOST_CHARACTERS, TOKEN, WITH_UNIT, amounts_in, canonical

Difference = Literal["toggle", "negation", "value", "choice", "reversal"]

LIKELY = 0.65  # a conflict from here on: chosen on the labelled pairs for precision

# What each feature of a pair adds to the log-odds of a conflict. ``python -m benchmarks.conflicts --fit`` prints them.
WEIGHTS: dict[str, float] = {
    "similarity": 3.52,
    "shared": 2.93,
    "named": 0.72,
    "turns": 2.08,
    "changes": 1.05,
    "addition": -0.86,
    "condition": -0.93,
    "purpose": -0.69,
    "head": -0.32,
    "exclusive": 0.47,
    "unlike": -2.57,
    "swapped": -1.95,
    "selected": -1.05,
    "units": -1.73,
    "bias": -3.50,
}

_PHRASES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[‘’]", "'"),
        (r"\bcan'?not\b", "can not"),
        (r"\b(\w+?)n't\b", r"\1 not"),
        (r"\bcall(?:s|ed|ing)? off\b", "withdraw"),
        (r"\b(?:giv(?:e|es|en|ing)|gave) up\b", "abandon"),
        (r"\b(?:leaves?|left|leaving) out\b|\boff the table\b", "omit"),
        (r"\b(sign|log|cut|trade)(?:s|ed|ing)?[ -]off\b", r"\1off"),
        (r"\bafter all\b", "again"),
        (r"\b(?:no|not any) longer\b", "not anymore"),
        (r"\bany more\b", "anymore"),
        (r"\bas well\b", "also"),
        (r"\bat all\b", "anyway"),
        (r"\bopt(?:ed)?[ -](in|out)\b", r"opt-\1"),
        (r"\bnot (?:only|just|necessarily|yet)\b", ""),
        (r"\b(?:no|not) (?:more|later|less|fewer|longer) than\b", ""),
        (r"\bout of the box\b|\bby default\b", "default"),
        (r"\bf[ae]ll(?:s|ing)? back\b", "fallback"),
        (r"\breturn(?:s|ed)? to\b|\b(?:goe?s?|went|switch(?:ed)?|moved?) back to\b", "back to"),
        (r"\beverything but\b", "except"),
        (r"\bdecided? later\b|\bto be decided\b|\btbd\b|^open:|\bwhether\b", "undecided"),
        (r"(?<=[a-z])-(?!(?:in|out|up|on|off|only)\b)(?=[a-z])", " "),
        (r"'s\b", ""),
        (r"(\d)\s*%", r"\1 percent"),
        (r"\b(\d{1,2}):(\d\d)(?::\d\d)?\b", r"\1h\2"),
        (r"\b(\d+)x\b", r"\1 times"),
        (r"\b(\d+(?:\.\d+)?)k\b", r"\g<1>000"),
        (r"/ ?(s|sec|second|min|minute|h|hour|d|day|week|month)\b", r" per \1"),
        (r"[<>=]|->", " "),
    )
)
# An introduction, and where the reasons begin: what is decided stands between the two.
_LEAD = re.compile(
    r"^(?:(?:after|because|since|due to|following|as|given)\b[^,]{0,80}, |we (?:have )?(?:agreed|decided|settled)\b )"
)
_REASON = re.compile(
    r";|\.\s|\s[-–—]+\s|\s\(|\b(?:because|since|so that|so|due to|as (?:it|they|we|this|that|the)|which|until)\b|!|\n"
)
_OCCASION = re.compile(r"\bafter the ")
_SHORTEST = 12  # characters of what is decided
_FULL = 3  # words that carry meaning: what follows a comma after so many is a reason, not an item of a list

_SUFFIX = re.compile(  # of a stem, which has no final "e" any more
    r"(?:i[sz]ation|ification|ation|ition|tion|sion|ion|ment|ness|anc|enc|ity|abl|ibl|iv|ally|al|at|i[sz]|or|er|ly|y)$"
)
_SHORTEST_ROOT = 4
_NAME = re.compile(r"[A-Z].*[A-Z]|\d|[_/`]|[a-z][A-Z]")
_LABEL = re.compile(r"[a-z]+-\d+")


@cache
def root(word: str) -> str:
    """What nouns and verbs of one family have in common: ``impersonate`` and ``impersonation`` are one."""
    stem = canonical(word)
    bare = _SUFFIX.sub("", stem)
    return bare if len(bare) >= _SHORTEST_ROOT else stem


def _roots(words: str) -> frozenset[str]:
    return frozenset(form for word in words.split() for form in (word, root(word)))


_DENYING = _roots(
    "not no never none nobody nothing nor neither without avoid stop drop remove delete disable deactivate off forbid"
    " forbidden prohibit disallow ban deny skip exclude omit hide abandon scrap ditch cancel withdraw withdrawn undo"
    " revert rescind discard retire discontinue opt-in optional lose immutable refuse reject prevent"
    " suspend deprecate"
)
# A decision with one of these turns from an earlier one, and so do the weaker ones if other things agree.
_TURNING = _roots(
    "again back revert undo abandon reconsider cancel withdraw withdrawn mistake instead anymore restore ditch scrap"
    " omit"
)
_CHANGING = _roots("stay remain keep move switch become now raise lower reduce increase drop lose change")
_WHOLE = frozenset("all every any each always whatever regardless either anyway included nobody none ever both".split())
_CONDITIONS = frozenset("if unless while during until when except only whenever once".split())
_ADDITIONS = frozenset("also too additionally besides alongside".split())
_PURPOSES = frozenset(
    "that for of during while if when where who whose before after outside except unless under between without from"
    " to than".split()
)
_OPENING = frozenset((",", "that"))  # what they begin stands as apart as what is behind a preposition
_PLACES = frozenset("in on at inside within onto into".split())
# What is done with a thing says less about the subject than the thing.
_DOING = (
    lexicon.EXCLUSIVE
    | (lexicon.ADDING - {"test", "export", "import"})
    | lexicon.CHANGING
    | {
        lexicon.stem(word)
        for word in (
            "handle follow come get happen serve contain give take run go stay switch start call look ship expose apply"
            " accept target move become remain hold mean allow permit may can use require need good enough default"
        ).split()
    }
)
_EXCLUSIVE = frozenset(root(word) for word in lexicon.EXCLUSIVE | lexicon.PROPERTIES)
_SELECTING = frozenset(root(word) for word in lexicon.SELECTING)
_LIGHT = frozenset(root(word) for word in lexicon.LIGHT)


_OPPOSITES: dict[str, set[str]] = {}
for _one, _other in lexicon.opposed():
    _OPPOSITES.setdefault(root(_one), set()).add(root(_other))


@cache
def _opposites(of: str) -> frozenset[str]:
    return frozenset(_OPPOSITES.get(of, ())) | {root(word) for word in lexicon.counterparts_of(of)}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a decision says, as far as the comparison needs it. All words are roots.

    ``subject``: what it speaks of. ``heads`` end their group of words, ``purposes`` and ``places`` stand behind such
    prepositions. ``order`` are the words with their places in the sentence, ``followed`` each with the token behind
    it.
    """

    subject: frozenset[str]
    words: frozenset[str]
    order: tuple[tuple[str, int], ...]
    followed: tuple[tuple[str, str], ...]
    heads: frozenset[str]
    purposes: frozenset[str]
    places: frozenset[str]
    names: frozenset[str]
    labels: dict[str, str]
    amounts: dict[str, frozenset[float | str]]
    denies: bool
    turns: bool
    changes: bool
    is_whole: bool
    is_conditional: bool
    is_addition: bool
    is_open: bool  # a question left for later: no decision that another one could replace


def read(text: str) -> Reading:
    """The reading of a statement's decision, without its reasons."""
    amounts, tokens = amounts_in(TOKEN.findall(_decision(text)))
    words: list[str] = []
    subject = set()
    order, followed = [], []
    heads, purposes, places = set(), set(), set()
    denials, preposition = 0, ""
    forms = [(token, root(token)) for token in tokens]
    for at, (token, form) in enumerate(forms):
        if token in _DENYING or form in _DENYING:
            denials += 1
        elif token in lexicon.PREPOSITIONS or token in _OPENING:
            preposition = token
        elif _says_of_what(token, form):
            words.append(form)
            if canonical(token) not in _DOING:
                subject.add(form)
            order.append((form, at))
            if preposition in _PURPOSES:
                purposes.add(form)
            if preposition in _PLACES:
                places.add(form)
            after, after_form = forms[at + 1] if at + 1 < len(forms) else ("", "")
            followed.append((form, after_form))
            if not after or not _says_of_what(after, after_form) or canonical(after) in _DOING:
                heads.add(form)
    said = {form for pair in forms for form in pair}
    return Reading(
        subject=frozenset(subject or words),
        words=frozenset(words),
        order=tuple(order),
        followed=tuple(followed),
        heads=frozenset(heads),
        purposes=frozenset(purposes),
        places=frozenset(places),
        names=_names(text) & frozenset(words),
        labels={word.rpartition("-")[0]: word for word in words if _LABEL.fullmatch(word)},
        amounts=_amounts(amounts),
        denies=denials % 2 == 1,
        turns=not said.isdisjoint(_TURNING),
        changes=not said.isdisjoint(_CHANGING),
        is_whole=not said.isdisjoint(_WHOLE),
        is_conditional=not said.isdisjoint(_CONDITIONS),
        is_addition=not said.isdisjoint(_ADDITIONS),
        is_open="undecided" in said,
    )


def _decision(text: str) -> str:
    """The text in plain words without its introduction and its reasons."""
    plain = unicodedata.normalize("NFKC", text[:MOST_CHARACTERS]).lower()
    for pattern, replacement in _PHRASES:
        plain = pattern.sub(replacement, plain)
    plain = _LEAD.sub("", WITH_UNIT.sub(r"\1 \2", plain))
    if reason := _REASON.search(plain, _SHORTEST):
        plain = plain[: reason.start()]
    if (occasion := _OCCASION.search(plain)) and _is_full(plain[: occasion.start()]):
        plain = plain[: occasion.start()]
    kept, *others = plain.split(", ")
    for part in others:
        if _is_full(kept) and len(part.split()) > 2:
            break
        kept += f", {part}"
    return kept


def _is_full(text: str) -> bool:
    tables = (_OPENING, lexicon.STOP_WORDS, lexicon.PREPOSITIONS)
    return sum(not any(token in table for table in tables) for token in TOKEN.findall(text)) >= _FULL


def _says_of_what(token: str, form: str) -> bool:
    """Whether a word says of what something is decided, and not merely that or how."""
    tables = (_OPENING, lexicon.STOP_WORDS, lexicon.PREPOSITIONS, _ADDITIONS, _DENYING, _TURNING, _LIGHT)
    return not any(token in table or form in table for table in tables)


def _names(text: str) -> frozenset[str]:
    """Names and identifiers: what has a capital within the sentence, two of them, a digit or a sign of code."""
    named = (
        word
        for place, word in enumerate(text[:MOST_CHARACTERS].split())
        if (place and word[:1].isupper()) or _NAME.search(word)
    )
    return frozenset(root(word.strip(".,;:()`").lower()) for word in named)


def _amounts(found: dict[str, tuple[float | str, ...]]) -> dict[str, frozenset[float | str]]:
    """Amounts by unit; those without one are of one kind, whatever they count."""
    kinds: dict[str, set[float | str]] = {}
    for kind, values in found.items():
        kinds.setdefault("" if kind.startswith(("of ", "named ")) else kind, set()).update(values)
    return {kind: frozenset(values) for kind, values in kinds.items()}


@dataclass(frozen=True, slots=True)
class Contrast:
    """How a later reading differs from an earlier one. ``features`` are 0 to 1 each, by the names of WEIGHTS."""

    difference: Difference | None
    features: dict[str, float]


def contrast(a: Reading, b: Reading, similarity: float) -> Contrast:
    """The comparison of an earlier with a later reading; ``similarity`` is the cosine of the texts' embeddings."""
    common = a.subject & b.words | b.subject & a.words
    only_a, only_b = a.subject - common, b.subject - common
    opposed = {(x, y) for x in a.words - b.words for y in _opposites(x) & (b.words - a.words)}
    only_a, only_b = only_a - {x for x, _ in opposed}, only_b - {y for _, y in opposed}
    denied = (a.denies != b.denies) != bool(opposed)
    amount = any(a.amounts[kind] != b.amounts[kind] for kind in a.amounts.keys() & b.amounts.keys())
    named = bool(a.names & only_a) and bool(b.names & only_b)
    other = bool(only_a and only_b)
    is_other = any(b.labels.get(kind, label) != label for kind, label in a.labels.items())
    plain = denied or amount  # beside such a difference every other one speaks for another subject
    turns = b.turns and not a.turns and (plain or bool(only_a))
    unlike = min(_groups(a, only_a), _groups(b, only_b)) - (0 if plain else 1)
    heads_a, heads_b = a.heads & common, b.heads & common
    features: dict[str, float] = {
        "similarity": similarity,
        "shared": min(len(common & a.subject), len(common & b.subject)) / max(1, min(len(a.subject), len(b.subject))),
        "named": named and not plain,
        "turns": turns,
        "changes": b.changes,
        "addition": a.is_addition or b.is_addition,
        "condition": a.is_conditional != b.is_conditional,
        "purpose": bool(a.purposes & only_a) and bool(b.purposes & only_b),
        "head": bool(heads_a or heads_b) and not heads_a & heads_b,
        "exclusive": other and not plain and bool(a.words & b.words & _EXCLUSIVE),
        "unlike": max(0, min(2, unlike)) / 2,
        "swapped": plain and bool(_before(a, only_a, common) & _before(b, only_b, common)),
        "selected": bool(only_a & _SELECTING) and bool(only_b & _SELECTING),
        "units": bool(a.amounts.keys() | b.amounts.keys()) and not a.amounts.keys() & b.amounts.keys(),
    }
    difference: Difference | None = None
    if turns:
        difference = "reversal"
    elif is_other or (plain and _is_exception(a, b, only_a, only_b)):
        difference = None
    elif denied:
        difference = "toggle" if opposed else "negation"
    elif amount:
        difference = "value"
    elif other:
        difference = "choice"
    return Contrast(difference, features)


def _is_exception(a: Reading, b: Reading, only_a: frozenset[str], only_b: frozenset[str]) -> bool:
    """Whether the later one holds in a narrower case alone. To allow a case of what was denied is no exception."""
    is_narrower = not only_a and bool(only_b & (b.purposes | b.places))
    return is_narrower and not (b.changes or b.is_whole or (a.denies and not b.denies))


def _groups(reading: Reading, only: frozenset[str]) -> int:
    """In how many places of the sentence the words stand."""
    places = [at for word, at in reading.order if word in only]
    return sum(at - 1 != before for before, at in zip([-2, *places], places, strict=False))


def _before(reading: Reading, only: frozenset[str], common: frozenset[str]) -> set[str]:
    """What the words stand directly before: ``refresh tokens`` are in the place of ``access tokens``."""
    return {after for word, after in reading.followed if word in only and after in common}


def likelihood(features: dict[str, float]) -> float:
    """How likely a conflict is, 0 to 1."""
    return 1 / (1 + math.exp(-WEIGHTS["bias"] - sum(WEIGHTS[name] * value for name, value in features.items())))


def between(a: Reading, b: Reading, similarity: float) -> tuple[Difference, float] | None:
    """What sets a later reading against an earlier one and how likely it is, where it is likely enough."""
    found = contrast(a, b, similarity)
    if found.difference is None or (likely := likelihood(found.features)) < LIKELY:
        return None
    return found.difference, round(likely, 2)


def candidates(readings: Sequence[Reading], vectors: Vectors) -> NDArray[np.bool_]:
    """Which pairs may be likely enough, shape (n, n), a row for each later one: by a bound that looks at no order."""
    columns: dict[str, int] = {}
    for reading in readings:
        for word in reading.words:
            columns.setdefault(word, len(columns))
    subject, words = (np.zeros((len(readings), len(columns)), np.float32) for _ in range(2))
    for row, reading in enumerate(readings):
        subject[row, [columns[word] for word in reading.subject]] = 1
        words[row, [columns[word] for word in reading.words]] = 1
    sizes = np.maximum(subject.sum(1), 1)
    common = subject @ words.T
    shared = np.minimum(common, common.T) / np.minimum(sizes[:, None], sizes)
    own = [WEIGHTS["turns"] * reading.turns + WEIGHTS["changes"] * reading.changes for reading in readings]
    needed = math.log(LIKELY / (1 - LIKELY)) - WEIGHTS["bias"] - WEIGHTS["named"] - WEIGHTS["exclusive"]
    bound = WEIGHTS["similarity"] * (vectors @ vectors.T) + WEIGHTS["shared"] * shared + np.array(own)[:, None]
    likely: NDArray[np.bool_] = bound >= needed
    return likely
