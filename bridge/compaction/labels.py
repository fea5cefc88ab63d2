"""Labels: the numbers and letters by which things of one name are told apart, as in "Room 12", "Client B", "in row 3".

A label is no amount, which another one may replace: it says which of the things a statement is about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from . import lexicon
from .lexicon import NUMBER, TOKEN, canonical, carries_meaning

_OPENING_LABEL = re.compile(  # "Room 12", "Client B", "v2", "web-1"; not "Keep 4 entries"
    r"\W*(?:(?:the|an?|our|in|on|for|at|of|with|from|to) )*"
    r"((?:[^\W\d_]|[^\W\d_]+[_-])\d+(?:\.\d+)*|[^\W\d_]+ (?-i:[A-Z])"
    r"|[^\W\d_]+ #?\d+(?:\.\d+)*)(?![\w%:])",
    re.IGNORECASE,
)
_LABEL_WITHIN = re.compile(  # "in row 3", not "in row 3 seats"
    r"\b(?:of|in|on|for|to|at|with|by|from) ((?!port|version|least|most)[a-z]+) (\d+)(?![\w%:]|\.\w| \w+s\b)"
)
_LABEL_NUMBER = re.compile(r"[ #_-]*(\d[\d.]*|[a-z])$")


def are_of_two_things(one: str, other: str) -> bool:
    """Whether two statements name two things of one name, "Room 12" and "Room 14" at the beginning or "in room 12"
    further on, and say different things of them. Where they say the same ("Room 14 is the archive"), it is another
    choice. So it is where one of them only says more, and the number may be an amount ("Spend 4 hours" and "Spend 6
    hours a day"); and further on, where more differs than the numbers."""
    labels = [_opening_label(text) for text in (one, other)]
    if None not in labels:
        (name, number, rest), (other_name, other_number, other_rest) = filter(None, labels)
        if name == other_name and number != other_number:
            if _may_be_counted(rest) or _may_be_counted(other_rest):
                return not (set(rest) <= set(other_rest) or set(rest) >= set(other_rest))
            return rest != other_rest
    names, others = (dict(_LABEL_WITHIN.findall(text)) for text in (one, other))
    if all(others.get(name, number) == number for name, number in names.items()):
        return False
    said, others_said = (_LABEL_WITHIN.sub("", text).lower() for text in (one, other))
    return said != others_said and NUMBER.sub("", said) == NUMBER.sub("", others_said)


def differ_in_a_label(one: str, other: str) -> bool:
    """Whether two statements differ in nothing but the number of a named thing: "Deploy on node 3" and "Deploy on node
    4" are of two things, or the one is another choice. Nobody can tell by the words."""
    return one != other and _LABEL_WITHIN.sub(r"\1", one) == _LABEL_WITHIN.sub(r"\1", other)


def is_label(tokens: Sequence[str], at: int, kept: list[str]) -> bool:
    """Whether a number belongs to the name before it: behind a label, and in front of the verb, where a statement says
    what it is about ("The sensor in room 12 reports"). Not that of a version, which may change."""
    name = kept[-1] if kept else ","
    if name in lexicon.LABELS or kept == ["version"]:
        return True
    is_version = "." in tokens[at] or canonical(name) in lexicon.CLASS_OF
    if is_version or not (carries_meaning(name) or kept == ["on"]) or not lexicon.FINITE.isdisjoint(tokens[:at]):
        return False
    behind = [*takewhile(lambda token: token not in lexicon.CLAUSE_STARTS, tokens[at + 1 :]), "", ""]
    if _may_be_counted(behind):
        return len(kept) > 1 and kept[-2] in lexicon.PREPOSITIONS and behind[1] not in lexicon.FINITE
    return not lexicon.FINITE.isdisjoint(behind)


def _opening_label(text: str) -> tuple[str, str, list[str]] | None:
    """The name and number with which a statement begins, and the words that follow."""
    found = _OPENING_LABEL.match(text)
    if found is None:
        return None
    name, number, _ = _LABEL_NUMBER.split(found[1].lower())
    rest = TOKEN.findall(text[found.end() :].lower())
    word = canonical(name)
    is_amount = word in lexicon.LIGHT_VERBS | lexicon.STOP_WORDS or (
        _may_be_counted(rest) and (rest[0] in lexicon.UNITS or name in lexicon.PREPOSITIONS or word in lexicon.COUNTING)
    )
    return None if is_amount else (name, number, rest)


def _may_be_counted(behind: Sequence[str]) -> bool:
    """Whether the word behind a number may be what it counts, "4 entries", and not a verb, "Server 4 runs"."""
    return bool(behind) and behind[0].endswith("s") and behind[0] not in lexicon.FINITE
