"""The commands that look at jobs: ``jobs list``, ``causes``, ``show``, ``watch`` and ``wait``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bridge.interface import envelope
from bridge.interface.arguments import add_timeout
from bridge.interface.submission import require_success
from jobs import client, clock, record_cache
from jobs.layout import SpoolPaths
from jobs.rejected_files import rejections

from ..admin import selection
from ..admin.job_details import JobSubjects, damaged, job_details, kept_copy
from ..log import rotated_files
from ..wording import age, counted, first_ones, shortened, span
from .command_line import IN_MARKDOWN, Given, added, group, limit, option, verb
from .job_table import by_state, filters_of, matching, print_causes, print_jobs, which_jobs
from .job_views import show_life
from .output import Envelope, say, table
from .process_commands import require_positive
from .progress import Progress

if TYPE_CHECKING:
    from jobs.schema import RejectedFile

_MOST_CAUSES = 5

_MOST_REJECTED = 5  # shown when the command did not ask for rejected files

_ONE_JOB = option("job_id JOB_ID", "the job's id, or a unique prefix of it")

group("jobs", ["jobs list --state failed", "jobs causes", "jobs retry JOB_ID"])


def job_list(answer: Envelope) -> None:
    """Print a page of jobs, the inbox, the rejected files and the causes of failures."""
    now = clock.now()
    if answer["jobs"]:
        print_jobs(answer["jobs"], now)
    elif not answer["in_inbox"]:
        say("No jobs." if not answer["filtered"] else "No job matches.")
    if answer["next"] is not None:
        say(f"{counted(answer['total'], 'job')} in all; older ones: --after {answer['next']}")
    if files := answer["in_inbox"]:
        say(f"{counted(len(files), 'file')} in the inbox: {first_ones(files, 3)}")
    _rejected(answer["rejected"], now)
    if answer["causes"]:
        say()
        print_causes(answer["causes"], now, _MOST_CAUSES)


@verb(
    "jobs list",
    "list the jobs, newest first, and then the causes of failures",
    ["list", "list --state failed,expired --since 2h", "list --error LLM_NOT_CONFIGURED --limit 500"],
    show=job_list,
)
@added(which_jobs)
@limit("jobs")
@option("--after NEXT", 'continue an earlier list: the value of its "next"')
def list_jobs(args: Given) -> Envelope:
    """A page of jobs, newest first, with the files in the inbox, the rejected files and the causes of failures.

    Raises JobError: ARGUMENT_INVALID when the limit or a filter is wrong.
    """
    require_positive(args.limit)
    spool_paths, filters = args.place.spool, filters_of(args)
    rows = matching(spool_paths, filters)
    page = record_cache.page(rows, args.limit, args.after)
    wants_rejected = "rejected" in filters["states"]
    rejected: list[RejectedFile] = []
    total = 0
    if wants_rejected or not any(filters.values()):
        rejected, total = rejections(spool_paths, args.limit if wants_rejected else _MOST_REJECTED)
    return envelope.success(
        jobs=JobSubjects(spool_paths).listed(page.jobs),
        total=page.total,
        next=page.next,
        counts=record_cache.counts(rows),
        causes=record_cache.causes(rows),
        in_inbox=[] if any(filters.values()) else selection.waiting(spool_paths),
        rejected={"files": rejected, "total": total},
        filtered=any(filters.values()),
    )


def _rejected(answer: Mapping[str, Any], now: datetime) -> None:
    if not answer["files"]:
        return
    say()
    say("Files that could not become jobs (cognee-memory jobs retry NAME drops it again):")
    rows = [
        (
            item["kept_as"],
            age(item["rejected_at"], now),
            item["error"]["code"],
            shortened(item["error"]["message"], 200),
        )
        for item in answer["files"]
    ]
    table(("rejected", "age", "error", "why"), rows, right=("age",), wraps=("why",), optional_columns=("age", "error"))
    if answer["total"] > len(rows):
        say(f"{answer['total'] - len(rows):,} more: cognee-memory jobs list --state rejected --limit {answer['total']}")


def all_causes(answer: Envelope) -> None:
    """Print every cause of failures."""
    if answer["causes"]:
        print_causes(answer["causes"], clock.now(), len(answer["causes"]))
    else:
        say("No job failed.")


@verb(
    "jobs causes",
    "group failed jobs by cause, and say what to do about each",
    ["causes", "causes --since 1d"],
    show=all_causes,
)
@added(which_jobs)
def causes(args: Given) -> Envelope:
    """The causes of failures among the jobs that match the filters."""
    return envelope.success(causes=record_cache.causes(matching(args.place.spool, filters_of(args))))


@verb(
    "jobs show",
    "show the history of a job: its request, attempts, error and result",
    ["show JOB_ID", "show 0193c7a2 --log"],
    show=show_life,
)
@_ONE_JOB
@option("--log", "also show the lines of the worker's log about the job")
@IN_MARKDOWN
def show(args: Given) -> Envelope:
    """One job: its record, its copy if it is kept, its progress and, with ``--log``, its log lines.

    Raises as ``job_details``.
    """
    job_id = selection.resolved(args.place.spool, args.job_id)
    log = {"log": list(log_lines(args.place.spool, job_id))} if args.log else {}
    return envelope.success(**job_details(args.place, job_id, in_markdown=args.markdown), **log)


def log_lines(spool_paths: SpoolPaths, job_id: str) -> Iterator[str]:
    """The lines of the log about a job, the oldest first, including rotated files."""
    for path in (*reversed(rotated_files(spool_paths.log)), spool_paths.log):
        try:
            with path.open(encoding="utf-8", errors="replace") as lines:
                yield from (line.rstrip("\n") for line in lines if job_id in line)
        except OSError:
            continue


@verb(
    "jobs wait",
    "wait until a job has ended",
    ["wait JOB_ID", "wait JOB_ID --timeout 60"],
    needs="worker",
    show=show_life,
)
@_ONE_JOB
@added(add_timeout)
def wait(args: Given) -> Envelope:
    """Wait for a job's end; returns its result. Raises the job's JobError unless it succeeded."""
    spool_paths = args.place.spool
    job_id = selection.resolved(spool_paths, args.job_id)
    try:
        with Progress(args.place, job_id) as seen:
            record = client.wait(spool_paths, job_id, args.timeout, seen)
    except ValueError as error:
        raise damaged(job_id) from error
    require_success(record)
    return envelope.success(job=record.as_dict(), asked=kept_copy(spool_paths, job_id), in_flight=None)


def watched(answer: Envelope) -> None:
    """Print how many jobs ended, by state."""
    many = counted(sum(answer["ended"].values()), "job")
    states = by_state(answer["ended"])
    say(f"{many} ended in {span(answer['seconds'])}{': ' if states else '.'}", *states)


@verb(
    "jobs watch",
    "show the queue live, until Ctrl-C",
    ["watch", "watch --until-idle", "watch --json --kind compact"],
    more="In a pipe, each change is one line; with --json, one object. The last one is a summary.",
    show=watched,
)
@added(which_jobs)
@option("--interval SECONDS", "time between two updates (default 1)", type=float, default=1.0)
@option("--until-idle", "exit when no job waits or runs; exit code 1 if a job failed")
def watch(args: Given) -> Envelope:
    """Show the queue live until Ctrl-C, or until it is idle."""
    from .watch import watch as watch_queue

    return watch_queue(args.place, filters_of(args), args.interval, until_idle=args.until_idle, as_json=args.json)
