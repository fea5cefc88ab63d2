"""Merge a topic's summaries into one decision record, or show what that would give: submit the job and wait for it.

As a script: ``--workspace-path``, ``--topic-id``, ``--preview``, ``--preview-digest``, ``--keep-both``.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __package__ in (None, ""):  # python bridge/compact.py
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    __package__ = "bridge"

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from .interface import submission
from .interface.arguments import compact_arguments


def main(argv: Sequence[str] | None = None) -> int:
    """One JSON object on stdout; exit status as everywhere (see ``envelope``)."""
    return submission.run("compact.py", argv, compact_arguments, "compact", _payload, _summary)


def _payload(given: argparse.Namespace) -> dict[str, Any]:
    options = {"preview_digest": given.preview_digest, "keep_both": given.keep_both}
    chosen = {name: value for name, value in options.items() if value is not None}
    return {"topic_id": given.topic_id, "preview": given.preview, **chosen}


def _summary(result: Mapping[str, Any]) -> str:
    """What was done; nothing of a preview, which has done nothing."""
    if "superseded" not in result:
        return ""
    conflicts = "Y" if result["conflicts"] else "N"
    return (
        f"Compacted {len(result['superseded'])} summaries for topic {result['topic_id']} into DecisionRecord."
        f" Conflicts detected: {conflicts}."
    )


if __name__ == "__main__":
    sys.exit(main())
