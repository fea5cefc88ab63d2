"""A memory as a note in a prompt: its heading, its words as a quotation, and the note made shorter.

A memory's words were written by anyone: a chat, a web page that was pasted into it. So every line of them stands
behind ``> ``, where no line can begin a heading of ours, end the note, or leave a code block open for the next one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..memory import Memory
from ..text.sections import one_line
from .listing import title

SHORTENED = "> … [shortened to fit the token budget]"

CountTokens = Callable[[str], int]

# Control characters, marks that turn the reading direction, signs without width, and invisible twins of bytes: the
# person who reads the note sees none of them, the program that gets it all.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e01ef]")
_HEADING = re.compile(r"(?:[ \t]|[>*+-]|\d+[.)])*(?=#(?:#|[ \t]|$))")
_UNDERLINE = re.compile(r"[ \t>]*(?:=+|-+)[ \t]*")  # makes the line above it a heading
# In a script without blanks between words each character is one.
_WORD = re.compile(r"\s*(?:[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the quotation: what is ours, and the memory's words behind it.

    A line without words is a label or a gap, and nothing without what follows it.
    """

    ours: str
    words: str = ""

    @property
    def text(self) -> str:
        return self.ours + self.words


@dataclass(frozen=True, slots=True)
class PromptNote:
    heading: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        return self._text(line.text for line in self.lines)

    def shortened(self, count: CountTokens, room: int, *, first: bool = False) -> str | None:
        """The note with a visible mark instead of as many of its last lines as it takes to fit ``room`` tokens.

        At least one line of words remains; of the ``first`` note, at least the first words of one. None where
        there is no room for that.
        """
        used = count(self._text([SHORTENED]))
        fitting = 0
        for line in self.lines[:-1]:
            used += count(f"\n{line.text}")
            if used > room:
                break
            fitting += 1
        for kept in range(fitting, 0, -1):  # once, but for a tokenizer that counts lines together otherwise
            if self.lines[kept - 1].words:
                found = self._text([*(line.text for line in self.lines[:kept]), SHORTENED])
                if count(found) <= room:
                    return found
        return self._first_words(count, room) if first else None

    def _first_words(self, count: CountTokens, room: int) -> str | None:
        at = next((at for at, line in enumerate(self.lines) if line.words), None)
        if at is None:
            return None
        above, line = [line.text for line in self.lines[:at]], self.lines[at]
        used = count(self._text([*above, f"{line.ours}…", SHORTENED]))
        kept: list[str] = []
        for word in _WORD.findall(line.words):
            used += count(word)
            if used > room:
                break
            kept.append(word)
        while kept:
            found = self._text([*above, f"{line.ours}{''.join(kept)} …", SHORTENED])
            if count(found) <= room:
                return found
            kept.pop()
        return None

    def _text(self, lines: Iterable[str]) -> str:
        return "\n".join([self.heading, *lines])


def prompt_note(memory: Memory) -> PromptNote:
    """Number, date and, where it matters, status above the words: decisions first, since notes are cut at their end."""
    return PromptNote(_heading(memory), tuple(_body(memory)))


def _heading(memory: Memory) -> str:
    """``## #42 · 2026-11-20 · Superseded · Topic``. What the memory itself says comes last, so it forges nothing."""
    known = memory.metadata
    date = memory.dated_at
    status = "Legacy" if memory.kind == "legacy" else known.status
    topic = None if memory.content is None else one_line(_seen(title(memory)))
    parts = [f"#{memory.number}", date and date[:10], status if status != "Active" else None, topic]
    return "## " + " · ".join(part for part in parts if part)


def _body(memory: Memory) -> Iterator[Line]:
    content = memory.content
    if content is None:
        yield from _text_lines(memory.text)
        return
    sections = (
        ("Decisions", list(_item_lines(content.decisions))),
        ("Context", list(_text_lines(content.context))),
        ("Why", list(_item_lines(content.rationale))),
        ("Open questions", list(_item_lines(content.open_questions))),
        ("Next steps", list(_item_lines(content.next_steps))),
    )
    gap = False
    for label, lines in sections:
        if lines:
            if gap:
                yield Line(">")
            gap = True
            yield Line(f"> {label}:")
            yield from lines


def _text_lines(text: str) -> Iterator[Line]:
    for words in _plain_lines(text):
        yield Line("> ", words)


def _item_lines(items: Iterable[str]) -> Iterator[Line]:
    for item in items:
        for number, words in enumerate(_plain_lines(item)):
            yield Line(">   " if number else "> - ", words)


def _plain_lines(text: str) -> Iterator[str]:
    """The lines that show something, none of them a heading. Whatever a reader might take for a line's end is one."""
    for line in text.splitlines():
        line = _seen(line).rstrip()
        if line:
            heading = _HEADING.match(line)
            at = 0 if _UNDERLINE.fullmatch(line) else heading.end() if heading else None
            yield line if at is None else f"{line[:at]}\\{line[at:]}"


def _seen(text: str) -> str:
    """The text without characters that nobody sees."""
    return _UNSEEN.sub("", text)
