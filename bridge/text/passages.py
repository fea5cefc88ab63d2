"""What of a memory is embedded: the whole, and its parts, since one vector for all loses the details."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ..memory import Memory
from .plain_summary import render_plain

PassageKind = Literal["whole", "topic", "sentence", "decision", "detail"]

# A stop and a blank before what may begin a sentence; beyond ASCII that is any letter. In Chinese and Japanese, a stop.
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?(?:[A-Z0-9`]|[^\x00-\x7f]))|(?<=[。！？])|\n+")

# A memory of a reasonable size has a tenth of these. What is beyond them is found by its words.
MOST_PASSAGES = 200


@dataclass(frozen=True, slots=True)
class Passage:
    kind: PassageKind
    text: str


def passages(memory: Memory) -> list[Passage]:
    """The passages of a memory, the whole first, none twice, at most ``MOST_PASSAGES``."""
    found = [Passage("whole", whole_text(memory))]
    if memory.content is None:
        found += [Passage("sentence", text) for text in sentences(memory.text)]
    else:
        content = memory.content
        found.append(Passage("topic", content.topic))
        found += [Passage("sentence", text) for text in sentences(content.context)]
        found += [Passage("decision", text) for text in content.decisions]
        details = (*content.rationale, *content.open_questions, *content.next_steps)
        found += [Passage("detail", text) for text in details]
    unique = {passage.text.strip(): passage for passage in reversed(found) if passage.text.strip()}
    return list(reversed(unique.values()))[:MOST_PASSAGES]


def whole_text(memory: Memory) -> str:
    """The one text that stands for the memory: what cognee's graph indexes as well. No status, no dates."""
    return memory.text if memory.content is None else render_plain(memory.content)


def sentences(text: str) -> list[str]:
    """Sentences and lines, in order. A cheap splitter: an abbreviation may cut once too often."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]
