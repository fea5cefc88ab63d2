"""The command ``doctor``: the quick checks and, on request, the fixes, the deep check and the support archive."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.interface import envelope, submission
from bridge.interface.arguments import add_no_start
from jobs import clock, launch
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.ids import new_job_id
from jobs.layout import Workspace, expand_home, find_workspace

from ..doctor import fixes as doctor_fixes
from ..doctor.examination import examine, surroundings
from ..wording import counted, size
from .command_line import Given, added, command, option
from .output import Envelope, Part, columns, say
from .process_commands import target
from .progress import Progress

_MARKS: dict[str, Part] = {
    "error": ("✗", "bold red"),
    "warning": ("!", "yellow"),
    "note": ("·", "cyan"),
    "ok": ("✓", "green"),
}
_TITLES = {"error": "Errors", "warning": "Warnings", "note": "Worth knowing"}
_WIDEST = 100
_INDENT = "    "


def show(answer: Envelope) -> None:
    """Print one paragraph for each finding, then the totals."""
    for done in answer.get("fixed", ()):
        _paragraph(done["message"], _MARKS["ok" if done["done"] else "warning"], f" {done['fix']}: ")
    for level, title in _TITLES.items():
        several = [finding for finding in answer["findings"] if finding["level"] == level]
        if several:
            say((title, "bold"))
        for each in several:
            _one(each)
    well = [finding["subject"] for finding in answer["findings"] if finding["level"] == "ok"]
    if well:
        _paragraph(f"{', '.join(well)}.", _MARKS["ok"], " All is well: ")
    totals = [counted(answer["counts"][level], level) for level in _TITLES if answer["counts"].get(level)]
    stores = ", also the deep ones" if answer.get("deep") else ""
    say(f"All checks done{stores}, in {answer['took_ms'] / 1000:.1f} s: {', '.join(totals) or 'no findings'}.")
    if not answer.get("deep"):
        say("To read every store completely: cognee-memory doctor --deep")
    if answer["ok"] and "fixed" not in answer and any(finding["fix"] for finding in answer["findings"]):
        say("To apply the safe fixes: cognee-memory doctor --fix")
    if "bundle" in answer:
        _bundle(answer["bundle"])


@command("doctor", ["doctor", "doctor --fix", "doctor --bundle support.zip"], show=show)
@option("--deep", "also read every store completely, which takes longer")
@option("--fix", "apply the safe fixes")
@option("--bundle FILE", "write an archive for support, without texts and keys")
@added(add_no_start)
def doctor(args: Given) -> Envelope:
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
        more["fixed"] = [each._asdict() for each in done]
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


def _workspace(args: Given) -> Workspace:
    """The workspace, found as in every command; a missing one becomes a finding, not an error."""
    try:
        return find_workspace(args.workspace, Path.cwd(), anywhere=True)
    except JobError:
        return Workspace(expand_home(args.workspace).absolute())


def _deep(workspace: Workspace, *, start: bool) -> list[Finding]:
    """The findings of the job ``check``, which reads the stores completely."""
    settings, trust_state, problems = surroundings(workspace)
    if problems or trust_state.foreign is not None or not workspace.exists:
        return _unread(
            "The workspace or the settings prevent reading.", "Fix the other findings, then run doctor again."
        )
    if not workspace.memory_db.exists():
        return []
    if not start and not launch.is_alive(workspace):
        remedy = "Start one: cognee-memory worker start. Then run doctor again."
        return _unread("No worker runs, and --no-start forbids to start one.", remedy)
    job_id = new_job_id()
    try:
        with Progress(workspace, job_id) as shown:
            ended: Mapping[str, Any] = submission.submit(
                workspace, settings, "check", {}, start=start, wait=True, on_record=shown, job_id=job_id,
                submitted_by="cli",
            )  # fmt: skip
    except JobError as error:
        return _unread(f"{error.code}: {error.message}", error.remediation)
    return [Finding.from_dict(each) for each in ended["result"]["findings"]]


def _unread(why: str, remedy: str) -> list[Finding]:
    return [finding("CHECK_FAILED", "stores", why, remedy=remedy)]


def _one(finding: dict[str, Any]) -> None:
    _paragraph(finding["subject"], _MARKS[finding["level"]], " ", (finding["code"], "bold"), "  ")
    _paragraph(finding["message"], _INDENT)
    if finding["memory_ids"]:
        _paragraph(f"Memories: {', '.join(finding['memory_ids'])}", _INDENT)
    if not finding["remedy"].startswith("Nothing."):
        _paragraph(finding["remedy"], f"{_INDENT}→ ")


def _bundle(bundle: dict[str, Any]) -> None:
    say()
    say(f"{bundle['path']}: {size(bundle['bytes'])}, {counted(len(bundle['files']), 'file')}. Before you send it:")
    for line in bundle["look_at"]:
        _paragraph(line, "  - ")


def _paragraph(text: str, *first: Part) -> None:
    """Print a text after a prefix, wrapped to the terminal's width; in a pipe, as one line."""
    beginning = "".join(part if isinstance(part, str) else part[0] for part in first)
    wide = columns()
    if wide is None:
        say(*first, text)
        return
    indent = len(beginning) if len(beginning) <= 2 * len(_INDENT) else len(_INDENT)
    lines = textwrap.wrap(
        beginning + text, min(wide, _WIDEST), subsequent_indent=" " * indent, break_long_words=False,
        break_on_hyphens=False, drop_whitespace=True,
    )  # fmt: skip
    say(*first, lines[0][len(beginning) :] if lines else text)
    for line in lines[1:]:
        say(line)
