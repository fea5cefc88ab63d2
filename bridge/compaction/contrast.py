"""Estimates the probability that two decisions of any wording conflict, by logistic regression over a few features.

The rules of ``conflicts`` need two statements of similar form; this does not. It extracts a ``Reading`` of each
decision: its subject, negation, amounts and names, and whether it reverses something. The differences of two readings
and the similarity of the embeddings give the probability. The weights are fitted to labelled pairs
(``python -m benchmarks.conflicts --fit``). English only, like the word tables.
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
from .statements import MAX_CHARACTERS, TOKEN, WITH_UNIT, amounts_in, canonical

Difference = Literal["toggle", "negation", "value", "choice", "reversal"]

LIKELY = 0.65  # the probability from which a pair is a conflict; chosen on the labelled pairs for precision

# The weight of each feature in the log-odds of a conflict. ``python -m benchmarks.conflicts --fit`` prints them.
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
# An introduction, and the start of the reasons; the decision is between the two.
_LEAD = re.compile(
    r"^(?:(?:after|because|since|due to|following|as|given)\b[^,]{0,80}, |we (?:have )?(?:agreed|decided|settled)\b )"
)
_REASON = re.compile(
    r";|\.\s|\s[-–—]+\s|\s\(|\b(?:because|since|so that|so|due to|as (?:it|they|we|this|that|the)|which|until)\b|!|\n"
)
_OCCASION = re.compile(r"\bafter the ")
_SHORTEST = 12  # characters of a decision
_FULL = 3  # meaningful words; after as many, a part behind a comma is a reason, not an item of a list

_SUFFIX = re.compile(  # of a stem, which has lost its final "e"
    r"(?:i[sz]ation|ification|ation|ition|tion|sion|ion|ment|ness|anc|enc|ity|abl|ibl|iv|ally|al|at|i[sz]|or|er|ly|y)$"
)
_SHORTEST_ROOT = 4
_NAME = re.compile(r"[A-Z].*[A-Z]|\d|[_/`]|[a-z][A-Z]")
_LABEL = re.compile(r"[a-z]+-\d+")


@cache
def root(word: str) -> str:
    """The common root of related nouns and verbs: ``impersonate`` and ``impersonation`` have the same."""
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
# A decision with a word of _TURNING reverses an earlier one. Those of _CHANGING are weaker evidence for that.
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
_OPENING = frozenset((",", "that"))  # these begin a group of words, as a preposition does
_PLACES = frozenset("in on at inside within onto into".split())
# Common verbs, which say less about the subject than their objects.
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
    """The features of one decision that the comparison needs. All words are roots.

    ``subject``: the words that name its subject. ``heads`` end their group of words; ``purposes`` and ``places`` follow
    a preposition of that kind. ``order``: (word, index in the sentence). ``followed``: (word, next token).
    ``labels``: kind -> numbered name, such as ``phase`` -> ``phase-2``. ``amounts``: unit -> values. ``denies``: it is
    a negation. ``turns``: it reverses something. ``is_whole``: it claims to hold without exception.
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
    is_open: bool  # an open question, not a decision that another one could replace


def read(text: str) -> Reading:
    """The reading of a statement, without its introduction and reasons."""
    amounts, tokens = amounts_in(TOKEN.findall(_decision(text)))
    words: list[str] = []
    subject = set()
    order, followed = [], []
    heads, purposes, places = set(), set(), set()
    denials, preposition = 0, ""
    forms = [(token, root(token)) for token in tokens]
    for index, (token, form) in enumerate(forms):
        if token in _DENYING or form in _DENYING:
            denials += 1
        elif token in lexicon.PREPOSITIONS or token in _OPENING:
            preposition = token
        elif _names_subject(token, form):
            words.append(form)
            if canonical(token) not in _DOING:
                subject.add(form)
            order.append((form, index))
            if preposition in _PURPOSES:
                purposes.add(form)
            if preposition in _PLACES:
                places.add(form)
            after, after_form = forms[index + 1] if index + 1 < len(forms) else ("", "")
            followed.append((form, after_form))
            if not after or not _names_subject(after, after_form) or canonical(after) in _DOING:
                heads.add(form)
    all_forms = {form for pair in forms for form in pair}
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
        turns=not all_forms.isdisjoint(_TURNING),
        changes=not all_forms.isdisjoint(_CHANGING),
        is_whole=not all_forms.isdisjoint(_WHOLE),
        is_conditional=not all_forms.isdisjoint(_CONDITIONS),
        is_addition=not all_forms.isdisjoint(_ADDITIONS),
        is_open="undecided" in all_forms,
    )


