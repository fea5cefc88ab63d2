"""The memories of one state of the store that queries have read, with the texts to show and their token counts.

None of it depends on the query, and a memory of one number does not change within an ``index_cache`` edition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..memory import ITEM_SECTIONS, Memory
from ..text.template import summary_text
from .bounded_cache import BoundedCache

if TYPE_CHECKING:
    from ..store.reader import StoreSnapshot

# A memory as an object, with its text, beside the characters of its body.
_OBJECT_BYTES, _BYTES_A_CHARACTER = 4_000, 4


class KnownMemory:
    """A memory, and the text to show of it, rendered at the first use."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._counted: tuple[Callable[[str], int], int] | None = None

    @cached_property
    def text(self) -> str:
        """The text to show."""
        return summary_text(self.memory)

    def tokens(self, count: Callable[[str], int]) -> int:
        """The tokens of the text, as ``count`` counts them."""
        counted = self._counted
        if counted is None or counted[0] != count:
            self._counted = counted = count, count(self.text)
        return counted[1]

    @property
    def bytes(self) -> int:
        """About the memory that it takes."""
        content = self.memory.content
        if content is None:
            return _OBJECT_BYTES + _BYTES_A_CHARACTER * len(self.memory.text)
        items = [item for name in ITEM_SECTIONS for item in getattr(content, name)]
        return _OBJECT_BYTES + _BYTES_A_CHARACTER * (len(content.context) + sum(len(item) + 20 for item in items))


class KnownMemories:
    """The memories that queries have read. Threads may share it."""

    def __init__(self, most_bytes: int = 16 * 1024 * 1024) -> None:
        self._kept = BoundedCache[int, KnownMemory](most_bytes)

    def read(self, store: StoreSnapshot, numbers: Sequence[int]) -> list[KnownMemory]:
        """The memories with these numbers, in no particular order; unknown numbers are left out."""
        kept = {number: self._kept.get(number) for number in numbers}
        found = [known for known in kept.values() if known is not None]
        missing = [number for number, known in kept.items() if known is None]
        for memory in store.memories(missing) if missing else ():
            known = KnownMemory(memory)
            self._kept.put(memory.number, known, known.bytes)
            found.append(known)
        return found
