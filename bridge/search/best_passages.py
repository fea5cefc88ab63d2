"""The passages of a memory that match a query best, to show with a hit: a decision, and what matches even better.

It weighs meaning and words as ``ranking`` does for the whole memory. A decision usually answers a query, and a sentence
of the context often only repeats it; so the best decision is always shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..memory import Memory
from ..text.conversation import parse_conversation
from ..text.passages import Passage, passages
from ..text.query_words import QueryWords
from .ranking import relevance


def best_passages(memory: Memory, words: QueryWords, cosines: Sequence[float]) -> list[str]:
    """The best decision, then the best sentence or other list item if it matches better; at most two.

    ``cosines``: of the query with each of ``passages(memory)``. If their number differs, as in an index of another
    version, only words count. Of passages that match equally, the first is the best.
    """
    found = passages(memory)
    meanings = list(cosines) if len(cosines) == len(found) else [0.0] * len(found)
    decision = other = (-1.0, "")
    for passage, meaning, text in zip(found, meanings, _readable(memory, found), strict=True):
        if not text:
            continue
        scored = (relevance(meaning, meaning, words.share_in(text)).semantic_score, text)
        if passage.kind == "decision":
            decision = max(decision, scored, key=_score)
        else:
            other = max(other, scored, key=_score)
    best = [decision, other] if other[0] > decision[0] else [decision]
    return [text for _, text in best if text]


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
    return ["" if passage.kind in ("whole", "topic") else passage.text.strip() for passage in found]
