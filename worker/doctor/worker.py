"""Checks the worker: lock and heartbeat, processes, versions, HTTP address, and what the heartbeat reports."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psutil

from bridge.graph import llm
from bridge.settings import Settings
from jobs import clock, heartbeat as heartbeats, launch, plain_files
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.layout import Workspace
from jobs.lock import NOTE_LIMIT, is_held

from ..processes import boot_id, processes
from ..version import VERSION
from ..wording import MIB
from .entries import modified_at

Heartbeat = dict[str, Any]

_SILENT = timedelta(seconds=heartbeats.STALE_SECONDS)
_LONG_PAUSE = timedelta(hours=12)
_HTTP_SECONDS = 1.0
_LOG_TAIL_BYTES = 256 * 1024
_PLAIN_ERROR = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d+ (?:ERROR|CRITICAL) ")
_JSON_ERROR = re.compile(r'\{"at": "([^"]+)", "level": "(?:ERROR|CRITICAL)"')


def read_heartbeat(workspace: Workspace) -> tuple[Heartbeat | None, bool]:
    """The heartbeat, None when it is absent, unreadable, or of the workspace that this one is a copy of; and whether it
    is there but unreadable."""
    if launch.was_moved(workspace) and not is_held(workspace.spool.lock):
        return None, False
    try:
        value: Heartbeat = {**(heartbeats.read(workspace.spool) or {})}
        if isinstance(value.get("pid"), int) and isinstance(value.get("state"), str):
            clock.parse(value["heartbeat_at"])
            return value, False
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    return None, os.path.lexists(workspace.spool.heartbeat)


class Facts:
    """The state of the worker. ``heartbeat_process``: whether the heartbeat's process exists; None when unknown.
    ``http``: the problem with its address, None when there is none."""

    def __init__(self, workspace: Workspace, settings: Settings, now: datetime, probe_http: bool) -> None:
        """Read the facts. With ``probe_http``, the address is requested too. Raises OSError, psutil.Error."""
        paths = workspace.spool
        self.settings = settings
        self.now = now
        self.boot_id = boot_id()
        self.heartbeat, self.heartbeat_is_damaged = read_heartbeat(workspace)
        self.lock_is_safe = not os.path.lexists(paths.lock) or plain_files.is_own_file(paths.lock)
        self.is_alive = is_held(paths.lock)
        self.note = _note(paths.lock) if self.lock_is_safe else ""
        self.successor = is_held(paths.successor_lock)
        self.processes = list(processes(workspace))
        self.token_mode = _mode(paths.token)
        self.paused_since = modified_at(paths.paused)
        self.log_errors = _errors_within_a_day(paths.log, now)
        self.heartbeat_process = self.http = None
        if self.heartbeat is not None:
            same_run = self.heartbeat.get("boot_id") in (None, self.boot_id)
            self.heartbeat_process = same_run and _may_be_worker(self.heartbeat["pid"])
            if self.is_alive and probe_http:
                self.http = _http_problem(self.heartbeat)


def _may_be_worker(pid: int) -> bool | None:
    """Whether a process with this id exists and may be a worker, because ids are reused. None when unknown."""
    try:
        command_line = " ".join(psutil.Process(pid).cmdline())
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return None
    return "worker" in command_line or "cognee-memory" in command_line or "cli" in command_line


def _note(path: Path) -> str:
    """The text that the last holder wrote into the lock file, empty when it cannot be read: Windows denies reads of
    a locked file."""
    try:
        return plain_files.read_own(path, NOTE_LIMIT).decode("ascii", "replace").strip()
    except (OSError, JobError):
        return ""


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.lstat().st_mode) if sys.platform != "win32" else None
    except OSError:
        return None


def _http_problem(heartbeat: Heartbeat) -> str | None:
    """Why the worker does not answer at its address, None when it does.

    A request is sent only when the serving process runs, because a connection would start one.
    """
    http = heartbeat.get("http")
    url = http.get("url") if isinstance(http, dict) else None
    if not isinstance(http, dict) or not isinstance(url, str):
        return None
    if not http.get("serving"):
        return None if _listens(heartbeat["pid"], url) else f"No process listens on {url}."
    from http.client import HTTPConnection, HTTPException

    host, _, port = url.removeprefix("http://").partition(":")
    connection = HTTPConnection(host, int(port or 80), timeout=_HTTP_SECONDS)
    try:
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
        return None if status == 200 else f"{url}/healthz answers {status}."
    except (OSError, HTTPException) as error:
        return f"{url}/healthz does not answer: {error}."
    finally:
        connection.close()


def _listens(pid: int, url: str) -> bool:
    port = url.rpartition(":")[2]
    try:
        sockets = psutil.Process(pid).net_connections("tcp")
    except psutil.Error:
        return True  # unknown; no finding without evidence
    return any(each.status == psutil.CONN_LISTEN and str(each.laddr.port) == port for each in sockets)


def _errors_within_a_day(path: Path, now: datetime) -> int:
    """The number of error lines at the end of the log in the last day, in the plain or the JSON form. The plain form
    has local times."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LOG_TAIL_BYTES))
            lines = file.read(_LOG_TAIL_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return 0
    since = now - timedelta(days=1)
    forms = ((_PLAIN_ERROR, f"{since.astimezone():%Y-%m-%d %H:%M:%S}"), (_JSON_ERROR, clock.iso(since)))
    return sum(1 for line in lines for form, first in forms if (match := form.match(line)) and match[1] >= first)


# --- the checks ---


def lock(facts: Facts) -> Iterator[Finding]:
    """Findings about the lock, the heartbeat and the token, compared with the process."""
    heartbeat = facts.heartbeat
    if not facts.lock_is_safe:
        yield finding("LOCK_UNSAFE", "lock")
    if facts.heartbeat_is_damaged:
        yield finding("HEARTBEAT_DAMAGED", "heartbeat")
    if heartbeat is None:
        if not facts.is_alive and facts.token_mode is not None:
            yield finding("HEARTBEAT_LEFT", "token", "There is a token of a worker that is gone.")
        return
    age = facts.now - clock.parse(heartbeat["heartbeat_at"])
    who = f"Its process id is {heartbeat['pid']}; it wrote last at {heartbeat['heartbeat_at']}."
    ended = heartbeat["state"] == "stopped"
    if facts.is_alive:
        if heartbeat.get("boot_id") not in (None, facts.boot_id) or (facts.heartbeat_process is False and not ended):
            yield finding("HEARTBEAT_FOREIGN", "heartbeat", who)
        elif age > _SILENT and not ended:
            yield finding("WORKER_SILENT", "worker", who)
    elif facts.heartbeat_process and not ended and age < _SILENT:
        yield finding("LOCK_GONE", "lock", who)
    elif not ended:
        yield finding("HEARTBEAT_LEFT", "heartbeat, token", who)
    if not facts.is_alive and facts.note and not ended:
        yield finding("WORKER_DIED", "worker", who)


def process_findings(facts: Facts) -> Iterator[Finding]:
    """Findings about several workers, a waiting successor and orphaned processes."""
    workers = [process for process in facts.processes if process.role == "worker" and not process.is_successor]
    if len(workers) > 1:
        ids = ", ".join(str(process.pid) for process in workers)
        yield finding("WORKERS_MANY", "worker", f"Their process ids are {ids}.", count=len(workers))
    if facts.successor:
        yield finding("SUCCESSOR_WAITS", "worker")
    orphans = [process for process in facts.processes if process.is_orphan]
    if orphans:
        ids = ", ".join(f"{process.pid} ({process.role})" for process in orphans)
        yield finding("ORPHANS", "processes", f"Their process ids are {ids}.", count=len(orphans))


def version_findings(facts: Facts) -> Iterator[Finding]:
    """Findings when the worker's version, settings or child size differ from what is expected."""
    heartbeat = facts.heartbeat
    if heartbeat is None or not facts.is_alive:
        return
    if heartbeat.get("version") != VERSION:
        yield finding(
            "WORKER_OF_OTHER_VERSION", "worker", f"It runs {heartbeat.get('version')}; installed is {VERSION}."
        )
    embedder = facts.settings.embedding.identity
    if heartbeat.get("embedder") != embedder:
        message = f"It embeds with {heartbeat.get('embedder')}; the settings name {embedder}."
        yield finding("WORKER_OF_OTHER_SETTINGS", "embedding", message)
    if bool(heartbeat.get("llm_configured")) != llm.is_configured(facts.settings):
        has, names = ("has one", "name none") if heartbeat.get("llm_configured") else ("has none", "name one")
        yield finding("WORKER_OF_OTHER_SETTINGS", "language model", f"It {has}; the settings {names}.")
    child = heartbeat.get("child")
    size = child.get("memory_bytes") if isinstance(child, dict) else None
    limit = facts.settings.child_memory_mib
    if isinstance(size, int) and limit and size > 0.8 * limit * MIB:
        yield finding("CHILD_LARGE", "child", f"It takes {size >> 20:,} of {limit:,} MiB.")


def heartbeat_findings(facts: Facts) -> Iterator[Finding]:
    """Findings from the heartbeat, the pause file, the token and the log."""
    if facts.paused_since is not None:
        long = facts.now - facts.paused_since > _LONG_PAUSE
        yield finding("PAUSED_FOR_LONG" if long else "PAUSED", "worker", f"Since {clock.iso(facts.paused_since)}.")
    if facts.heartbeat is not None and facts.is_alive:
        if facts.heartbeat["state"] in ("draining", "exiting"):
            yield finding("LEAVING", "worker", f"It is {facts.heartbeat['state']}.")
        if facts.heartbeat.get("watcher") == "failed":
            yield finding("EVENTS_FAILED", "watcher")
        http = facts.heartbeat.get("http")
        if isinstance(http, dict) and http.get("problem"):
            yield finding("HTTP_PROBLEM", "http", f"{http['problem']}.")
    if facts.http is not None:
        yield finding("HTTP_SILENT", "http", facts.http)
    if facts.is_alive and facts.token_mode is not None and facts.token_mode & 0o077:
        yield finding("TOKEN_OPEN", "token", f"Its mode is {facts.token_mode:04o}.")
    if facts.log_errors:
        yield finding("LOG_HAS_ERRORS", "log", f"In all: {facts.log_errors}.", count=facts.log_errors)


CHECKS = (lock, process_findings, version_findings, heartbeat_findings)
