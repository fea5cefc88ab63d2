"""The body of a script that submits one job, waits for it on request, and prints one JSON object."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jobs.layout import find_workspace

from ..settings import load
from . import envelope
from .submission import submit

if TYPE_CHECKING:
    from .answer_shapes import EndedSubmission, Submission


def run(
    name: str,
    argv: Sequence[str] | None,
    arguments: Callable[[list[str]], argparse.Namespace],
    kind: str,
    payload: Callable[[argparse.Namespace], dict[str, Any]],
    summary: Callable[[Mapping[str, Any]], str] = lambda result: "",
) -> int:
    """Submit a job of a kind from the arguments (default: the process's). Returns the exit status (see ``envelope``).

    ``summary`` makes a line for stderr from the job's result; empty text prints nothing.
    """

    def work() -> Submission:
        given = arguments(sys.argv[1:] if argv is None else list(argv))
        envelope.claim_stdout()
        workspace = find_workspace(given.workspace, Path.cwd())
        submission = submit(
            workspace, load(), kind, payload(given),
            start=not given.no_start, wait=given.wait, wait_seconds=given.timeout, job_id=given.job_id,
            submitted_by=name,
        )  # fmt: skip
        result = cast("EndedSubmission", submission)["result"] if given.wait else None
        if line := summary(result or {}):
            print(line, file=sys.stderr)  # noqa: T201 - stdout carries the answer alone
        return submission

    return envelope.of_script(work)
