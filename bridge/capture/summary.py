"""A segment's summary without a language model: sentences that stand in the transcript, chosen by rules and embeddings.

The *topic* is the first request of the person that names a subject. The *context* is an ``excerpt`` of what both said.
*Decisions* are sentences with the cue of a decision (``cues``) that the person said, or that the assistant said and the
person did not reject; and what the assistant proposed and the person accepted. *Rationale*, *open questions* and *next
steps* have cues of their own. Nothing is reworded; a sentence is on one line, and a topic that is cut ends in ``…``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from ..memory import Content, TimeScope
from ..text import passages
from ..text.courtesy import without_courtesy
from ..text.sections import shorten
from . import cues, named
from .excerpt import BUDGET, Excerpt, excerpt
from .segment import Embed, Evidence, Segment, SegmentSummary
from .sentences import Sentence, of_turn
from .session import Turn

_Section = Literal["topic", "context", "decisions", "rationale", "open_questions", "next_steps"]

TOPIC_CHARACTERS = 100
_MOST = {"decisions": 12, "rationale": 5, "open_questions": 5, "next_steps": 5}
_LEAST_WORDS = 3  # of an item; shorter ones do not say what they are about
_NO_TOPIC = "Session"
_GREETING = re.compile(
    r"(?:(?:hey|hi|hello|hallo|salut|hola)\b[,! ]*)?"
    r"(?:(?:can|could|would|will) (?:you|we) (?:please |kindly )?|please )?",
    re.IGNORECASE,
)
_QUOTED = ('""', "''", "“”", "„“", "«»")


def summarise(segment: Segment, embed: Embed, budget: int = BUDGET) -> SegmentSummary:
    """The summary of a segment; ``budget`` is the most characters of its context.

    ``importance``: a tenth for a segment without a request that names a subject; else three tenths, and a tenth for
    each decision, up to three, for files that were touched, for a reason, and up to two for how much the person said.
    ``confidence``: how well the context covers all that was said (the mean similarity of each sentence to the nearest
    one in it), and three quarters of that where no request names a subject.
    """
    spoken = [turn for turn in segment.turns if not turn.part]
    said = [sentence for number, turn in enumerate(spoken) for sentence in of_turn(turn, number)]
    telling = [sentence for sentence in said if not cues.is_passing(sentence.text)] or said
    topic = _topic(said)
    items = _items(telling, spoken)
    listed = {sentence for found in items.values() for sentence in found}
    kept = excerpt([sentence for sentence in telling if sentence not in listed], embed, budget)
    return SegmentSummary(
        content=Content(
            topic=_title(topic, kept),
            context=_joined(kept.sentences) or (_title(topic, kept) if said else ""),
            decisions=_texts(items["decisions"]),
            rationale=_texts(items["rationale"]),
            open_questions=_texts(items["open_questions"]),
            next_steps=_texts(items["next_steps"]),
            references=named.references(segment.turns),
            time_scope=_scope(spoken),
        ),
        importance=_importance(segment.turns, said, topic, items),
        confidence=round(kept.coverage * (1.0 if topic else 0.75), 3),
        method="rules",
        evidence=_evidence(topic, kept, items),
    )


def _topic(said: Sequence[Sentence]) -> Sentence | None:
    """The first sentence of the person that asks for something or says something; None if none names a subject."""
    mine = [one for one in said if one.speaker == "user" and not cues.is_empty_request(one.text)]
    long = [one for one in mine if len(one.text.split()) > _LEAST_WORDS and not cues.is_passing(one.text)]
    return next(iter(long or mine), None)


def _title(topic: Sentence | None, kept: Excerpt) -> str:
    if topic is None:
        return shorten(kept.sentences[0].text, TOPIC_CHARACTERS) if kept.sentences else _NO_TOPIC
    return shorten(_bare(without_courtesy(next(iter(passages.sentences(topic.text))))), TOPIC_CHARACTERS)


def _bare(request: str) -> str:
    """A request without a greeting, the quotation marks around it, and a full stop, which a title has not."""
    rest = _GREETING.sub("", request, count=1)
    request = rest if len(rest.split()) >= _LEAST_WORDS else request
    if len(request) > 2 and request[0] + request[-1] in _QUOTED and request[0] not in request[1:-1]:
        request = request[1:-1]
    return request if request.endswith("..") else request.removesuffix(".")


def _items(said: Sequence[Sentence], spoken: Sequence[Turn]) -> dict[_Section, list[Sentence]]:
    """The sentences of each list. A sentence is in one list only; a question is no decision."""
    is_decision = _Decisions(spoken)
    taken: set[str] = set()

    def pick(section: _Section, matches: Callable[[Sentence], bool], last: bool = False) -> list[Sentence]:
        found = []
        for sentence in said:
            key = sentence.text.lower()
            if key not in taken and len(sentence.text.split()) >= _LEAST_WORDS and matches(sentence):
                taken.add(key)
                found.append(sentence)
        return found[-_MOST[section] :] if last else _leading(found, _MOST[section])

    decisions = pick("decisions", is_decision)
    questions = pick("open_questions", lambda one: _is_open(one, len(spoken)), last=True)
    steps = pick("next_steps", lambda one: not one.is_question and cues.is_next_step(one.text), last=True)
    reasons = pick("rationale", lambda one: not one.is_question and cues.gives_reason(one.text))
    return {"decisions": decisions, "rationale": reasons, "open_questions": questions, "next_steps": steps}


def _leading(found: list[Sentence], most: int) -> list[Sentence]:
    """The first ones, the person's before the assistant's, in their order."""
    ranked = sorted(found, key=lambda one: one.speaker != "user")[:most]
    return sorted(ranked, key=lambda one: (one.turn, one.order))


class _Decisions:
    """Tells which sentences of a segment are decisions, by what they say and by the person's answer to them."""

    def __init__(self, spoken: Sequence[Turn]) -> None:
        answers = {
            number - 1: turn.text
            for number, turn in enumerate(spoken)
            if number and turn.speaker == "user" and spoken[number - 1].speaker != "user"
        }
        self._rejected = {number for number, answer in answers.items() if cues.rejects(answer)}
        self._accepted = {number for number, answer in answers.items() if cues.accepts(answer)}

    def __call__(self, sentence: Sentence) -> bool:
        if sentence.speaker == "user":
            return cues.decides_as_person(sentence.text)
        if sentence.turn in self._rejected:
            return False
        is_accepted = sentence.turn in self._accepted and cues.proposes(sentence.text)
        return is_accepted or cues.decides_as_assistant(sentence.text)


