"""How many tokens a text has, and by whose count.

A model's own tokenizer counts for the local model. For models behind an endpoint the count is only
for budgets, so the local model's tokenizer serves, or a named estimate where it is not installed.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from jobs.errors import JobError

from . import model_files

T = TypeVar("T")

_PLAIN = re.compile(r"[\x00-\u024f\u2010-\u2027\u2030-\u205e\u2190-\u21ff]*")
_SPECIAL = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")  # in a text as well, these stand for themselves
_DROPPED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad]")
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
_WORD = re.compile(
    r"[!-/:-@\[-`{-~\xa1\xa7\xab\xb6\xb7\xbb\xbf\u2010-\u2027\u2030-\u2043\u2045-\u2051\u2053-\u205e]"
    r"|[^\s!-/:-@\[-`{-~\xa1\xa7\xab\xb6\xb7\xbb\xbf\u2010-\u2027\u2030-\u2043\u2045-\u2051\u2053-\u205e]+"
)
_LONGEST_WORD = 100  # characters; a longer one is unknown as a whole
_KEPT_WORDS = 20_000
_CHARACTERS_A_TOKEN = 4  # English prose has 4 to 5; a budget had better be kept than filled


class TokenCounter(Protocol):
    @property
    def name(self) -> str:
        """Whose tokens are counted."""

    def count(self, text: str) -> int:
        """The tokens of the whole text, special tokens not counted."""


class PlainWords:
    """Token ids of plain text, as the model's own tokenizer gives them: for nearly all texts, in a
    tenth of the time.

    Loading the tokenizer itself costs a cold process as much as Python's start. Plain is what is Latin script with
    common punctuation, whose treatment no edition of Unicode will change; for all else the tokenizer is there. Safe to
    share among threads.
    """

    def __init__(self, tokenizer: Path) -> None:
        """Reads the vocabulary of the model's ``tokenizer.json``. Raises what reading or a wrong form raises."""
        self._ids: dict[str, int] = json.loads(tokenizer.read_bytes())["model"]["vocab"]
        self.start, self.end, self.unknown = (self._ids[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        self._known: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int] | None:
        """The ids of the text's tokens without those around it; None where the text is not plain."""
        if not text.isascii():
            if not _PLAIN.fullmatch(text):
                return None
            text = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
        if _SPECIAL.search(text):
            return None
        found: list[int] = []
        for word in _WORD.findall(_DROPPED.sub("", text).lower()):
            pieces = self._known.get(word)
            if pieces is None:
                pieces = self._pieces(word)
                if len(self._known) < _KEPT_WORDS:
                    self._known[word] = pieces
            found += pieces
        return found

    def _pieces(self, word: str) -> list[int]:
        """The longest known beginning, then the longest known beginning of the rest, and so on."""
        if len(word) > _LONGEST_WORD:
            return [self.unknown]
        found: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = self._ids.get(prefix + word[start:end])
                if piece is not None:
                    break
            else:
                return [self.unknown]
            found.append(piece)
            start, prefix = end, "##"
        return found


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
