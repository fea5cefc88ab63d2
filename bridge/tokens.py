"""How many tokens a text has, and by whose count.

A model's own tokenizer counts for the local model. For models behind an endpoint the count is only
for budgets, so the local model's tokenizer serves, or a named estimate where it is not installed.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Protocol

from jobs.errors import JobError

from . import model

_CHARACTERS_A_TOKEN = 4  # English prose has 4 to 5; a budget had better be kept than filled


class TokenCounter(Protocol):
    @property
    def name(self) -> str:
        """Whose tokens are counted."""

    def count(self, text: str) -> int:
        """The tokens of the whole text, special tokens not counted."""


class WordPieces:
    """The local model's tokenizer. Safe to share among threads."""

    name = model.NAME

    def __init__(self, folder: Path) -> None:
        """Raises MODEL_CORRUPT when the file in the model's folder cannot be read."""
        from tokenizers import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the library raises nothing narrower
            raise JobError("MODEL_CORRUPT", f"The tokenizer in {folder} cannot be read: {error}.") from error
        # The published file pads to 128 tokens and cuts there; the model reads up to 512.
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def ids(self, text: str) -> list[int]:
        """The model's input for the text: at most 512 ids, the special ones at both ends included."""
        found: list[int] = self._tokenizer.encode(text).ids
        return found if len(found) <= model.TOKEN_LIMIT else found[: model.TOKEN_LIMIT - 1] + found[-1:]


class Estimate:
    """Characters divided by four: for machines without the local model."""

    name = f"estimate: characters / {_CHARACTERS_A_TOKEN}"

    def count(self, text: str) -> int:
        return -(-len(text) // _CHARACTERS_A_TOKEN)


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
            return WordPieces(model.find(self._cache_dir))
        except JobError:
            return Estimate()
