"""The sessions that a capture reads: from the files of this machine, or as their machine has attached them to the job.

Both give the same turns: only those of the workspace's folder, without private parts and secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from hashlib import file_digest
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, cast

from jobs import clock, paths
from jobs.errors import JobError
from jobs.kinds import CAPTURE_TOOLS
from jobs.payloads import Capture, ExportedFile

from ..anchors import taking
from ..capture import consent, ignored_files
from ..capture.kept_turns import TurnFilter
from ..capture.readers.export_labels import moment_in
from ..capture.readers.reader import Home, reader_of
from ..capture.session import Findings, Transcript, Turn
from ..slices import Slices
from . import Progress, Task, attachments

if TYPE_CHECKING:
    from io import BufferedReader

    from ..graph.open_stores import Stores
    from ..memory import Memory
    from .attachments import Line
    from .captured_session import SessionCapture, Turns

_ANCHOR_SECONDS = 2.0  # of the processor, to look for what a session names in the code
EXPORT = "export"  # the tool of a file that a person named
_TOOLS = frozenset((*CAPTURE_TOOLS, EXPORT))


class FileSources:
    """The sessions in the files of this machine; ``total`` is how many there are. Raises JobError: CAPTURE_OFF, and as
    ``paths.open_inside``."""

    def __init__(self, payload: Capture, stores: Stores, progress: Progress) -> None:
        self._payload = payload
        self._stores = stores
        listing = Slices(progress, "finding sessions", 0)
        found = []
        for transcript in self._wanted():
            found.append(transcript)
            listing.advance(1)
        self._found = sorted(found, key=lambda each: (each.modified_at or "", each.tool, each.session_id))
        self.total = len(found)

    def anchored(self, memory: Memory) -> Memory:
        """A memory of the present session, with its anchors."""
        return taking.Code(self._stores.workspace.root).anchored(memory)

    def sessions(self) -> Iterator[tuple[Transcript, Turns]]:
        """The sessions, the oldest first. The turns of each can be read until the next one is asked for."""
        for transcript in self._found:
            yield transcript, self._turns

    def _turns(self, capture: SessionCapture) -> Iterator[Turn]:
        settings, root = self._stores.settings, self._stores.workspace.root
        turn_filter = TurnFilter(
            root,
            redacts=settings.redact_secrets,
            is_ignored=ignored_files.ignored(root, settings.capture_ignore.split()),
            any_folder=capture.transcript.tool == EXPORT,
            redactions=capture.redactions,
        )
        reader = reader_of(capture.transcript.tool)
        return turn_filter.kept(reader.turns(capture.transcript, capture.findings), capture.findings)

    def _wanted(self) -> Iterator[Transcript]:
        """The sessions that the job asks for."""
        payload = self._payload
        if files := [ExportedFile(path=payload.file)] if payload.file else payload.files:
            yield from map(self._exported, files)
            return
        home, root = Home.of_this_user(), self._stores.workspace.root
        enabled = consent.read(self._stores.workspace, self._stores.settings.config_folder).tools
        tools = payload.tools or (CAPTURE_TOOLS if payload.dry_run and not enabled else sorted(enabled))
        off = [tool for tool in tools if tool not in enabled]
        if not payload.dry_run and (off or not tools):
            which = f"Capture from {off[0]}" if off else "Capture"
            raise JobError("CAPTURE_OFF", f"{which} is not enabled for {root}. Nothing was read.")
        for tool in tools:
            yield from filter(self._is_wanted, reader_of(tool).transcripts(home, root))

    def _exported(self, file: ExportedFile) -> Transcript:
        """The conversation in a file of the workspace, or in the copy of one from elsewhere, which is named by its
        content, since the copy has another name each time. It is of the time in the file's name, or of its last change.
        Raises as ``paths.open_inside``."""
        workspace = self._stores.workspace
        name, source = file.path, file.source
        path = workspace.root / PurePath(name)
        modified = file.modified_at
        if path.parent == workspace.imports:
            with paths.open_inside(workspace.imports, path.name) as copy:
                name = file_digest(cast("BufferedReader", copy), "sha256").hexdigest()[:16]
        else:
            paths.open_inside(workspace.root, name).close()
            modified = clock.iso(datetime.fromtimestamp(path.stat().st_mtime, tz=clock.now().tzinfo))
        status = path.stat()
        version = f"{status.st_size}-{status.st_mtime_ns}"
        given = Path(source or name)
        return Transcript(EXPORT, name, path, version, moment_in(given.stem) or modified, given.stem, source=source)

    def _is_wanted(self, transcript: Transcript) -> bool:
        payload = self._payload
        if payload.session not in (None, transcript.session_id):
            return False
        if payload.transcript and Path(payload.transcript).resolve() != transcript.path.resolve():
            return False
        since, modified = payload.since, transcript.modified_at
        if since and modified and clock.parse(modified) < clock.parse(since):
            return False
        names = [f"{transcript.tool}/{transcript.session_id}", str(transcript.path), transcript.title or ""]

        def matches(patterns: Sequence[str]) -> bool:
            return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)

        include, exclude = payload.include, payload.exclude
        return not (include and not matches(include)) and not (exclude and matches(exclude))


# --- attached ---


@dataclass(frozen=True, slots=True)
class _End:
    """The end of a session's turns: what was met besides them, or why they could not be read."""

    findings: Findings
    redactions: dict[str, int]
    failed: str | None = None


