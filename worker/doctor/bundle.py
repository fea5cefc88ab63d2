"""The support archive: diagnostics, settings, versions and records, without texts of memories or jobs, keys, user names
or home paths.

Most files are built from fields that are known to be harmless. They are not copies with the sensitive parts removed.
From a text that is in the archive, personal data is removed: keys, names, paths, and anything that a user wrote; in
doubt, the text.
"""

from __future__ import annotations

import getpass
import io
import json
import os
import platform
import re
import stat
import sys
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from bridge.privacy.masking import masked
from bridge.settings import Settings, table
from bridge.store.inspection import database_summary
from jobs import clock, files, spool
from jobs.diagnostics import DIAGNOSTICS
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.model import Record
from jobs.scrub import name_digest, without_strings, without_texts

from ..version import VERSION
from . import installation as doctor_installation, machine as doctor_machine, worker as doctor_worker
from .entries import walk
from .examination import Report, surroundings

if TYPE_CHECKING:
    from ..admin.shapes import DoctorReport


_REPLACED = "…"
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”|«[^»]*»|`[^`]*`")
# File names that cognee and its engines create, and this program's names made of digests, dates and numbers.
_ENDINGS = r"\.(?:json|jsonl|lance|manifest|txn|txt|db|tmp|log|arrow|idx)"
_MADE = re.compile(
    r"databases|cache|logs|home|repos|data|cognee_db(?:-\w+)?|cognee_graph_\w+(?:\.\w+)*|cognee\.lancedb"
    r"|_versions|_transactions|_deletions|_indices|_latest\.manifest|[A-Z]\w+\.lance"
    rf"|[0-9a-f-]{{32,36}}(?:{_ENDINGS})?|[0-9a-f]{{64}}{_ENDINGS}|\d+{_ENDINGS}|\d{{8}}(?:\.wholes)?\.f32"
    r"|(?:graph|vectors|cognee)-\d{4}-\d\d-\d\dT[\d.]+Z(?:~\d+)?|\.gitignore|\.owner|start\.log"
    r"|memory\.format-\d+\.db"
)
# A line of this program's log: time, level, logger and message.
_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+) (\w+) +([\w.]+) (.*)")
_FRAME = re.compile(
    r"\S*?([\w-]+/[\w.-]+\.py:\d+ in [\w<>]+)|(caused by [\w.]+|[\w.]+(?:Error|Exception|Busy))( \(.*\))?"
)
_OUR_LOGGERS = ("worker", "bridge", "jobs", "root", "huey")
_OF_THE_CHILD = re.compile(r"(operation \S+ failed: \w+|\S+ was not done: [A-Z_]+)")
# A user chose the value after these words.
_NAMED = re.compile(
    r"\b(kept|file|correlation_id)=.*?(?= job_id=| kind=| attempt=| code=|$)|\b(request) .*?(?=: | refused|$)"
)

_LOG_BYTES = 512 * 1024
_MOST_RECORDS = 20_000
_MOST_ENTRIES = 5_000
LOOK_AT = (
    "report.txt and log.txt: the only files with sentences in them.",
    "settings.json: which providers and models are named, without keys.",
    "records.jsonl: the ids of jobs, which may have been chosen by you.",
)
_LEFT_OUT = (
    "Texts: of memories, jobs, results, rejected files, previews, questions; titles, topics, and names of files.",
    "Keys and tokens; the values of settings that are secret; addresses beyond the host.",
    "The name of this user and the paths of the home and of the workspace.",
    "The stores themselves: memory.db, the vectors, the knowledge graph.",
)


def places(workspace: Workspace) -> list[tuple[str, str]]:
    """Pairs of an identifying text (workspace, home, user name) and its placeholder, the longest text first."""
    names = {str(workspace.root): "<workspace>", str(Path.home()): "~"}
    try:
        names[getpass.getuser()] = "<user>"
    except (OSError, KeyError, ImportError):
        pass  # the user has no name
    # The same texts as JSON escapes them, such as the backslashes of Windows paths.
    names |= {json.dumps(place, ensure_ascii=False)[1:-1]: name for place, name in names.items()}
    return sorted(((place, name) for place, name in names.items() if len(place) > 1), key=lambda pair: -len(pair[0]))


def cleaned(text: str, known: list[tuple[str, str]]) -> str:
    """The text with keys masked and with each identifying text replaced by its placeholder. A name is replaced only
    as a whole word."""
    text = masked(text)
    for identifying, stands_for in known:
        is_path = "/" in identifying or "\\" in identifying
        text = (
            text.replace(identifying, stands_for)
            if is_path
            else re.sub(rf"\b{re.escape(identifying)}\b", stands_for, text)
        )
    return text


def without_quotes(text: str) -> str:
    """The text without everything in quotation marks, which may quote a user."""
    return _QUOTED.sub(f"'{_REPLACED}'", text)


def address(value: str) -> str:
    """The scheme and the host of an address; the rest may contain a name or a password. Other values are unchanged."""
    if "://" not in value:
        return value
    try:
        return f"{urlsplit(value).scheme}://{urlsplit(value).hostname}/{_REPLACED}"
    except ValueError:
        return "(an address)"


class Names:
    """Knows the file names that this program or cognee creates. A user chose all other names."""

    def __init__(self, workspace: Workspace) -> None:
        paths = workspace.spool
        known = (
            *workspace.own_folders, *paths.folders, paths.heartbeat, paths.lock, paths.token, paths.counters,
            paths.paused, paths.executing, paths.successor_lock, paths.queue_db, paths.log, workspace.memory_db,
            workspace.store_lock, workspace.vectors, workspace.previews, workspace.receipts, workspace.imports,
            workspace.quarantine, workspace.earlier_stores, workspace.picture,
        )  # fmt: skip
        self._known = {path.name for path in known}

    def shown(self, path: str) -> str:
        """A path below the workspace, with each unknown name replaced; only a known file ending remains."""
        return "/".join(map(self._part, path.split("/")))

    def _part(self, name: str) -> str:
        if self._is_ours(name):
            return name
        ending = Path(name).suffix
        return f"{_REPLACED}{ending if re.fullmatch(_ENDINGS, ending) else ''}"

    def listed(self, subject: str) -> str:
        """As ``shown``, for the list of paths in a finding's subject."""
        plain, several, more = subject.partition(" and ")
        return ", ".join(map(self.shown, plain.split(", "))) + several + more

    def _is_ours(self, name: str) -> bool:
        stem = re.sub(r"-(?:wal|shm|journal)$|\.\d+$", "", name)
        return stem in self._known or _MADE.fullmatch(name) is not None


def cleaned_record(found: Record) -> dict[str, Any]:
    """The JSON of a job's record without texts. The correlation id, which a client chose, becomes a digest."""
    plain = without_texts(found).as_dict()
    if plain["correlation_id"] is not None:
        plain["correlation_id"] = name_digest(plain["correlation_id"])[:16]
    error = plain["error"]
    return {**plain, "error": None if error is None else {"code": error["code"]}}


# --- the log ---


def log_line(line: str) -> str | None:
    """A line of the log without names and quoted texts; of another program's message only the length. None drops the
    line."""
    if line.startswith("{"):
        return _json_line(line)
    entry = _LINE.fullmatch(line)
    if entry is not None:
        at, level, logger, message = entry.groups()
        return f"{at} {level} {logger} {_message(logger, message)}"
    frame = _FRAME.fullmatch(line.strip())
    return None if frame is None else f"  {frame[1] or frame[2]}"


def _json_line(line: str) -> str | None:
    try:
        entry = json.loads(line)
        logger, level = str(entry["logger"]), str(entry["level"])
        message = _message(logger, str(entry["message"]).splitlines()[0])
    except (ValueError, LookupError, TypeError):
        return None
    return json.dumps({**without_strings(entry), "logger": logger, "level": level, "message": message, "trace": ""})


def _message(logger: str, message: str) -> str:
    if logger.split(".")[0] not in _OUR_LOGGERS and ".bridge." not in f".{logger}.":
        ours = _OF_THE_CHILD.match(message)
        if ours is None:
            return f"({len(message)} characters of another program)"
        message = ours[0]
    return without_quotes(_NAMED.sub(lambda found: f"{found[1] or found[2]}={_REPLACED}", message))[:400]


class Part(NamedTuple):
    """A file of the archive: its name, its description in the manifest, and the function that makes its text."""

    name: str
    what: str
    make: Callable[[], str]


def write(workspace: Workspace, path: Path, report: Report, now: datetime) -> dict[str, Any]:
    """Write the archive to ``path``, readable by this user only.

    Returns its path, its size in bytes, the names of its files, and what to inspect before sending. Raises JobError:
    ARGUMENT_INVALID when the file cannot be written.
    """
    settings, trust_state, _ = surroundings(workspace)
    known = places(workspace)
    parts = list(_Bundle(workspace, settings).parts(report, now, is_ours=trust_state.foreign is None))
    made = {part.name: cleaned(_text_of(part), known).encode("utf-8", "replace") for part in parts}
    made["MANIFEST.txt"] = _manifest(parts, made, now).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(made.items()):
            archive.writestr(name, data)
    try:
        files.replace(path, packed.getvalue())
    except OSError as error:
        raise JobError("ARGUMENT_INVALID", f"{path} cannot be written: {error.strerror}.") from error
    size = len(packed.getvalue())
    return {"path": str(path), "bytes": size, "files": sorted(made), "look_at": list(LOOK_AT)}


def _text_of(part: Part) -> str:
    """The text of a part. A part that fails contains the type of the error, so the other parts are still written."""
    try:
        return part.make()
    except Exception as error:
        return f"This could not be made: {type(error).__name__}.\n"


def _manifest(parts: list[Part], made: dict[str, bytes], now: datetime) -> str:
    lines = [f"cognee-memory {VERSION}, {clock.iso(now)}", "", "What is in here:"]
    lines += [f"  {part.name:16} {len(made[part.name]):>9,}  {part.what}" for part in parts]
    lines += ["", "What is not:", *(f"  {line}" for line in _LEFT_OUT)]
    lines += ["", "What to look at before you send it:", *(f"  {line}" for line in LOOK_AT), ""]
    return "\n".join(lines)


class _Bundle:
    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self._workspace = workspace
        self._settings = settings
        self._names = Names(workspace)

    def parts(self, report: Report, now: datetime, *, is_ours: bool) -> Iterator[Part]:
        """The parts of the archive. Without ``is_ours``, the workspace belongs to another user and none of its files
        is read."""
        yield Part("report.json", "what was found", lambda: _json(self._report(report)))
        yield Part("report.txt", "the same to read", lambda: self._report_text(report))
        yield Part("settings.json", "each setting, its value and source; secrets say (set)", self._settings_table)
        yield Part("versions.json", "the packages that are installed", _versions)
        yield Part("platform.json", "the machine: system, Python, limits, free room", lambda: self._platform(now))
        if is_ours:
            yield Part("worker.json", "how the worker is", self._heartbeat)
            yield Part("figures.json", "what the worker has counted", self._counters)
            yield Part("records.jsonl", "the jobs' records, without texts", self._records)
            yield Part("log.txt", "the end of the log, our own lines", self._log)
            yield Part("store.json", "memory.db: its tables, and how much is in each", self._store)
            yield Part("folders.txt", "the files in our folders: modes, sizes, ages", lambda: self._folders(now))

    def _report(self, report: Report) -> DoctorReport:
        cleaned = report.as_dict()
        for finding in cleaned["findings"]:
            if finding["group"] == "workspace":
                finding["subject"] = self._names.listed(finding["subject"])
            trouble = DIAGNOSTICS[finding["code"]]
            is_of_jobs = finding["group"] == "queue"  # errors of jobs may quote a user's text
            finding["message"] = trouble.cause if is_of_jobs else without_quotes(finding["message"])
            finding["remedy"] = trouble.remedy
        return cleaned

    def _report_text(self, report: Report) -> str:
        lines = []
        for finding in self._report(report)["findings"]:
            lines += [f"{finding['level']:8} {finding['code']}  {finding['subject']}", f"         {finding['message']}"]
        return "\n".join([*lines, ""])

    def _settings_table(self) -> str:
        rows = table(self._settings)
        return _json([{"name": row.name, "value": address(row.value), "source": row.source} for row in rows])

    def _platform(self, now: datetime) -> str:
        machine = doctor_machine.Facts(self._workspace, self._settings, now, None, None)
        installation = doctor_installation.Facts(self._workspace, self._settings)
        return _json(
            {
                "system": platform.platform(),
                "machine": platform.machine(),
                "processors": os.cpu_count(),
                "python": f"{platform.python_implementation()} {platform.python_version()}",
                "sqlite": ".".join(map(str, installation.sqlite)),
                "sqlite_lacks": installation.sqlite_lacks,
                "clock": clock.iso(now),
                "free_bytes": machine.free,
                "free_inodes": machine.free_inodes,
                "free_ram": machine.free_ram,
                "read_only": machine.read_only,
                "mount_type": machine.mount.fstype,
                "file_events": machine.mount.events,
                "max_user_watches": machine.watches,
                "max_user_instances": machine.instances,
                "open_files": machine.open_files,
            }
        )

    def _heartbeat(self) -> str:
        heartbeat, damaged = doctor_worker.read_heartbeat(self._workspace)
        if heartbeat is None:
            return _json({"there": False, "damaged": damaged})
        kept = ("version", "embedder", "state", "watcher")
        words = {name: heartbeat[name] for name in kept if isinstance(heartbeat.get(name), str)}
        return _json({**without_strings(heartbeat), **words})

    def _counters(self) -> str:
        try:
            return _json(without_strings(json.loads(self._workspace.spool.counters.read_bytes())))
        except FileNotFoundError:
            return _json({"there": False})

    def _records(self) -> str:
        lines = []
        for record in spool.records(self._workspace.spool):
            lines.append(json.dumps(cleaned_record(record)))
            if len(lines) == _MOST_RECORDS:
                break
        return "\n".join([*lines, ""])

    def _log(self) -> str:
        path = self._workspace.spool.log
        try:
            with path.open("rb") as file:
                whole = path.stat().st_size <= _LOG_BYTES
                file.seek(0 if whole else path.stat().st_size - _LOG_BYTES)
                lines = file.read(_LOG_BYTES).decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return "There is no log.\n"
        kept = map(log_line, lines if whole else lines[1:])
        return "\n".join([*filter(None, kept), ""])

    def _store(self) -> str:
        summary = database_summary(self._workspace)
        if summary is None:
            return _json({"there": False})
        names = ("kind", "status", "hidden", "count")
        return _json(
            {
                "format": summary.format,
                "pages": summary.pages,
                "rows": summary.rows,
                "memories": [without_strings(dict(zip(names, row, strict=True))) for row in summary.memories],
                "meta": {**without_strings(summary.meta), "embedder": summary.meta.get("embedder")},
                "schema": summary.schema,
            }
        )

    def _folders(self, now: datetime) -> str:
        lines: list[str] = []
        for folder in self._workspace.own_folders:
            for path, status in walk(folder):
                if len(lines) == _MOST_ENTRIES:
                    return "\n".join([*lines, "and more", ""])
                shown = self._names.shown(path.relative_to(self._workspace.root).as_posix())
                age = now.timestamp() - status.st_mtime
                lines.append(f"{stat.filemode(status.st_mode)} {status.st_size:>12} {age:>12.0f} s  {shown}")
        return "\n".join([*lines, ""])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _versions() -> str:
    named = {each.metadata["Name"]: each.version for each in metadata.distributions() if each.metadata["Name"]}
    return _json({"cognee-memory": VERSION, "python": sys.version, "packages": dict(sorted(named.items()))})
