"""What is remembered about a file: the memories that name it, the newest first, with what they decided.

A memory names a file by its path, by the end of its path, or by its bare name, in its references or its words. Two
paths are one file if one is the end of the other, folder by folder: ``cli/hooks.py`` is named by ``hooks.py`` and by
``/home/ada/tool/cli/hooks.py``, not by ``api/hooks.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from jobs.errors import JobError
from jobs.layout import Workspace

from ..memory import Memory
from ..store.opening import reader_of
from ..text import decision_lines
from ..text.orders import is_order
from ..text.sections import one_line
from . import standings

if TYPE_CHECKING:
    from ..store.memory_lists import MemoryLists

_PARTS = re.compile(r"[/\\]+")
_PLACE = re.compile(r"\S+:\d+(?:-\d+)?\b")  # a line of a file, which is soon another one
_LONGEST = 4096  # characters of a path


class Decided(NamedTuple):
    """A decision of a memory. ``remark``: what became of it, such as ``disputed by #7, 2026-11-20``; empty if it
    holds. ``names_file``: whether its own words do."""

    text: str
    remark: str
    names_file: bool

    @property
    def holds(self) -> bool:
        """Whether nothing replaced it."""
        return not self.remark.startswith("replaced")


class About(NamedTuple):
    """A memory that names the file. ``is_certain``: by its path, or by a name that no other file in the memories has.
    ``decisions``: those that hold first, of these those that name the file."""

    memory: Memory
    is_certain: bool
    decisions: tuple[Decided, ...]


def about(workspace: Workspace, file: str) -> list[About]:
    """The memories about a file, the newest first; superseded ones, drafts and hidden ones are left out.

    Raises JobError: ARGUMENT_INVALID for a file without a name; as ``reader_of`` for a store that cannot be read.
    """
    with reader_of(workspace).lists() as lists:
        return [] if lists is None else found(lists, workspace, file)


def found(lists: MemoryLists, workspace: Workspace, file: str) -> list[About]:
    """As ``about``, in one state of the store."""
    within = _within(workspace, file)
    parts, is_whole = _parts(within), within != file
    known = standings.of_pairs(lists.replacements())
    naming = [(memory, list(_mentions(memory, parts, is_whole))) for memory in lists.mentioning(parts[-1].lower())]
    is_unique = not any(count == 0 for _, counts in naming for count in counts)
    abouts: list[About] = []
    for memory, counts in naming:
        most = max(counts, default=0)
        if most and memory.metadata.status not in ("Superseded", "Draft"):
            remarks = standings.remarks(known, memory, lists.memories)
            abouts.append(About(memory, most > 1 or is_unique, tuple(_decisions(memory, parts, is_whole, remarks))))
    return sorted(abouts, key=lambda each: (each.memory.dated_at or "", each.memory.number), reverse=True)


def _within(workspace: Workspace, file: str) -> str:
    """The path from the workspace's folder on, where the file is in it."""
    path = PurePath(file)
    if path.is_absolute() and path.is_relative_to(workspace.root):
        return str(path.relative_to(workspace.root))
    return file


def names_file(file: str) -> bool:
    """Whether a path ends in a name."""
    return bool("".join(_split(file)[-1:]).strip(". "))


def _parts(file: str) -> list[str]:
    if not names_file(file):
        raise JobError("ARGUMENT_INVALID", f"{file!r} names no file.")
    return _split(file)


def _split(file: str) -> list[str]:
    return [part for part in _PARTS.split(file[:_LONGEST]) if part not in ("", ".")]


def _mentions(memory: Memory, parts: Sequence[str], is_whole: bool) -> Iterator[int]:
    """Of each path with the file's name in a memory, how many folders and names it has in common with the file's.
    ``is_whole``: these are all the folders of the file within the workspace."""
    content = memory.content
    if content is None:
        yield from _in_text(memory.text, parts, is_whole)
        return
    texts = [content.topic, content.context, *content.decisions, *content.rationale]
    for text in [*texts, *content.open_questions, *content.next_steps, *content.references.files]:
        yield from _in_text(text, parts, is_whole)


def _in_text(text: str, parts: Sequence[str], is_whole: bool) -> Iterator[int]:
    """As ``_mentions``, of a text."""
    path = rf"(?<![\w.~/\\-])((?:[\w.~@+:-]*[/\\])*{re.escape(parts[-1])})(?![\w/\\-]|\.\w)"
    for match in re.finditer(path, text, re.IGNORECASE):
        named = _PARTS.split(match[1])
        is_longer = len(named) > len(parts) and named[0] not in ("", "~") and not named[0].endswith(":")
        yield 0 if is_whole and is_longer else _shared(named, parts)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts the shorter path has, if it is the end of the longer one; else 0."""
    one = [part.lower() for part in one if part not in ("", ".", "~")]
    count = min(len(one), len(other))
    return count if count and one[-count:] == [part.lower() for part in other[-count:]] else 0


def _decisions(memory: Memory, parts: Sequence[str], is_whole: bool, remarks: dict[str, str]) -> list[Decided]:
    lines = () if memory.content is None else memory.content.decisions
    found = [
        Decided(one_line(read.text), remarks.get(line, ""), any(_in_text(_PLACE.sub(" ", line), parts, is_whole)))
        for line, read in zip(lines, decision_lines.read(lines), strict=True)
        if not read.is_earlier and not is_order(line)
    ]
    return sorted(found, key=lambda each: (not each.holds, not each.names_file))
