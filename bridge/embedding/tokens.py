"""How many tokens a text has, and by whose count.

A model's own tokenizer counts for the local model. For models behind an endpoint the count is only
for budgets, so the local model's tokenizer serves, or a named estimate where it is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from jobs.errors import JobError

from . import model_files
from .plain_words import PlainWords

T = TypeVar("T")

_CHARACTERS_A_TOKEN = 4  # English prose has 4 to 5; a budget had better be kept than filled


class TokenCounter(Protocol):
    @property
    def name(self) -> str:
        """Whose tokens are counted."""

    def count(self, text: str) -> int:
        """The tokens of the whole text, special tokens not counted."""


class WordPieces:
    """The local model's tokenizer. Safe to share among threads.

    Its file is read at the first use, and each use raises MODEL_CORRUPT while that cannot be done.
    """

    name = model_files.NAME

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ready(self) -> WordPieces:
        """Itself, once its file was read. Raises MODEL_CORRUPT."""
        self._plain.ids("")
        return self

    def count(self, text: str) -> int:
        plain = self._plain.ids(text)
        if plain is not None and self._plain.unknown not in plain:
            return len(plain)
        found = self._tokenizer.encode(text, add_special_tokens=False)
        # To it, a word of more than 100 characters is one unknown token, whatever it holds (a key, a minified file).
        unknown, ids = self._plain.unknown, found.ids
        return sum(
            _estimated(end - start) if number == unknown else 1
            for number, (start, end) in zip(ids, found.offsets, strict=True)
        )

    def ids(self, text: str) -> list[int]:
        """The model's input for the text: at most 512 ids, the special ones at both ends included."""
        plain = self._plain.ids(text)
        if plain is not None:
            return [self._plain.start, *plain[: model_files.TOKEN_LIMIT - 2], self._plain.end]
        found: list[int] = self._tokenizer.encode(text).ids
        return found if len(found) <= model_files.TOKEN_LIMIT else found[: model_files.TOKEN_LIMIT - 1] + found[-1:]

    @cached_property
    def _plain(self) -> PlainWords:
        return self._read(PlainWords)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        found = self._read(lambda path: Tokenizer.from_file(str(path)))
        # The published file pads to 128 tokens and cuts there; the model reads up to 512.
        found.no_padding()
        found.no_truncation()
        return found

    def _read(self, read: Callable[[Path], T]) -> T:
        try:
            return read(self._folder / "tokenizer.json")
        except Exception as error:  # the library raises nothing narrower
            message = f"The tokenizer in {self._folder} cannot be read: {error}."
            raise JobError("MODEL_CORRUPT", message) from error


@lru_cache(maxsize=1)
def word_pieces(folder: Path) -> WordPieces:
    """The tokenizer of a model's folder, one for all who count and embed."""
    return WordPieces(folder)


class Estimate:
    """Characters divided by four: for machines without the local model."""

    name = f"estimate: characters / {_CHARACTERS_A_TOKEN}"

    def count(self, text: str) -> int:
        return _estimated(len(text))


def _estimated(characters: int) -> int:
    return -(-characters // _CHARACTERS_A_TOKEN)


class LocalCount:
    """The local model's tokenizer if it is installed, else the estimate; decided at the first use."""

    def __init__(self, cache_dir: Path) -> None:
        self._cache_dir = cache_dir

    @property
    def name(self) -> str:
        return self._chosen.name

    def count(self, text: str) -> int:
        return self._chosen.count(text)

    @cached_property
    def _chosen(self) -> TokenCounter:
        try:
            return word_pieces(model_files.find(self._cache_dir)).ready()
        except JobError:
            return Estimate()
