"""Token counts of texts, by the tokenizer of the local model, which is in the package.

For models behind an endpoint, counts are needed only for budgets, so they are counted by it too.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from jobs.errors import JobError

from ..pattern import pattern
from . import model_files, onnx_graph
from .config import NAME

T = TypeVar("T")

_PLAIN = pattern(r"[\x00-\u024f\u2010-\u2027\u2030-\u205e\u2190-\u21ff]*")
_SPECIAL = pattern(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")  # the tokenizer treats these as special tokens even inside a text
_DROPPED = pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad]")
_ACCENTS = pattern(r"[\u0300-\u036f]+")
_WORD = pattern(
    r"[!-/:-@\[-`{-~\xa1\xa7\xab\xb6\xb7\xbb\xbf\u2010-\u2027\u2030-\u2043\u2045-\u2051\u2053-\u205e]"
    r"|[^\s!-/:-@\[-`{-~\xa1\xa7\xab\xb6\xb7\xbb\xbf\u2010-\u2027\u2030-\u2043\u2045-\u2051\u2053-\u205e]+"
)
TOKEN_LIMIT = 512  # of all-MiniLM-L6-v2, with the two special tokens; longer texts are cut, as fastembed does
_LONGEST_WORD = 100  # characters; a longer word is a single unknown token
_CACHED_WORDS = 20_000
_CHARACTERS_PER_TOKEN = 4  # English prose has 4 to 5; the lower number keeps texts within a budget


class LatinWordPieces:
    """A fast WordPiece tokenizer for plain text, with the same ids as the model's own, in a tenth of the time.

    It avoids loading the model's tokenizer, which takes a cold process as long as Python's start. Plain text, which
    nearly all texts are, is Latin script with common punctuation, for which Unicode's rules do not change. Other texts
    need the model's tokenizer. Threads may share it.
    """

    def __init__(self) -> None:
        """Reads the vocabulary, a line for each id, from the program: in the tokenizer's file, it takes three times as
        long to read. Raises OSError, ValueError, LookupError."""
        words = (model_files.DEFAULT_FOLDER / model_files.WORDS.name).read_bytes().decode().split("\n")
        self._ids = dict(zip(words, range(len(words)), strict=True))
        self.start, self.end, self.unknown = (self._ids[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        self._known: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int] | None:
        """The ids of the text's tokens, without special tokens; None if the text is not plain."""
        if not text.isascii():
            if not _PLAIN.fullmatch(text):
                return None
            text = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
        if _SPECIAL.search(text):
            return None
        result: list[int] = []
        for word in _WORD.findall(_DROPPED.sub("", text).lower()):
            pieces = self._known.get(word)
            if pieces is None:
                pieces = self._pieces(word)
                if len(self._known) < _CACHED_WORDS:
                    self._known[word] = pieces
            result += pieces
        return result

    def _pieces(self, word: str) -> list[int]:
        """The ids of a word's pieces: WordPiece's greedy longest match from the start."""
        if len(word) > _LONGEST_WORD:
            return [self.unknown]
        result: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = self._ids.get(prefix + word[start:end])
                if piece is not None:
                    break
            else:
                return [self.unknown]
            result.append(piece)
            start, prefix = end, "##"
        return result


class ModelTokenizer:
    """The tokenizer in a model's folder. Threads may share it.

    Its file is read at the first use. While it cannot be read, each use raises JobError: MODEL_CORRUPT.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        """``limit``: the most ids of an input, with the special ones."""
        self._folder = folder
        self._limit = limit

    def ids(self, text: str) -> list[int]:
        """The model's input for the text, with the special ids at both ends."""
        result: list[int] = self._tokenizer.encode(text).ids
        return result if len(result) <= self._limit else result[: self._limit - 1] + result[-1:]

    @cached_property
    def _tokenizer(self) -> Any:
        return self._read(lambda: onnx_graph.open_tokenizer(self._folder / "tokenizer.json"))

    def _read(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except Exception as error:  # the library raises nothing narrower
            message = f"The tokenizer in {self._folder} cannot be read: {error}."
            raise JobError("MODEL_CORRUPT", message) from error


class WordPieceTokenizer(ModelTokenizer):
    """The tokenizer of all-MiniLM-L6-v2, by ``LatinWordPieces`` where the text is plain."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, TOKEN_LIMIT)

    def count(self, text: str) -> int:
        """The number of tokens in the whole text; long unknown words (keys, minified files) are estimated."""
        plain = self._plain.ids(text)
        if plain is not None and self._plain.unknown not in plain:
            return len(plain)
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        # For the tokenizer, a word of more than 100 characters is one unknown token.
        unknown, ids = self._plain.unknown, encoding.ids
        return sum(
            math.ceil((end - start) / _CHARACTERS_PER_TOKEN) if number == unknown else 1
            for number, (start, end) in zip(ids, encoding.offsets, strict=True)
        )

    def ids(self, text: str) -> list[int]:
        plain = self._plain.ids(text)
        if plain is not None:
            return [self._plain.start, *plain[: TOKEN_LIMIT - 2], self._plain.end]
        return super().ids(text)

    @cached_property
    def _plain(self) -> LatinWordPieces:
        return self._read(LatinWordPieces)


class LocallyCounted:
    """The token counts of an embedder: by the default model's tokenizer, for the budgets of any model."""

    tokenizer_name = NAME

    def count_tokens(self, text: str) -> int:
        """The number of tokens in a text, not cut at a limit, by the default model's tokenizer."""
        return word_piece_tokenizer(model_files.DEFAULT_FOLDER).count(text)


# The tokenizers of the folders of models; all callers share one of each.
word_piece_tokenizer = lru_cache(maxsize=2)(WordPieceTokenizer)
model_tokenizer = lru_cache(maxsize=2)(ModelTokenizer)
