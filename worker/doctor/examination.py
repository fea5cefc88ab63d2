"""Runs the quick checks of ``doctor`` and orders their findings.

The checks only read, and need neither a worker nor cognee. A check that cannot run becomes a finding itself, so an
examination never fails.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from bridge import trust
from bridge.privacy.masking import masked, trace
from bridge.settings import Settings, load
from bridge.trust import TrustState
from jobs.diagnostics import GROUPS, LEVELS, Group, Level
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.layout import Workspace

from ..admin.selection import job_rows
from . import (
    capture as doctor_capture,
    installation as doctor_installation,
    machine as doctor_machine,
    queue as doctor_queue,
    settings as doctor_settings,
    stores as doctor_stores,
    team as doctor_team,
    worker as doctor_worker,
    workspace as doctor_workspace,
)

if TYPE_CHECKING:
    from jobs.schema import JobRow

    from ..admin.shapes import DoctorReport

log = logging.getLogger(__name__)

_READING_SECONDS = 0.7  # the limit for reading memory.db; the other checks take about as long
# The groups that are checked even when the workspace is missing or belongs to another user.
_ANYWHERE = ("machine", "installation", "settings", "workspace")


class Report(NamedTuple):
    """The findings, the worst first, and the time in milliseconds that they took."""

    findings: tuple[Finding, ...]
    took_ms: int

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not any(finding.level == "error" for finding in self.findings)

    @property
    def counts(self) -> dict[Level, int]:
        """The number of findings of each level; levels without findings are absent."""
        counted = Counter[Level](finding.level for finding in self.findings)
        return {level: counted[level] for level in LEVELS if counted[level]}

    def with_more(self, others: Iterable[Finding], took_ms: int = 0) -> Report:
        """A new report that also contains ``others``; a finding with the same code and subject is not repeated."""
        known = {(each.code, each.subject): each for each in self.findings if each.level != "ok"}
        for each in others:
            known.setdefault((each.code, each.subject), each)
        looked_at = {finding.group for finding in self.findings}
        return Report(tuple(_ordered(list(known.values()), looked_at)), self.took_ms + took_ms)

    def as_dict(self) -> DoctorReport:
        """The report as JSON."""
        return {
            "ok": self.ok,
            "counts": self.counts,
            "findings": [finding.as_dict() for finding in self.findings],
            "took_ms": self.took_ms,
        }


def examine(workspace: Workspace, now: datetime, *, probe_http: bool = True) -> Report:
    """Run all quick checks.

    With ``probe_http`` the worker's address is requested too; the process that serves this address passes false. Never
    raises.
    """
    began = time.monotonic()
    settings, trust_state, problems = surroundings(workspace)
    is_ours = trust_state.foreign is None and workspace.exists
    findings = [*problems, *_examine(workspace, now, settings, trust_state, probe_http if is_ours else None)]
    ordered = _ordered(findings, GROUPS if is_ours else _ANYWHERE)
    return Report(tuple(ordered), round((time.monotonic() - began) * 1000))


def _examine(
    workspace: Workspace, now: datetime, settings: Settings, trust_state: TrustState, probe_http: bool | None
) -> Iterator[Finding]:
    """The findings of all groups. ``probe_http`` is None when the workspace must not be read: it is missing or
    belongs to another user."""
    yield from _checked("installation", doctor_installation, workspace, settings)
    yield from _checked("settings", doctor_settings, workspace, settings, trust_state.trusted)
    yield from _checked("settings", doctor_capture, workspace, settings, now)
    yield from _checked("settings", doctor_team, workspace, settings, now)
    yield from _checked("workspace", doctor_workspace, workspace, trust_state, now)
    heartbeat = None if probe_http is None else doctor_worker.read_heartbeat(workspace)[0]
    known = [] if probe_http is None else _records(workspace)
    latest = doctor_queue.latest(known)
    yield from _checked("machine", doctor_machine, workspace, settings, now, heartbeat, latest)
    if probe_http is None:
        return
    yield from _checked("worker", doctor_worker, workspace, settings, now, probe_http)
    yield from _checked("queue", doctor_queue, workspace, settings, now, heartbeat, known)
    yield from _checked("memory", doctor_stores, workspace, settings, now, _READING_SECONDS)


def surroundings(workspace: Workspace) -> tuple[Settings, TrustState, list[Finding]]:
    """The settings as far as they are readable, the trust state of the workspace, and the findings about both."""
    problems: list[Finding] = []
    try:
        settings = load()
    except JobError as error:
        problems.append(finding("SETTING_WRONG", "settings", error.message))
        settings = _what_can_be_read()
    try:
        trust_state = trust.inspect_trust(workspace, settings.config_folder)
    except OSError as error:
        problems.append(finding("WORKSPACE_CLOSED", "workspace", f"{error.strerror}."))
        return settings, doctor_workspace.UNSEEN, problems
    if trust_state.foreign is None and not problems:
        try:
            settings = load(workspace_env=workspace.env_file, trusted=trust_state.trusted)
        except JobError as error:
            problems.append(finding("SETTING_WRONG", ".env", error.message))
    return settings, trust_state, problems


def _what_can_be_read() -> Settings:
    """The default settings, with the folders from the environment."""
    from bridge.settings import inherited_environment, variable

    env = inherited_environment()
    config, cache = env.get(variable("config_dir")), env.get(variable("cache_dir"))
    return Settings(config_dir=Path(config) if config else None, cache_dir=Path(cache) if cache else None)


def _records(workspace: Workspace) -> list[JobRow]:
    try:
        return job_rows(workspace.spool)
    except OSError:
        return []  # an unreadable folder has its own finding


def _checked(group: Group, module: ModuleType, *arguments: Any) -> Iterator[Finding]:
    """The findings of a module's ``CHECKS``, of its ``Facts``. A check that fails becomes a finding and does not stop
    the others."""
    try:
        facts = module.Facts(*arguments)
    except Exception as error:
        yield _failed_check(group, error)
        return
    for check in module.CHECKS:
        try:
            yield from check(facts)
        except Exception as error:
            yield _failed_check(group, error)


def _failed_check(group: Group, error: Exception) -> Finding:
    log.debug("a check of the group %s was not made: %s", group, trace(error))
    why = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return finding("CHECK_NOT_MADE", group, f"It is one of the {group}: {why}.", group=group)


def _ordered(findings: Sequence[Finding], groups: Collection[str]) -> list[Finding]:
    """The worst first, then by group. A group that was checked without findings gets one finding of level ``ok``."""
    known = [replace(each, message=masked(each.message), subject=masked(each.subject)) for each in findings]
    troubled = {finding.group for finding in known if finding.level != "note"}
    known += [finding("OK", group, group=group) for group in GROUPS if group in groups and group not in troubled]
    return sorted(known, key=lambda finding: (-LEVELS.index(finding.level), GROUPS.index(finding.group)))
