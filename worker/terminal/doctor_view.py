"""Prints the findings of ``doctor``: problems first, each with its remedy; everything that is in order in one line."""

from __future__ import annotations

import textwrap
from typing import Any

from ..wording import counted, size
from .output import Envelope, Part, columns, say

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
        for finding in several:
            _one(finding)
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
