"""Removes personal data from texts for the support archive: keys, names, paths, and anything that a user wrote.

In doubt, a text is removed.
"""

from __future__ import annotations

import getpass
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bridge.privacy.masking import masked
from jobs.layout import Workspace
from jobs.model import Record
from jobs.scrub import name_digest, without_strings, without_texts

_LEFT_OUT = "…"
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
    return _QUOTED.sub(f"'{_LEFT_OUT}'", text)


def address(value: str) -> str:
    """The scheme and the host of an address; the rest may contain a name or a password. Other values are unchanged."""
    if "://" not in value:
        return value
    try:
        return f"{urlsplit(value).scheme}://{urlsplit(value).hostname}/{_LEFT_OUT}"
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
        return f"{_LEFT_OUT}{ending if re.fullmatch(_ENDINGS, ending) else ''}"

    def listed(self, subject: str) -> str:
        """As ``shown``, for the list of paths in a finding's subject."""
        plain, several, more = subject.partition(" and ")
        return ", ".join(map(self.shown, plain.split(", "))) + several + more

    def _is_ours(self, name: str) -> bool:
        stem = re.sub(r"-(?:wal|shm|journal)$|\.\d+$", "", name)
        return stem in self._known or _MADE.fullmatch(name) is not None


def record(found: Record) -> dict[str, Any]:
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
    return without_quotes(_NAMED.sub(lambda found: f"{found[1] or found[2]}={_LEFT_OUT}", message))[:400]
