"""Prints why jobs failed: for each cause the messages, the remedy, and the command that runs or dismisses its jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..wording import age, counted, of_all
from .output import Part, facts, say


def causes(answer: Sequence[Mapping[str, Any]], now: datetime, at_most: int) -> None:
    """Print the first ``at_most`` causes with their counts, messages and remedies."""
    for index, cause in enumerate(answer[:at_most]):
        if index:
            say()
        kinds = "".join(f"{count:,} {kind}, " for kind, count in cause["kinds"].items() if kind != "?")
        say(*_heading(cause), f"  ({kinds}the last {_ago(cause, now)})")
        command = again(cause)
        why = [("" if index else "why", line) for index, line in enumerate(_messages(cause))]
        remedy = of_all(cause["remediation"], cause)
        facts([*why, ("remedy", remedy), ("then", [(command, "bold")] if command else "")], indent=2)
    if len(answer) > at_most:
        say()
        say(f"{counted(len(answer) - at_most, 'more cause')}: cognee-memory jobs causes")


def _messages(cause: Mapping[str, Any]) -> list[str]:
    """The messages of a cause, with the number of jobs for each when they differ."""
    counts: Mapping[str, int] = cause["messages"]
    if len(counts) == 1:
        return list(counts)
    left = cause["count"] - sum(counts.values())
    more = [f"{left:,} × something else"] if left else []
    return [f"{count:,} × {message}" for message, count in counts.items()] + more


def _heading(cause: Mapping[str, Any]) -> list[Part]:
    colour = "yellow" if cause["state"] == "retrying" else "bold red"
    return [(f"{counted(cause['count'], 'job')} {cause['state']}: ", "bold"), (cause["code"], colour)]


def summary(cause: Mapping[str, Any]) -> list[list[Part]]:
    """A cause in two lines: what failed, and the remedy."""
    return [_heading(cause), [f"  {of_all(cause['remediation'], cause)}"]]


def _ago(cause: Mapping[str, Any], now: datetime) -> str:
    return f"{age(cause['newest'], now)} ago" if cause["newest"] else "-"


def again(cause: Mapping[str, Any]) -> str | None:
    """The command that does what the cause's advice says; None where nothing is to be done, or the remedy has it."""
    if cause["advice"] not in ("retry", "dismiss") or "jobs retry" in cause["remediation"]:
        return None
    where = " --state rejected" if cause["state"] == "rejected" else ""
    return f"cognee-memory jobs {cause['advice']}{where} --error {cause['code']}"
