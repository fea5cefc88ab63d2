"""Fire and forget: submit a conversation or a summary, print the job's id.

As a script: workspace, user message, assistant message, importance; with ``--summary`` the assistant message
is the summary's text; ``--summary-json`` takes a structured one.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __package__ in (None, ""):  # python bridge/ingest.py
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    __package__ = "bridge"

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobs.layout import find_workspace

from .interface import envelope
from .interface.arguments import ingest_arguments
from .interface.submission import payload_of, submit
from .settings import load

if TYPE_CHECKING:
    from .interface.answer_shapes import Submission


def main(argv: Sequence[str] | None = None) -> int:
    """One JSON object on stdout; exit status 0, 1 (failed) or 2 (wrong usage)."""
    return envelope.of_script(lambda: _work(sys.argv[1:] if argv is None else list(argv)))


def _work(argv: list[str]) -> Submission:
    given = ingest_arguments(argv)
    envelope.claim_stdout()
    workspace = find_workspace(given.workspace, Path.cwd())
    payload = payload_of(given)
    return submit(
        workspace, load(), "ingest", payload,
        start=not given.no_start, wait=given.wait, job_id=given.job_id, submitted_by="ingest.py",
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
