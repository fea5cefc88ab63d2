"""Conversations as Markdown or plain text, where each message begins with a label of who speaks (``export_labels``).

In Claude Code's terminal, ``⏺`` or ``●`` stands before what the assistant did, ``⎿`` before the output of a tool; in
aider's, ``>`` before what the tool says. A fenced block is not looked into.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ..session import TOOL_OUTPUT, Speaker, Turn
from .export_labels import Label, Labels, moment_in
from .turn_builder import BEFORE_REQUEST

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_TERMINAL = re.compile(r"(?:([⏺●])|\s*(⎿))\s(.*)$")
_CALL = re.compile(r"([A-Z]\w{1,40})\((.*)\)?$")
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,})?\s*")  # the line between two messages, or an empty one
_DETAILS = re.compile(r"</?details>", re.IGNORECASE)
_TOOL = re.compile(r'(?:<tool-use\b[^>]{0,300}?\bdata-tool-name="|^Tool use: \*\*)([^"*\n]{1,80})', re.MULTILINE)
_BLOCK = re.compile(
    r"<(tool-use|think|thinking)\b[^>]{0,300}>.*?(?:</\1\b[^>]{0,300}>|\Z)|^Tool use: \*\*.*?(?=^---\s*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_HEADING = re.compile(r"#{1,3}\s+(.{4,200}?)\s*(?:\([^()]*\d[^()]*\))?\s*$")
_NO_TITLE = re.compile(r"specstory|aider chat|conversation|chat|export|[\d\W]+Z?$", re.IGNORECASE)
_UNNAMED = "folded block"  # a tool, or several
_LEAST_REPEATED = 3  # lines of a request that stand in the answer before it, so that it is the answer's
_HEAD = 40  # lines before the first label that may name title and date


@dataclass(slots=True)
class Head:
    """What stands before the first label: a title, and when the conversation was; then, the time that was told last."""

    title: str | None = None
    at: str | None = None

    def read(self, line: str) -> None:
        """Take what a line says."""
        self.at = self.at or moment_in(line)
        heading = _HEADING.match(line)
        if heading and self.title is None and not _NO_TITLE.match(heading[1]):
            self.title = heading[1]


@dataclass(slots=True)
class _Message:
    speaker: Speaker | None
    place: str
    at: str | None
    body: list[str] = field(default_factory=list)
    tools: tuple[str, ...] = ()


def said(
    lines: Iterable[tuple[int, str]], labels: Labels, left_out: Counter[str], head: Head | None = None
) -> Iterator[Turn]:
    """What each message says. What is before the first label is left out, but for title and date."""
    head = head or Head()
    answer = ""
    for message in _messages(lines, labels, left_out, head):
        body = "\n".join(message.body)
        blocks = _BLOCK.sub(lambda block: "" if (block[1] or "").startswith("think") else "\0", body.replace("\0", ""))
        marked = _without_details(blocks)  # where tools were called
        text = marked.replace("\0", "")
        at = message.at or head.at
        if message.speaker == "user" and (own := _own_time(text)) is not None:
            at, text = own
        text = BEFORE_REQUEST.sub("", text)
        head.at = at  # also of the messages after it that name none
        if message.speaker == "user" and _repeats(text, answer):
            message = replace(message, speaker="assistant")
        tools = (*message.tools, *_TOOL.findall(body)) or (_UNNAMED,) * ("\0" in marked)
        steps, _, report = marked.rpartition("\0") if tools else ("", "", text)
        if message.speaker is not None:
            yield Turn(message.speaker, steps, message.place, at, tools=Counter(tools))
            yield Turn(message.speaker, report, message.place, at)
        answer = text if message.speaker == "assistant" else answer


def _messages(
    lines: Iterable[tuple[int, str]], labels: Labels, left_out: Counter[str], head: Head
) -> Iterator[_Message]:
    message: _Message | None = None
    fence, before = "", ""
    for number, line in lines:
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        tools: tuple[str, ...] = ()
        is_new = labels.form == "emphasis" and before.startswith("---")  # a block that nobody closed ends there
        label = labels.read(line) if not mark and (is_new or not fence) else None
        fence = "" if label is not None else fence
        before = line.strip() or before
        if label is None and not fence and labels.form == "terminal":
            label, tools = _of_terminal(line, left_out)
        elif label is None and not fence and labels.form == "aider":
            if line.startswith("# aider chat started at"):
                head.at = moment_in(line)
                continue
            label = _of_aider(line, message, left_out)
        elif label is not None and labels.form == "aider" and message is not None and message.speaker == "user":
            message.body.append(label.text)
            continue
        if label is None and message is None:
            if number <= _HEAD:
                head.read(line)
        elif label is None and message is not None:
            message.body.append(line[2:] if labels.form == "terminal" and line.startswith("  ") else line)
        elif label is not None:
            if message is not None:
                yield message
            message = _Message(label.speaker, f"line {number}", label.at, [label.text], tools)
    if message is not None:
        yield message


def _of_terminal(line: str, left_out: Counter[str]) -> tuple[Label | None, tuple[str, ...]]:
    """The message that begins in a line of Claude Code's terminal, and the tools that it calls."""
    found = _TERMINAL.match(line)
    if found is None:
        return None, ()
    if found[2]:
        left_out[TOOL_OUTPUT] += 1
        return Label(None), ()
    call = _CALL.match(found[3])
    return (Label("assistant"), (call[1],)) if call else (Label("assistant", found[3]), ())


def _of_aider(line: str, message: _Message | None, left_out: Counter[str]) -> Label | None:
    """The message that begins in a line of aider's log: what is not marked is the assistant's."""
    speaker = message.speaker if message else "user"
    if line.startswith(">"):
        left_out[TOOL_OUTPUT] += 1
        return Label(None) if message is None or speaker is not None else None
    return Label("assistant", line) if line.strip() and message is not None and speaker != "assistant" else None


def _own_time(text: str) -> tuple[str, str] | None:
    """The time in the first line of a message that has nothing else, and the rest of the message."""
    first, _, rest = text.partition("\n")
    at = moment_in(first) if len(first) < 40 and not re.search(r"[^\W\d]{3,}", first) else None
    return None if at is None else (at, rest.strip())


def _repeats(text: str, answer: str) -> bool:
    """Whether a request is what the assistant said before: aider has a plan carried out by repeating it."""
    lines = [line.strip() for line in text.splitlines() if len(line.strip()) > 10]
    return len(lines) >= _LEAST_REPEATED and 2 * sum(line in answer for line in lines) > len(lines)


def _without_details(text: str) -> str:
    """The text with a mark in place of each block that folds away: exports keep thinking and tools in them."""
    kept, depth, end = [], 0, 0
    for found in _DETAILS.finditer(text):
        if found[0].startswith("</"):
            depth = max(0, depth - 1)
            end = found.end()
        else:
            if not depth:
                kept.append(text[end : found.start()] + "\0")
            depth += 1
    kept.append("" if depth else text[end:])
    lines = "".join(kept).split("\n")
    while lines and _RULE.fullmatch(lines[-1]):
        lines.pop()
    return "\n".join(lines).strip()
