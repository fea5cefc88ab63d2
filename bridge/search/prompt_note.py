"""A memory as a note in a prompt: a heading and the quoted text, which can be shortened to a token budget.

A memory's text is untrusted: it may contain a web page that was pasted into a chat. So each of its lines is prefixed
with ``> ``, the topic's too. Then no line can start a heading, end the note, or leave a code block open for the next
note. The heading has no words of the memory. An order to an assistant (``orders``) is marked, and is no decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..memory import Memory
from ..text.conversation import without_metadata_line
from ..text.decision_lines import current_first
from ..text.orders import is_order, marked
from ..text.sections import one_line
from ..text.visible import visible
from .hits import CountTokens as CountTokens
from .listing import title

if TYPE_CHECKING:
    from ..memory_shapes import InCode

SHORTENED = "> … [shortened to fit the token budget]"

_HEADING = re.compile(r"(?:[ \t]|[>*+-]|\d+[.)])*(?=#(?:#|[ \t]|$))")
_UNDERLINE = re.compile(r"[ \t>]*(?:=+|-+)[ \t]*")  # in Markdown it makes the line above it a heading
# In scripts without spaces between words, each character counts as a word.
_WORD = re.compile(r"\s*(?:[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+)")


class Line(NamedTuple):
    """A line of the quotation: a prefix of ours, then the memory's words.

    A line without words is the topic, a label or a gap. A shortened note does not end with one.
    """

    ours: str
    words: str = ""

    @property
    def text(self) -> str:
        """The whole line."""
        return self.ours + self.words


class PromptNote(NamedTuple):
    """The note: its heading, and the lines of its quotation."""

    heading: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The whole note, without a final line break."""
        return self._text(line.text for line in self.lines)

    def shortened(
        self, count: CountTokens, room: int, *, first: bool = False, matched: Sequence[str] = ()
    ) -> str | None:
        """The note without its last lines, with a visible mark instead, so that it fits ``room`` tokens.

        It keeps at least one line of words; the ``first`` note of a block may keep only the first words of a line.
        None if that does not fit. Passages that ``matched`` and would be lost stand before the others.
        """
        text = self._beginning(count, room, first)
        lost = [Line("> … ", words) for words in _plain_lines("\n".join(matched)) if text is None or words not in text]
        if not lost:
            return text
        led = self._replace(lines=(*lost, *self.lines))
        found = [led._beginning(count, room, first), led._first_words(count, room, len(lost)) if first else None]
        return max((each for each in found if each), key=len, default=text)

    def _beginning(self, count: CountTokens, room: int, first: bool) -> str | None:
        used = count(self._text([SHORTENED]))
        fitting = 0
        for line in self.lines[:-1]:
            used += count(f"\n{line.text}")
            if used > room:
                break
            fitting += 1
        for kept in range(fitting, 0, -1):  # usually once; a tokenizer may count joined lines differently
            if self.lines[kept - 1].words:
                text = self._text([*(line.text for line in self.lines[:kept]), SHORTENED])
                if count(text) <= room:
                    return text
        return self._first_words(count, room) if first else None

    def _first_words(self, count: CountTokens, room: int, begin: int = 0) -> str | None:
        at = next((at for at, line in enumerate(self.lines) if line.words and at >= begin), None)
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
            text = self._text([*above, f"{line.ours}{''.join(kept)} …", SHORTENED])
            if count(text) <= room:
                return text
            kept.pop()
        return None

    def _text(self, lines: Iterable[str]) -> str:
        return "\n".join([self.heading, *lines])


def prompt_note(
    memory: Memory, remarks: Mapping[str, str] = MappingProxyType({}), in_code: InCode | None = None
) -> PromptNote:
    """The memory's note. Decisions come first, since notes are shortened at their end.

    ``remarks``: what became of a decision, by its words, to add to it. ``in_code``: what the code says of it.
    """
    code = () if in_code is None else (Line(f"> [{one_line(visible(in_code['remark']))}]"),)
    return PromptNote(_heading(memory), (*code, *_body(memory, remarks)))


def _heading(memory: Memory) -> str:
    """``## #42 · 2026-11-20 · Superseded``."""
    known = memory.metadata
    date = memory.dated_at
    status = "Legacy" if memory.kind == "legacy" else known.status
    parts = [f"#{memory.number}", date and date[:10], status if status != "Active" else None]
    return "## " + " · ".join(part for part in parts if part)


def _body(memory: Memory, remarks: Mapping[str, str]) -> Iterator[Line]:
    content = memory.content
    if content is None:
        yield from _text_lines(without_metadata_line(memory.text))
        return
    if topic := one_line(visible(title(memory))):
        yield Line(f"> Topic: {topic}")
    decisions = current_first([words for words in content.decisions if not is_order(words)])
    says_more = one_line(content.context) != one_line(" ".join(content.decisions))
    sections = (
        ("Decisions", list(_item_lines(_remarked(decisions, remarks)))),
        ("Context", list(_text_lines(content.context)) if says_more else []),
        ("Why", list(_item_lines(content.rationale))),
        ("Open questions", list(_item_lines(content.open_questions))),
        ("Next steps", list(_item_lines(content.next_steps))),
        ("No decisions", list(_item_lines(filter(is_order, content.decisions)))),
    )
    gap = False
    for label, lines in sections:
        if lines:
            if gap:
                yield Line(">")
            gap = True
            yield Line(f"> {label}:")
            yield from lines


def quoted_line(words: str) -> str:
    """Words of a memory as one quoted item, such as ``> - We use Postgres.``; empty without visible words."""
    return "".join(line.text for line in _item_lines([one_line(visible(words))]))


def _remarked(decisions: Sequence[str], remarks: Mapping[str, str]) -> list[str]:
    """The decisions, those that do not hold any more last, each with what became of it."""
    ordered = sorted(decisions, key=lambda words: words in remarks)
    return [f"{words} [{remarks[words]}]" if words in remarks else words for words in ordered]


def _text_lines(text: str) -> Iterator[Line]:
    for words in _plain_lines(text):
        yield Line("> ", words)


def _item_lines(items: Iterable[str]) -> Iterator[Line]:
    for item in items:
        for number, words in enumerate(_plain_lines(item)):
            yield Line(">   " if number else "> - ", words)


def _plain_lines(text: str) -> Iterator[str]:
    """The visible lines, with Markdown headings escaped. Splits at every Unicode line boundary."""
    for line in text.splitlines():
        line = visible(line).rstrip()
        if line:
            heading = _HEADING.match(line)
            at = 0 if _UNDERLINE.fullmatch(line) else heading.end() if heading else None
            yield marked(line if at is None else f"{line[:at]}\\{line[at:]}")
