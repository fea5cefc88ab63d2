"""The passages of a memory: the texts that get a vector each.

The whole text has one, and so do its parts, since a single vector loses the details. Embedding is ``bridge/embedding``.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..memory import Memory
from ..pattern import pattern
from .decision_lines import DecisionLine, read, searched
from .plain_summary import render_plain

PassageKind = Literal["whole", "topic", "sentence", "decision", "detail"]

# A stop and a blank before a possible start of a sentence (beyond ASCII: any character but an arrow); or a CJK stop; or
# a newline.
_SENTENCE_END = pattern(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?(?:[A-Z0-9`]|[^\x00-\x7f→]))|(?<=[。！？])|\n+")

# An ordinary memory has a tenth of these. Only full-text search finds the text beyond them.
MAX_PASSAGES = 200


class Passage(NamedTuple):
    """One text to embed, and which part of the memory it is."""

    kind: PassageKind
    text: str
    shown: str = ""  # what a reader sees, where that is more than what is searched


def passages(memory: Memory) -> list[Passage]:
    """The passages of a memory, the whole text first, without duplicates, at most ``MAX_PASSAGES``."""
    candidates = [Passage("whole", whole_text(memory))]
    content = searched(memory)
    if content is None or memory.content is None:
        candidates += [Passage("sentence", text) for text in sentences(memory.text)]
    else:
        candidates.append(Passage("topic", content.topic))
        candidates += [Passage("sentence", text) for text in sentences(content.context)]
        lines = zip(content.decisions, memory.content.decisions, strict=True)
        candidates += [Passage("decision", text, "" if line == text else line) for text, line in lines]
        details = (*content.rationale, *content.open_questions, *content.next_steps)
        candidates += [Passage("detail", text) for text in details]
    unique: dict[str, Passage] = {}
    for passage in reversed(candidates):
        text = passage.text.strip()
        if text and not (text in unique and unique[text].kind == "decision"):  # also where topic or context say it
            unique[text] = passage
    return list(reversed(unique.values()))[:MAX_PASSAGES]


def decisions(memory: Memory) -> dict[int, DecisionLine]:
    """Index of the passage -> the decision, without its marks."""
    content = searched(memory)
    if content is None:
        return {}
    lines = {text.strip(): line for text, line in zip(content.decisions, read(content.decisions), strict=True)}
    found = enumerate(passages(memory))
    return {index: lines[each.text.strip()] for index, each in found if each.kind == "decision"}


def topic_passage(memory: Memory) -> int:
    """The index of the passage with the topic's words: mostly the one after the whole text, unless a later part of the
    memory repeats them."""
    content = searched(memory)
    topic = "" if content is None else content.topic.strip()
    return next((index for index, each in enumerate(passages(memory)) if index and each.text.strip() == topic), 0)


def whole_text(memory: Memory) -> str:
    """The memory's whole text without status and dates. cognee's graph indexes the same text."""
    content = searched(memory)
    return memory.text if content is None else render_plain(content)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, in order. The splitter is simple: an abbreviation may end a sentence."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]
