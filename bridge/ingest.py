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

from jobs.errors import JobError
from jobs.layout import find_workspace

from . import answer
from .arguments import ingest_arguments
from .settings import load
from .submission import payload_of, submit
from .traces import trace


def main(argv: Sequence[str] | None = None) -> int:
    """One JSON object on stdout; exit status 0, 1 (failed) or 2 (wrong usage)."""
    try:
        given = ingest_arguments(sys.argv[1:] if argv is None else list(argv))
        answer.claim_stdout()
        workspace = find_workspace(given.workspace, Path.cwd())
        payload = payload_of(given)
        found = submit(
            workspace, load(), "ingest", payload,
            start=not given.no_start, wait=given.wait, job_id=given.job_id, submitted_by="ingest.py",
        )  # fmt: skip
    except JobError as error:
        found = answer.failure(error)
    except KeyboardInterrupt:
        return answer.INTERRUPTED
    except Exception as error:
        print(trace(error), file=sys.stderr)  # noqa: T201 - for whoever reports it
        found = answer.failure(answer.unexpected(error))
    answer.send(found)
    return answer.exit_code(found)


if __name__ == "__main__":
    sys.exit(main())
