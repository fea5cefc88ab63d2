"""The messages between the worker and its child process: one JSON object per line, in each direction.

The worker sends a ``Request``. The child replies with one ``Answer``, and may send messages of one key before it:

- ``loading``: true before and false after a step that takes seconds once per process; this time does not count towards
  a timeout;
- ``begun``: it has received the jobs, and their own operation begins. A death of the child or of the worker counts
  against a job only after this message, and not while the child is loading;
- ``progress``: the job's progress, as its record shows it;
- ``give_way``: it has paused at a safe point, and serves other requests until it receives ``go_on``;
- ``critical``: its stdin has ended inside a critical section, which it finishes first.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, NotRequired, TypedDict

from bridge.privacy.masking import masked_value
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

if TYPE_CHECKING:
    from bridge.operations import JobCopy

# Kinds of other requests, of which only ATTACH has jobs:
DELIVER = "@pay"  # for a slice of time, deliver what the graph lacks
MAINTAIN = "@maintain"  # compact the stores
COMPARE = "@compare"  # open the store, whose memories are compared in the idle moment after it
FOLLOW = "@follow"  # in a team: apply what other machines changed, and remove here what they forgot
ATTACH = "@attach "  # and a kind: in a team, attach to jobs of this kind what they need of this machine's files
FORGOTTEN = "@forgotten"  # note that the jobs' files of the last FOLLOW are scrubbed
CLOSE = "@close"  # in a pool: close the workspace's stores, so that another process can open them

CRITICAL_SECONDS = 10.0  # both sides wait at most so long for the end of a critical section


class Request(TypedDict):
    """Jobs of one kind, or none for a request that begins with "@".

    ``Child.ask`` adds ``slice_seconds``: the time after which long work gives way; null if it must not. It also adds
    ``workspace_id``: in a pool, which workspace the request is about, and ``person``, as whom the database is asked;
    null elsewhere.
    """

    kind: str
    jobs: list[JobCopy]
    lease: int | None  # in a team: the number of the lease under which it commits
    ahead: NotRequired[float]  # seconds by which the clock that times the jobs is ahead of this machine's


class Answer(TypedDict):
    """Job id -> outcome, as ``encode`` makes it; how many changes the graph lacks, null if unknown; for ``FOLLOW`` the
    jobs' files that the worker has to scrub, null without any."""

    outcomes: dict[str, dict[str, Any]]
    graph_lag: int | None
    job_files: dict[str, Any] | None


def write_line(stream: IO[bytes], line: bytes) -> None:
    """Write a whole line to an unbuffered pipe, which may accept only a part at a time. Raises OSError when the other
    side has closed it."""
    rest = memoryview(line)
    while rest:
        rest = rest[stream.write(rest) or 0 :]


def encode(outcome: Succeeded | Failed) -> dict[str, Any]:
    """An outcome for the pipe, with the settings' API keys masked, since a provider's message may quote them."""
    match outcome:
        case Succeeded(result):
            return {"result": masked_value(result)}
        case Failed(error):
            texts = {"message": error.message, "remediation": error.remediation, "details": error.details}
            return {"error": {"code": error.code, **masked_value(texts)}}


def decode(value: dict[str, Any]) -> Succeeded | Failed:
    """An outcome from the pipe."""
    if "result" in value:
        return Succeeded(value["result"])
    error = dict(value["error"])
    return Failed(JobError(error.pop("code"), error.pop("message"), **error))
