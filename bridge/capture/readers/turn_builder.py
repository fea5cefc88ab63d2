"""Joins the records of a transcript to turns: what one speaker said before the other spoke again; and calls that run a
command or change a file with their outcomes, which a later record tells.

Each part of a session, such as a sub-agent, has turns of its own. A turn also ends where the folder or the day changes,
where something was cleared or compacted, and when it becomes too long to hold.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from jobs import clock

from ..failures import ended
from ..session import Call, Findings, Marker, Turn
from .json_records import items, strings

MAX_CHARACTERS = 200_000
MAX_FILES = 1_000
MAX_CALLS = 2_000

_AS_WANTED = re.compile(r"20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z")

# Codex' extension for editors puts the open files before what the person wrote.
BEFORE_REQUEST = re.compile(
    r"\A\s*# (?:Context from my IDE setup|Files mentioned by the user)\b.*?^#+ My request for Codex:",
    re.DOTALL | re.MULTILINE,
)
_NUMBERS = re.compile(r"(\d{1,6})\.(\d{1,6})")
_TOUCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.{1,1000}?)\s*$", re.MULTILINE)


@dataclass(slots=True)
class _OpenTurn:
    first: Turn
    marker: Marker | None
    texts: list[str] = field(default_factory=list)
    steps: int = 0  # of the texts, those that a call followed
    files: dict[str, None] = field(default_factory=dict)
    tools: Counter[str] = field(default_factory=Counter)
    calls: list[Call] = field(default_factory=list)
    characters: int = 0

    def add(self, said: Turn) -> None:
        text = said.text.replace("\0", "").strip()
        if text:
            self.texts.append(text)
            self.characters += len(text)
        if said.tools:
            self.steps = len(self.texts)
        self.files.update(dict.fromkeys(said.files[: MAX_FILES - len(self.files)]))
        self.tools.update(said.tools)
        self.calls += said.calls[: MAX_CALLS - len(self.calls)]

    def continues(self, said: Turn) -> bool:
        first = self.first
        return (
            (first.speaker, first.folder, (first.at or "")[:10]) == (said.speaker, said.folder, (said.at or "")[:10])
        ) and self.characters + len(said.text) <= MAX_CHARACTERS

    def turn(self) -> Turn:
        report = "\n\n".join(self.texts[self.steps :])
        return replace(
            self.first,
            text="\n\n".join(self.texts),
            files=tuple(self.files),
            tools=dict(self.tools),
            marker=self.marker,
            calls=tuple(self.calls),
            report=report.count("\n\n") + 1 if report else 0,
        )


class TurnBuilder:
    """Gives the turns of a session in the order in which they end."""

    def __init__(self) -> None:
        self._open: dict[str, _OpenTurn] = {}
        self._marker: Marker | None = None

    def add(self, said: Turn) -> Iterator[Turn]:
        """Add a record, as a turn of its own. Gives the turn that this ends, if any."""
        if not (said.text or said.files or said.tools):
            return
        present = self._open.get(said.part)
        if present is not None and not present.continues(said):
            yield self._open.pop(said.part).turn()
            present = None
        if present is None:
            marker = None
            if not said.part:
                marker, self._marker = self._marker, None
            present = self._open[said.part] = _OpenTurn(said, marker)
        present.add(said)

    def add_call(self, part: str, call: Call | None) -> None:
        """Note what became of a call of the open turn; of a turn that ended meanwhile, nothing."""
        present = self._open.get(part)
        if call is not None and present is not None and len(present.calls) < MAX_CALLS:
            present.calls.append(call)

    def mark(self, marker: Marker) -> Iterator[Turn]:
        """Note that something ended here, and end the open turn of the conversation itself."""
        if "" in self._open:
            yield self._open.pop("").turn()
        self._marker = marker

    def finish(self) -> Iterator[Turn]:
        """The turns that are still open."""
        for present in self._open.values():
            yield present.turn()
        self._open.clear()


def turns_of(said: Iterable[Turn | Marker], **common: Any) -> Iterator[Turn]:
    """The turns of records in order, with markers between. ``common``: the fields that are the same in all."""
    builder = TurnBuilder()
    for each in said:
        yield from builder.add(replace(each, **common)) if isinstance(each, Turn) else builder.mark(each)
    yield from builder.finish()


def moment(value: Any) -> str | None:
    """A record's time as ISO 8601 text in UTC: from such a text, or from seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            if _AS_WANTED.fullmatch(value):  # the most frequent form, a fifth of the time of parsing it
                return value.replace(".000Z", "Z")
            return clock.iso(clock.parse(value))
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return clock.iso(datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC))
    except (ValueError, OverflowError, OSError):
        pass
    return None


def note_version(version: Any, tested: str, findings: Findings) -> None:
    """Note a tool's version if its first two numbers are above those of the newest tested one."""
    if findings.newer is None and _numbers(version) > _numbers(tested):
        findings.newer = str(version)[:40]


def _numbers(version: Any) -> tuple[int, int]:
    """The first two numbers of a version; zeros where there are none, so that it counts as the oldest."""
    found = _NUMBERS.match(version) if isinstance(version, str) else None
    return (int(found[1]), int(found[2])) if found else (0, 0)


class Calls:
    """Joins calls with their outcomes, and with what the assistant said before."""

    def __init__(self) -> None:
        self._open: dict[str, Call] = {}
        self._said = ""

    def say(self, text: str) -> None:
        """Note what the assistant said: it belongs to the next call."""
        self._said = text or self._said

    def begin(self, call_id: str | None, call: Call) -> None:
        """Note a call, if it runs a command or changes files."""
        if call_id and (call.command or call.files):
            self._open[call_id] = replace(call, said=self._said)
            self._said = ""

    def waits(self, named: re.Match[bytes] | None) -> bool:
        """Whether the outcome of the call that an unparsed record names is of interest."""
        return named is not None and named[1].decode("utf-8", "replace") in self._open

    def end(self, call_id: str, output: str, exit_code: int | None) -> Call | None:
        """As ``ended``, of the call of this id; None if it is not waited for."""
        call = self._open.pop(call_id, None)
        return None if call is None else ended(call, output, exit_code)


def touched_files(call: dict[str, Any]) -> tuple[str, ...]:
    """The files of a patch that a tool call applies: as its input, or as an argument of a shell command."""
    text = call.get("input") or call.get("arguments") or call.get("action")
    if isinstance(text, dict):
        text = "\n".join(strings(items(text, "command")))
    if not isinstance(text, str) or "*** " not in text:
        return ()
    return tuple(dict.fromkeys(_TOUCHED.findall(text.replace("\\n", "\n"))))
