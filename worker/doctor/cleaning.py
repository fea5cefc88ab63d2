"""What may leave this machine in an archive for support: texts without what tells who, where, or what somebody wrote.

All of it errs on the side of leaving out.
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
# Names that cognee and its engines give to files, and ours that are made of digests, dates and numbers.
_ENDINGS = r"\.(?:json|jsonl|lance|manifest|txn|txt|db|tmp|log|arrow|idx)"
_MADE = re.compile(
    r"databases|cache|logs|home|repos|data|cognee_db(?:-\w+)?|cognee_graph_\w+(?:\.\w+)*|cognee\.lancedb"
    r"|_versions|_transactions|_deletions|_indices|_latest\.manifest|[A-Z]\w+\.lance"
    rf"|[0-9a-f-]{{32,36}}(?:{_ENDINGS})?|[0-9a-f]{{64}}{_ENDINGS}|\d+{_ENDINGS}|\d{{8}}(?:\.wholes)?\.f32"
    r"|(?:graph|vectors|cognee)-\d{4}-\d\d-\d\dT[\d.]+Z(?:~\d+)?|\.gitignore|\.owner|start\.log"
    r"|memory\.format-\d+\.db"
)
# A line of our own log: time, level, logger and message.
_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+) (\w+) +([\w.]+) (.*)")
_FRAME = re.compile(
    r"\S*?([\w-]+/[\w.-]+\.py:\d+ in [\w<>]+)|(caused by [\w.]+|[\w.]+(?:Error|Exception|Busy))( \(.*\))?"
)
_OUR_LOGGERS = ("worker", "bridge", "jobs", "root", "huey")
_OF_THE_CHILD = re.compile(r"(operation \S+ failed: \w+|\S+ was not done: [A-Z_]+)")
# What follows such a word was named by somebody.
_NAMED = re.compile(
    r"\b(kept|file|correlation_id)=.*?(?= job_id=| kind=| attempt=| code=|$)|\b(request) .*?(?=: | refused|$)"
)


def places(workspace: Workspace) -> list[tuple[str, str]]:
    """What tells who and where, the longest first, and what stands for it."""
    found = {str(workspace.root): "<workspace>", str(Path.home()): "~"}
    try:
        found[getpass.getuser()] = "<user>"
    except (OSError, KeyError, ImportError):
        pass  # a user without a name
    found |= {json.dumps(place, ensure_ascii=False)[1:-1]: name for place, name in found.items()}  # as JSON has it
    return sorted(((place, name) for place, name in found.items() if len(place) > 1), key=lambda pair: -len(pair[0]))


def cleaned(text: str, known: list[tuple[str, str]]) -> str:
    """Without keys of the settings, and with what stands for each of the places; as words alone where it is a name."""
    text = masked(text)
    for place, stands_for in known:
        is_path = "/" in place or "\\" in place
        text = text.replace(place, stands_for) if is_path else re.sub(rf"\b{re.escape(place)}\b", stands_for, text)
    return text


def without_quotes(text: str) -> str:
    """What stands in quotation marks may be somebody's words."""
    return _QUOTED.sub(f"'{_LEFT_OUT}'", text)


def address(value: str) -> str:
    """Of an address, the scheme and the host alone: the rest may hold a name or a password."""
    if "://" not in value:
        return value
    try:
        return f"{urlsplit(value).scheme}://{urlsplit(value).hostname}/{_LEFT_OUT}"
    except ValueError:
        return "(an address)"


class Names:
    """Which names of files are ours or cognee's; all others were given by somebody."""

    def __init__(self, workspace: Workspace) -> None:
        paths = workspace.spool
        known = (
            *workspace.own_folders, *paths.folders, paths.heartbeat, paths.lock, paths.token, paths.counters,
            paths.paused, paths.successor_lock, paths.queue_db, paths.log, workspace.memory_db, workspace.store_lock,
            workspace.vectors, workspace.previews, workspace.receipts, workspace.imports, workspace.quarantine,
            workspace.earlier_stores, workspace.picture,
        )  # fmt: skip
        self._known = {path.name for path in known}

    def shown(self, path: str) -> str:
        """A path below the workspace, with the endings alone of what has no name of ours."""
        return "/".join(map(self._part, path.split("/")))

    def _part(self, name: str) -> str:
        if self._is_ours(name):
            return name
        ending = Path(name).suffix
        return f"{_LEFT_OUT}{ending if re.fullmatch(_ENDINGS, ending) else ''}"

    def listed(self, subject: str) -> str:
        """The same for a list of paths, as a finding has it."""
        plain, several, more = subject.partition(" and ")
        return ", ".join(map(self.shown, plain.split(", "))) + several + more

    def _is_ours(self, name: str) -> bool:
        stem = re.sub(r"-(?:wal|shm|journal)$|\.\d+$", "", name)
        return stem in self._known or _MADE.fullmatch(name) is not None


def record(found: Record) -> dict[str, Any]:
    """A job's record without texts, and without the id that its asker chose besides."""
    plain = without_texts(found).as_dict()
    if plain["correlation_id"] is not None:
        plain["correlation_id"] = name_digest(plain["correlation_id"])[:16]
    error = plain["error"]
    return {**plain, "error": None if error is None else {"code": error["code"]}}


# --- the log ---


def log_line(line: str) -> str | None:
    """A line of ours without what somebody named or said; of another program's, how long it was."""
    if line.startswith("{"):
        return _json_line(line)
    said = _LINE.fullmatch(line)
    if said is not None:
        at, level, logger, message = said.groups()
        return f"{at} {level} {logger} {_message(logger, message)}"
    frame = _FRAME.fullmatch(line.strip())
    return None if frame is None else f"  {frame[1] or frame[2]}"


def _json_line(line: str) -> str | None:
    try:
        said = json.loads(line)
        logger, level = str(said["logger"]), str(said["level"])
        message = _message(logger, str(said["message"]).splitlines()[0])
    except (ValueError, LookupError, TypeError):
        return None
    return json.dumps({**without_strings(said), "logger": logger, "level": level, "message": message, "trace": ""})


def _message(logger: str, message: str) -> str:
    if logger.split(".")[0] not in _OUR_LOGGERS and ".bridge." not in f".{logger}.":
        ours = _OF_THE_CHILD.match(message)
        if ours is None:
            return f"({len(message)} characters of another program)"
        message = ours[0]
    return without_quotes(_NAMED.sub(lambda found: f"{found[1] or found[2]}={_LEFT_OUT}", message))[:400]
