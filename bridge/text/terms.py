"""Terms for full-text search: the words that the index stores of a text, and the search terms of a query.

Developers remember identifiers: ``parseJobFile``, ``max_job_bytes``, ``src/app/main.py``, ``E1042``, ``#123``. Search
finds them as a whole (a ``name``) and by their words. Both sides use this module, so that they split texts alike. The
index itself (``store/full_text``) splits at every character that is not a letter or digit, folds case and accents, and
stems English words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ..pattern import pattern
from .function_words import OtherLanguage, content_runs, function_words, is_grammar, other_language, stem

# The version of ``index_text`` and ``windows``. Raise it with each change of their output; older indexes are then
# rebuilt.
INDEX_FORMAT = 6

# A query may be a pasted log.
MAX_TERMS = 100

_LONGEST_KNOWN = 64  # characters of a chunk whose further words are kept
_CHUNK = pattern(r"[^\s\"'`´“”„‘’«»()\[\]{}<>,;=!?&|*^%…。、，；：！？「」（）]+")
_WORD = pattern(r"[^\W_]+")
_HUMP = pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
# Han, kana, Thai, Lao, Burmese and Khmer are written without blanks, Hangul with endings; each character is indexed as
# a word of its own. Vowel signs above and below are no letters to the index, nor here.
CHARACTERS = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
CHARACTERS += (
    r"\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u1000-\u102a\u103f\u1780-\u17b3"
)
_MARKS = r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
_CJK_RUN, _MARK_RUN = pattern(f"[{CHARACTERS}]+"), pattern(f"[{_MARKS}]+")
# Accents of Greek and Cyrillic letters; the index itself folds those of Latin ones.
_ACCENTS = pattern("(?<=[\u0370-\u04ff])[\u0300\u0301\u0308\u0342]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})

_HASH = pattern(r"(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,64}", re.IGNORECASE)
_SHORTEST_HASH, _ABBREVIATED = 7, 12  # digits of git's abbreviated hashes
_UUID = pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_VERSION = pattern(r"v?(\d+(?:\.\d+)+)", re.IGNORECASE)
_FOLDER = pattern(r"[/\\]")
_LINE_SUFFIX = pattern(r"(?<=\w):\d+(?::\d+)?$")  # main.py:42:7

# Signs that change the meaning of a word but that the index drops: ``#41`` is also indexed as ``hash41``.
_LEADING = {"#": "hash", "--": "dash", "-": "dash", ".": "dot", "@": "at", "$": "dollar"}
_LEADING_SIGN = pattern(r"(#)\d+|(--)[a-z][\w-]*|([-.@$])[a-z][a-z0-9]*", re.IGNORECASE)
_TRAILING = {"++": "plusplus", "#": "sharp"}
_TRAILING_SIGN = pattern(r"([a-z]+)(\+\+|#)", re.IGNORECASE)
_ISSUE = pattern(
    r"(?:\b(?:issues?|pr|pull(?: request)?|gh|mr|merge[ _]requests?|bug|ticket)[ /-]?|(?<=\w)#)(\d+)\b", re.IGNORECASE
)

_NAME_SIGNS = pattern(
    r"[_@\\#]|::|^\.\w|^[~.]{0,2}/.|/.*/|\w\.\w|[a-z][0-9]|^(?:feature|feat|fix|bugfix|hotfix|release|chore)/",
    re.IGNORECASE,
)
_CODE = pattern(r"(?=.*\d)(?:.*-)?[A-Z]{2,}(?:-.*)?")  # FW-UPD-207, CVE-2024-1234, ABC-12
_MARKED = pattern(r"`([^`]+)`")
_NEGATED = pattern(r"\b\w+n['’]t\b", re.IGNORECASE)
# Signs at the end of a chunk that are not part of it; dropped alike in the index and in queries.
_CLOSING = ".:-/\\"
_SHORTENED = pattern(r"(?<=\w)['’](?:s|d|m|ll|re|ve)\b", re.IGNORECASE)

# Words that carry no subject. They are dropped from a query unless it has no others.
STOP_WORDS = frozenset(
    "a about after all also am an and any are as at be because been before being between both but by can could"
    " did do does doing for from had has have having he her here him his how i if in into is it its just me more"
    " most my no not of on or other our out over own said same she should so some such than that the their them"
    " then there these they this those through to too under until up us very was we were what when where which"
    " while who whom why will with would you your".split()
)


class Term(NamedTuple):
    """A search term. ``match`` is its expression in FTS5's query language, ``text`` its readable form.

    ``is_name``: it is an identifier that the query spells out or marks as one, so results should contain it.
    """

    match: str
    text: str
    is_name: bool = False

    @property
    def phrases(self) -> tuple[Term, ...]:
        """The phrases of which the term matches any, each as a term, in their order; most terms have one."""
        if not self.match.startswith("("):
            return (self,)
        return tuple(Term(match, self.text) for match in self.match[1:-1].split(" OR "))


def index_text(text: str) -> str:
    """The text that the full-text index stores: its words, then further spellings and the parts of identifiers."""
    text = unicodedata.normalize("NFKC", text)
    extra = [
        word
        for chunk in _CHUNK.findall(text)
        for word in (_known_further_words if len(chunk) <= _LONGEST_KNOWN else _further_words)(chunk)
    ]
    extra += [f"hash{number}" for number in _ISSUE.findall(text)]
    spaced = _spaced(text)
    return (f"{spaced}\n{' '.join(extra)}" if extra else spaced).casefold()


def _further_words(chunk: str) -> tuple[str, ...]:
    """What ``index_text`` adds for a text without white space."""
    words = [] if _UUID.search(chunk) else _words(chunk)
    parts = [part for word in words for part in _parts(word)]
    further = parts if len(parts) > len(words) else []
    spelled = [_canonical_spelling(word) for word in words]
    if any(word.casefold() != other for word, other in zip(words, spelled, strict=True)):
        further += spelled
    return (*further, *(word for name in _FOLDER.split(chunk) for word in _sign_words(name)))


# Most words of a memory are in others, too.
_known_further_words = lru_cache(maxsize=8192)(_further_words)


def query_terms(query: str) -> list[Term]:
    """The search terms of a query without duplicates, in order: names and compounds as phrases, then their words.

    Drops contractions, possessive endings and stop words. At most ``MAX_TERMS``, names first.
    """
    return list(_query_terms(query))


@lru_cache(maxsize=16)  # a search needs them several times
def _query_terms(query: str) -> tuple[Term, ...]:
    query = unicodedata.normalize("NFKC", query)
    by_match: dict[str, Term] = {}
    for term in [*_all_terms(_SHORTENED.sub("", _NEGATED.sub(" ", query)))] or _all_terms(query):
        if term.is_name or term.match not in by_match:
            by_match[term.match] = term
    terms = [term for term in by_match.values() if term.match.strip('"') not in STOP_WORDS] or list(by_match.values())
    if language := other_language((term.text for term in by_match.values()), STOP_WORDS):
        dropped = function_words(language)
        terms = [term for term in terms if term.is_name or term.text not in dropped] or terms
        terms = [_in_any_form(term, language) for term in terms]
    if len(terms) > MAX_TERMS:
        kept = set(sorted(range(len(terms)), key=lambda index: not terms[index].is_name)[:MAX_TERMS])
        terms = [term for index, term in enumerate(terms) if index in kept]
    return tuple(terms)


def _all_terms(query: str) -> Iterator[Term]:
    """All terms of a query, possibly with duplicates."""
    for number in _ISSUE.findall(query):
        yield _phrase([f"hash{number}"], f"#{number}", is_name=True)
    marked = {query.strip(), *(text.strip() for text in _MARKED.findall(query))}
    for chunk in _CHUNK.findall(query):
        yield from _chunk_terms(_LINE_SUFFIX.sub("", chunk).rstrip(_CLOSING), is_marked=chunk in marked)


def _chunk_terms(chunk: str, *, is_marked: bool) -> Iterator[Term]:
    """The terms of a chunk between blanks, quotes or brackets: a word, an identifier, a path or a CJK run."""
    words = _words(chunk)
    if version := _VERSION.fullmatch(chunk):
        numbers = version[1].split(".")
        yield _phrase(numbers, chunk, is_name=True)
        if len(numbers) > 2:
            yield _phrase(numbers[:2], ".".join(numbers[:2]))
        return
    if _UUID.fullmatch(chunk):
        yield _phrase(words, chunk, is_name=True)
        yield _phrase(words[:1], words[0].lower(), is_name=True)
        return
    signed = _sign_words(chunk)
    for name in signed:
        yield _phrase([name], chunk, is_name=True)
    runs = [] if chunk.isascii() else _CJK_RUN.findall(_MARK_RUN.sub("", chunk))
    if len(words) > 1 and not runs:
        yield _phrase(words, chunk, is_name=not signed and (is_marked or _is_name(chunk, words)))
        file = _FOLDER.split(chunk)[-1]
        if 1 < len(_words(file)) < len(words):  # the file may be in another folder
            yield _phrase(_words(file), file, is_name=_is_name(file, _words(file)))
    for run in runs:
        yield from _run_terms(run, is_name=is_marked and run == chunk)
    is_alone = len(words) == 1 and not signed
    for word in words:
        if not (runs and _CJK_RUN.match(word)):
            yield from _word_terms(word, is_alone=is_alone, is_name=is_alone and (is_marked or _is_code(word)))


def _word_terms(word: str, *, is_alone: bool, is_name: bool) -> Iterator[Term]:
    """The terms of a word: the word; of an identifier also its parts as a phrase, and each part."""
    if _HASH.fullmatch(word):
        yield _hash_term(word)
        return
    parts = _parts(word)
    if len(word) > 1 or is_alone or word.isdigit():
        yield _phrase([word], word if len(parts) > 1 else word.lower(), is_name=is_name)
    if len(parts) > 1:
        if all(part.isalpha() for part in parts):
            yield _phrase(parts, " ".join(parts).lower(), is_name=True)
        for part in parts:
            if len(part) > 1 or part.isdigit():
                yield _phrase([part], part.lower())


def _run_terms(run: str, *, is_name: bool) -> Iterator[Term]:
    """The terms of a CJK run: each pair of neighbouring characters (bigrams, since there are no word boundaries); a
    short run or a name also as a whole."""
    parts = content_runs(run)
    is_name = is_name and parts == [run] and not any(is_grammar(run[at : at + 2]) for at in range(len(run) - 1))
    for part in parts:
        if len(part) <= 4 or is_name:
            yield _phrase(list(part), part, is_name=is_name)
    pairs = [part[start : start + 2] for part in parts for start in range(len(part) - 1)]
    for pair in [pair for pair in pairs if not is_grammar(pair)] or pairs:
        yield _phrase(list(pair), pair)


def _in_any_form(term: Term, language: OtherLanguage) -> Term:
    """The term of a German or French word with its other endings; the index stems English words only."""
    beginning = None if term.is_name or not term.text.isalpha() else stem(term.text, language)
    return Term(f'"{_canonical_spelling(beginning)}" *', term.text) if beginning else term


def _hash_term(word: str) -> Term:
    """The term of a hash; it matches longer and abbreviated forms."""
    word = word.lower()
    shorter = [f'"{word[:size]}"' for size in range(_SHORTEST_HASH, min(len(word) - 1, _ABBREVIATED) + 1)]
    forms = [f'"{word}" *', *shorter]
    return Term(f"({' OR '.join(forms)})" if shorter else forms[0], word, is_name=True)


def _phrase(words: list[str], text: str, *, is_name: bool = False) -> Term:
    """The term for words that must be adjacent; usually a single word."""
    return Term('"' + " ".join(_canonical_spelling(word) for word in words) + '"', text, is_name)


def _words(chunk: str) -> list[str]:
    return _WORD.findall(_spaced(chunk))


def _spaced(text: str) -> str:
    """The text with blanks around each character of a script without blanks."""
    return text if text.isascii() else _CJK_RUN.sub(lambda run: f" {' '.join(run[0])} ", _MARK_RUN.sub("", text))


def _parts(word: str) -> list[str]:
    """The parts of an identifier such as ``parseJobFile`` or ``E1042``; a hash is a single part."""
    return [word] if _HASH.fullmatch(word) else _HUMP.split(word)


def _canonical_spelling(word: str) -> str:
    """The canonical spelling of a word; ``größe``, ``Groesse`` and ``GRÖSSE`` have the same."""
    word = word.casefold().translate(_UMLAUTS)
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", word)))


def _sign_words(chunk: str) -> list[str]:
    """The sign of a chunk as a word: ``hash41`` for ``#41``, ``dotenv`` for ``.env``, ``csharp`` for ``C#``; at most
    one."""
    chunk = chunk.rstrip(_CLOSING)
    leading = _LEADING_SIGN.fullmatch(chunk)
    if leading:
        sign = leading[leading.lastindex or 0]
        return [_LEADING[sign] + "".join(_WORD.findall(chunk[len(sign) :]))]
    trailing = _TRAILING_SIGN.fullmatch(chunk)
    return [trailing[1] + _TRAILING[trailing[2]]] if trailing else []


def _is_name(chunk: str, words: list[str]) -> bool:
    """Whether words joined by signs are an identifier, and not prose like ``read/write``, ``well-known``, ``p.m``."""
    if all(word.isdigit() for word in words) or all(len(word) == 1 for word in words):
        return False
    return bool(_NAME_SIGNS.search(chunk) or _CODE.fullmatch(chunk) or any(len(_parts(word)) > 1 for word in words))


def _is_code(word: str) -> bool:
    """Whether a word is an identifier: ``E1042`` and ``parseJobFile`` are, ``5k`` and ``2nd`` are not."""
    return len(_parts(word)) > 1 and word[0].isalpha()
