"""The script for retrieval: one question, one JSON object on stdout. cognee is never imported.

Works with and without a worker, and while one writes. It keeps the positional arguments of the retrieval contract:
workspace, query, max_results, max_tokens, half_life_days, include_superseded. Its default preset is ``contract``.
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
from typing import TYPE_CHECKING, Any

from jobs.errors import JobError

from .argument_table import ARGUMENTS, RETRIEVE_POSITIONS
from .interface import envelope
from .search.query_client import ask_for

if TYPE_CHECKING:
    from .interface.answer_shapes import Response, RetrievalResponse


def respond(path: str | None, arguments: dict[str, Any]) -> RetrievalResponse:
    """The whole way from raw arguments to an answer; an error is an answer too."""
    answer: RetrievalResponse = json.loads(ask_for("retrieve", path, arguments, "contract"))
    return answer


def arguments_of(argv: Sequence[str]) -> tuple[str | None, dict[str, Any]]:
    """The workspace's path and the raw arguments. Raises JobError: ARGUMENT_INVALID.

    Arguments by position alone need no parser, which takes half as long as Python's start.
    """
    if len(argv) > len(RETRIEVE_POSITIONS) or any(argument.startswith("-") for argument in argv):
        from .interface.arguments import retrieve_arguments

        return retrieve_arguments(list(argv))
    given = dict(zip(RETRIEVE_POSITIONS, argv, strict=False))
    return given.get("workspace"), {name: given.get(name) for name in ARGUMENTS}


def main(argv: Sequence[str] | None = None) -> int:
    """The script: one JSON object on stdout; exit status 0, 1 (failed) or 2 (wrong usage)."""
    answer: Response
    try:
        path, arguments = arguments_of(sys.argv[1:] if argv is None else argv)
        envelope.claim_stdout()
    except JobError as error:
        from .search.reader import failure

        answer = failure("retrieve", error)
    else:
        answer = respond(path, arguments)
    envelope.send(answer)
    return envelope.exit_code(answer)


if __name__ == "__main__":
    gc.disable()  # what the imports make stays until the end, which comes soon
    envelope.exit_now(main())
