"""What is kept of a session's turns: those said in the workspace's folder, without private parts and secrets.

A person marks a private part with ``<private>`` and ``</private>``; without the end it reaches to the end of the turn.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path, PurePath

from ..privacy import redaction
from ..settings import OWN_MODEL_FOLDER
from .session import Call, Findings, Turn

_PRIVATE = re.compile(r"<private>.*?(?:</private>|\Z)", re.IGNORECASE | re.DOTALL)
OPENING = 120  # characters; so many equal ones at the beginning of several prompts are a product's, no person's
RUN = 3  # turns in a row with the same words are a copy, whatever their times
_LEAST_RUN = 100  # characters of such turns
PRIVATE = "private part"
ELSEWHERE = "turn of another folder"
IGNORED = "ignored file"
COPIED = "turn of another session"


@dataclass(slots=True)
class TurnFilter:
    """Filters and cleans turns. ``redactions`` counts the replaced secrets by kind.

    ``is_ignored`` says of a path relative to the workspace whether the memory must not name it. ``any_folder`` is for a
    transcript that a person named: it says nothing of folders.
    """

    root: Path
    redacts: bool = True
    is_ignored: Callable[[str], bool] = lambda _: False
    any_folder: bool = False
    redactions: Counter[str] = field(default_factory=Counter)

    def kept(self, turns: Iterable[Turn], findings: Findings) -> Iterator[Turn]:
        """The turns to keep, cleaned. What is left out is counted in ``findings``."""
        roots = {_normal(self.root), _normal(self.root.resolve())}
        for turn in turns:
            if not self.any_folder and not _is_inside(turn.folder, roots):
                findings.left_out[ELSEWHERE] += 1
                continue
            text, private = _PRIVATE.subn("", turn.text)
            findings.left_out[PRIVATE] += private
            files = self._files(turn.files, roots, findings)
            text = self._without_secrets(text).strip()
            if text or files or turn.marker:
                branch = None if turn.branch is None else self._without_secrets(turn.branch)
                calls = tuple(self._call(each, roots) for each in turn.calls)
                yield replace(turn, text=text, files=files, branch=branch, calls=calls)

    def _call(self, call: Call, roots: set[str]) -> Call:
        """A call without private parts, the workspace's own path, secrets, and files to leave out; nothing is counted,
        since most calls are not kept."""
        told = [_PRIVATE.sub("", part.replace("\0", "")) for part in (call.command, call.error, call.said)]
        for root in roots:
            told = [part.replace(root + os.sep, "") for part in told]
        command, error, said = (redaction.redact(part).text if self.redacts else part for part in told)
        return replace(call, command=command, error=error, said=said, files=self._files(call.files, roots, Findings()))

    def _without_secrets(self, text: str) -> str:
        if not self.redacts:
            return text
        clean = redaction.redact(text)
        self.redactions.update(clean.counts)
        return clean.text

    def _files(self, files: Sequence[str], roots: set[str], findings: Findings) -> tuple[str, ...]:
        """The paths relative to the workspace; those outside of it, and ignored ones, are left out."""
        kept = dict[str, None]()
        for path in files:
            relative = _relative(path, roots)
            if relative is None or self.is_ignored(relative):
                findings.left_out[IGNORED] += 1
            else:
                kept[relative] = None
        return tuple(kept)


def digest(turns: Iterable[Turn]) -> str:
    """The SHA-256 of what the turns say, in hex; equal for equal speakers, texts, markers and files."""
    sha256 = hashlib.sha256()
    for turn in turns:
        for part in (turn.speaker, turn.marker or "", turn.text, *turn.files):
            sha256.update(len(part).to_bytes(8, "big") + part.encode("utf-8", "surrogatepass"))
    return sha256.hexdigest()


def turn_digest(turn: Turn) -> str | None:
    """What a turn and a copy of it in another session have in common: 12 hex digits of the SHA-256 of its time, speaker
    and text. None without a time, since short texts recur.
    """
    if turn.at is None or not turn.text:
        return None
    return _short_digest(turn.at, turn.speaker, turn.text)


def opening_digests(turn: Turn) -> list[str]:
    """What sessions have in common that a product begins with the same words: ``o`` and 12 hex digits of the SHA-256 of
    the first ones, and of all. None for a short prompt, since people begin alike too.
    """
    if turn.speaker != "user" or turn.part or len(turn.text) < OPENING:
        return []
    return ["o" + _short_digest(part) for part in (turn.text[:OPENING], turn.text)]


def run_digest(turns: Sequence[Turn]) -> str | None:
    """What some turns in a row and a copy of them with other times have in common: ``w`` and 12 hex digits of the
    SHA-256 of speakers and texts. None for too few words, since short turns recur.
    """
    if len(turns) < RUN or sum(len(turn.text) for turn in turns) < _LEAST_RUN:
        return None
    return "w" + _short_digest(*(part for turn in turns for part in (turn.speaker, turn.text)))


def _short_digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _normal(path: Path | str) -> str:
    return os.path.normcase(os.path.normpath(path))


def _is_inside(folder: str | None, roots: set[str]) -> bool:
    """Whether a folder is one of the roots or below one. A turn without a folder is not, nor one that a tool said while
    it summarised for us."""
    if folder is None or PurePath(folder).name == OWN_MODEL_FOLDER:
        return False
    normal = _normal(folder)
    return any(normal == root or normal.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def _relative(path: str, roots: set[str]) -> str | None:
    """A path relative to the workspace, with ``/``; None outside of it. A relative path is taken as one inside."""
    if not Path(path).is_absolute():
        normal = os.path.normpath(path)
        return None if normal.startswith("..") else normal.replace(os.sep, "/")
    normal = os.path.normpath(path)
    for root in roots:
        if _is_inside(normal, {root}) and os.path.normcase(normal) != root:
            return normal[len(root.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
    return None


def split_known(turns: Iterable[Turn], known: Sequence[tuple[int, str]]) -> tuple[int, Iterator[Turn]]:
    """How many of the known segments are unchanged, and the turns after them.

    ``known`` has the number of turns and the digest of each segment that was captured before. The last one is never
    among the unchanged: it may go on. So at most one segment's turns are held in memory.
    """
    rest = iter(turns)
    for index, (count, known_digest) in enumerate(known[:-1]):
        part = list(islice(rest, count))
        if len(part) < count or digest(part) != known_digest:
            return index, chain(part, rest)
    return max(0, len(known) - 1), rest
