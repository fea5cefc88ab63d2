"""The JSON envelope: one object on stdout, whole, whatever else this process prints.

From ``claim_stdout`` on, the real stdout belongs to the answer; everything else that writes to stdout,
at the level of file descriptors too, lands on stderr.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from jobs.errors import ERRORS, JobError, Reaction

from ..privacy.masking import masked, masked_value, trace

if TYPE_CHECKING:
    from .answer_shapes import Refusal, Success

_claimed: int | None = None


def claim_stdout() -> None:
    """Keep stdout for the answer. Idempotent."""
    global _claimed
    if _claimed is None:
        sys.stdout.flush()
        _claimed = os.dup(1)
        os.dup2(2, 1)
        if sys.platform != "win32":
            os.set_blocking(_claimed, True)  # a parent may have handed over a pipe that refuses to wait


def encoded(value: Mapping[str, Any]) -> bytes:
    """The answer as it is written, whichever way it is given: one line of JSON."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def send(value: Mapping[str, Any] | bytes) -> None:
    """Write the answer, whole: a pipe takes 64 KiB at a time and may be slow.

    A reader that has gone is no error of ours.
    """
    with contextlib.suppress(BrokenPipeError):
        put(value if isinstance(value, bytes) else encoded(value))


def put(data: bytes) -> None:
    """Write a part of an answer. Raises BrokenPipeError when its reader has gone."""
    claim_stdout()
    assert _claimed is not None
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(_claimed, rest) :]


def leave(status: int) -> NoReturn:
    """End the process, now that the answer is out: Python's own tidying takes as long as a third of a bare start."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass  # whoever read it has gone, or nobody was there from the start
    os._exit(status)


DONE, FAILED, USAGE, NO_WORKER, REJECTED, TIMED_OUT = 0, 1, 2, 3, 4, 5
INTERRUPTED = 130  # by Ctrl-C: as a shell has it

_EXIT_CODES = {
    "ARGUMENT_INVALID": USAGE,
    "QUERY_EMPTY": USAGE,
    "SETTING_INVALID": USAGE,
    "WORKER_NOT_RUNNING": NO_WORKER,
    "WORKER_START_FAILED": NO_WORKER,
    "WAIT_TIMEOUT": TIMED_OUT,
}


def exit_code(value: Mapping[str, Any]) -> int:
    """The process's exit status for an answer."""
    if value["success"]:
        return DONE
    code = value["error_code"]
    if ERRORS[code].reaction is Reaction.REJECT or value.get("error_details", {}).get("state") == "rejected":
        return REJECTED
    return _EXIT_CODES.get(code, FAILED)


def unexpected(error: Exception) -> JobError:
    """What a door answers with for an error that nobody expected: still one JSON object."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return JobError("DISK_FULL")
    return JobError("INTERNAL", f"Unexpected {type(error).__name__}.", remediation="Report it with what was asked.")


SUCCESS: Success = {"success": True}
"""The start of a typed answer: ``{**SUCCESS, ...}``."""


def success(**values: Any) -> dict[str, Any]:
    """An answer of the command line that has no type of its own."""
    return {"success": True, **values}


def failure(error: JobError) -> Refusal:
    """``error`` stays a string, as the retrieval contract has it; code and remedy stand beside it."""
    refusal: Refusal = {
        "success": False,
        "error": masked(error.message),
        "error_code": error.code,
        "remediation": masked(error.remediation),
    }
    if error.details:
        refusal["error_details"] = masked_value(error.details)
    return refusal


def of_script(work: Callable[[], Mapping[str, Any]]) -> int:
    """Do a script's work and send what came of it, an error as well. Returns the exit status."""
    answer: Mapping[str, Any]
    try:
        answer = work()
    except JobError as error:
        answer = failure(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        print(trace(error), file=sys.stderr)  # noqa: T201 - for whoever reports it
        answer = failure(unexpected(error))
    send(answer)
    return exit_code(answer)
