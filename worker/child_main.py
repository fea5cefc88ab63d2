"""The child process: runs operations over the stores, one request at a time, until its stdin closes.

stdout carries answers alone: the real one is moved out of reach of prints before anything is imported.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from bridge import critical
from bridge.database import failing_clearly
from bridge.operations import Outcomes, Progress, Task, run
from bridge.settings import load
from bridge.stores import Stores
from bridge.traces import LOG_FORMAT, trace
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lifecycle import Failed, Succeeded

log = logging.getLogger("child")

_CRITICAL_SECONDS = 10.0
PAY = "@pay"  # a request that is no job: bring the graph up to date


def main() -> int:
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format=LOG_FORMAT)
    requests: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    busy = threading.Event()
    threading.Thread(target=_read_requests, args=(requests, busy), daemon=True).start()

    def send(message: dict[str, Any]) -> None:
        rest = memoryview(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        while rest:
            rest = rest[answers.write(rest) or 0 :]

    with Stores(Workspace(Path(sys.argv[1])), load()) as stores:
        while (request := requests.get()) is not None:
            tasks = [Task(**task) for task in request["jobs"]]
            send(_answer(request["kind"], tasks, stores, lambda progress: send({"progress": progress})))
            busy.clear()
    return 0


def _read_requests(requests: queue.SimpleQueue[dict[str, Any] | None], busy: threading.Event) -> None:
    """Pass lines on. The end of stdin means that the parent is gone or has no more work.

    Without a parent nobody takes the answer, so what runs is cut off, but in no critical section.
    """
    for line in sys.stdin.buffer:
        busy.set()  # before it is taken up: else an end of stdin in between would not cut it off
        requests.put(json.loads(line))
    requests.put(None)
    if busy.is_set():
        critical.wait(_CRITICAL_SECONDS)
        os._exit(1)


def _answer(kind: str, tasks: list[Task], stores: Stores, progress: Progress) -> dict[str, Any]:
    outcomes = _outcomes(kind, tasks, stores, progress)
    return {
        "outcomes": {job_id: encode(outcome) for job_id, outcome in outcomes.items()},
        "graph_lag": stores.graph_lag(),
    }


def _outcomes(kind: str, tasks: list[Task], stores: Stores, progress: Progress) -> Outcomes:
    try:
        if kind == PAY:
            stores.pay([])
            return {}
        with failing_clearly():
            return run(kind, tasks, stores, clock.now(), progress)
    except JobError as error:
        return {task.job_id: Failed(error) for task in tasks}
    except Exception as error:
        # The traceback goes to the log; a record gets no more than the kind of error, which holds no text.
        log.error("operation %s failed: %s", kind, trace(error))
        if len(tasks) > 1:  # each is tried alone, so that a bad one fails alone
            return {job: found for task in tasks for job, found in _outcomes(kind, [task], stores, progress).items()}
        failure = JobError("INTERNAL", f"The operation {kind!r} met an unexpected {type(error).__name__}.")
        return {task.job_id: Failed(failure) for task in tasks}


def encode(outcome: Succeeded | Failed) -> dict[str, Any]:
    """An outcome for the pipe."""
    match outcome:
        case Succeeded(result):
            return {"result": result}
        case Failed(error):
            return {
                "error": {
                    "code": error.code,
                    "message": error.message,
                    "remediation": error.remediation,
                    "details": error.details,
                }
            }


def decode(value: dict[str, Any]) -> Succeeded | Failed:
    """An outcome from the pipe."""
    if "result" in value:
        return Succeeded(value["result"])
    error = dict(value["error"])
    return Failed(JobError(error.pop("code"), error.pop("message"), **error))


if __name__ == "__main__":
    sys.exit(main())
