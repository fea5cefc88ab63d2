"""Quotes: whether a file quotes certain memories in any form: raw, escaped in JSON, rewrapped or truncated.

A quote is five words in a row, or a short field as a whole. Phrases that other memories have too do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from jobs.scrub import is_plain

from ..memory import Memory

_ROW = 5  # words of a phrase
_SHORTEST = 12  # characters of a field with fewer words; shorter ones are no phrase

# Each character of a script without spaces is a word.
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_CODE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_ESCAPE = re.compile(r"\\+[nrtbf\"/]?")

Words = tuple[str, ...]


class Quotes:
    """The phrases that only certain memories have, for searching files."""

    def __init__(self, said: Iterable[str], others: Iterable[str] = ()) -> None:
        """``said`` are the texts of these memories, ``others`` those of all other memories, in any form.

        Ids and times are not phrases.
        """
        self._rows: dict[str, dict[str, set[Words]]] = {}  # by the first word, then the second: "" where there is none
        for text in said:
            for row in () if is_plain(text) else _telling(text):
                self._rows.setdefault(row[0], {}).setdefault(_second(row), set()).add(row)
        for text in others:
            for row in list(self._found(_words(text))):
                self._rows[row[0]][_second(row)].discard(row)

    def are_in(self, data: bytes) -> bool:
        """Whether the file's content quotes one of the memories."""
        return bool(self._rows) and any(next(self._found(_words(text)), None) is not None for text in _decoded(data))

    def _found(self, words: Sequence[str]) -> Iterator[Words]:
        """The phrases that occur in the words."""
        for position, word in enumerate(words):
            after = self._rows.get(word)
            if after is not None:
                for second in {"", _second(words[position : position + 2])}:
                    for row in after.get(second, ()):
                        if tuple(words[position : position + len(row)]) == row:
                            yield row


def _second(words: Sequence[str]) -> str:
    """The second word, or "" for a single one."""
    return words[1] if len(words) > 1 else ""


def texts(memory: Memory) -> list[str]:
    """Every text that a memory consists of."""
    return [memory.text] if memory.content is None else list(strings(memory.content.as_dict()))


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value that is not empty."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)


def _telling(text: str) -> Iterator[Words]:
    """The phrases of a text."""
    words = _words(text)
    if len(words) < _ROW:
        if sum(map(len, words)) + len(words) > _SHORTEST:
            yield tuple(words)
        return
    for start in range(len(words) - _ROW + 1):
        yield tuple(words[start : start + _ROW])


def _words(text: str) -> list[str]:
    """The words of a text in lower case, with JSON escapes resolved."""
    text = _CODE.sub(lambda found: chr(int(found[1], 16)), text)
    return _WORD.findall(_ESCAPE.sub(" ", text).casefold())


def _decoded(data: bytes) -> Iterator[str]:
    """The bytes as text: as UTF-8, also with zeros in between, and as UTF-16 unless they are plain UTF-8."""
    text = data.replace(b"\0", b"").decode("utf-8", "replace")
    yield text
    if b"\0" in data or "\ufffd" in text:
        yield data.decode("utf-16-le", "replace")
        yield data.decode("utf-16-be", "replace")
