"""How many tokens a text has, and by whose count.

A model's own tokenizer counts for the local model. For models behind an endpoint the count is only
for budgets, so the local model's tokenizer serves, or a named estimate where it is not installed.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol

from jobs.errors import JobError

from . import model
from .background import Background

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
        """Reads the folder's file in the background; each use raises MODEL_CORRUPT while that cannot be done."""
        self._loading = Background(lambda: _tokenizer(folder))

    @property
    def _tokenizer(self) -> Any:
        return self._loading.result()

    def ready(self) -> WordPieces:
        """Itself, once its file was read. Raises MODEL_CORRUPT."""
        self._loading.result()
        return self

    def count(self, text: str) -> int:
        found = self._tokenizer.encode(text, add_special_tokens=False)
        # To it, a word of more than 100 characters is one unknown token, whatever it holds (a key, a minified file).
        unknown, ids = self._tokenizer.token_to_id("[UNK]"), found.ids
        if unknown not in ids:
            return len(ids)
        return sum(
            _estimated(end - start) if number == unknown else 1
            for number, (start, end) in zip(ids, found.offsets, strict=True)
        )

    def ids(self, text: str) -> list[int]:
        """The model's input for the text: at most 512 ids, the special ones at both ends included."""
        found: list[int] = self._tokenizer.encode(text).ids
        return found if len(found) <= model.TOKEN_LIMIT else found[: model.TOKEN_LIMIT - 1] + found[-1:]


@lru_cache(maxsize=1)
def word_pieces(folder: Path) -> WordPieces:
    """The tokenizer of a model's folder, one for all. Whoever will need it may ask for it early."""
    return WordPieces(folder)


def _tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    try:
        found = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the library raises nothing narrower
        raise JobError("MODEL_CORRUPT", f"The tokenizer in {folder} cannot be read: {error}.") from error
    # The published file pads to 128 tokens and cuts there; the model reads up to 512.
    found.no_padding()
    found.no_truncation()
    return found


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
            return word_pieces(model.find(self._cache_dir)).ready()
        except JobError:
            return Estimate()
