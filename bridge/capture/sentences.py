"""The sentences of a turn: what was said as prose, without code, tool output, tables, traces and lists of files.

Each sentence stands in the turn's text as it is, apart from white space. No language is assumed beyond its stops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..text import passages
from ..text.sections import newlines, one_line
from .session import Speaker, Turn

MAX_CHARACTERS = 320  # of a sentence; a longer one is cut into parts, at a comma or a blank, with … there
_MIN_LETTERS = 6
_WHOLE = 150  # characters of a person's paragraph that is not parted: a sentence alone may say the contrary

_FENCE = re.compile(r"^\s*(?:>\s*)?(```+|~~~+)")
# Blocks that tools put into what a person says, and a person's parts that are to be private.
_BLOCK = re.compile(
    r"<(private|system-reminder|command-\w+|local-command-\w+|environment_\w+|user_instructions|tool[_-]\w+|bash-\w+"
    r"|function_\w+|ide_\w+|task-notification|think|thinking|details)\b[^>]{0,300}>.*?(?:</\1\b[^>]{0,300}>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•–]|\(?\d{1,2}[.)]|\[[ xX]?\])\s+(?:\[[ xX]?\]\s+)?")
# Lines that are no prose: headings, tables, rules, quotations, prompts of a shell, patches, traces, dated log lines.
_NO_PROSE = re.compile(
    r"\s*(?:#{1,6}\s|\||[-=*_]{3,}\s*$|>|[$%❯»] |@@ |[+-]{2,3} \S|diff --git|index [0-9a-f]{6,}|\d+(?:→|:|\t)"
    r"|@?echo[ .]|::|Traceback \(|File \"[^\"]+\", line \d|at \S+[.(/<]\S* ?\(?|at [\w.<>$ ]+ \(|\.{3} \d+ more"
    r"|Caused by:|goroutine \d|panic: "
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d[.,\s]|\[\d\d/\d\d/|\^+\s*$"
    r"|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE)\b[\]: ]"
    r"|To-do's from the plan have|Implement the plan as specified|(?:How can I resolve this\? )?If you propose a fix"
    r"|(?:DOM Path|HTML Element|React Component): |Position: top="
    r"|File editing session$|Add \S+ to the chat\?"
    r"|Read file: |(?:Searched codebase|Listed directory|Grep search|Edited file|Cancelled)\b"
    r"|(?:[-*+]|\d+[.)])\s+\[ ?\]\s|Cost: \$\d|Warning: \w+ was requested via|Use --no-stream "
    r"|time=|level=|//|/\*|API Error|\[Request interrupted|\[Image"
    r"|(?:import|from|def|class|return|const|let|var|function|public|private|fn|use|package|func|if|for|while)\b"
    r".*[;{:(]\s*$|</?\w[\w-]{0,60}(?:\s[^>]{0,300})?>\s*$|[\[{}\]()]+[,;]?\s*$|\"[\w-]+\":\s"
    r"|\(?\S+:\d+:\d+\)?:?\s*$|(?:\"[^\"]*\",\s*)+(?:\"[^\"]*\")?\s*$)"
)
_PATCH_START = re.compile(r"\s*(?:diff --git |@@ -\d)")
_PATCH_LINE = re.compile(r"[ \t+@\\-]|$|(?:diff|index|new file|deleted file|rename|similarity|Binary files)\b")
_TRACE = re.compile(r"\s*(?:Traceback \(|File \"[^\"]+\", line \d)")  # lines indented below are code
_PATH_WORD = re.compile(r"[\w@.~-]*[/\\][\w@./\\~-]*|[\w-]+\.[A-Za-z]\w{0,5}(?::\d+)*")
_LOWER_START = re.compile(r"(?<![\s.][A-Za-z])(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)(?<!cf)(?<=\w)[.!?]+\s+(?=[a-z])")
_CODE_SIGNS = re.compile(r"[{}\[\]<>=;|\\$&^~@#_()]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence on one line, who said it, and where. ``turn`` counts the turns of its segment, ``order`` the sentences
    of its turn, from 0; ``remaining`` is how many follow there. ``is_step``: more was done after it."""

    text: str
    speaker: Speaker
    turn: int
    order: int
    remaining: int
    place: str
    is_step: bool = False

    @property
    def is_question(self) -> bool:
        """Whether it ends as a question does."""
        return _asks(self.text.rstrip("\"'*_ ")) or (self.text.startswith("(") and _asks(self.text.rstrip(")")))


