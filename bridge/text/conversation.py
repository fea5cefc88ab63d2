"""A conversation turn as one text: the form of legacy memories, from versions before summaries existed.

    User asked: …

    Assistant answered: …

    Metadata: timestamp=…, importance=…

The last line is always written, so that the end of an answer cannot be mistaken for it.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ..pattern import pattern
from .sections import newlines, normalise_time

_OPENING = "User asked:"
_ANSWER = "\n\nAssistant answered:"
_METADATA_LINE = pattern(r"Metadata: timestamp=([^\n]*?), importance=([^\n,]*)\Z")
_LIKE_ANSWER = pattern(r"^(\\*Assistant answered:)", re.MULTILINE)
_ESCAPED_ANSWER = pattern(r"^\\(\\*Assistant answered:)", re.MULTILINE)


class Conversation(NamedTuple):
    """One turn. ``timestamp`` is ISO 8601, ``importance`` 0 to 1; None means unknown."""

    user_message: str
    assistant_message: str
    timestamp: str | None = None
    importance: float | None = None


def render_conversation(conversation: Conversation) -> str:
    """The text of a turn; unknown values are written as ``N/A``."""
    user = _LIKE_ANSWER.sub(r"\\\1", newlines(conversation.user_message).strip())
    timestamp = normalise_time(conversation.timestamp or "") or "N/A"
    importance = "N/A" if conversation.importance is None else repr(float(conversation.importance))
    return (
        f"{_OPENING} {user}{_ANSWER} {newlines(conversation.assistant_message).strip()}"
        f"\n\nMetadata: timestamp={timestamp}, importance={importance}"
    )


def parse_conversation(text: str) -> Conversation | None:
    """The turn in a text, or None if the text has another form.

    Messages are stripped. The metadata line may be absent; an invalid timestamp and an importance outside 0..1 become
    None.
    """
    text = newlines(text).strip()
    if not text.startswith(_OPENING):
        return None
    user, separator, answer = text[len(_OPENING) :].partition(_ANSWER)
    if not separator:
        return None
    last = answer.rfind("\n") + 1
    metadata = _METADATA_LINE.fullmatch(answer, last)
    return Conversation(
        user_message=_ESCAPED_ANSWER.sub(r"\1", user.strip()),
        assistant_message=(answer[:last] if metadata else answer).strip(),
        timestamp=normalise_time(metadata[1]) if metadata else None,
        importance=_importance(metadata[2]) if metadata else None,
    )


def without_metadata_line(text: str) -> str:
    """A turn's text without the line of timestamp and importance that ends it; any other text unchanged."""
    text_lines, separator, last = text.rstrip().rpartition("\n\n")
    is_turn = text.startswith(_OPENING) and _ANSWER in text_lines
    return text_lines if separator and is_turn and _METADATA_LINE.fullmatch(last) else text


def _importance(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 1 else None
