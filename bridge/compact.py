"""Merge a topic's summaries into one decision record, or show what that would give: submit the job and wait for it.

As a script: ``--workspace-path``, ``--topic-id``, ``--preview``.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __package__ in (None, ""):  # python bridge/compact.py
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    __package__ = "bridge"

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jobs.layout import find_workspace

from .interface import envelope
from .interface.arguments import compact_arguments
from .interface.submission import submit
from .settings import load

if TYPE_CHECKING:
    from .interface.answer_shapes import Submission


def main(argv: Sequence[str] | None = None) -> int:
    """One JSON object on stdout; exit status as everywhere (see ``answer``)."""
    return envelope.of_script(lambda: _work(sys.argv[1:] if argv is None else list(argv)))


def _work(argv: list[str]) -> Submission:
    given = compact_arguments(argv)
    envelope.claim_stdout()
    workspace = find_workspace(given.workspace, Path.cwd())
    payload = {"topic_id": given.topic_id, "preview": given.preview}
    if given.preview_digest is not None:
        payload["preview_digest"] = given.preview_digest
    submission = submit(
        workspace, load(), "compact", payload,
        start=not given.no_start, wait=given.wait, wait_seconds=given.timeout, submitted_by="compact.py",
    )  # fmt: skip
    _log(submission)
    return submission


def _log(submission: Mapping[str, Any]) -> None:
    """What was done, in a line for whoever looks after it; a preview has done nothing."""
    result = submission.get("result") or {}
    if "superseded" in result:
        conflicts = "Y" if result["conflicts"] else "N"
        print(  # noqa: T201 - stdout carries the answer alone
            f"Compacted {len(result['superseded'])} summaries for topic {result['topic_id']} into DecisionRecord."
            f" Conflicts detected: {conflicts}.",
            file=sys.stderr,
        )


if __name__ == "__main__":
    sys.exit(main())
