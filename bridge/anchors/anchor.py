"""An anchor: a word of a memory and where it stood in the code. Pure.

A memory keeps its anchors as texts, the commit first:

    commit 4f3c9d2e… main
    path 1a2b3c4d… src/auth/token.ts     (the id that git gives the content; of a folder ``-``)
    name refreshToken src/auth/token.ts
    command build:prod package.json
    value MAX_RETRIES=5 src/config.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from ..memory import AnchorKind, AnchorState

MOST_ANCHORS = 16  # of one memory
_LONGEST = 256  # characters of one
FOLDER = "-"
_COMMIT = re.compile(r"commit ([0-9a-f]{40}|[0-9a-f]{64}) (\S*)")
_ANCHOR = re.compile(r"(path|name|command|value) (\S{1,200}) (\S[^\n\0]{0,255})")
_SEVERITY: Sequence[AnchorState] = ("not_found", "gone", "changed", "verified")


class Commit(NamedTuple):
    """What was checked out when a memory was stored. ``branch`` is empty without one."""

    id: str
    branch: str


class Anchor(NamedTuple):
    """``word``: a name; a command's target; a value as ``name=value``; of a path, the id of its content. ``file``: the
    file or folder in which it stood, relative to the workspace."""

    kind: AnchorKind
    word: str
    file: str

    @property
    def text(self) -> str:
        """As it is stored."""
        return f"{self.kind} {self.word} {self.file}"

    @property
    def shown(self) -> str:
        """The word as people know it."""
        return (
            self.file if self.kind == "path" else self.word.replace("=", " ", 1) if self.kind == "value" else self.word
        )


class Checked(NamedTuple):
    """An anchor and what has become of it."""

    anchor: Anchor
    state: AnchorState


def stored(commit: Commit, anchors: Iterable[Anchor]) -> tuple[str, ...]:
    """What is stored with a memory; empty without anchors."""
    written = (anchor.text for anchor in anchors if len(anchor.text) <= _LONGEST and _ANCHOR.fullmatch(anchor.text))
    texts = list(dict.fromkeys(written))[:MOST_ANCHORS]
    return (f"commit {commit.id} {commit.branch}", *texts) if texts else ()


def read(texts: Sequence[str]) -> list[tuple[Commit, list[Anchor]]]:
    """The commits and their anchors. A record of a compaction has those of all its memories. Texts of another form,
    with invisible characters, or with a path that leads out of the workspace, are left out: another machine may have
    made them."""
    found: list[tuple[Commit, list[Anchor]]] = []
    for text in filter(str.isprintable, map(str, texts)):
        if match := _COMMIT.fullmatch(text):
            found.append((Commit(match[1], match[2]), []))
        elif (match := _ANCHOR.fullmatch(text)) and found and _is_inside(match[3]):
            found[-1][1].append(Anchor(cast("AnchorKind", match[1]), match[2], match[3]))
    return found


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return not {"", "..", ".git"} & set(parts) and "\\" not in path and ":" not in parts[0]


def worst(states: Iterable[AnchorState]) -> AnchorState:
    """What counts for a memory: what is not there any more, else what changed. At least one state is given."""
    return min(states, key=_SEVERITY.index)


_SAID: dict[AnchorState, str] = {
    "not_found": "no longer in the code",
    "gone": "file is gone",
    "changed": "changed since",
    "verified": "verified in the code",
}
_NAMED = 3  # anchors of a state


def remark(checked: Sequence[Checked]) -> str:
    """What has become of the anchors, in words; that something is verified only if all are."""
    parts: list[str] = []
    for state in _SEVERITY:
        own = [each.anchor for each in checked if each.state == state]
        if own and (state != "verified" or not parts):
            named = [each.shown + (f" ({each.file})" if state == "not_found" else "") for each in own[:_NAMED]]
            more = [f"{len(own) - _NAMED} more"] if len(own) > _NAMED else []
            parts.append(f"{_SAID[state]}: {', '.join([*named, *more])}")
    return "; ".join(parts)


# --- how a word stands in a file ---


def in_file(kind: AnchorKind, word: str, data: bytes, *, is_new: bool = False) -> bool:
    """Whether the word of an anchor stands in a file's content. ``is_new``: as a reason to keep the anchor, for which a
    comment is not enough.

    Without patterns made of the word: to make one takes longer than to look through a file.
    """
    name, _, value = word.partition("=") if kind == "value" else (word, "", "")
    looked_for = (value or name).encode()
    at = data.find(looked_for)
    while at >= 0:
        end = at + len(looked_for)
        if _is_whole(data, at, end, _OF_VALUES if value else _OF_NAMES):
            start, stop = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", end)
            before, after = data[start:at], data[end:stop] if stop >= 0 else data[end:]
            fits = (
                _is_beside(name.lower().encode(), (before + b" " + after).lower())
                if value
                else kind != "command" or _is_target(before, after)
            )
            if fits and not (is_new and _COMMENT.match(before)):
                return True
        at = data.find(looked_for, end)
    return False


_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_OF_NAMES = (_LETTERS + b"_$-", _LETTERS + b"_-")  # what goes on with a word, before it and after it
_OF_VALUES = (_LETTERS.replace(b"v", b"") + b"_.", _LETTERS + b"_")
_OF_KEYS = (_LETTERS + b"/@", _LETTERS)  # "python" of "requires-python", not "mocha" of "@types/mocha"
_COMMENT = re.compile(rb"\s*(?://|#(?!define|if|include)|\*|/\*|--|<!--|;)")


def _is_whole(data: bytes, at: int, end: int, of_words: tuple[bytes, bytes]) -> bool:
    before, after = of_words
    return not (at and data[at - 1] in before) and not (end < len(data) and data[end] in after)


def _is_beside(name: bytes, line: bytes) -> bool:
    """Whether the line has the name of a value."""
    at = line.find(name)
    while at >= 0 and not _is_whole(line, at, at + len(name), _OF_KEYS):
        at = line.find(name, at + 1)
    return at >= 0


def _is_target(before: bytes, after: bytes) -> bool:
    """Whether a word between these parts of its line is defined there as a task: ``"build": …``, ``build: lint``,
    ``[tasks.build]``."""
    before, after = before.strip(b" \t\"'"), after.lstrip(b" \t\"'")
    return (not before and (after[:1] in (b":", b"=", b"(") or b":" in after)) or (
        before.endswith(b".") and after.startswith(b"]")
    )


def names_it(word: str, data: bytes) -> bool:
    """Whether a file has a line about the name of a value, with whatever value."""
    return word.partition("=")[0].lower().encode() in data.lower()
