"""A failure and its fix as a memory: what it says, by what it is known, and how long it is of use.

It is a summary in draft with a tag, so that ordinary answers leave it out and everything else treats it as any memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from jobs import clock

from ..memory import FAILURE, Content, Memory, References, Status
from .error_lines import normalised, without_place
from .sections import shorten

TOPIC = "failures"
STATUS: Status = "Draft"
# Tools and code change: what was not met for half a year is more often gone than met again.
KEPT = timedelta(days=180)

_TITLE = 80  # characters
_FIX = " → it worked after "  # between the error and what made it go: the first line of the context
_COMMAND, _SAID = "Command: ", "Said: "  # how its other lines begin


def content(command: str, exit_code: int | None, error: str, fix: str, files: tuple[str, ...], said: str) -> Content:
    """What such a memory says. ``fix``: the command that made it work; else ``files`` were changed for it. ``said``:
    what the assistant said of it."""
    code = "" if exit_code is None else f" (exit code {exit_code})"
    how = f"`{fix}`" if fix else f"a change of {', '.join(files)}"
    error = without_place(error)  # which is soon another one
    lines = [f"{error}{_FIX}{how}", f"{_COMMAND}{command}{code}", *([f"{_SAID}{said}"] if said else [])]
    return Content(shorten(error, _TITLE), "\n".join(lines), references=References(files=files))


def is_failure(memory: Memory) -> bool:
    """Whether a memory is such a one, and nobody has made an ordinary one of it."""
    return FAILURE in memory.metadata.tags and memory.metadata.status == STATUS and bool(error(memory))


def error(memory: Memory) -> str:
    """The error's own line; empty if the memory has none."""
    found, is_known, _ = _first_line(memory)
    return found if is_known else ""


def fix(memory: Memory) -> str:
    """What made it work: a command in backquotes, or the change of files."""
    return _first_line(memory)[2]


def note(memory: Memory) -> str:
    """What to know when the same error is met again."""
    command = shorten(re.sub(r" \(exit code \d+\)$", "", _line(memory, _COMMAND)), _TITLE)
    said = _line(memory, _SAID)
    return f"`{command}` had this error; it worked after {fix(memory)}{f': {said}' if said else ''}"


def is_current(memory: Memory, now: datetime) -> bool:
    """Whether it was met within the time for which it is kept."""
    met = memory.metadata.updated_at or memory.metadata.created_at or memory.stored_at
    return clock.parse(met) > now - KEPT


def same(memories: Iterable[Memory], lines: set[str], *, part: bool = False) -> list[Memory]:
    """Those of the failures whose error is among these normalised lines, the last met first. ``part``: or has one as a
    part."""

    def is_same(line: str) -> bool:
        return line in lines or (part and any(each in line for each in lines))

    alike = [each for each in memories if is_failure(each) and is_same(normalised(error(each)))]
    return sorted(alike, key=lambda each: (each.metadata.updated_at or "", each.number), reverse=True)


def _first_line(memory: Memory) -> tuple[str, str, str]:
    return (memory.content.context if memory.content else "").partition("\n")[0].rpartition(_FIX)


def _line(memory: Memory, beginning: str) -> str:
    lines = memory.content.context.splitlines() if memory.content else []
    return next((line.removeprefix(beginning) for line in lines if line.startswith(beginning)), "")
