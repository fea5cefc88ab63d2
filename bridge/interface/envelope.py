"""The JSON envelope: exactly one object on stdout, whatever else the process prints; and the exit codes.

After ``claim_stdout`` only the answer is written to the real stdout. All other writes to stdout, also at the level of
file descriptors, are redirected to stderr.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from jobs.errors import JobError, Reaction, error_kind
from jobs.files import is_no_space

from ..privacy.masking import masked, masked_value, trace

if TYPE_CHECKING:
    from .answer_shapes import Refusal, Success

_claimed: int | None = None


def claim_stdout() -> None:
    """Reserve stdout for the answer. Idempotent."""
    global _claimed
    if _claimed is None:
        sys.stdout.flush()
        _claimed = os.dup(1)
        os.dup2(2, 1)
        if sys.platform != "win32":
            os.set_blocking(_claimed, True)  # the parent's pipe may be in non-blocking mode


def encoded(value: Mapping[str, Any]) -> bytes:
    """The answer as one line of JSON in UTF-8, the same on stdout and over HTTP."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def send(value: Mapping[str, Any] | bytes) -> None:
    """Write the whole answer to stdout. A closed pipe is no error."""
    with contextlib.suppress(BrokenPipeError):
        write(value if isinstance(value, bytes) else encoded(value))


def write(data: bytes) -> None:
    """Write a part of an answer. Raises BrokenPipeError when the reader has closed the pipe."""
    claim_stdout()
    assert _claimed is not None
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(_claimed, rest) :]


def exit_now(status: int) -> NoReturn:
    """Flush and end the process without Python's finalisation, which looks through all objects for garbage."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass  # the stream is closed, or did not exist
    os._exit(status)


DONE, FAILED, USAGE, NO_WORKER, REJECTED, TIMED_OUT = 0, 1, 2, 3, 4, 5
INTERRUPTED = 130  # by Ctrl-C, as in a shell

_EXIT_CODES = {
    "ARGUMENT_INVALID": USAGE,
    "QUERY_EMPTY": USAGE,
    "SETTING_INVALID": USAGE,
    "WORKER_NOT_RUNNING": NO_WORKER,
    "WORKER_START_FAILED": NO_WORKER,
    "WAIT_TIMEOUT": TIMED_OUT,
}


def exit_code(value: Mapping[str, Any]) -> int:
    """The exit status for an answer: the constants above."""
    if value["success"]:
        return DONE
    code = value["error_code"]
    if error_kind(code).reaction is Reaction.REJECT or value.get("error_details", {}).get("state") == "rejected":
        return REJECTED
    return _EXIT_CODES.get(code, FAILED)


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201


def unexpected(error: Exception, report: Callable[[str], None] = _to_stderr) -> JobError:
    """The JobError for any other exception: DISK_FULL without space or quota, FOLDER_UNWRITABLE without permission,
    otherwise INTERNAL, whose lines of code go to ``report`` for a bug report."""
    if is_no_space(error):
        return JobError("DISK_FULL")
    if isinstance(error, OSError) and error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        folder = Path(str(error.filename)).parent if error.filename else Path()
        if error.errno == errno.EROFS or not os.access(folder, os.W_OK):  # else it is a file that cannot be read
            return JobError("FOLDER_UNWRITABLE", f"{folder.absolute()} cannot be written: {error.strerror}.")
    report(trace(error))
    return JobError("INTERNAL", f"Unexpected {type(error).__name__}.", remediation="Report it with what was asked.")


SUCCESS: Success = {"success": True}
"""The start of a typed answer: ``{**SUCCESS, ...}``."""


def success(**values: Any) -> dict[str, Any]:
    """An answer of the command line that has no type of its own."""
    return {"success": True, **values}


def failure(error: JobError) -> Refusal:
    """The envelope of an error, with secrets masked. ``error`` is a string, as in the retrieval contract; the code and
    the remedy have fields of their own."""
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
    """Do a script's work and send its answer, or the envelope of its error. Returns the exit status."""
    answer: Mapping[str, Any]
    try:
        answer = work()
    except JobError as error:
        answer = failure(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        answer = failure(unexpected(error))
    send(answer)
    return exit_code(answer)
