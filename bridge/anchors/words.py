"""What in a text may stand in code: paths, symbols, commands, options and values. Pure, from the text alone.

It takes more than is code, since only what is found in the tree becomes an anchor. Code is ASCII in texts of any
language, so a path is also found between letters without spaces. Of a sentence about a removal or a change from one
thing to another nothing is taken: what it names is meant to go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..memory import AnchorKind


class Word(NamedTuple):
    """``path``: a path, or the end of one. ``name``: a symbol, an option, the name of a package. ``command``: a target
    of a runner of tasks, such as ``build`` of ``npm run build``. ``value``: a name with its value or version."""

    kind: AnchorKind
    text: str
    value: str = ""


MOST_WORDS = 24  # of one memory
_MOST_CHARACTERS = 50_000  # of its text
# In the form of a wish or of what was done: "deletes" tells what code does.
_REMOVAL = re.compile(
    r"\b(?:remove|rename|replace|delete|drop(?:pe)?|deprecate|revert(?:e)?|eliminate|retire|move)d?\b|\bremoval of\b"
    r"|\bmigrated? (?:from|to|away)\b|\bswitch(?:ed)? (?:from|to|away|back)\b|\binstead of\b|\brather than\b"
    r"|\bno longer\b|\bg[eo]t rid\b|\bformerly\b|\bpreviously\b|\bentfern|\bgelöscht|\blösch|\bersetz|\bumbenann"
    r"|\bstatt\b|\bnicht mehr\b|\bsupprim|\bremplac"
    r"|\brenomm|\bau lieu\b|\belimin|\breemplaz|\ben lugar de\b|\bquitar\b|删除|移除|替换|改名|不再|削除|廃止|置き換え"
    r"|удал|замен|переимен",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|[。！？；\n]+")
_URL = re.compile(r"\w{1,20}://\S+")  # of any length, all that follows a long word would be tried at each letter
_QUOTED = re.compile(r"`([^`\n]{2,120})`")
_TOKEN = re.compile(r"[A-Za-z0-9_@$.~/:#<>+*=-]+(?:\(\))?")
_CALL = re.compile(r"(?<=\w)\([^()\n]*\)")
_PATH = re.compile(r"(?:\./)?[A-Za-z0-9_@.+-]+(?:/[A-Za-z0-9_@.+-]+)*/?", re.ASCII)
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_OPTION = re.compile(r"--[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_SYMBOL = re.compile(r"[A-Za-z_$@][A-Za-z0-9_]*(?:(?:\.|::|->|#)[A-Za-z_][A-Za-z0-9_]*)*(?:\(\))?")
# A symbol without backticks: snake_case, camelCase, CONSTANT_CASE, a call, members.
_CODE_LIKE = re.compile(r"\w_\w|[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}|\(\)$|::|->")
_PACKAGE = re.compile(r"@?[a-z0-9][a-z0-9.]*(?:[-_/:][a-z0-9.]+)+")
_RUNNER = re.compile(
    r"\b(?:(?:npm|pnpm|yarn|bun|mise|composer) run|yarn|pnpm|make|just|task|mise|rake) +([A-Za-z][\w:.-]{2,40})"
)
_BETWEEN = r"(?:\s*(?:`|\"|'|,|\(|version|Version|版本|is|are|at|on|to|of|ist|auf|est|=|:|>=|<=|==|~|\^|v)\s*){0,4}\s*"
_VERSION = re.compile(rf"(?<![\w/.-])(@?[A-Za-z][\w./@+#-]{{0,120}})`?{_BETWEEN}(\d+(?:\.\d+){{1,3}})(?![\w%])")
_VALUE = re.compile(
    rf"(?<![\w/.-])`?([A-Za-z_]\w{{0,60}}(?:_\w{{1,60}}|[a-z][A-Z]\w{{0,60}}))`?{_BETWEEN}(\d+(?:\.\d+)*|true|false)(?![\w%])"
)


def words(text: str) -> list[Word]:
    """The words of a text, each once, in their order; at most ``MOST_WORDS``."""
    found: dict[Word, None] = {}
    for sentence in _SENTENCE.split(_URL.sub(" ", text[:_MOST_CHARACTERS])):
        if sentence and not _REMOVAL.search(_QUOTED.sub(" ", sentence)):
            found.update(dict.fromkeys(_of_sentence(sentence)))
        if len(found) >= MOST_WORDS:
            break
    return list(found)[:MOST_WORDS]


def _of_sentence(sentence: str) -> Iterator[Word]:
    for name, value in _VERSION.findall(sentence):
        yield Word("value", name, value)
    for name, value in _VALUE.findall(sentence):
        yield Word("value", name, value)
    for target in _RUNNER.findall(sentence):
        yield Word("command", target.rstrip(".:"))
    for quoted in _QUOTED.findall(sentence):
        yield from _tokens(quoted, is_quoted=True, is_alone=" " not in quoted)
    yield from _tokens(_QUOTED.sub(" ", sentence), is_quoted=False)


def _tokens(text: str, *, is_quoted: bool, is_alone: bool = False) -> Iterator[Word]:
    for token in _TOKEN.findall(_CALL.sub("()", text)):
        bare = token.rstrip(".:=<>*#~+").lstrip(":=<>*#~+").removeprefix("$")
        if len(bare) < 3 or (bare.isalpha() and bare[1:].islower() and not is_alone):  # most are plain words
            continue
        if option := _OPTION.match(bare):
            yield Word("name", option[0])
        elif _is_path(bare, is_alone=is_alone):
            yield Word("path", bare.removeprefix("./"))
        if option is None and (word := _name(bare.partition("=")[0], is_quoted=is_quoted)):
            yield Word("name", word)


def _is_path(token: str, *, is_alone: bool) -> bool:
    if not _PATH.fullmatch(token) or ".." in token:
        return False
    return "/" in token or bool(_ENDING.search(token)) or (is_alone and not token[0].isdigit())


def _name(token: str, *, is_quoted: bool) -> str:
    """The token as a symbol or as the name of a package; empty if it is neither."""
    if _SYMBOL.fullmatch(token) and (_CODE_LIKE.search(token) or (is_quoted and re.search(r"[A-Z_.]", token[1:]))):
        return token.removesuffix("()")
    return token if _PACKAGE.fullmatch(token) and not _ENDING.search(token) and (is_quoted or "/" in token) else ""
