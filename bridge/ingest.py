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

from .interface import submission
from .interface.arguments import ingest_arguments
from .interface.submission import payload_of


def main(argv: Sequence[str] | None = None) -> int:
    """One JSON object on stdout; exit status 0, 1 (failed) or 2 (wrong usage)."""
    return submission.run("ingest.py", argv, ingest_arguments, "ingest", payload_of)


if __name__ == "__main__":
    sys.exit(main())
