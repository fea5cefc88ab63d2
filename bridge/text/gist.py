"""What a memory says, in a line: for lists, where its title often is that of all memories of its topic."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType

from jobs.errors import JobError

from ..memory import Content, Memory
from . import decision_lines
from .conversation import parse_conversation
from .passages import sentences
from .sections import shorten
from .template import Legacy, parse

MOST_CHARACTERS = 200
_TOO_SHORT = 25  # characters, to say much


def gist(memory: Memory, became: Mapping[str, str] = MappingProxyType({})) -> str:
    """The first decision that was not replaced, else the first one, else the first sentence of the context; of a
    conversation, of the answer.

    Never a line of the template, nor a decision that its own record gave up. ``became``: decision -> ``replaced by #2``
    or ``disputed by #2``, which then stands before it. At most ``MOST_CHARACTERS``; empty if the memory has none of
    these.
    """
    content = memory.content or _read(memory.text)
    if content is None:
        turn = parse_conversation(memory.text)
        return _opening(turn.assistant_message if turn else memory.text)
    decisions = [line.text for line in decision_lines.read(content.decisions) if not line.is_earlier]
    if not decisions:
        return _opening(content.context)
    chosen = next((each for each in decisions if not became.get(each, "").startswith("replaced")), decisions[0])
    mark = f"[{became[chosen]}] " if chosen in became else ""
    return shorten(mark + chosen, MOST_CHARACTERS)


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
