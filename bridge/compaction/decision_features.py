"""The features of a decision by which the conflict model compares it with another one.

They are read from the words: the decision's subject, negation, amounts and names, and whether it reverses something.
English only, like the word tables.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from . import lexicon
from .statements import MAX_CHARACTERS, TOKEN, WITH_UNIT, amounts_in, canonical

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
_INTRODUCTION = re.compile(
    r"^(?:(?:after|because|since|due to|following|as|given)\b[^,]{0,80}, |we (?:have )?(?:agreed|decided|settled)\b )"
)
_REASON = re.compile(
    r";|\.\s|\s[-–—]+\s|\s\(|\b(?:because|since|so that|so|due to|as (?:it|they|we|this|that|the)|which|until)\b|!|\n"
)
# A decision with one of these says that something is as it was, in the languages of which ``lexicon`` knows denials.
_CONFIRMS = re.compile(
    r"\b(?:stay(?:s|ed|ing)?|remain(?:s|ed|ing)?|still|keep(?:s|ing)?|unchanged|continues?|as (?:before|until now|ever)"
    r"|bleib(?:t|en)|weiterhin|unverändert|wie bisher|nach wie vor|reste(?:nt)?|toujours|inchangée?s?|comme avant"
    r"|sigue[n]?|permanece[m]?|continúan?|continuam?|como antes|mantém|rest(?:a|ano)|riman(?:e|gono)|ancora|come prima"
    r"|blijf[t]?|blijven|nog steeds|ongewijzigd|förblir|fortfarande|oförändrad|forblir|forbliver|fortsatt|uendret"
    r"|остаётся|остается|остаются|по-прежнему|pozostaj[eą]|zůstáv[áa]|nadále|marad|pysyy|kalır)\b"
)
_OCCASION = re.compile(r"\bafter the ")
_MIN_CHARACTERS = 12  # characters of a decision
_MIN_WORDS = 3  # meaningful words; after as many, a part behind a comma is a reason, not an item of a list

_SUFFIX = re.compile(  # of a stem, which has lost its final "e"
    r"(?:i[sz]ation|ification|ation|ition|tion|sion|ion|ment|ness|anc|enc|ity|abl|ibl|iv|ally|al|at|i[sz]|or|er|ly|y)$"
)
_MIN_ROOT_CHARACTERS = 4
_NAME = re.compile(r"[A-Z].*[A-Z]|\d|[_/`]|[a-z][A-Z]")
_LABEL = re.compile(r"[a-z]+-\d+")


@cache
def root(word: str) -> str:
    """The common root of related nouns and verbs: ``impersonate`` and ``impersonation`` have the same."""
    stem = canonical(word)
    bare = _SUFFIX.sub("", stem)
    return bare if len(bare) >= _MIN_ROOT_CHARACTERS else stem


def _roots(words: str) -> frozenset[str]:
    return frozenset(form for word in words.split() for form in (word, root(word)))


_NEGATIONS = _roots(
    "not no never none nobody nothing nor neither without avoid stop drop remove delete disable deactivate off forbid"
    " forbidden prohibit disallow ban deny skip exclude omit hide abandon scrap ditch cancel withdraw withdrawn undo"
    " revert rescind discard retire discontinue opt-in optional lose immutable refuse reject prevent"
    " suspend deprecate"
)
# A decision with a word of _REVERSALS reverses an earlier one. Those of _CHANGING are weaker evidence for that.
_REVERSALS = _roots(
    "again back revert undo abandon reconsider cancel withdraw withdrawn mistake instead anymore restore ditch scrap"
    " omit"
)
_CHANGING = _roots("stay remain keep move switch become now raise lower reduce increase drop lose change")
_UNIVERSALS = frozenset(
    "all every any each always whatever regardless either anyway included nobody none ever both".split()
)
_CONDITIONS = frozenset("if unless while during until when except only whenever once".split())
_ADDITIONS = frozenset("also too additionally besides alongside".split())
_PURPOSES = frozenset(
    "that for of during while if when where who whose before after outside except unless under between without from"
    " to than".split()
)
_GROUP_STARTS = frozenset((",", "that"))  # these begin a group of words, as a preposition does
_PLACES = frozenset("in on at inside within onto into".split())
# Common verbs, which say less about the subject than their objects.
_COMMON_VERBS = (
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
_LIGHT = frozenset(root(word) for word in lexicon.LIGHT_VERBS)


@dataclass(frozen=True, slots=True)
class DecisionFeatures:
    """The features of one decision that the comparison needs. All words are roots.

    ``subject``: the words that name its subject. ``heads`` end their group of words; ``purposes`` and ``places`` follow
    a preposition of that kind. ``order``: (word, index in the sentence). ``followed``: (word, next token).
    ``labels``: kind -> numbered name, such as ``phase`` -> ``phase-2``. ``amounts``: unit -> values. ``is_negative``:
    it is a negation. ``reverses``: it reverses an earlier decision. ``is_universal``: it claims to hold without
    exception.
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
    is_negative: bool
    reverses: bool
    changes: bool
    is_universal: bool
    is_conditional: bool
    is_addition: bool
    confirms: bool  # it says that something is as it was
    all_amounts: dict[str, frozenset[float | str]]  # of the whole text, also of its reasons: kind -> values
    is_open: bool  # an open question, not a decision that another one could replace


