"""The statements of a memory: its decisions, each a passage. What a record says of earlier times is none."""

from __future__ import annotations

from ..memory import Memory
from ..text.decision_lines import digest
from ..text.passages import decisions

__all__ = ["digest", "statements"]


def statements(memory: Memory) -> dict[int, str]:
    """Index of the passage -> the decision's words."""
    return {index: line.text for index, line in decisions(memory).items() if not line.is_earlier}
