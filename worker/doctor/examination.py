"""The quick look at everything that may be wrong. It only reads, needs no worker and no cognee, and never fails: a
check that cannot be made is a finding.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from bridge import trust
from bridge.privacy.masking import masked, trace
from bridge.settings import Settings, load
from bridge.trust import TrustState
from jobs.diagnostics import GROUPS, LEVELS, Group, Level
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.layout import Workspace

from . import (
    installation as doctor_installation,
    machine as doctor_machine,
    queue as doctor_queue,
    settings as doctor_settings,
    stores as doctor_stores,
    worker as doctor_worker,
    workspace as doctor_workspace,
)

if TYPE_CHECKING:
    from jobs.schema import FoundTrouble, JobBrief as JobRow

log = logging.getLogger(__name__)

T = TypeVar("T")
Check = Callable[[T], Iterator[Finding]]

_READING_SECONDS = 0.7  # of memory.db; the rest takes about as long
# What is looked at even where the workspace is somebody else's, or missing.
_ANYWHERE = ("machine", "installation", "settings", "workspace")


class DoctorReport(TypedDict):
    """A report as JSON."""

    ok: bool
    counts: dict[Level, int]
    findings: list[FoundTrouble]
    took_ms: int


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, the worst first."""

    findings: tuple[Finding, ...]
    took_ms: int

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not any(finding.level == "error" for finding in self.findings)

    @property
    def counts(self) -> dict[Level, int]:
        counted = Counter[Level](finding.level for finding in self.findings)
        return {level: counted[level] for level in LEVELS if counted[level]}

    def with_more(self, others: Iterable[Finding], took_ms: int = 0) -> Report:
        """Together with what else was found."""
        known = {(each.code, each.subject): each for each in self.findings if each.level != "ok"}
        for each in others:
            known.setdefault((each.code, each.subject), each)
        looked_at = {finding.group for finding in self.findings}
        return Report(tuple(_ordered(list(known.values()), looked_at)), self.took_ms + took_ms)

    def as_dict(self) -> DoctorReport:
        return {
            "ok": self.ok,
            "counts": self.counts,
            "findings": [finding.as_dict() for finding in self.findings],
            "took_ms": self.took_ms,
        }


def examine(workspace: Workspace, now: datetime, *, probe_http: bool = True) -> Report:
    """Look at everything. ``probe_http`` asks the worker's address too: not for the process that answers there."""
    began = time.monotonic()
    settings, standing, problems = surroundings(workspace)
    is_ours = standing.foreign is None and workspace.exists
    findings = [*problems, *_examine(workspace, now, settings, standing, probe_http if is_ours else None)]
    ordered = _ordered(findings, GROUPS if is_ours else _ANYWHERE)
    return Report(tuple(ordered), round((time.monotonic() - began) * 1000))


def _examine(
    workspace: Workspace, now: datetime, settings: Settings, standing: TrustState, probe_http: bool | None
) -> Iterator[Finding]:
    """``probe_http`` is None where what lies in the workspace is not ours to read."""
    yield from _checked("installation", doctor_installation.CHECKS, doctor_installation.gather, workspace, settings)
    yield from _checked(
        "settings", doctor_settings.CHECKS, doctor_settings.gather, workspace, settings, standing.trusted
    )
    yield from _checked("workspace", doctor_workspace.CHECKS, doctor_workspace.gather, workspace, standing, now)
    beat = None if probe_http is None else doctor_worker.heartbeat(workspace)[0]
    known = [] if probe_http is None else _records(workspace)
    yield from _checked(
        "machine", doctor_machine.CHECKS, doctor_machine.gather, workspace, settings, now, beat,
        doctor_queue.latest(known),
    )  # fmt: skip
    if probe_http is None:
        return
    yield from _checked(
        "worker",
        doctor_worker.CHECKS,
        lambda: doctor_worker.gather(workspace, settings, now, probe_http=probe_http),
    )
    yield from _checked("queue", doctor_queue.CHECKS, doctor_queue.gather, workspace, settings, now, beat, known)
    yield from _checked(
        "memory", doctor_stores.CHECKS, doctor_stores.gather, workspace, settings, now, _READING_SECONDS
    )


def surroundings(workspace: Workspace) -> tuple[Settings, TrustState, list[Finding]]:
    """The settings as far as they can be read, and whose the workspace is; with what is wrong there."""
    problems: list[Finding] = []
    try:
        settings = load()
    except JobError as error:
        problems.append(finding("SETTING_WRONG", "settings", error.message))
        settings = _what_can_be_read()
    try:
        standing = trust.inspect_trust(workspace, settings.config_folder)
    except OSError as error:
        problems.append(finding("WORKSPACE_CLOSED", "workspace", f"{error.strerror}."))
        return settings, doctor_workspace.UNSEEN, problems
    if standing.foreign is None and not problems:
        try:
            settings = load(workspace_env=workspace.env_file, trusted=standing.trusted)
        except JobError as error:
            problems.append(finding("SETTING_WRONG", ".env", error.message))
    return settings, standing, problems


def _what_can_be_read() -> Settings:
    """The defaults, with the folders that the environment names."""
    from bridge.settings import inherited_environment, variable

    env = inherited_environment()
    config, cache = env.get(variable("config_dir")), env.get(variable("cache_dir"))
    return Settings(config_dir=Path(config) if config else None, cache_dir=Path(cache) if cache else None)


def _records(workspace: Workspace) -> list[JobRow]:
    try:
        return doctor_queue.known(workspace)
    except OSError:
        return []  # the folder is closed, which is a finding of its own


def _checked(group: Group, checks: Sequence[Check[T]], gather: Callable[..., T], *arguments: Any) -> Iterator[Finding]:
    """What the checks find; one that fails is a finding, and keeps no other from being made."""
    try:
        facts = gather(*arguments)
    except Exception as error:
        yield _not_made(group, error)
        return
    for check in checks:
        try:
            yield from check(facts)
        except Exception as error:
            yield _not_made(group, error)


def _not_made(group: Group, error: Exception) -> Finding:
    log.debug("a check of the group %s was not made: %s", group, trace(error))
    why = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return finding("CHECK_NOT_MADE", group, f"It is one of the {group}: {why}.", group=group)


def _ordered(findings: Sequence[Finding], groups: Collection[str]) -> list[Finding]:
    """The worst first, then by group; a group that was looked at, and is without a trouble, says that all is well."""
    known = [replace(each, message=masked(each.message), subject=masked(each.subject)) for each in findings]
    troubled = {finding.group for finding in known if finding.level != "note"}
    known += [finding("OK", group, group=group) for group in GROUPS if group in groups and group not in troubled]
    return sorted(known, key=lambda finding: (-LEVELS.index(finding.level), GROUPS.index(finding.group)))
