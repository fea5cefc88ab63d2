"""What the worker and its child process send each other: one JSON object per line, in each direction.

The worker sends a ``Request``. The child answers with one ``Answer``, and may send messages of one key before it:

- ``loading``: true while it loads what takes seconds, then false; that time does not count towards a timeout;
- ``progress``: how far the job is, as its record shows it;
- ``give_way``: it has stopped at a safe point and serves other requests until it receives ``go_on``;
- ``critical``: its stdin has ended inside a critical section, which it finishes first.
"""

from __future__ import annotations

from typing import Any, TypedDict

from bridge.privacy.masking import masked_value
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

# Kinds of requests that are no jobs:
DELIVER = "@pay"  # bring the graph up to date
MAINTAIN = "@maintain"  # compact what only grows

CRITICAL_SECONDS = 10.0  # both sides wait so long for the end of a critical section, and no longer


class Request(TypedDict):
    """Jobs of one kind, or none for ``DELIVER`` and ``MAINTAIN``. ``Child.ask`` adds ``slice_seconds``: after so long
    the child gives way; null where it must not."""

    kind: str
    jobs: list[dict[str, Any]]  # each the fields of bridge.operations.Task


class Answer(TypedDict):
    """The outcome of each job by its id, as ``encode`` makes it; and how many changes wait for the graph."""

    outcomes: dict[str, dict[str, Any]]
    graph_lag: int | None


def encode(outcome: Succeeded | Failed) -> dict[str, Any]:
    """An outcome for the pipe, with the keys of the settings masked: a provider's message may quote them."""
    match outcome:
        case Succeeded(result):
            return {"result": masked_value(result)}
        case Failed(error):
            found = {"message": error.message, "remediation": error.remediation, "details": error.details}
            return {"error": {"code": error.code, **masked_value(found)}}


def decode(value: dict[str, Any]) -> Succeeded | Failed:
    """An outcome from the pipe."""
    if "result" in value:
        return Succeeded(value["result"])
    error = dict(value["error"])
    return Failed(JobError(error.pop("code"), error.pop("message"), **error))
