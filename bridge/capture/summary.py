"""A segment's summary without a language model, made of its beats.

A *decision* is a pair: the person's words, and the sentence of the answer that says what came of it. The *context* has
the other beats in the same form, asked → came out, the last ones first in worth; one line where nothing was decided.
*Open* is what the last turn asks. Every part stands in the transcript; one that is cut ends in ``…``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ..memory import Content, TimeScope
from ..text.courtesy import without_courtesy
from . import named, words
from .beats import Beat, beats, plain, subject_words, told
from .segment import Evidence, Segment, SegmentSummary
from .sentences import Sentence
from .session import Turn

TOPIC_CHARACTERS = 60
ARROW = " → "
_QUOTE, _OUTCOME = 150, 190  # characters of a line's two sides
_MOST_DECISIONS = 6
_CONTEXT = 480  # characters; about 120 tokens
_NO_TOPIC = "Session"


def summarise(segment: Segment) -> SegmentSummary:
    """The summary of a segment.

    ``importance``: a tenth for a segment without a request that names a subject; else three tenths, and a tenth for
    each decision, up to three, for files that were changed, and up to two for how much the person said.
    ``confidence``: how sure its lines are: nine tenths where tools changed what a decision says, less where only words
    say so, four tenths without a decision.
    """
    spoken = [turn for turn in segment.turns if not turn.part]
    found = beats(segment.turns)
    holding = [beat for beat in found if not beat.is_withdrawn]
    pairs = [(beat, pair) for beat in holding for pair in _decisions(beat)][-_MOST_DECISIONS:]
    others = [beat for beat in holding if all(beat is not decided for decided, _ in pairs)]
    lines = _context(others, is_short=not pairs)
    topic = _topic(holding or found, [pair for _, pair in pairs])
    opens = _open(spoken, found)
    decisions = tuple(_line(quote, outcome) for _, (quote, _, outcome) in pairs)
    context = "\n".join(text for text, _ in lines)
    evidence = [Evidence("decisions", _line(quote, outcome), place) for _, (quote, place, outcome) in pairs]
    evidence += [Evidence("context", text, place) for text, place in lines]
    evidence += [Evidence("open_questions", one.text, one.place) for one in opens]
    has_subject = any(not words.is_empty(one.text) for beat in found for one in beat.asked)
    return SegmentSummary(
        content=Content(
            topic=topic,
            context=context or (topic if has_subject or decisions else ""),
            decisions=decisions,
            open_questions=tuple(plain(one.text) for one in opens),
            references=named.references(segment.turns),
            time_scope=_scope(spoken),
        ),
        importance=_importance(found, len(pairs), has_subject),
        confidence=0.4 if not pairs else 0.9 if all(beat.changed for beat, _ in pairs) else 0.7,
        method="rules",
        evidence=tuple(evidence),
    )


def _decisions(beat: Beat) -> list[tuple[str, str, str]]:
    """What the person decided in a beat: the words, their place, and what came of them. One for each turn."""
    if not beat.done or not beat.asked:
        return []
    if beat.chosen:
        quote = f"{_cut(' '.join(one.text for one in beat.asked), _QUOTE)} ({_cut(beat.taken, _QUOTE)})"
        return [(quote, beat.asked[0].place, _outcome(beat, quote))]
    best = []
    for turn in dict.fromkeys(one.turn for one in beat.asked):
        mine = [one for one in beat.asked if one.turn == turn and _may_decide(one, beat)]
        about = subject_words(_outcome(beat, " ".join(one.text for one in mine)))
        best += sorted(mine, key=lambda one: (not one.is_question, len(about & subject_words(one.text)), one.order))[-1:]
    stated = [one for one in best if not one.is_question] or best[-1:]
    found = [(_cut(plain(one.text), _QUOTE), one.place, _outcome(beat, one.text)) for one in stated]
    if not found and beat.taken:
        found.append((_cut(beat.taken, _QUOTE), beat.asked[-1].place, _outcome(beat, beat.taken)))
    return found


def _outcome(beat: Beat, request: str) -> str:
    return _cut(told(beat, subject_words(request), _OUTCOME), _OUTCOME)


def _may_decide(one: Sentence, beat: Beat) -> bool:
    """Whether a sentence says how it should be: by its words; or it led to a change, and is no report of a failure."""
    text = one.text
    if words.is_empty(text) or words.begins("upkeep", text):
        return False
    if words.says("wishes", text):
        return len(subject_words(text)) > 1
    is_demand = one.is_question is words.begins("disputes", text)  # "why can't we …?", or a plain statement
    return beat.changed and is_demand and not words.says("fails", text) and len(subject_words(text)) > 2


def _context(others: Sequence[Beat], is_short: bool) -> list[tuple[str, str]]:
    lines = []
    left = _CONTEXT
    for beat in sorted(others, key=lambda one: (one.done, len(one.answered)), reverse=True):
        asked = _request(beat)
        if asked is None:
            continue
        text = _line(_cut(plain(asked.text), _QUOTE), _outcome(beat, asked.text))
        if len(text) > left:
            continue
        left -= len(text)
        lines.append((asked.turn, text, asked.place))
    return [(text, place) for _, text, place in sorted(lines)]


def _request(beat: Beat) -> Sentence | None:
    mine = [one for one in beat.asked if not words.is_empty(one.text)]
    return max(mine, key=lambda one: len(subject_words(one.text)), default=None)


def _line(asked: str, outcome: str) -> str:
    return f"{asked}{ARROW}{outcome}" if outcome else asked


def _topic(holding: Sequence[Beat], pairs: Sequence[tuple[str, str, str]]) -> str:
    """Of the requests and of what came of decisions, the beginning whose words come up most in all that was said."""
    said = Counter(
        word for beat in holding for one in (*beat.asked, *beat.answered) for word in subject_words(one.text)
    )
    requests = [one.text for beat in holding for one in beat.asked if not words.is_empty(one.text)]
    weights = {text: 1.0 for text in requests} | {outcome: 1.2 for _, _, outcome in pairs if outcome}
    weights |= {quote: 1.2 for quote, _, _ in pairs} | {text: 1.4 for text in requests[:1]}

    def worth(text: str) -> float:
        about = subject_words(_title(text))
        known = sum(math.log(said[word] or 1) for word in about) / (3 + len(about))
        asks = text.endswith(("?", "？")) or words.begins("upkeep", text) or words.begins("disputes", text)
        return known * weights[text] * (0.6 if asks or words.says("fails", text) else 1.0)

    return _title(max(weights, key=worth)) if weights else _NO_TOPIC


def _title(request: str) -> str:
    title = words.without_opening(without_courtesy(plain(request)))
    return _cut(title if title.endswith("..") else title.rstrip("."), TOPIC_CHARACTERS)


def _cut(text: str, most: int) -> str:
    """The text, cut at a word where it is longer."""
    if len(text) <= most:
        return text
    stop = text.rfind(" ", most // 2, most)
    return f"{text[: stop if stop > 0 else most - 1].rstrip(' ,;:')}…"


def _open(spoken: Sequence[Turn], found: Sequence[Beat]) -> list[Sentence]:
    """The last question of the last turn, or the request that nobody answered."""
    if not spoken or not found:
        return []
    said = found[-1].answered if spoken[-1].speaker != "user" else found[-1].asked
    if spoken[-1].speaker == "user":
        return [one for one in said if not words.is_empty(one.text)][-1:]
    return [one for one in said if one.is_question][-1:]


def _importance(found: Sequence[Beat], decisions: int, has_subject: bool) -> float:
    if not has_subject:
        return 0.1
    tenths = 3 + min(3, decisions) + any(beat.changed for beat in found)
    tenths += min(2, sum(len(one.text) for beat in found for one in beat.asked) // 400)
    return tenths / 10


def _scope(spoken: Sequence[Turn]) -> TimeScope:
    times = [turn.at for turn in spoken if turn.at is not None]
    return TimeScope(start=times[0] if times else None, end=times[-1] if times else None, turn_count=len(spoken))
