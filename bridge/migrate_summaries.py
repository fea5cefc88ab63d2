"""Take over the memories of earlier versions from cognee's own store: submit the job and wait for it.

As a script: ``--workspace-path``, ``--dry-run``, ``--limit``, ``--undo``.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __package__ in (None, ""):  # python bridge/migrate_summaries.py
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    __package__ = "bridge"

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jobs.layout import find_workspace

from .interface import envelope
from .interface.arguments import migrate_arguments
from .interface.submission import submit
from .settings import load

if TYPE_CHECKING:
    from .interface.answer_shapes import Submission


def main(argv: Sequence[str] | None = None) -> int:
    """One JSON object on stdout; exit status as everywhere (see ``answer``)."""
    return envelope.of_script(lambda: _work(sys.argv[1:] if argv is None else list(argv)))


def _work(argv: list[str]) -> Submission:
    given = migrate_arguments(argv)
    envelope.claim_stdout()
    workspace = find_workspace(given.workspace, Path.cwd())
    asked = {"dry_run": given.dry_run, "limit": given.limit, "undo": given.undo}
    payload = {name: value for name, value in asked.items() if value is not None}
    submission = submit(
        workspace, load(), "migrate", payload,
        start=not given.no_start, wait=given.wait, wait_seconds=given.timeout, submitted_by="migrate_summaries.py",
    )  # fmt: skip
    _log(submission)
    return submission


def _log(submission: Mapping[str, Any]) -> None:
    """What was done, in a line for whoever looks after it; of a dry run, what would be."""
    result = submission.get("result") or {}
    if "migrated" in result:
        dry_run = "Y" if result["dry_run"] else "N"
        print(f"Migrated {result['migrated']} summaries. Dry run: {dry_run}.", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
