"""Job submission: from a client's arguments to a dropped job, with a worker started to run it; and the body of a script
that submits one job, waits for it on request, and prints one JSON object.

The file protocol itself is in ``jobs.client``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jobs import client, clock, heartbeat, launch, lifecycle, spool
from jobs.errors import JobError
from jobs.kinds import BY_NAME
from jobs.layout import Workspace, find_workspace
from jobs.lock import is_held
from jobs.model import Job, Record

from .. import trust
from ..memory import GIVEN
from ..settings import Settings, load
from ..team import last_try
from ..text.sections import one_line, shorten
from ..text.visible import visible
from . import envelope
from .arguments import SUMMARY_OPTIONS, option_of

if TYPE_CHECKING:
    from .answer_shapes import EndedSubmission, Submission


_LONGEST_DECISION, _LONGEST_TOPIC = 300, 60  # characters
_SURE_SECONDS = 5.0  # of waiting, before a heartbeat is taken for that of the worker that holds the lock


def submit(
    workspace: Workspace,
    settings: Settings,
    kind: str,
    payload: dict[str, Any],
    *,
    start: bool = True,
    wait_seconds: float | None = None,
    wait: bool = False,
    on_record: Callable[[Record | None], None] | None = None,
    **fields: Any,
) -> Submission:
    """Drop a job, then start a worker unless one runs. In this order no job is left without a worker.

    Returns the envelope with the job's id; with ``wait``, an ``EndedSubmission``. While it waits, ``on_record`` is
    called with each record that was read (default: ``WaitNotices``). The job of a preview leaves the list of jobs with
    its answer.

    Raises JobError: ARGUMENT_INVALID when the payload or the correlation id is invalid; as ``opening.require_model``
    for a kind that stores memories; as ``require_acceptable``; with ``wait``, JOB_ID_CONFLICT when another job
    has the id, WAIT_TIMEOUT, and the error of a job that did not succeed; and as ``client.submit`` and
    ``launch.start``.
    """
    from jobs.check import check  # not at the top: it imports pydantic
    from jobs.payloads import PAYLOADS

    from ..store.opening import require_model

    if kind in PAYLOADS:
        check(PAYLOADS[kind], payload, "payload")
    if kind in BY_NAME and BY_NAME[kind].stores:
        require_model(workspace, settings.embedding)
    correlation_id = fields.get("correlation_id")
    if correlation_id is not None and not 1 <= len(correlation_id) <= 256:
        raise JobError("ARGUMENT_INVALID", "A correlation id has 1 to 256 characters.")
    trust.adopt(workspace, settings.config_folder)  # before the drop: files that wait in an unmarked folder are not run
    # What the worker would reject is refused here: nobody who does not wait would learn of it.
    check_file = partial(require_acceptable, workspace, settings)
    dropped = client.submit(workspace.spool, kind, payload, check=check_file, **fields)
    started = launch.start(workspace, leave_when_idle=True) if start else False
    submission: Submission = {
        **envelope.SUCCESS,
        "job_id": dropped.job_id,
        "job_sha256": dropped.sha256,
        "kind": kind,
        "correlation_id": correlation_id or dropped.job_id,
        "worker_started": started,
    }
    if not wait:
        return submission
    try:
        record = client.wait(workspace.spool, dropped.job_id, wait_seconds, seen=on_record or WaitNotices(workspace))
    except KeyboardInterrupt:  # Ctrl-C ends the waiting, not the job
        print(f"The job goes on. Look again: cognee-memory jobs show {dropped.job_id}.", file=sys.stderr)  # noqa: T201
        raise
    if record.job_sha256 not in (None, dropped.sha256):
        raise JobError(
            "JOB_ID_CONFLICT",
            f"The id {record.job_id!r} belongs to another job, which is {record.state}.",
            details={"job_id": record.job_id},
        )
    require_success(record)
    if payload.get("preview") or payload.get("dry_run"):  # it changed nothing: its answer is all that anybody asked for
        dismissal = workspace.spool.dismiss(record.job_id), record.generation
        client.request_jobs(workspace.spool, {record.job_id: dismissal})
    ended: EndedSubmission = {
        **submission,
        "state": record.state,
        "result": record.result,
        "elapsed_ms": record.elapsed_ms,
    }
    return ended


def require_acceptable(workspace: Workspace, settings: Settings, job_id: str, data: bytes) -> Job:
    """The job in the content of a file that is about to be dropped.

    Raises the JobError with which the worker would reject it: FILE_TOO_LARGE, METADATA_BROKEN, as ``parse_job``, and as
    ``lifecycle.decide``.
    """
    from jobs.parse import parse_job
    from jobs.payloads import Ingest

    from ..text.template import parse

    if len(data) > settings.max_job_bytes:
        raise JobError("FILE_TOO_LARGE")
    job = parse_job(job_id, data, max_attempts=settings.max_attempts, test_jobs=settings.test_jobs)
    if isinstance(job.payload, Ingest) and job.payload.summary_text is not None:
        parse(job.payload.summary_text)
    try:
        earlier = spool.read_record(workspace.spool, job_id)
    except ValueError as error:
        raise JobError("JOB_ID_CONFLICT", f"The record under the id {job_id!r} is damaged.") from error
    room = settings.max_active_jobs - sum(1 for _ in spool.job_ids(workspace.spool.active))
    lifecycle.decide(job, earlier, room, shutil.disk_usage(workspace.root).free, settings.min_free_bytes)
    return job


def require_success(record: Record) -> None:
    """Raises the JobError of an ended job unless it succeeded; CANCELLED for a cancelled one, whose record may still
    have the error of its last attempt."""
    if record.state == "succeeded":
        return
    error = None if record.state == "cancelled" else record.error
    error = error or JobError("CANCELLED").as_dict()
    raise JobError(
        error["code"],
        error["message"],
        remediation=error.get("remediation", ""),
        details={**error.get("details", {}), "job_id": record.job_id, "state": record.state},
    )


def _say(text: str) -> None:
    print(visible(text), file=sys.stderr)  # noqa: T201


class WaitNotices:
    """Prints why a job waits: for another attempt, for the team, or for a worker that is paused or hangs. Each reason
    once, on stderr."""

    def __init__(self, workspace: Workspace, say: Callable[[str], None] = _say) -> None:
        self._workspace = workspace
        self._say = say
        self._printed: set[str] = set()
        self._began = time.monotonic()

    def __call__(self, record: Record | None) -> None:
        if record is None or not record.ended:
            for reason, text in self._reasons(record):
                if reason not in self._printed:
                    self._printed.add(reason)
                    self._say(f"The job waits: {text}")

    def _reasons(self, record: Record | None) -> Iterator[tuple[str, str]]:
        paths = self._workspace.spool
        if record is not None:
            error = record.error if record.state == "retrying" else last_try.error_of(self._workspace)
            if error is not None:
                yield error["code"], f"{error['message']} {error['remediation']}"
        if paths.paused.exists() and (record is None or record.state != "running"):
            yield "paused", "the worker is paused and starts no job. To go on: cognee-memory jobs resume."
        if time.monotonic() - self._began >= _SURE_SECONDS and is_held(paths.lock):
            silent = heartbeat.age_seconds(heartbeat.read(paths), clock.now()) or 0.0
            if silent > heartbeat.STALE_SECONDS:
                yield "silent", f"the worker has given no sign for {silent:.0f} s. What to do: cognee-memory doctor."


def payload_of(args: argparse.Namespace) -> dict[str, Any]:
    """The payload of an ingest job from a parsed command line.

    One text alone, or decisions alone, are a summary whose topic and context are made of them; so is one text beside
    fields that do not say the same. A first text of ``-`` is what standard input gives.

    Raises JobError: ARGUMENT_INVALID when a text is missing, a label has no summary, a summary is given in two ways, or
    the importance is no number; and as ``read_json_argument``.
    """
    fields = _present(**{name: getattr(args, name) for name in SUMMARY_OPTIONS})
    given = _present(**{name: getattr(args, name) for name in GIVEN})
    user_message, assistant_message = args.user_message, args.assistant_message
    if user_message == "-":
        user_message = _standard_input()
    if fields:
        other = "--summary-json" if args.summary_json is not None else "--summary" if args.summary else None
        by_field = {SUMMARY_OPTIONS[name][0]: value for name, value in fields.items()}
        # A text beside them is the decision or the context; a lone word rather belongs to an option without quotes.
        if user_message and " " in user_message.strip() and not (assistant_message or other):
            stated = _of_text(user_message)
            if stated.keys().isdisjoint(by_field):
                by_field, user_message = stated | by_field, None
        _require_summary_alone(next(iter(fields)), by_field, other, user_message or assistant_message)
        return {"summary": _named(by_field) | given | _weight(args) | _present(created_at=args.timestamp)}
    if args.summary_json is not None:
        return {"summary": read_json_argument(args.summary_json) | given}
    if args.summary:
        text = assistant_message or user_message
        if not text:
            raise JobError("ARGUMENT_INVALID", "With --summary the assistant message must hold the summary's text.")
        return {"summary_text": text, **given}
    if user_message is not None and assistant_message is None:
        stated = _named(_of_text(user_message))
        return {"summary": stated | given | _weight(args) | _present(created_at=args.timestamp)}
    if given:
        raise JobError("ARGUMENT_INVALID", f"{option_of(next(iter(given)))} goes with a summary.")
    if not user_message or not assistant_message:
        remedy = "One text alone is a decision, or a summary if it is long. See ingest --help."
        message = "A conversation needs the user's and the assistant's message."
        raise JobError("ARGUMENT_INVALID", message, remediation=remedy)
    conversation = {"user_message": user_message, "assistant_message": assistant_message}
    return {"conversation": conversation | _weight(args) | _present(timestamp=args.timestamp)}


def _require_summary_alone(first: str, by_field: Mapping[str, Any], other: str | None, message: str | None) -> None:
    """Raises JobError: ARGUMENT_INVALID if a summary by its fields lacks one, or comes with another way or a message.

    ``first`` is the first option's name, ``other`` the option of another way.
    """
    option = option_of(first)
    if other is not None:
        raise JobError("ARGUMENT_INVALID", f"{option} and {other} are two ways to give a summary. Use one of them.")
    if message is not None:
        shown = message if len(message) <= 40 else f"{message[:39]}…"
        raise JobError(
            "ARGUMENT_INVALID",
            f"{option} gives a summary by its fields, so the message {shown!r} has no place.",
            remediation="Put the text of each option in quotes, and each decision behind --decision. For a"
            " conversation, leave out the summary's options.",
        )
    for name in ("topic", "context"):
        if name not in by_field and "decisions" not in by_field:
            message = f"A summary needs --topic and --context, or a --decision; {option_of(name)} is missing."
            raise JobError("ARGUMENT_INVALID", message)


def _of_text(text: str) -> dict[str, Any]:
    """The summary of one text alone: a line is a decision, which a later one can replace; a longer text its context."""
    is_line = "\n" not in text.strip() and len(text) <= _LONGEST_DECISION
    return {"decisions": [one_line(text)]} if is_line else {"context": text}


def _named(summary: dict[str, Any]) -> dict[str, Any]:
    """The summary with a topic and a context made of what it says, where they are not given."""
    said = " ".join(summary.get("decisions", [])).strip() or summary.get("context", "").strip()
    if not said:
        raise JobError("ARGUMENT_INVALID", "There is no text to remember.")
    line = said.partition("\n")[0]
    if len(line) > _LONGEST_TOPIC and load().redact_secrets:  # before the cut: in front of "…" it passes for an example
        from ..privacy.redaction import redact  # not at the top: a short line needs none

        line = redact(line).text
    title = textwrap.shorten(line, _LONGEST_TOPIC, placeholder="…")
    if len(title) < _LONGEST_TOPIC // 2:  # few blanks, or none as in Chinese
        title = shorten(line, _LONGEST_TOPIC)
    return {"topic": title, "context": said} | summary


def _standard_input() -> str:
    """Raises JobError: ARGUMENT_INVALID when it is no UTF-8."""
    try:
        return sys.stdin.buffer.read().decode()
    except ValueError as error:
        raise JobError("ARGUMENT_INVALID", f"Standard input cannot be read: {error}.") from None


def _present(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _weight(args: argparse.Namespace) -> dict[str, float]:
    """The field ``importance``, if it was given. Raises JobError: ARGUMENT_INVALID when it is no number."""
    if args.importance is None:
        return {}
    try:
        return {"importance": float(args.importance)}
    except ValueError:
        raise JobError("ARGUMENT_INVALID", f"importance must be a number of 0 to 1, not {args.importance!r}.") from None


def read_json_argument(text: str) -> dict[str, Any]:
    """A JSON object from its text, from a file's path, or from standard input for ``-``.

    Raises JobError: ARGUMENT_INVALID when it cannot be read or is no object.
    """
    try:
        if text == "-":
            source = _standard_input()
        elif text.lstrip().startswith("{"):
            source = text
        else:
            source = Path(text).read_text("utf-8")
        value = json.loads(source)
    except (OSError, ValueError) as error:
        raise JobError("ARGUMENT_INVALID", f"The JSON cannot be read: {error}.") from None
    if not isinstance(value, dict):
        raise JobError("ARGUMENT_INVALID", "The JSON must be an object.")
    return value


def run(
    name: str,
    argv: Sequence[str] | None,
    arguments: Callable[[list[str]], argparse.Namespace],
    kind: str,
    payload: Callable[[argparse.Namespace], dict[str, Any]],
    summary: Callable[[Mapping[str, Any]], str] = lambda result: "",
) -> int:
    """Submit a job of a kind from the arguments (default: the process's). Returns the exit status (see ``envelope``).

    ``summary`` makes a line for stderr from the job's result; empty text prints nothing.
    """

    def work() -> Submission:
        given = arguments(sys.argv[1:] if argv is None else list(argv))
        envelope.claim_stdout()
        workspace = find_workspace(given.workspace, Path.cwd())
        submission = submit(
            workspace, load(), kind, payload(given),
            start=not given.no_start, wait=given.wait, wait_seconds=given.timeout, job_id=given.job_id,
            submitted_by=name,
        )  # fmt: skip
        result = cast("EndedSubmission", submission)["result"] if given.wait else None
        if line := summary(result or {}):
            print(line, file=sys.stderr)  # noqa: T201 - stdout carries the answer alone
        return submission

    return envelope.of_script(work)
