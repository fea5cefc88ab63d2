"""Token ids of plain text, as the model's own tokenizer gives them: what nearly all texts are, in a tenth of the time.

Loading the tokenizer itself costs a cold process as much as Python's start. Plain is what is Latin script with common
punctuation, whose treatment no edition of Unicode will change; for all else the tokenizer is there.
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

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


class PlainWords:
    """Safe to share among threads."""

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
