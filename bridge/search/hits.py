"""Hits in the retrieval contract's shape, and their packing into a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, cast

from ..memory import Memory, Metadata
from ..text.decision_lines import current_first
from ..text.memory_json import labels_of

if TYPE_CHECKING:
    from ..interface.answer_shapes import AnyHit, RetrievalHit
    from ..memory_shapes import Labels
    from .known_memories import KnownMemory
    from .ranking import Factors, Scored

    Packed = tuple[Memory, Factors, str, int]


CUT_MARKER = "\n… [truncated to fit the token budget]"
SHORT_MARKER = "…"  # where CUT_MARKER would take most of the budget

# A longer text cannot fit, so its tokens are not counted: for a megabyte that would take a second.
_MOST_CHARACTERS_A_TOKEN = 64

CountTokens = Callable[[str], int]
Matched = Callable[[Memory], Sequence[str]]


def _known(labels: Labels) -> Labels:
    """The properties, null where an earlier version stored an empty text."""
    return cast("Labels", {name: None if value == "" else value for name, value in labels.items()})


def hit(memory: Memory, scored: Factors, text: str, tokens: int) -> RetrievalHit:
    """One entry of ``results``. For a legacy memory the structured fields are absent and the metadata is null."""
    m = memory.metadata if memory.content else Metadata(importance=memory.metadata.importance)
    always: AnyHit = {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "summary_text": text,
        "text": text,
        **scored.reported(),
        "tokens": tokens,
        "topic": (memory.content.topic or None) if memory.content else None,
        **_known(labels_of(m)),
    }
    shown = cast("RetrievalHit", always)
    if memory.content is not None:
        shown |= {
            "decisions": current_first(memory.content.decisions),
            "rationale": list(memory.content.rationale),
            "open_questions": list(memory.content.open_questions),
            "next_steps": list(memory.content.next_steps),
            "references": list(memory.content.references.flat),
        }
    if memory.kind == "decision_record":
        shown["compaction_source"] = list(memory.sources)
    if scored.is_weak:
        shown["fit"] = "weak"
    if any(scored.votes):
        shown["feedback"] = {"helpful": scored.votes.helpful, "wrong": scored.votes.wrong}
    return shown


def pack(
    ranked: Iterable[Scored], shown: Callable[[Memory], KnownMemory], count: CountTokens, budget: int, matched: Matched
) -> list[Packed]:
    """The hits that fit the budget of tokens, each with its text and token count, in their order. ``shown``: the memory
    with its text.

    A hit that does not fit what is left is skipped. If it is the first of all, it is cut instead, with a visible mark;
    the passages of it that ``matched`` and would be lost stand first.
    """
    packed: list[Packed] = []
    left = budget
    for memory, scored in ranked:
        found = shown(memory)
        text = found.text
        tokens = found.tokens(count) if len(text) <= left * _MOST_CHARACTERS_A_TOKEN else None
        if tokens is not None and tokens <= left:
            packed.append((memory, scored, text, tokens))
            left -= tokens
        elif not packed:
            kept = cut(text, count, budget)
            text = cut("".join(f"… {each}\n" for each in matched(memory) if each not in kept) + text, count, budget)
            return [(memory, scored, text, count(text))]
    return packed


def cut(text: str, count: CountTokens, budget: int) -> str:
    """The longest beginning of the text that fits the budget together with a visible mark; at least the mark."""
    room = budget - (long := count(CUT_MARKER))
    mark = CUT_MARKER if room >= long else SHORT_MARKER
    return _beginning(text, count, budget - count(mark)).rstrip() + mark


def _beginning(text: str, count: CountTokens, room: int) -> str:
    low, high = 0, min(len(text), max(room, 0) * _MOST_CHARACTERS_A_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]
