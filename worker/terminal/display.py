"""Prints the answer of a command for people: its view, and an error with its remedy."""

from __future__ import annotations

import argparse

from .output import Envelope, say, warn


def show(args: argparse.Namespace, answer: Envelope) -> None:
    """Print an answer, or the document that it has. An error goes to stderr with its remedy."""
    view = getattr(args, "show", plain)
    if answer.get("markdown"):
        say(answer["markdown"].rstrip("\n"))
    elif answer["success"] or "findings" in answer:  # the error below summarises the findings
        view(answer)
    if not answer["success"]:
        _failed(answer)
    if not answer["success"] and ("skipped" in answer or "ended" in answer):  # the command succeeded in part
        view(answer)


def _failed(answer: Envelope) -> None:
    warn(f"{answer['error_code']}: {answer['error']}")
    if answer["remediation"]:
        job_id = answer.get("error_details", {}).get("job_id", "<job_id>")
        warn(f"What to do: {answer['remediation'].replace('<job_id>', job_id)}")


def plain(answer: Envelope) -> None:
    """Print every field as it is."""
    for name, value in answer.items():
        if name != "success":
            say(f"{name}: {value}")
