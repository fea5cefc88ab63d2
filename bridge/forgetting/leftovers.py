"""Leftovers: files of the workspace, outside the stores, that still name or quote memories: job files, previews,
copies.

It finds them and returns their names. The worker changes the job files; ``remove`` removes the others. A quote is five
words in a row, or a short field as a whole, in any form: raw, escaped in JSON, rewrapped or truncated. Phrases that
other memories have too do not count.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jobs import clock, files, plain_files, spool
from jobs.errors import JobError
from jobs.ids import is_job_id
from jobs.layout import Workspace
from jobs.model import Job, Record
from jobs.parse import parse_copy
from jobs.scrub import is_plain, name_digest

from ..graph import earlier_stores
from ..memory import Memory, Metadata
from ..privacy import redaction
from ..store.values import Plan
from ..text.identity import new_memory
from ..transfer import lost_memories
from ..transfer.migration import Skipped, convert

if TYPE_CHECKING:
    from ..store.memories import Memories


_ROW = 5  # words of a phrase
_SHORTEST = 12  # characters of a field with fewer words; shorter ones are no phrase

# Each character of a script without spaces is a word.
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_CODE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_ESCAPE = re.compile(r"\\+[nrtbf\"/]?")

Words = tuple[str, ...]

# Ids in a file are between quotation marks, of JSON or of a message. A topic id may be any word, such as "summary", so
# in JSON it counts only after its field name.
_IDS = re.compile(rb"(?<=[\"'])[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?=[\"'\\])")
_TOPICS = re.compile(rb"(?:topic_?id\\*\"\s*:\s*\\*\"|')([a-z0-9][a-z0-9._-]{0,127})(?=[\"'\\])", re.IGNORECASE)
# Backups, and leftovers of a killed process: a copy of an earlier store, or a part of a file.
_COPIES = ("memory.format-*.db", ".old-store")
_PARTS = ".*.tmp"
# Quarantined stores: their content is in memory.db, or derives from it.
_SET_ASIDE = ("graph-*", "vectors-*")
_NO_TIME = "1970-01-01T00:00:00Z"  # ids do not depend on it
_PART_SECONDS = 60.0  # an unfinished drop that is older counts as abandoned
_PIECE_BYTES = 8 * 1024 * 1024
_OVERLAP_BYTES = 64 * 1024  # more than five words
Brings = Callable[[Job, Record], Collection[str]]  # the ids of the memories that a job would store


class Quotes:
    """The phrases that only certain memories have, for searching files."""

    def __init__(self, said: Iterable[str], others: Iterable[str] = ()) -> None:
        """``said`` are the texts of these memories, ``others`` those of all other memories, in any form.

        Ids and times are not phrases.
        """
        self._rows: dict[str, dict[str, set[Words]]] = {}  # by the first word, then the second: "" where there is none
        for text in said:
            for row in () if is_plain(text) else _telling(text):
                self._rows.setdefault(row[0], {}).setdefault(_second(row), set()).add(row)
        for text in others:
            for row in list(self._found(_words(text))):
                self._rows[row[0]][_second(row)].discard(row)

    def are_in(self, data: bytes) -> bool:
        """Whether the file's content quotes one of the memories."""
        return bool(self._rows) and any(next(self._found(_words(text)), None) is not None for text in _decoded(data))

    def _found(self, words: Sequence[str]) -> Iterator[Words]:
        """The phrases that occur in the words."""
        for position, word in enumerate(words):
            after = self._rows.get(word)
            if after is not None:
                for second in {"", _second(words[position : position + 2])}:
                    for row in after.get(second, ()):
                        if tuple(words[position : position + len(row)]) == row:
                            yield row


def _second(words: Sequence[str]) -> str:
    """The second word, or "" for a single one."""
    return words[1] if len(words) > 1 else ""


def texts(memory: Memory) -> list[str]:
    """Every text that a memory consists of."""
    return [memory.text] if memory.content is None else list(strings(memory.content.as_dict()))


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value that is not empty."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)


def _telling(text: str) -> Iterator[Words]:
    """The phrases of a text."""
    words = _words(text)
    if len(words) < _ROW:
        if sum(map(len, words)) + len(words) > _SHORTEST:
            yield tuple(words)
        return
    for start in range(len(words) - _ROW + 1):
        yield tuple(words[start : start + _ROW])


def _words(text: str) -> list[str]:
    """The words of a text in lower case, with JSON escapes resolved."""
    text = _CODE.sub(lambda found: chr(int(found[1], 16)), text)
    return _WORD.findall(_ESCAPE.sub(" ", text).casefold())


def _decoded(data: bytes) -> Iterator[str]:
    """The bytes as text: as UTF-8, also with zeros in between, and as UTF-16 unless they are plain UTF-8."""
    text = data.replace(b"\0", b"").decode("utf-8", "replace")
    yield text
    if b"\0" in data or "\ufffd" in text:
        yield data.decode("utf-16-le", "replace")
        yield data.decode("utf-16-be", "replace")