def of_turn(turn: Turn, number: int) -> list[Sentence]:
    """The sentences of a turn, which is the ``number``-th of its segment."""
    steps, *report = turn.text.rsplit("\n\n", turn.report) if turn.tools else ("", turn.text)
    early = list(sentences(steps, joins=turn.speaker == "user"))
    texts = [*early, *sentences("\n\n".join(report), joins=turn.speaker == "user")]
    return [
        Sentence(text, turn.speaker, number, order, len(texts) - order - 1, turn.place, order < len(early))
        for order, text in enumerate(texts)
    ]


def sentences(text: str, *, joins: bool = False) -> Iterator[str]:
    """The sentences of the prose in a text, in order, each on one line. With ``joins``, a short paragraph is one, as
    people write: "I don't want another service just for this. Postgres then."
    """
    for paragraph in _paragraphs(text):
        is_one = joins and len(paragraph) <= _WHOLE
        yield from filter(_says_something, [one_line(paragraph)] if is_one else _sentences(paragraph))


def _asks(text: str) -> bool:
    return text.endswith(("?", "？", "؟"))


def _sentences(paragraph: str) -> Iterator[str]:
    for long in passages.sentences(paragraph):
        start = 0
        for stop in [*(found.end() for found in _LOWER_START.finditer(long)), len(long)]:
            yield from _parts(one_line(long[start:stop]))
            start = stop


def _paragraphs(text: str) -> Iterator[str]:
    """Runs of lines of prose, each joined by blanks. A list's item is a paragraph without its bullet."""
    joined: list[str] = []
    fence, in_patch, in_trace = "", False, False
    for line in _BLOCK.sub("\n", newlines(text)).split("\n"):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            continue
        in_patch = bool(_PATCH_START.match(line)) or (in_patch and bool(_PATCH_LINE.match(line)))
        in_trace = bool(_TRACE.match(line)) or (in_trace and line.startswith((" ", "\t")))
        item = _BULLET.match(line)
        body = line[item.end() :] if item else line
        if mark:
            fence = mark[1]
        prose = (
            not mark
            and not in_patch
            and not in_trace
            and bool(body.strip())
            and not _NO_PROSE.match(line)
            and not _is_code(body)
        )
        if (item or not prose) and joined:
            yield " ".join(joined)
            joined = []
        if prose:
            joined.append(body)
    if joined:
        yield " ".join(joined)


def _is_code(line: str) -> bool:
    """Whether a line is rather code or a list of files than prose."""
    words = line.split()
    if len(words) <= 3 and any(_PATH_WORD.fullmatch(word.strip("`'\",:;()[]*")) for word in words):
        return not any(word.isalpha() for word in words) or len(words) < 3
    paths = sum(bool(_PATH_WORD.fullmatch(word.strip("`'\",:;()[]*"))) for word in words)
    signs = len(_CODE_SIGNS.findall(line))
    letters = sum(character.isalpha() or character.isspace() for character in line)
    return (
        paths * 2 > len(words)
        or signs * 8 > len(line)
        or "</" in line
        or letters * 2 < len(line)
        or line.rstrip().endswith((";", "{", "};", "){"))
    )


def _parts(sentence: str) -> Iterator[str]:
    while len(sentence) > MAX_CHARACTERS:
        stop = max(sentence.rfind(mark, MAX_CHARACTERS // 2, MAX_CHARACTERS - 1) for mark in (", ", "; ", "，", "、"))
        if stop < 0:
            stop = sentence.rfind(" ", MAX_CHARACTERS // 2, MAX_CHARACTERS - 1)
        stop = MAX_CHARACTERS - 1 if stop < 0 else stop + 1
        yield sentence[:stop].strip() + "…"
        sentence = "…" + sentence[stop:].strip()
    yield sentence


def _says_something(sentence: str) -> bool:
    least = _MIN_LETTERS if sentence.isascii() else _MIN_LETTERS // 2
    return sum(map(str.isalpha, sentence)) >= least