def _is_open(sentence: Sentence, turns: int) -> bool:
    """Whether it says that something is open, or is a question in the last turn, which nobody answered."""
    unanswered = sentence.is_question and sentence.turn == turns - 1
    return cues.is_open(sentence.text) or unanswered


def _importance(
    turns: Sequence[Turn], said: Sequence[Sentence], topic: Sentence | None, items: dict[_Section, list[Sentence]]
) -> float:
    if topic is None:
        return 0.1
    tenths = 3 + min(3, len(items["decisions"])) + bool(items["rationale"]) + any(turn.files for turn in turns)
    tenths += min(2, sum(len(one.text) for one in said if one.speaker == "user") // 400)
    return tenths / 10


def _joined(sentences: Iterable[Sentence]) -> str:
    """The sentences one after another. One begins a line if it is of another turn, or if none ended before it."""
    text = ""
    last: int | None = None
    for sentence in sentences:
        goes_on = sentence.turn == last and text.rstrip("\"')*_`").endswith((".", "!", "?", "。", "！", "？"))
        text += f"{' ' if goes_on else chr(10)}{sentence.text}"
        last = sentence.turn
    return text.strip()


def _texts(sentences: Iterable[Sentence]) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in sentences)


def _scope(spoken: Sequence[Turn]) -> TimeScope:
    times = [turn.at for turn in spoken if turn.at is not None]
    return TimeScope(start=times[0] if times else None, end=times[-1] if times else None, turn_count=len(spoken))


def _evidence(topic: Sentence | None, kept: Excerpt, items: dict[_Section, list[Sentence]]) -> tuple[Evidence, ...]:
    sections: list[tuple[_Section, Sequence[Sentence]]] = [
        ("topic", [topic] if topic is not None else []),
        ("context", kept.sentences),
        *items.items(),
    ]
    return tuple(Evidence(name, one.text, one.place) for name, found in sections for one in found)