class ForgetTargets(NamedTuple):
    """What to look for in files: the ids of memories, the topics that are removed with them, and their phrases."""

    ids: frozenset[str]
    topics: frozenset[str]
    quotes: Quotes

    def in_bytes(self, data: bytes) -> bool:
        """Whether a file's content names or quotes one of them."""
        return (
            any(name.decode() in self.ids for name in _IDS.findall(data))
            or any(name.decode() in self.topics for name in _TOPICS.findall(data))
            or self.quotes.are_in(data)
        )


class Left(NamedTuple):
    """What names or quotes the memories, as a plan without their ids. ``whole`` are those of its files that are copies
    of everything. The jobs ``quoting`` wait too, but only quote a forgotten memory in another one, so they stay; so do
    the files ``quoting_texts`` of an earlier version, which may become memories.
    """

    plan: Plan
    whole: list[str]
    quoting: list[str]
    quoting_texts: list[str]


def find(
    workspace: Workspace, store: Memories, targets: ForgetTargets, brings: Brings, until: str, own: str, now: float
) -> Left:
    """What is left of ``targets`` outside memory.db.

    ``brings`` gives the ids that a job would store. Jobs accepted after ``until`` are not cancelled. ``own`` is the id
    of the job that forgets. ``now`` is in seconds since 1970.
    """
    jobs = _of_jobs(workspace, targets, brings, until, own)
    rejected = [path.name for path in _files(workspace.spool.rejected) if _mentions(path, targets)]
    old = [path for path in _files(workspace.spool.inbox) if path.name.startswith(".") and path.suffix == ".tmp"]
    parts = [path.name for path in old if now - _changed(path) > _PART_SECONDS and _mentions(path, targets)]
    files = _of_files(workspace, targets)
    earlier, others = of_earlier(workspace, targets, store.extractions.data_ids(), store.workspace_id)
    raw, kept = (
        [text.path.relative_to(workspace.root).as_posix() for text in texts if text.path is not None]
        for texts in (earlier, others)
    )
    plan = Plan(
        forgotten=(),
        jobs=tuple(jobs["jobs"]),
        doomed=tuple(jobs["doomed"]),
        rejected=tuple(map(name_digest, rejected)),
        parts=tuple(map(name_digest, parts)),
        files=(*files, *raw),
        stores=tuple(dict.fromkeys(text.store for text in earlier if text.store)),
        data_ids=tuple(text.data_id for text in earlier if text.data_id),
        files_removed=len(rejected) + len(parts) + len(files) + len(raw),
    )
    whole = [name for name in files if "/previews/" not in name and "/imports/" not in name]
    return Left(plan, whole, jobs["quoting"], kept)


def _of_jobs(
    workspace: Workspace, targets: ForgetTargets, brings: Brings, accepted_until: str, own: str
) -> dict[str, list[str]]:
    paths = workspace.spool
    groups: dict[str, list[str]] = {"jobs": [], "doomed": [], "quoting": []}
    ids = {each for folder in (paths.results, paths.active, paths.ended) for each in spool.job_ids(folder)}
    for job_id in sorted(filter(is_job_id, ids - {own})):
        try:
            record = spool.read_record(paths, job_id)
        except (OSError, ValueError, JobError):
            record = None  # recovery quarantines it as a rejected file, which is searched besides
        group = _about(_read(paths.record(job_id)), _copy(workspace, job_id), record, targets, brings, accepted_until)
        if group is not None:
            groups[group].append(job_id)
    return groups


def _about(
    record_bytes: bytes, copy: bytes, record: Record | None, targets: ForgetTargets, brings: Brings, accepted_until: str
) -> str | None:
    """The group that a job belongs to, or None."""
    mentions = targets.in_bytes(record_bytes) or targets.in_bytes(copy)
    if record is None or record.ended:
        # The record of a succeeded job names the memories that it stored.
        would = record is not None and record.state != "succeeded" and _would_bring(copy, record, targets, brings)
        return "jobs" if mentions or would else None
    was_before = record.accepted_at is not None and clock.parse(record.accepted_at) <= clock.parse(accepted_until)
    if was_before and _would_bring(copy, record, targets, brings):
        return "doomed"
    return "quoting" if mentions else None


def _would_bring(copy: bytes, record: Record, targets: ForgetTargets, brings: Brings) -> bool:
    """Whether the job would store one of the memories."""
    try:
        return not targets.ids.isdisjoint(brings(parse_copy(record.job_id, copy), record))
    except JobError:
        return False


def _copy(workspace: Workspace, job_id: str) -> bytes:
    """The worker's copy of the job file; empty if there is none."""
    return _read(workspace.spool.copy(job_id)) or _read(workspace.spool.ended_copy(job_id))


# --- other files ---


