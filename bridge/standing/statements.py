"""The statements of a memory: its decisions, each a passage. What a record says of earlier times is none."""

from __future__ import annotations

import hashlib

from ..memory import Memory
from ..text.decision_lines import EARLIER
from ..text.passages import passages


def statements(memory: Memory) -> dict[int, str]:
    """Index of the passage -> the decision's words."""
    return {
        index: passage.text
        for index, passage in enumerate(passages(memory))
        if passage.kind == "decision" and not (passage.shown or passage.text).startswith(EARLIER)
    }


def digest(words: str) -> str:
    """The SHA-256 by which a verdict names a statement, whatever its place in the memory."""
    return hashlib.sha256(words.encode()).hexdigest()
