"""Conversations as Markdown or plain text, where each message begins with the name of who speaks.

A name counts in a heading, in bold at the beginning of a line, or before a colon. The signs of Claude Code's terminal
count as well: ``>`` or ``❯`` before what the person wrote, ``⏺`` or ``●`` before what the assistant did, ``⎿`` before
the output of a tool. A fenced block is not looked into.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from ..session import Speaker
from .turn_builder import Said, moment

# Who speaks (None: left out), the text in the line itself, the time, and the tools called.
_Start = tuple[Speaker | None, str, str | None, tuple[str, ...]]

_NAMES: dict[str, Speaker] = {
    **dict.fromkeys(("user", "human", "you", "me", "prompt", "question", "person"), "user"),
    **dict.fromkeys(
        (
            *("assistant", "ai", "claude", "claude code", "chatgpt", "gpt", "gpt-4", "gpt-5", "codex", "copilot"),
            *("github copilot", "gemini", "cursor", "model", "bot", "agent", "response", "answer"),
        ),
        "assistant",
    ),
}
_OTHERS = frozenset({"system", "tool", "tool result", "tool output", "tool use", "thinking", "tool exchange"})
_NAME = r"([A-Za-z][A-Za-z0-9 .-]{0,24}?)"
_ASIDE = r"(?:\s*[*_]*\s*[(\[]([^)\]\n]{0,80})[)\]][*_]*)?"
_MARK = r"[^\w\s#*_<>&`|(\[-]{0,4}\s*"  # emoji that exports put before a name
_HEADING = re.compile(rf"#{{1,6}}\s+{_MARK}[*_]*{_NAME}[*_]*{_ASIDE}\s*:?[*_]*\s*$")
_BOLD = re.compile(rf"{_MARK}(?:\*\*|__){_NAME}{_ASIDE}\s*(?::(?:\*\*|__)|(?:\*\*|__)\s*:|(?:\*\*|__)\s*$)\s*(.*)$")
_PLAIN = re.compile(rf"{_NAME}:(?:\s+(.*))?$")
_PLAIN_NAMES = frozenset({"user", "human", "assistant", "claude", "chatgpt", "ai", "you"})
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_TERMINAL = re.compile(r"(?:([>❯])|([⏺●])|\s*(⎿))\s(.*)$")
_TERMINAL_SIGNS = re.compile(r"^(?:[⏺●]|\s{1,4}⎿)\s", re.MULTILINE)
_CALL = re.compile(r"([A-Z]\w{1,40})\((.*)\)?$")
_RULE = re.compile(r"(?:^\s*(?:-{3,}|\*{3,}|_{3,})\s*)+\Z", re.MULTILINE)  # the line between two messages
_DETAILS = re.compile(r"</?details>", re.IGNORECASE)

TOOL_OUTPUT = "tool output"


def is_terminal(text: str) -> bool:
    """Whether the beginning of a file is from the terminal of Claude Code."""
    return _TERMINAL_SIGNS.search(text) is not None


def said(lines: Iterable[tuple[int, str]], left_out: Counter[str], is_terminal: bool = False) -> Iterator[Said]:
    """What each message says. What is before the first name is left out."""
    speaker: Speaker | None = None
    body: list[str] = []
    place, at = "", None
    tools: tuple[str, ...] = ()
    fence = ""
    for number, line in lines:
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        start = None if fence or mark else _start(line)
        if start is None and not fence and is_terminal:
            start = _terminal_start(line, left_out)
        if start is None:
            body.append(line[2:] if is_terminal and line.startswith("  ") else line)
            continue
        if speaker is not None:
            yield Said(speaker, _without_details("\n".join(body)), place, at, tools=tools)
        speaker, first, at, tools = start
        body, place = [first], f"line {number}"
    if speaker is not None:
        yield Said(speaker, _without_details("\n".join(body)), place, at, tools=tools)


def _start(line: str) -> _Start | None:
    """The message that begins in this line; None if none does."""
    heading = _HEADING.match(line)
    bold = None if heading else _BOLD.match(line)
    plain = None if heading or bold else _PLAIN.match(line)
    found = heading or bold or plain
    if found is None:
        return None
    name = found[1].strip().lower()
    if plain and name not in _PLAIN_NAMES:
        return None
    if name not in _NAMES and name not in _OTHERS:
        return None
    aside = None if plain else found[2]
    rest = (bold[3] if bold else plain[2] if plain else "") or ""
    return _NAMES.get(name), rest, moment(aside.strip()) if aside else None, ()


def _terminal_start(line: str, left_out: Counter[str]) -> _Start | None:
    """The same for the lines of Claude Code's terminal."""
    found = _TERMINAL.match(line)
    if found is None:
        return None
    if found[1]:
        return "user", found[4], None, ()
    if found[3]:
        left_out[TOOL_OUTPUT] += 1
        return None, "", None, ()
    call = _CALL.match(found[4])
    return ("assistant", "", None, (call[1],)) if call else ("assistant", found[4], None, ())


def _without_details(text: str) -> str:
    """The text without blocks that fold away: exports keep thinking and tools in them."""
    kept, depth, end = [], 0, 0
    for found in _DETAILS.finditer(text):
        if found[0].startswith("</"):
            depth = max(0, depth - 1)
            end = found.end()
        else:
            if not depth:
                kept.append(text[end : found.start()])
            depth += 1
    kept.append("" if depth else text[end:])
    return _RULE.sub("", "".join(kept)).strip()
