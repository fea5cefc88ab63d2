"""What a memory says, in a line: for lists, where its title often is that of all memories of its topic."""

from __future__ import annotations

from ..memory import Memory
from . import decision_lines
from .conversation import parse_conversation
from .passages import sentences
from .sections import shorten
from .template import readable

MOST_CHARACTERS = 200


def gist(memory: Memory) -> str:
    """The first decision that holds, else the first sentence of the context; of a conversation, of the answer.

    Never a line of the template, nor a decision that a later one replaced. At most ``MOST_CHARACTERS``; empty if the
    memory has none of these.
    """
    content = memory.content
    if content is None:
        turn = parse_conversation(memory.text)
        return _first_sentence(turn.assistant_message if turn else readable(memory.text))
    holding = [line.text for line in decision_lines.read(content.decisions) if not line.is_earlier]
    return shorten(holding[0], MOST_CHARACTERS) if holding else _first_sentence(content.context)


def _first_sentence(text: str) -> str:
    return shorten(next(iter(sentences(text)), ""), MOST_CHARACTERS)
