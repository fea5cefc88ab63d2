"""The passages of a memory that match a query best, to show with a hit: a decision, and what matches even better.

It weighs meaning and words as ``ranking`` does for the whole memory. A decision usually answers a query, and a sentence
of the context often only repeats it; so the best decision is always shown. A record's earlier decision is shown only
where the record has none that holds: what replaced it answers in its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..memory import Memory
from ..text import decision_lines
from ..text.conversation import parse_conversation
from ..text.passages import Passage, passages
from ..text.query_words import QueryWords
from .ranking import relevance

_MOST_DECISIONS = 2
_NEARLY = 0.75  # of the best decision's score


def best_passages(memory: Memory, words: QueryWords, cosines: Sequence[float]) -> list[str]:
    """The best decision, a second one if it matches nearly as well, and a sentence or list item that matches better.

    ``cosines``: of the query with each of ``passages(memory)``. If their number differs, as in an index of another
    version, only words count. Of passages that match equally, the first is the best.
    """
    found = passages(memory)
    meanings = list(cosines) if len(cosines) == len(found) else [0.0] * len(found)
    decisions: list[tuple[float, str]] = []
    others: list[tuple[float, str]] = []
    for passage, meaning, text in zip(found, meanings, _readable(memory, found), strict=True):
        if text:
            score = relevance(meaning, meaning, words.share_in(passage.text if passage.shown else text)).semantic_score
            (decisions if passage.kind == "decision" else others).append((score, text))
    if memory.kind == "decision_record":
        decisions = _that_hold(decisions)
    best = sorted(decisions, key=_score, reverse=True)[:_MOST_DECISIONS]
    best = [each for each in best if _score(each) >= _NEARLY * _score(best[0])]
    others = [(score, text) for score, text in others if all(text not in shown for _, shown in best)]
    other = max(others, key=_score, default=None)
    if other is not None and (not best or _score(other) > _score(best[0])):
        best.append(other)
    return [text for _, text in best]


def _that_hold(scored: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """The decisions of a record that hold, each scored like the best of those that it replaced, which are left out.

    All of them where none holds.
    """
    lines = decision_lines.read([text for _, text in scored])
    earlier = {line.text: score for (score, _), line in zip(scored, lines, strict=True) if line.is_earlier}
    holding = [
        (max([score, *(earlier[old] for old in line.supersedes if old in earlier)]), text)
        for (score, text), line in zip(scored, lines, strict=True)
        if not line.is_earlier
    ]
    return holding or list(scored)


def _score(scored: tuple[float, str]) -> float:
    return scored[0]


def _readable(memory: Memory, found: Sequence[Passage]) -> list[str]:
    """The text to show of each passage; empty for the whole text and the topic, which a hit shows anyway.

    Of a conversation only the answer has a text, since the question often repeats the query.
    """
    turn = None if memory.content else parse_conversation(memory.text)
    if turn is not None:
        texts = [passage.text.strip().removeprefix("Assistant answered:").strip() for passage in found]
        return [text if text in turn.assistant_message else "" for text in texts]
    if memory.content is None and len(found) == 1:  # a single sentence is the whole text
        return [found[0].text.strip()]
    return ["" if passage.kind in ("whole", "topic") else (passage.shown or passage.text).strip() for passage in found]
