"""The command ``doctor``: the quick checks and, on request, the fixes, the deep check and the support archive."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.interface import envelope, submission
from jobs import clock, launch
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.ids import new_job_id
from jobs.layout import Workspace, expand_home, find_workspace

from ..doctor import fixes as doctor_fixes
from ..doctor.examination import examine, surroundings
from .output import Envelope
from .process_commands import target
from .progress import Progress


def doctor(args: argparse.Namespace) -> Envelope:
    """Run the checks and what the options request.

    The envelope always has the findings. When one is an error, the envelope is the failure PROBLEMS_FOUND.
    """
    workspace = _workspace(args)
    bundle = None if args.bundle is None else target(workspace, args.bundle)
    report = examine(workspace, clock.now())
    more: dict[str, Any] = {"workspace": str(workspace.root)}
    if args.fix:
        settings = surroundings(workspace)[0]
        done = doctor_fixes.apply_fixes(workspace, report.findings, settings, start=not args.no_start)
        more["fixed"] = [each.as_dict() for each in done]
        report = examine(workspace, clock.now())
    if args.deep:
        began = time.monotonic()
        findings = _deep(workspace, start=not args.no_start)
        report = report.with_more(findings, round((time.monotonic() - began) * 1000))
        more["deep"] = all(finding.code != "CHECK_FAILED" for finding in findings)
    if bundle is not None:
        from ..doctor import bundle as doctor_bundle

        more["bundle"] = doctor_bundle.write(workspace, bundle, report, clock.now())
    if report.ok:
        return {**envelope.SUCCESS, **report.as_dict(), **more}
    count = report.counts["error"]
    error = JobError("PROBLEMS_FOUND", f"{count} error{'s' if count > 1 else ''} found.")
    return {**envelope.failure(error), **report.as_dict(), **more}


def _workspace(args: argparse.Namespace) -> Workspace:
    """The workspace, found as in every command; a missing one becomes a finding, not an error."""
    try:
        return find_workspace(args.workspace, Path.cwd(), anywhere=True)
    except JobError:
        return Workspace(expand_home(args.workspace).absolute())


def _deep(workspace: Workspace, *, start: bool) -> list[Finding]:
    """The findings of the job ``check``, which reads the stores completely."""
    settings, trust_state, problems = surroundings(workspace)
    if problems or trust_state.foreign is not None or not workspace.exists:
        message = "The workspace or the settings prevent reading."
        return [finding("CHECK_FAILED", "stores", message, remedy="Fix the other findings, then run doctor again.")]
    if not workspace.memory_db.exists():
        return []
    if not start and not launch.is_alive(workspace):
        message = "No worker runs, and --no-start forbids to start one."
        return [
            finding(
                "CHECK_FAILED",
                "stores",
                message,
                remedy="Start one: cognee-memory worker start. Then run doctor again.",
            )
        ]
    try:
        job_id = new_job_id()
        with Progress(workspace, job_id) as shown:
            ended: Mapping[str, Any] = submission.submit(
                workspace,
                settings,
                "check",
                {},
                start=start,
                wait=True,
                on_record=shown,
                job_id=job_id,
                submitted_by="cli",
            )
    except JobError as error:
        return [finding("CHECK_FAILED", "stores", f"{error.code}: {error.message}", remedy=error.remediation)]
    return [Finding.from_dict(each) for each in ended["result"]["findings"]]
