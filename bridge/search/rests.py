"""Whether a text rests on a decision that was replaced: it names what was given up, and what that was about.

What was given up are the names and numbers of the replaced decision that the one that holds does not have; what it was
about are the words that both have. Pure. It prefers to say nothing: a text that turns away from what was given up, or
that speaks of something else, does not rest on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ..pattern import pattern
from ..text.passages import statements
from ..text.query_words import stem
from ..text.terms import STOP_WORDS
from . import standings

if TYPE_CHECKING:
    from ..memory import Memory
    from ..memory_shapes import RestsOn
    from ..store.catalogue import Replacement

_WORD = pattern(r"[^\W_](?:[\w./+#'-]*[\w+#])?")
_TURNED_AWAY = pattern(
    r"(?:\b(?:not|no|never|without|instead of|rather than|drop|remove|retire|replace|leave|stop)|n't)\W+(?:\w+\W+)?$",
    re.IGNORECASE,
)
_NUMBERS = {word: str(number) for number, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve".split()
)}  # fmt: skip
_KEPT = 512  # texts whose words are known
# Words of decisions that say nothing of what they are about.
_EMPTY = frozenset(map(stem, (
    "last run use keep go stay take get make have hold set send need cost own move wait out minute hour day week month"
    " year second time percent mb gb kb tb pound euro limit cache background"
).split()))  # fmt: skip


def of_memory(memory: Memory, pairs: Sequence[Replacement], read: Callable[[int], Memory | None]) -> list[RestsOn]:
    """What of a memory, a decision that holds or a reason, may rest on a decision that was replaced after it was said.

    ``pairs`` as ``MemoryLists.replacements``; ``read`` gives the memory of a number.
    """
    if memory.content is None or memory.metadata.status == "Superseded":
        return []
    known = standings.read(pairs, [])
    texts = [text for at, text in statements(memory).items() if known.fall((memory.number, at)) is None]
    found: list[RestsOn] = []
    for statement in known.best:
        fall = known.fall(statement)
        if fall is None or fall.state != "replaced":
            continue
        fell, holds = read(statement[0]), read(fall.by[0])
        if fell is None or holds is None or holds.number == memory.number:
            continue
        if (memory.dated_at or "") >= (holds.dated_at or ""):  # who spoke later knew it
            continue
        words, instead = standings.words(fell, statement[1]), standings.words(holds, fall.by[1])
        found += [
            {"text": text, "memory_id": fell.id, "memory_number": fell.number, "statement": words,
             "replaced_by": holds.number}
            for text in (*texts, *memory.content.rationale)
            if rests(text, words, instead)
        ]  # fmt: skip
    return found


def given_up(fell: str, holds: str) -> set[str]:
    """The names, and the numbers each with the word behind it, that ``fell`` has and ``holds`` does not have: stems in
    small letters."""
    return set(_marks(fell).keys() - _marks(holds).keys())


def rests(text: str, fell: str, holds: str) -> bool:
    """Whether ``text`` names what ``fell`` has and ``holds``, which replaced it, does not have."""
    missing = given_up(fell, holds)
    found, about = _marks(text), (_stems(fell) & _stems(holds)) - _EMPTY
    if not missing or not missing <= found.keys() or len(about & _stems(text)) * 2 <= len(about):
        return False
    return not any(_TURNED_AWAY.search(text[: found[mark]]) for mark in missing)


@lru_cache(_KEPT)
def _marks(text: str) -> Mapping[str, int]:
    """The names in a text, in small letters, and the numbers, each with the word behind it; and where they stand."""
    words = list(_WORD.finditer(text))
    found = {}
    for at, match in enumerate(words):
        word = _NUMBERS.get(match[0].casefold(), match[0])
        if word[0].isdigit():
            found[f"{word} {stem(words[at + 1][0])}" if at + 1 < len(words) else word] = match.start()
        elif match[0][:1].isupper() or any(each.isdigit() for each in word):
            found[stem(word)] = match.start()
    return found


@lru_cache(_KEPT)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(text) if word.casefold() not in STOP_WORDS)
