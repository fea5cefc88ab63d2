"""A failure and its fix as a memory: what it says, by what it is known, and how long it is of use.

It is a summary in draft with a tag, so that ordinary answers leave it out and everything else treats it as any memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

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
_CONTEXT = re.compile(
    rf"(?P<error>.+){_FIX}(?P<fix>.*)"
    rf"(?:\n{_COMMAND}(?P<command>.*?)(?: \(exit code \d+\))?$)?(?:\n{_SAID}(?P<said>.*))?",
    re.MULTILINE,
)


class Failure(NamedTuple):
    """A command that failed, and what made it work.

    ``error`` is the error's own line; ``exit_code`` may be unknown. ``fix`` is the command that made it work; where it
    is empty, ``files`` were changed for it. ``said`` is what the assistant said of it. ``place`` is that of the failed
    call, ``at`` the time of its turn.
    """

    command: str
    error: str
    exit_code: int | None
    fix: str
    files: tuple[str, ...]
    said: str
    place: str
    at: str | None


def content(of: Failure) -> Content:
    """What the memory of a failure says."""
    code = "" if of.exit_code is None else f" (exit code {of.exit_code})"
    how = f"`{of.fix}`" if of.fix else f"a change of {', '.join(of.files)}"
    error = without_place(of.error)  # which is soon another one
    lines = [f"{error}{_FIX}{how}", f"{_COMMAND}{of.command}{code}", *([f"{_SAID}{of.said}"] if of.said else [])]
    return Content(shorten(error, _TITLE), "\n".join(lines), references=References(files=of.files))


def is_failure(memory: Memory) -> bool:
    """Whether a memory is such a one, and nobody has made an ordinary one of it."""
    return FAILURE in memory.metadata.tags and memory.metadata.status == STATUS and _read(memory) is not None


def key(memory: Memory) -> tuple[str, str]:
    """The error and its fix, normalised: those of another memory are the same if these are."""
    found = _read(memory)
    return (normalised(found["error"]), normalised(found["fix"])) if found else ("", "")


def note(memory: Memory) -> str:
    """What to know when the same error is met again."""
    found = _read(memory)
    if found is None:
        return ""
    command, said = shorten(found["command"] or "", _TITLE), found["said"]
    return f"`{command}` had this error; it worked after {found['fix']}{f': {said}' if said else ''}"


def is_current(memory: Memory, now: datetime) -> bool:
    """Whether it was met within the time for which it is kept."""
    met = memory.metadata.updated_at or memory.metadata.created_at or memory.stored_at
    return clock.parse(met) > now - KEPT


def same(memories: Iterable[Memory], lines: set[str], *, part: bool = False) -> list[Memory]:
    """Those of the failures whose error is among these normalised lines, the last met first. ``part``: or has one as a
    part."""

    def is_same(memory: Memory) -> bool:
        found = _read(memory) if is_failure(memory) else None
        line = normalised(found["error"]) if found else ""
        return line in lines or (part and any(each in line for each in lines))

    alike = filter(is_same, memories)
    return sorted(alike, key=lambda each: (each.metadata.updated_at or "", each.number), reverse=True)


def _read(memory: Memory) -> re.Match[str] | None:
    return _CONTEXT.match(memory.content.context) if memory.content else None