def _decision(text: str) -> str:
    """The normalised text without its introduction and its reasons."""
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS]).lower()
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


def _names_subject(token: str, form: str) -> bool:
    """Whether a word can name a subject; grammatical words, negations and common verbs cannot."""
    tables = (_OPENING, lexicon.STOP_WORDS, lexicon.PREPOSITIONS, _ADDITIONS, _DENYING, _TURNING, _LIGHT)
    return not any(token in table or form in table for table in tables)


def _names(text: str) -> frozenset[str]:
    """Names and identifiers: words with a capital inside the sentence, two capitals, a digit or a code character."""
    named = (
        word
        for index, word in enumerate(text[:MAX_CHARACTERS].split())
        if (index and word[:1].isupper()) or _NAME.search(word)
    )
    return frozenset(root(word.strip(".,;:()`").lower()) for word in named)


def _amounts(quantities: dict[str, tuple[float | str, ...]]) -> dict[str, frozenset[float | str]]:
    """Amounts by unit; all amounts without a unit share the key ``""``, whatever they count."""
    kinds: dict[str, set[float | str]] = {}
    for kind, values in quantities.items():
        kinds.setdefault("" if kind.startswith(("of ", "named ")) else kind, set()).update(values)
    return {kind: frozenset(values) for kind, values in kinds.items()}


@dataclass(frozen=True, slots=True)
class Contrast:
    """How a later reading differs from an earlier one. ``features``: name in WEIGHTS -> value, 0 to 1."""

    difference: Difference | None
    features: dict[str, float]


def compare(a: Reading, b: Reading, similarity: float) -> Contrast:
    """Compares an earlier reading with a later one; ``similarity`` is the cosine of the texts' embeddings."""
    common = a.subject & b.words | b.subject & a.words
    only_a, only_b = a.subject - common, b.subject - common
    opposed = {(x, y) for x in a.words - b.words for y in _opposites(x) & (b.words - a.words)}
    only_a, only_b = only_a - {x for x, _ in opposed}, only_b - {y for _, y in opposed}
    denied = (a.denies != b.denies) != bool(opposed)
    amount = any(a.amounts[kind] != b.amounts[kind] for kind in a.amounts.keys() & b.amounts.keys())
    named = bool(a.names & only_a) and bool(b.names & only_b)
    other = bool(only_a and only_b)
    is_other = any(b.labels.get(kind, label) != label for kind, label in a.labels.items())
    plain = denied or amount  # beside such a clear difference, every other one suggests another subject
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
    """Whether the later decision only adds an exception: it holds in a narrower case. Allowing a case of what was
    denied is no exception."""
    is_narrower = not only_a and bool(only_b & (b.purposes | b.places))
    return is_narrower and not (b.changes or b.is_whole or (a.denies and not b.denies))


def _groups(reading: Reading, only: frozenset[str]) -> int:
    """The number of groups of adjacent words that the given words form in the sentence."""
    indexes = [index for word, index in reading.order if word in only]
    return sum(index - 1 != before for before, index in zip([-2, *indexes], indexes, strict=False))


def _before(reading: Reading, only: frozenset[str], common: frozenset[str]) -> set[str]:
    """The common words that directly follow the given ones, as ``tokens`` in ``refresh tokens``."""
    return {after for word, after in reading.followed if word in only and after in common}


def likelihood(features: dict[str, float]) -> float:
    """The probability of a conflict, 0 to 1: the logistic function of the weighted features."""
    return 1 / (1 + math.exp(-WEIGHTS["bias"] - sum(WEIGHTS[name] * value for name, value in features.items())))


def likely_difference(a: Reading, b: Reading, similarity: float) -> tuple[Difference, float] | None:
    """The kind of conflict between an earlier and a later reading, and its probability; None below ``LIKELY``."""
    contrast = compare(a, b, similarity)
    if contrast.difference is None or (probability := likelihood(contrast.features)) < LIKELY:
        return None
    return contrast.difference, round(probability, 2)


def candidates(readings: Sequence[Reading], vectors: Vectors) -> NDArray[np.bool_]:
    """Which pairs may reach ``LIKELY``, shape (n, n), one row per later reading. A cheap upper bound of the score."""
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