def _of_files(workspace: Workspace, targets: ForgetTargets) -> list[str]:
    """Files and folders to remove, as paths relative to the workspace.

    These are previews, imported files, exports of what a team lost and stray raw texts that name or quote the memories,
    and all copies of whole stores.
    """
    lost = (path for kept in lost_memories.all_set_aside(workspace) for path in [kept.memories] if path is not None)
    candidates = (*_files(workspace.previews), *_files(workspace.imports), *lost, *_strays(workspace))
    removable = [path for path in candidates if _mentions(path, targets)]
    removable += sorted(workspace.memory.glob(_PARTS))
    return [*(path.relative_to(workspace.root).as_posix() for path in removable), *copies(workspace)]


def _strays(workspace: Workspace) -> Iterator[Path]:
    """Raw texts that no store refers to, such as those of a cognee database that was lost."""
    named = {text.file for text in earlier_stores.find(workspace).texts if text.store}
    return (path for path in _files(workspace.cognee_data) if path.name not in named)


def copies(workspace: Workspace) -> list[str]:
    """The files and folders that are copies of whole stores, or derive from all memories, relative to the workspace."""
    paths = [path for pattern in _COPIES for path in sorted(workspace.memory.glob(pattern))]
    paths += [path for pattern in _SET_ASIDE for path in sorted(workspace.quarantine.glob(pattern))]
    paths += [workspace.picture] if workspace.picture.exists() else []
    return [path.relative_to(workspace.root).as_posix() for path in paths]


def of_earlier(
    workspace: Workspace, targets: ForgetTargets, ours: Collection[str], workspace_id: str
) -> tuple[list[earlier_stores.Text], list[earlier_stores.Text]]:
    """The texts of earlier versions that are to go: those that are or became one of the memories, and those that quote
    one and never become a memory, such as records. And those that quote one and may become another memory.

    ``ours`` are the ids of documents that this program gave to cognee.
    """
    going: list[earlier_stores.Text] = []
    kept: list[earlier_stores.Text] = []
    for text in earlier_stores.find(workspace, ours).texts:
        if not _ids_of(text, workspace_id).isdisjoint(targets.ids):
            going.append(text)
        elif text.path is not None and text.store and _mentions(text.path, targets):
            (kept if _may_become_memory(text) else going).append(text)
    return going, kept


def _may_become_memory(text: earlier_stores.Text) -> bool:
    """Whether a migration takes the text over, perhaps only once it is repaired."""
    try:
        convert(earlier_stores.read(text), None, _NO_TIME, "", _NO_TIME)
    except Skipped:
        return False
    except (earlier_stores.UnreadableText, JobError):
        pass
    return True


def _ids_of(text: earlier_stores.Text, workspace_id: str) -> set[str]:
    """The ids of the memories that a text is or becomes."""
    try:
        original = earlier_stores.read(text)
    except earlier_stores.UnreadableText:
        return set()
    # With and without secrets, since the migration may have run with redaction on or off.
    return {each for words in {original, redaction.redact(original).text} for each in _becomes(words, workspace_id)}


def _becomes(said: str, workspace_id: str) -> set[str]:
    """The id of the text as a legacy memory, and the id of what it converts to."""
    itself = new_memory(workspace_id, "legacy", Metadata(), _NO_TIME, text=said).id
    try:
        return {itself, convert(said, None, _NO_TIME, workspace_id, _NO_TIME).memory.id}
    except (Skipped, JobError):
        return {itself}


def _mentions(path: Path, targets: ForgetTargets) -> bool:
    """Whether a file names or quotes a target. It is read in overlapping pieces, since a file, or one line of it, may
    be larger than the memory of this machine.
    """
    try:
        with path.open("rb") as file:
            before = b""
            while piece := file.read(_PIECE_BYTES):
                if targets.in_bytes(before + piece):
                    return True
                before = piece[-_OVERLAP_BYTES:]
    except (FileNotFoundError, PermissionError):  # removed meanwhile, or unreadable for this user
        pass
    return False


def remove(workspace: Workspace, names: Collection[str]) -> None:
    """Remove files and folders by their paths relative to the workspace, and sync their folders. Idempotent."""
    for name in names:
        path = workspace.root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            files.remove(path)
    for folder in {(workspace.root / name).parent for name in names}:
        if folder.is_dir():
            files.sync_folder(folder)


def _files(folder: Path) -> Iterator[Path]:
    """The plain files in a folder, by name."""
    if folder.is_dir() and not folder.is_symlink():
        yield from sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())


def _changed(path: Path) -> float:
    """The file's modification time in seconds since 1970; 0 if it does not exist."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _read(path: Path) -> bytes:
    """The content of a file that belongs to this user; empty if it does not exist or cannot be read."""
    try:
        return plain_files.read_own(path, spool.RECORD_LIMIT)
    except (OSError, JobError):
        return b""
