"""The script for retrieval: one question, one JSON object on stdout. cognee is never imported.

Works with and without a worker, and while one writes. It keeps the positional arguments of the retrieval contract:
workspace, query, max_results, max_tokens, half_life_days, include_superseded.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

if __package__ in (None, ""):  # python bridge/retrieve.py
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    __package__ = "bridge"

import json
from collections.abc import Sequence
from typing import Any

from jobs.errors import JobError

from .interface import envelope
from .interface.arguments import retrieve_arguments
from .search.query_client import ask_for


def respond(path: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
    """The whole way from raw arguments to an answer; an error is an answer too."""
    found: dict[str, Any] = json.loads(ask_for("retrieve", path, arguments))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """The script: one JSON object on stdout; exit status 0, 1 (failed) or 2 (wrong usage)."""
    try:
        path, arguments = retrieve_arguments(sys.argv[1:] if argv is None else list(argv))
        envelope.claim_stdout()
    except JobError as error:
        from .search.reader import failure

        found = failure("retrieve", error)
    else:
        found = respond(path, arguments)
    envelope.send(found)
    return envelope.exit_code(found)


if __name__ == "__main__":
    gc.disable()  # what the imports make stays until the end, which comes soon
    envelope.leave(main())
