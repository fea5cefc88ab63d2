"""What a memory says, in a line: for lists, where its title often is that of all memories of its topic."""

from __future__ import annotations

from contextlib import suppress

from jobs.errors import JobError

from ..memory import Content, Memory
from . import decision_lines
from .conversation import parse_conversation
from .passages import sentences
from .sections import shorten
from .template import Legacy, parse

MOST_CHARACTERS = 200
_TOO_SHORT = 25  # characters, to say much


def gist(memory: Memory) -> str:
    """The first decision that holds, else the first sentence of the context; of a conversation, of the answer.

    Never a line of the template, nor a decision that a later one replaced. At most ``MOST_CHARACTERS``; empty if the
    memory has none of these.
    """
    content = memory.content or _read(memory.text)
    if content is None:
        turn = parse_conversation(memory.text)
        return _opening(turn.assistant_message if turn else memory.text)
    holding = [line.text for line in decision_lines.read(content.decisions) if not line.is_earlier]
    return shorten(holding[0], MOST_CHARACTERS) if holding else _opening(content.context)


def _read(text: str) -> Content | None:
    """The content of a legacy text that is a summary after all; None for any other."""
    with suppress(JobError):
        parsed = parse(text)
        return None if isinstance(parsed, Legacy) else parsed.content
    return None


def _opening(text: str) -> str:
    """The first sentence, and further ones while that is as short as “No.”."""
    line = ""
    for sentence in sentences(text):
        line = f"{line} {sentence}".strip()
        if len(line) >= _TOO_SHORT:
            break
    return shorten(line, MOST_CHARACTERS)
