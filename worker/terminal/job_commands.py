"""Submits jobs for the command line: the command ``submit``, and the common part of the kinds' commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bridge.interface.submission import read_json_argument, submit
from jobs.ids import new_job_id
from jobs.layout import Workspace

from ..admin.job_details import add_defaults
from ..documents import document
from . import job_views
from .command_line import Decorator, F, Given, Run, Show, command, option, waits
from .output import Envelope
from .progress import Progress

Payload = Callable[[Given], Mapping[str, Any]]


def submits(name: str, examples: Sequence[str] = (), *, show: Show = job_views.show, **more: Any) -> Decorator:
    """As ``command``, of a function that submits a job and, by default, waits for its end."""

    def declare(run: F) -> F:
        return command(name, examples, show=show, needs="starts", **more)(waits(default=True)(run))

    return declare


def job(
    kind: str, examples: Sequence[str], *, name: str = "", checks: bool = False, **more: Any
) -> Callable[[Payload], Run]:
    """As ``submits``, of a function that gives the job's payload; None is left out of it. ``name``: of the command, if
    it is not that of the kind. ``checks``: the payload names memories or a topic, which are looked up first."""

    def declare(payload: Payload) -> Run:
        def run(args: Given) -> Envelope:
            submit_it = submit_for_target if checks else submit_job
            return submit_it(args, kind, without_none(payload(args)))

        vars(run).update(vars(payload))
        return submits(name or kind, examples, **more)(run)

    return declare


@submits(
    "submit",
    ["submit job.json", "submit - --no-wait < job.json"],
    more="You may omit job_id and schema_version. docs/job-protocol.md describes every field.",
)
@option("file FILE|-", "a file that contains one job as JSON")
def submit_file(args: Given) -> Envelope:
    """Submit the job in a file; ``job_id`` and ``schema_version`` may be absent. Raises JobError when it is not a
    valid job."""
    from jobs.check import check
    from jobs.payloads import JobFile

    job = read_json_argument(args.file)
    add_defaults(job)
    fields = check(JobFile, job).model_dump(exclude_none=True, exclude={"schema_version"})
    return submit_job(args, fields.pop("kind"), fields.pop("payload"), **fields)


def submit_job(args: Given, kind: str, payload: dict[str, Any], **fields: Any) -> Envelope:
    """Submit a job with the options of ``command_line.waits``. ``fields`` are other fields of the job file.

    Returns the job's id, and its result when the command waits for it; with ``--markdown``, its document, too. Raises
    as ``submission.submit``.
    """
    fields.setdefault("submitted_by", "cli")
    if args.correlation_id is not None:
        fields["correlation_id"] = args.correlation_id
    fields["job_id"] = fields.get("job_id") or new_job_id()
    with Progress(args.place, fields["job_id"]) as seen:
        answer = submit(
            *args.opened, kind, payload,
            start=not args.no_start, wait=args.wait, wait_seconds=args.timeout, on_record=seen, **fields,
        )  # fmt: skip
    if "markdown" not in args or not args.markdown:
        return answer
    return {**answer, "markdown": document(kind, answer.get("result"))}


def submit_for_target(args: Given, kind: str, payload: dict[str, Any]) -> Envelope:
    """Submit a job whose payload names memories or a topic. Raises as ``require_targets`` and ``submit_job``."""
    require_targets(args.place, kind, payload)
    return submit_job(args, kind, payload)


def require_targets(workspace: Workspace, kind: str, payload: dict[str, Any]) -> None:
    """Raises the JobError with which a job of this payload would fail, as ``require_accepted``, and JOB_INVALID."""
    from bridge.operations.refusals import require_accepted
    from jobs.parse import payload_of

    require_accepted(workspace, payload_of(kind, payload))


def without_none(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload without None values; null means the same as absent."""
    return {name: value for name, value in payload.items() if value is not None}
