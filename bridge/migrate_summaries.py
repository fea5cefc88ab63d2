"""Take over the memories of earlier versions from cognee's own store: submit the job and wait for it.

As a script: ``--workspace-path``, ``--dry-run``, ``--limit``, ``--undo``.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __package__ in (None, ""):  # python bridge/migrate_summaries.py
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    __package__ = "bridge"

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from .interface import submission
from .interface.arguments import migrate_arguments


def main(argv: Sequence[str] | None = None) -> int:
    """One JSON object on stdout; exit status as everywhere (see ``envelope``)."""
    return submission.run("migrate_summaries.py", argv, migrate_arguments, "migrate", _payload, _summary)


def _payload(given: argparse.Namespace) -> dict[str, Any]:
    asked = {"dry_run": given.dry_run, "limit": given.limit, "undo": given.undo}
    return {name: value for name, value in asked.items() if value is not None}


def _summary(result: Mapping[str, Any]) -> str:
    """What was done; of a dry run, what would be."""
    if "migrated" not in result:
        return ""
    dry_run = "Y" if result["dry_run"] else "N"
    return f"Migrated {result['migrated']} summaries. Dry run: {dry_run}."


if __name__ == "__main__":
    sys.exit(main())
