"""Beats: what the person asked, what was done for it, and how the person took it.

A beat is made of one exchange or several: "yes", "continue" and an answer to the assistant's question go on with the
one before. A beat is *withdrawn* where the person corrects it, or asks later for something else on the same subject.
What it said is in no summary then. Whether something was done is told by what the tools changed, and by words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..text import passages, turn_words as words
from ..text.query_words import subject_words
from ..text.sections import one_line
from .own_words import ANSWER, FENCED, TALK, own_sentences, prefix_of
from .sentences import Sentence, of_turn
from .session import Turn

_EDITS = re.compile(
    r"(?!.*(?:todo|task|issue))(?:.*(?:edit|write|patch|replace|create|insert|rename|delete))", re.IGNORECASE
)
_READS = re.compile(r".*(?:read|view|grep|glob|search|list|fetch|open|^ls$|cat$)", re.IGNORECASE)
_DIFF = re.compile(r"^[ \t]*`{3,}diff\b", re.MULTILINE)
_STATEMENT = 160  # characters of a short turn
_OPTION = re.compile(
    r"^[ \t>*_#-]*(?:[^\W\d]{2,12}\s+)?\(?([A-H]|[1-9])(?:[.)]|\s?[:：—–-])[*_\s]+(\S.*)$", re.MULTILINE
)
_MARK = re.compile(r"(?<![\w.-])([A-H]|[1-9])(?:\s?[–-]\s?([A-H]|[1-9]))?(?![\w-])")
_AFTER_OFFER = 8  # sentences that may follow an offer in its turn
_ALONE = re.compile(r"^[^\w\n]*([^\W\d][\w ]{2,24}[.!。])(?:\s|$)", re.MULTILINE)
_SHORT = 3  # sentences of an answer that says only what is so now
_BRIEF = 40  # characters; a shorter report takes the next sentence along
_MARKED = 80  # characters; a longer turn is no answer to a choice
_ALIKE = 0.6  # of the words of a request that a later one has too, which replaces it then
_STOPS = (
    ".",
    "!",
    "…",
    ":",
    "`",
    ")",
    '"',
    "*",
    "。",
    "！",
    "：",
    "）",
)  # of a sentence; an item of a list may have none


@dataclass(slots=True)
class Beat:
    """``asked`` are the person's own sentences, ``answered`` the assistant's; ``request`` is the whole turn, at
    ``place``. ``taken`` is the text of the option or offer that the person took (``chosen``: an option), ``consent``
    the words with which; ``offer`` what the answer offers. ``changed``: files were changed for it. ``done``: that, or,
    where nothing is known of tools, the answer says so. ``short`` are the numbers of the person's short turns.
    ``answers`` are questions that a tool put to the person, each with the answer and its place. ``is_denied``: the next
    turn may say that it is not so."""

    asked: list[Sentence]
    answered: list[Sentence]
    request: str = ""
    place: str = ""
    taken: str = ""
    consent: str = ""
    chosen: bool = False
    changed: bool = False
    done: bool = False
    is_withdrawn: bool = False
    is_denied: bool = False
    offer: str = ""
    short: frozenset[int] = frozenset()
    answers: tuple[tuple[str, str, str], ...] = ()

    def subject(self) -> frozenset[str]:
        """The words of what was asked."""
        return subject_words(" ".join([*(one.text for one in self.asked), self.taken]))


def beats(turns: Sequence[Turn]) -> list[Beat]:
    """The beats of a segment, in order. Turns of side chains count by the files that they changed."""
    spoken = [turn for turn in turns if not turn.part]
    tells_tools = any(_EDITS.match(tool) for turn in turns for tool in turn.tools)
    prefix = prefix_of([turn.text for turn in spoken if turn.speaker == "user"])
    own = own_sentences(spoken, prefix)
    found: list[Beat] = []
    before = ""  # the assistant's last words
    for asked, answered in _exchanges(spoken):
        mine = [one for number in asked for one in own[number]]
        beat = _beat(spoken, asked, answered, mine, prefix, tells_tools)
        answer = "\n\n".join(spoken[number].text for number in answered)
        _add(found, beat, before, tells_tools)
        before = answer or before
    _withdraw_what_was_replaced(found)
    return found


def _exchanges(spoken: Sequence[Turn]) -> Iterable[tuple[list[int], list[int]]]:
    asked: list[int] = []
    answered: list[int] = []
    for number, turn in enumerate(spoken):
        if turn.speaker == "user" and answered:
            yield asked, answered
            asked, answered = [], []
        (asked if turn.speaker == "user" else answered).append(number)
    if asked or answered:
        yield asked, answered


def _beat(
    spoken: Sequence[Turn], asked: list[int], answered: list[int], own: list[Sentence], prefix: str, tells_tools: bool
) -> Beat:
    own = [one for one in own if not words.begins("roles", one.text)]
    said = [one for number in answered for one in of_turn(spoken[number], number)]
    answers = [spoken[number] for number in answered]
    changed = any(_changes(turn) or (not tells_tools and _DIFF.search(turn.text)) for turn in answers)
    changed = changed and not any(spoken[number].text.startswith("/ask") for number in asked)
    alone = [found[1] for turn in answers for found in _ALONE.finditer(turn.text)]  # "Done." is no sentence
    reported = not tells_tools and any(map(_reports, [*alone, *(one.text for one in said if not one.is_question)]))
    questions = [one for one in said if one.is_question and one.remaining < _AFTER_OFFER]
    offer = plain(questions[-1].text) if questions else ""
    short = frozenset(number for number in asked if len(spoken[number].text) <= _STATEMENT)
    request = "\n\n".join(spoken[number].text.removeprefix(prefix) for number in asked)
    place = spoken[asked[0]].place if asked else ""
    told = tuple(
        (found[1], found[2], spoken[number].place) for number in asked for found in ANSWER.finditer(spoken[number].text)
    )
    done = changed or reported
    return Beat(own, said, request, place, changed=changed, done=done, offer=offer, short=short, answers=told)


def _reports(text: str) -> bool:
    return words.says("done", text) and not words.begins("intends", text) and not text.endswith(("?", "？"))


def _changes(turn: Turn) -> bool:
    """Whether its tools changed files: by the names of the tools, or files that no tool only read."""
    return any(map(_EDITS.match, turn.tools)) or bool(turn.files and not any(map(_READS.match, turn.tools)))


def _add(found: list[Beat], beat: Beat, before: str, tells_tools: bool) -> None:
    """Append the beat, or go on with the last one. Withdraws the last one where this one corrects it."""
    last, request = found[-1] if found else None, beat.request
    if last is not None and _denies(beat, last):
        last.is_denied = True
    beat.taken = _taken_option(request, before) if last is not None and last.offer else ""
    beat.chosen, beat.consent = bool(beat.taken), one_line(request)
    beat.done = beat.done or (beat.chosen and not tells_tools)
    if last is None or beat.chosen:
        found.append(beat)
    elif beat.answers and not beat.asked:  # a tool's question is a part of the work
        _go_on(last, beat)
    elif last.offer and words.begins("accepts", request):
        if last.done:
            beat.taken = last.offer
            found.append(beat)
        else:
            last.taken, last.consent = (last.taken, last.consent) if last.taken else (last.offer, beat.consent)
            _go_on(last, beat)
    elif words.begins("continues", request) or (words.is_empty(request) and not words.begins("retracts", request)):
        if not last.done:
            _go_on(last, beat)
    elif _takes_back(beat):
        last.is_withdrawn = not (words.is_empty(request) and last.offer and last.done)  # "no" to a further offer
        found.append(beat)
    elif words.begins("disputes", request) or words.says("persists", one_line(request[:_STATEMENT])):
        _go_on(last, beat)
    else:
        found.append(beat)


def _denies(beat: Beat, last: Beat) -> bool:
    """Whether the person may say that what was reported for the last beat is not so."""
    said, mine = one_line(beat.request[:TALK]), beat.subject()
    is_about = len(mine) < _SHORT or mine & subject_words(" ".join(one.text for one in last.answered))
    fails = words.says("fails", said) and not said.endswith(("?", "？"))  # "Why did it fail?" may ask about the past
    return bool(is_about) and (fails or words.says("denies", said) or words.says("persists", said))


def _takes_back(beat: Beat) -> bool:
    """Whether the person takes back what was done for the beat before."""
    doubts = words.begins("disputes", beat.request) and words.says("wishes", beat.request)
    is_reverted = any(words.begins("reverts", one) for one in passages.sentences(one_line(beat.request[:TALK])))
    return doubts or is_reverted or words.begins("retracts", beat.request)


def _go_on(last: Beat, beat: Beat) -> None:
    last.asked += [one for one in beat.asked if not words.is_empty(one.text)]
    last.answered = beat.answered
    last.is_denied = last.is_denied and not beat.answered
    last.changed, last.done = last.changed or beat.changed, last.done or beat.done
    last.offer = beat.offer
    last.short |= beat.short
    last.answers += beat.answers


def _withdraw_what_was_replaced(found: Sequence[Beat]) -> None:
    """A later request on the same subject replaces an earlier one."""
    for place, earlier in enumerate(found):
        mine = earlier.subject()
        for later in found[place + 1 :]:
            common = mine & later.subject()
            if later.done and len(common) > 1 and len(common) >= _ALIKE * len(mine):
                earlier.is_withdrawn = True


def _taken_option(request: str, before: str) -> str:
    """The text of the options of the answer before that a short request names by their mark, or by their own words."""
    if len(request) > _MARKED or not request.strip():
        return ""
    said = FENCED.sub("", before)
    options = {found[1]: plain(one_line(found[2])) for found in _OPTION.finditer(said)}
    if len(options) < 2:
        return ""
    named = set[str]()
    for first, last in _MARK.findall(request):
        named |= {name for name in options if first <= name <= (last or first)}
    if named:
        return " / ".join(text for name, text in options.items() if name in named)
    if request.rstrip().endswith("?"):
        return ""
    asked = subject_words(request)
    alike = [text for text in options.values() if asked & subject_words(text)]
    return alike[0] if len(alike) == 1 else ""


def told(beat: Beat, asked: frozenset[str]) -> str:
    """What came out for a request with these words: the sentence of the answer that reports it best; empty if none
    does."""
    said = [] if beat.is_denied else beat.answered
    said = [one for one in said if not one.is_question and len(subject_words(one.text)) > 1]
    said = [one for one in said if not any(words.begins(part, one.text) for part in ("intends", "upkeep"))]
    reports = [one for one in said if words.says("done", one.text) and not words.is_open(one.text)]
    reports = [one for one in reports if not one.is_step] or reports
    said = [one for one in said if not one.is_step] or said
    if beat.changed and not reports and len(beat.answered) <= _SHORT:  # a long one also tells how it came there
        reports = [one for one in said if len(asked & subject_words(one.text)) > 1]
        reports = [one for one in reports if words.is_report(plain(one.text), is_done=True)]
    if beat.done and not reports:
        reports = [one for one in said if words.says("concedes", one.text) and asked & subject_words(one.text)]
    candidates = reports if beat.done else [one for one in said if one.text.endswith(_STOPS)]
    candidates = [one for one in candidates if words.is_clear(plain(one.text))]
    if not candidates:
        return ""

    def worth(place: int) -> float:
        text = candidates[place].text
        common = len(asked & subject_words(text)) / math.sqrt(2 + len(asked))
        late = place / len(candidates) * (0.4 if beat.done and candidates[place].is_step else -0.4)
        is_proud = text.endswith(("!", "！"))
        return common + late - (len(text) < 30) * 0.5 - (is_proud or not text.endswith(_STOPS)) * 0.3

    best = candidates[max(range(len(candidates)), key=worth)]
    text = plain(best.text)
    if text.endswith((":", "：")) or len(text) <= _BRIEF:  # it announces something, or says little
        after = (one for one in said if one.turn == best.turn and one.order == best.order + 1)
        whole = " ".join([text, *(plain(one.text) for one in after)])
        text = text if whole.endswith((":", "：")) else whole
    return "" if text.endswith((":", "：")) else text


def plain(text: str) -> str:
    """A sentence without marks of emphasis."""
    return text.replace("**", "").strip("_* ")
