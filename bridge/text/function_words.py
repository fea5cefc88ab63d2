"""Words without a subject in questions that are not English: articles, question words, particles.

They are left out of the search, as ``STOP_WORDS`` of ``terms`` are in English. German and French are recognised by such
words themselves, since ``die`` and ``on`` are English words too. Chinese has no blanks, so a run of its characters is
cut at them; in Japanese they are written in hiragana.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Literal

from ..pattern import pattern

OtherLanguage = Literal["de", "fr"]

# The first part of each list recognises the language: these are no words of English, and hardly of code.
_SURE: dict[OtherLanguage, list[str]] = {
    "de": "der das und ist sind wird werden wurde wurden wie wo wohin womit wodurch wofür warum wieso welche welcher"
    " welches welchem welchen wann wer wen wem nicht ein eine einen einer einem eines dem zu zum zur mit von vom bei"
    " auf für über unter haben hatte hatten ich wir uns unser unsere unserer unserem sie ihr kann können soll sollen"
    " sollte muss müssen darf dürfen nach aus oder wenn dass lange viele gibt es im am bis durch steht liegt".split(),
    "fr": "le la les des du de une un est sont et que qui quoi quel quelle quels quelles quand où dans pour avec sur"
    " nous vous ils elles il elle ce cette ces cet pas ne se notre nos votre vos combien pourquoi avons avez"
    " ont peut doit faut chez lorsque lorsqu qu jusqu sans sous aux".split(),
}
_UNSURE: dict[OtherLanguage, list[str]] = {
    "de": "die was war den des in an so als auch man hat sich er will also um da doch noch nur schon".split(),
    "fr": "on en au a as comment ai es tu je me te son sa ses mon ma mes par plus ou si y t l d j s n c m".split(),
}

# Where Chinese runs are cut. Only expressions that are part of no other word.
_CHINESE = pattern(
    "为什么|是什么|什么|怎么样|怎么|怎样|哪里|哪儿|哪个|哪些|多少|多久|多长|多大|时候|我们|你们|他们|咱们|如何|应该|可以|是否"
    "|能不能|有没有|一个|这个|那个|这些|那些|请问|里面|现在|之前|之后|用来|星期几"
)
_CHINESE_END = pattern("[吗呢吧啊了的]+$")
_HIRAGANA = pattern("[\u3041-\u309f]")
_HAN = pattern("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_ENDINGS = {
    "de": pattern("(?:ungen|innen|en|er|es|em|e|n|s|t)$"),
    "fr": pattern("(?:aient|ions|aux|al|ent|ées|ons|ait|ant|ée|és|er|ez|es|é|e|s)$"),
}


def other_language(words: Iterable[str], english: frozenset[str]) -> OtherLanguage | None:
    """The language of a question with these words, in lower case; None if it may be English.

    Two sure words decide, or a long one, if there are more of them than words that are only English.
    """
    asked = frozenset(words)
    for language, (sure, every) in _lists().items():
        found = asked & sure
        if (len(found) > 1 or any(len(word) > 4 for word in found)) and len(found) > len(asked & (english - every)):
            return language
    return None


def function_words(language: OtherLanguage) -> frozenset[str]:
    """The function words of a language, in lower case."""
    return _lists()[language][1]


@cache
def _lists() -> dict[OtherLanguage, tuple[frozenset[str], frozenset[str]]]:
    return {name: (frozenset(sure), frozenset(sure) | frozenset(_UNSURE[name])) for name, sure in _SURE.items()}


def stem(word: str, language: OtherLanguage) -> str | None:
    """The beginning that a word shares with its other forms and with compounds; None if it is too short to tell.

    ``oberfläche`` gives ``oberfläch``, which ``Oberflächentests`` begins with as well.
    """
    found = _ENDINGS[language].sub("", word)
    return found if len(word) > 5 and len(found) > 4 else None


def content_runs(run: str) -> list[str]:
    """The parts of a run of Chinese characters between its function words; the run itself if there is nothing else."""
    cut = [part for part in _CHINESE.split(_CHINESE_END.sub("", run)) if part]
    return cut or [run]


def is_grammar(pair: str) -> bool:
    """Whether a pair of neighbouring Japanese characters is an ending, a particle or a question word.

    So are ``ます``, ``は何``, ``グは`` and ``何日``.

    A Chinese character followed by hiragana may be a verb: ``使う``.
    """
    first, second = pair[0], pair[1]
    return bool(_HIRAGANA.match(first)) or first == "何" or (bool(_HIRAGANA.match(second)) and not _HAN.match(first))
