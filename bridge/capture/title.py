"""A segment's title: the heading of a plan that the person gave, or a request, with the words that both said most.

Of the requests, the one whose words come up most in what the person asked; one for which something was done counts
more, a question or an errand less. What both talk about and the request does not name stands before it:
"checkpoint: sort by commit tree".
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from ..text import turn_words as words
from ..text.courtesy import without_courtesy
from ..text.query_words import stem, subject_words
from ..text.sections import shortened
from ..text.terms import STOP_WORDS
from .beats import Beat, plain, told
from .session import Turn

MOST_CHARACTERS = 60
UNKNOWN = "Session"
_CLAUSE = 45  # characters of a request that are compared
_MOST_TERMS, _TERMS = 2, 30  # words before a request, and characters for them
# At the beginning, or after a line such as "Implement the following plan:"; elsewhere, code has comments of this form.
HEADING = re.compile(r"\A(?:\s*\S.{0,100}\n)?\s*# (?:plan ?:? )?(\S.{8,200})$", re.MULTILINE | re.IGNORECASE)
_TERM = re.compile(r"[^\W_]+(?:[-_.][^\W_]+)*")
# Words of any talk about code: they name no subject.
COMMON = frozenset(
    stem(word)
    for word in "file files code line test change fix add use create update check like want make need run error issue"
    " new thing could would look read write work show give get set find see name value option also now sure done right"
    " good first last next step please folder project implement review start continue help build try question"
    " fail function let use done now".split()
)


def title(turns: Sequence[Turn], beats: Sequence[Beat]) -> str:
    """The title, at most 60 characters, cut at a word. A withdrawn beat tells what was talked about, no request."""
    headings = (HEADING.search(turn.text) for turn in turns if turn.speaker == "user" and not turn.part)
    if heading := next(filter(None, headings), None):
        return shortened(plain(heading[1]), MOST_CHARACTERS)
    holding = [beat for beat in beats if not beat.is_withdrawn] or beats
    requests = [one.text for beat in holding for one in beat.asked if not words.is_empty(one.text)]
    if not requests:
        reports = filter(words.is_report, (told(beat, frozenset()) for beat in holding))
        return shortened(next(reports, UNKNOWN), MOST_CHARACTERS)
    requests = [text for text in requests if "[REDACTED:" not in text] or requests  # what had a secret says little
    led_to_work = {one.text for beat in holding if beat.done for one in beat.asked}
    said = Counter(word for beat in beats for one in beat.asked for word in subject_words(one.text))

    def worth(text: str) -> float:
        about = subject_words(shortened(clause(text), _CLAUSE))
        aside = words.begins("upkeep", text) or words.begins("refers", text) or words.says("fails", text)
        aside = aside or text.endswith(("?", "？"))
        weight = (1.6 if text in led_to_work else 1.0) * (1.2 if text == requests[0] else 1.0)
        weight *= (0.5 if aside else 1.0) * (
            0.7 if words.begins("disputes", text) or words.begins("retracts", text) else 1.0
        )
        return weight * sum(said[word] for word in about) / (3 + len(about))

    request = clause(max(requests, key=worth))
    terms = _terms(turns, beats, subject_words(shortened(request, _CLAUSE)))
    before = f"{', '.join(terms)}: " if terms else ""
    return before + shortened(request, MOST_CHARACTERS - len(before))


def clause(request: str) -> str:
    """A request without words of courtesy, and without the full stop, which a title has not."""
    text = words.without_courtesy(without_courtesy(plain(request)))
    return text if text.endswith("..") else text.rstrip(".")


def _terms(turns: Sequence[Turn], beats: Sequence[Beat], known: frozenset[str]) -> list[str]:
    """What both the person and the assistant said most, and the request does not name. The words of a branch count
    threefold: so the person called the work."""
    branch = subject_words(" ".join({turn.branch.rpartition("/")[2] for turn in turns if turn.branch}))
    form: dict[str, str] = {}  # of each word, as it was said first

    def counted(side: str) -> Counter[str]:
        given = beats if side == "asked" else [beat for beat in beats if not beat.is_withdrawn]
        terms = [term for beat in given for one in getattr(beat, side) for term in _TERM.findall(one.text)]
        for term in terms:
            form.setdefault(stem(term.lower()), term)
        return Counter(stem(term.lower()) for term in terms if len(term) > 2 and term.lower() not in STOP_WORDS)

    asked, answered = counted("asked"), counted("answered")
    worth = {
        word: math.log1p(count) * math.log1p(answered[word]) * (3 if subject_words(form[word]) & branch else 1)
        for word, count in asked.items()
        if answered[word] and word not in COMMON
    }
    found: list[str] = []
    for word in sorted(worth, key=worth.__getitem__, reverse=True):
        about = subject_words(form[word])
        if about and not about & known and len(", ".join([*found, form[word]])) <= _TERMS and len(found) < _MOST_TERMS:
            found.append(form[word])
            known |= about
    return found