def extract_features(text: str) -> DecisionFeatures:
    """The features of a decision's text, without its introduction and reasons. Never raises."""
    amounts, tokens = amounts_in(TOKEN.findall(_decision(text)))
    words: list[str] = []
    subject = set()
    order, followed = [], []
    heads, purposes, places = set(), set(), set()
    denials, preposition = 0, ""
    forms = [(token, root(token)) for token in tokens]
    for index, (token, form) in enumerate(forms):
        if token in _NEGATIONS or form in _NEGATIONS:
            denials += 1
        elif token in lexicon.PREPOSITIONS or token in _GROUP_STARTS:
            preposition = token
        elif _names_subject(token, form):
            words.append(form)
            if canonical(token) not in _COMMON_VERBS:
                subject.add(form)
            order.append((form, index))
            if preposition in _PURPOSES:
                purposes.add(form)
            if preposition in _PLACES:
                places.add(form)
            after, after_form = forms[index + 1] if index + 1 < len(forms) else ("", "")
            followed.append((form, after_form))
            if not after or not _names_subject(after, after_form) or canonical(after) in _COMMON_VERBS:
                heads.add(form)
    all_forms = {form for pair in forms for form in pair}
    return DecisionFeatures(
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
        is_negative=denials % 2 == 1,
        reverses=not all_forms.isdisjoint(_REVERSALS),
        changes=not all_forms.isdisjoint(_CHANGING),
        is_universal=not all_forms.isdisjoint(_UNIVERSALS),
        is_conditional=not all_forms.isdisjoint(_CONDITIONS),
        is_addition=not all_forms.isdisjoint(_ADDITIONS),
        confirms=_CONFIRMS.search(text[:MAX_CHARACTERS].lower()) is not None,
        all_amounts={kind: frozenset(values) for kind, values in amounts_in(TOKEN.findall(_plain(text)))[0].items()},
        is_open="undecided" in all_forms,
    )


def _plain(text: str) -> str:
    """The normalised text."""
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS]).lower()
    for pattern, replacement in _PHRASES:
        plain = pattern.sub(replacement, plain)
    return WITH_UNIT.sub(r"\1 \2", plain)


def _decision(text: str) -> str:
    """The normalised text without its introduction and its reasons."""
    plain = _INTRODUCTION.sub("", _plain(text))
    if reason := _REASON.search(plain, _MIN_CHARACTERS):
        plain = plain[: reason.start()]
    if (occasion := _OCCASION.search(plain)) and _is_complete(plain[: occasion.start()]):
        plain = plain[: occasion.start()]
    kept, *others = plain.split(", ")
    for part in others:
        if _is_complete(kept) and len(part.split()) > 2:
            break
        kept += f", {part}"
    return kept


def _is_complete(text: str) -> bool:
    tables = (_GROUP_STARTS, lexicon.STOP_WORDS, lexicon.PREPOSITIONS)
    return sum(not any(token in table for table in tables) for token in TOKEN.findall(text)) >= _MIN_WORDS


def _names_subject(token: str, form: str) -> bool:
    """Whether a word can name a subject; grammatical words, negations and common verbs cannot."""
    tables = (_GROUP_STARTS, lexicon.STOP_WORDS, lexicon.PREPOSITIONS, _ADDITIONS, _NEGATIONS, _REVERSALS, _LIGHT)
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
