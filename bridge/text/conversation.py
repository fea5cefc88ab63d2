"""A conversation turn as one text: how memories were stored before there were summaries.

    User asked: …

    Assistant answered: …

    Metadata: timestamp=…, importance=…

The last line is always written, so that what an answer ends with cannot pass for it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from .sections import moment, newlines

_OPENING = "User asked:"
_ANSWER = "\n\nAssistant answered:"
_FACTS = re.compile(r"Metadata: timestamp=([^\n]*?), importance=([^\n,]*)\Z")
_LIKE_ANSWER = re.compile(r"^(\\*Assistant answered:)", re.MULTILINE)
_ESCAPED_ANSWER = re.compile(r"^\\(\\*Assistant answered:)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Conversation:
    user_message: str
    assistant_message: str
    timestamp: str | None = None
    importance: float | None = None


def render_conversation(conversation: Conversation) -> str:
    """The text of a turn; what is not known of its facts is ``N/A``."""
    user = _LIKE_ANSWER.sub(r"\\\1", newlines(conversation.user_message).strip())
    timestamp = moment(conversation.timestamp or "") or "N/A"
    importance = "N/A" if conversation.importance is None else repr(float(conversation.importance))
    return (
        f"{_OPENING} {user}{_ANSWER} {newlines(conversation.assistant_message).strip()}"
        f"\n\nMetadata: timestamp={timestamp}, importance={importance}"
    )


def parse_conversation(text: str) -> Conversation | None:
    """The turn that the text holds, or None if it is not of that form.

    Messages have no blanks around them. The line of facts may be absent; a timestamp that is none and an
    importance outside 0..1 count as not known.
    """
    text = newlines(text).strip()
    if not text.startswith(_OPENING):
        return None
    user, found, answer = text[len(_OPENING) :].partition(_ANSWER)
    if not found:
        return None
    last = answer.rfind("\n") + 1
    facts = _FACTS.fullmatch(answer, last)
    return Conversation(
        user_message=_ESCAPED_ANSWER.sub(r"\1", user.strip()),
        assistant_message=(answer[:last] if facts else answer).strip(),
        timestamp=moment(facts[1]) if facts else None,
        importance=_importance(facts[2]) if facts else None,
    )


def _importance(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 1 else None