def attached_lines(sources: Sources, root: Path, read: Callable[[Transcript], SessionCapture | None]) -> Iterator[Line]:
    """The sessions as lines, with what of each turn stands in the code at ``root``. ``read`` prepares the capture of a
    session; None for one whose turns are not needed."""
    yield {"sessions": sources.total}
    for transcript, turns in sources.sessions():
        yield {"session": transcript}
        capture = read(transcript)
        if capture is None:
            continue
        failed, code = None, taking.Code(root, _ANCHOR_SECONDS)
        try:
            for turn in turns(capture):
                named = [f"`{path}`" for path in turn.files]
                yield {"turn": turn, "anchors": code.taken("\n".join([turn.text, *named]))}
        except OSError as error:
            failed = str(error.strerror or error)
        yield {"end": _End(capture.findings, dict(capture.redactions), failed)}


class AttachedSources:
    """The same as the job's machine has attached them. Raises JobError as ``attachments.lines`` and ``checked``."""

    def __init__(self, task: Task[Capture], stores: Stores) -> None:
        self._lines = attachments.lines(task, stores)
        self.total = attachments.checked(int, next(self._lines, {}).get("sessions"))
        self._next: Line | None = next(self._lines, None)
        self._anchors: dict[str, None] = {}  # of the turns of the present session that were read

    def anchored(self, memory: Memory) -> Memory:
        return taking.chosen(memory, self._anchors)

    def sessions(self) -> Iterator[tuple[Transcript, Turns]]:
        while self._next is not None:
            line, self._next = self._next, next(self._lines, None)
            if "session" not in line:  # a turn that nobody needed
                continue
            transcript = attachments.checked(Transcript, line["session"])
            if transcript.tool not in _TOOLS:
                raise JobError("ARGUMENT_INVALID", "What is attached to the job is of no tool that is known.")
            self._anchors.clear()
            yield transcript, self._turns

    def _turns(self, capture: SessionCapture) -> Iterator[Turn]:
        while self._next is not None and "turn" in self._next:
            line, self._next = self._next, next(self._lines, None)
            self._anchors |= dict.fromkeys(attachments.checked(list[str], line.get("anchors")))
            yield attachments.checked(Turn, line["turn"])
        if self._next is None or "end" not in self._next:
            raise OSError("its machine has not sent it, since it was captured as it is: capture it again")
        end = attachments.checked(_End, self._next["end"])
        capture.redactions.update(end.redactions)
        end.findings.left_out.update(capture.findings.left_out)  # the copies of other sessions' turns
        capture.findings = end.findings
        if end.failed is not None:
            raise OSError(end.failed)


Sources = FileSources | AttachedSources
