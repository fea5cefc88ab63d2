"""The rows of the table of calls, in the order of the OpenAPI document."""

from __future__ import annotations

from functools import partial
from typing import get_args

from bridge.argument_table import ARGUMENTS, EXPLAIN_ARGUMENTS, MAX_QUERY_CHARS, RETRIEVE_ARGUMENTS, Argument
from bridge.memory import LIST_FILTERS, MemoryKind, Status
from jobs.client import ControlVerb
from jobs.errors import ERRORS
from jobs.ids import JOB_ID
from jobs.kinds import KIND_NAMES
from jobs.states import VERBS, State

from . import memories, queue
from .call import Call

LARGEST_PAGE = 500

QUESTIONS = {"retrieve": RETRIEVE_ARGUMENTS, "explain": EXPLAIN_ARGUMENTS, "context": ARGUMENTS}
"""Which arguments each query takes."""

_WORD = (1, 128)  # characters
_FILTERS = {
    "kind": Argument("choice", "KIND", "Of this kind.", choices=KIND_NAMES),
    "error": Argument("choice", "CODE", "With this error.", choices=tuple(ERRORS)),
}
_TOPIC = {"topic_id": Argument("text", "ID", "Of this topic.", _WORD)}
_LIMIT = {"limit": Argument("whole", "N", "The maximum number of items.", (1, LARGEST_PAGE), default=50)}
_NEXT = "`next` of the previous page."
_TAG = {
    "If-None-Match": Argument(
        "text", "", "The ETag of an earlier answer; the reply is 304 if the answer has not changed."
    ),
}
_SETTINGS = {
    "settings": Argument("choice", "", "Arguments that are absent do not come from the settings.", choices=("none",)),
}

PARAMETERS = {
    "job_id": Argument("text", "JOB_ID", "The complete id of a job.", pattern=f"^{JOB_ID.pattern}$"),
    "memory": Argument("text", "ID", "A memory's id or number.", (1, 256), pattern="^[A-Za-z0-9._:-]+$"),
    "name": Argument("text", "", "A file of the page.", _WORD),
}
"""The parameters in paths."""


def _selection(verb: str) -> dict[str, Argument]:
    state = Argument("choice", "STATE", "Of this state.", choices=VERBS[verb].states)
    return {"job_ids": Argument("ids", "JOB_ID", "These jobs.", (1, queue.MAX_IDS)), "state": state, **_FILTERS}


def _question(verb: str, summary: str) -> Call:
    answer = f"{verb.replace('retrieve', 'retrieval').capitalize()}Success"
    return Call(
        verb, f"/v1/{verb}", summary, answer,
        arguments=_SETTINGS, body=QUESTIONS[verb], errors=(404, 409, 422),
    )  # fmt: skip


def _of_job(verb: str, summary: str) -> Call:
    return Call(
        f"{verb}Job", f"/v1/jobs/{{job_id}}/{verb}", summary, "Asked", function=partial(queue.one, verb=verb), body={},
        errors=(404, 409), waits=True,
    )  # fmt: skip


def _of_jobs(verb: str, summary: str) -> Call:
    return Call(
        f"{verb}Jobs", f"/v1/jobs/{verb}", summary, "ManyAsked", function=partial(queue.many, verb=verb),
        body=_selection(verb), waits=True,
    )  # fmt: skip


MOMENT = {
    "prompt": Argument("text", "TEXT", "What the person asks.", (0, MAX_QUERY_CHARS), default=""),
    "file": Argument("text", "PATH", "Or the file that is read or changed.", (0, 4096), default=""),
    "output": Argument("text", "TEXT", "Or what a failed command printed.", (0, MAX_QUERY_CHARS), default=""),
    "shown": Argument("numbers", "N", "Not these memories.", (1, 2**53)),
}

CALLS = (
    # --- queries ---
    _question("retrieve", "The memories that match a query, best first"),
    _question("explain", "Why memories match, or do not"),
    _question("context", "A block for a prompt"),
    Call(
        "moment", "/v1/moment", "The notes that fit a prompt, a file or an error, if any fits well", "FittingNotes",
        body=MOMENT,
    ),
    # --- the queue ---
    Call(
        "status", "/v1/status", "The workspace's status", function=queue.status, version=queue.status_version,
        headers=_TAG,
    ),
    Call(
        "activity", "/v1/activity", "The jobs that ended, over time", function=queue.activity,
        arguments={
            "hours": Argument("number", "HOURS", "How many hours back.", (0.01, queue.MAX_HOURS), default=24),
            "buckets": Argument("whole", "N", "The number of equal spans.", (1, LARGEST_PAGE), default=48),
        },
    ),
    Call("rejected", "/v1/rejected", "Files that could not become jobs", function=queue.rejected, arguments=_LIMIT),
    Call(
        "control", "/v1/control", "A request to the worker", function=queue.control, waits=True,
        body={"request": Argument("choice", "", "", choices=get_args(ControlVerb), is_required=True)},
    ),
    # --- jobs ---
    Call(
        "listJobs", "/v1/jobs", "Jobs, newest first", function=queue.jobs, version=queue.jobs_version, headers=_TAG,
        arguments={
            "state": Argument("choices", "STATE", "Of these states.", choices=get_args(State), default=()),
            **_FILTERS,
            "contains": Argument("text", "TEXT", "Whose id or correlation id contains this.", (1, 256)),
            **_LIMIT,
            "after": Argument("text", "NEXT", _NEXT, _WORD),
        },
        links={"job_id": "jobs/0/job_id"},
    ),
    Call(
        "submitJob", "/v1/jobs", "Submit a job", "Submitted", status=202, errors=(404, 409, 422), body={},
        headers={
            "X-Correlation-Id": Argument(
                "text", "", "The job's correlation id, if its file has none.", pattern=f"^{queue.CORRELATION_ID}$"
            ),
        },
        links={"job_id": "job_id"},
    ),
    _of_jobs("cancel", "Cancel jobs"),
    _of_jobs("retry", "Run jobs again"),
    _of_jobs("dismiss", "Remove ended jobs from the list"),
    Call(
        "showJob", "/v1/jobs/{job_id}", "One job in detail", function=queue.job, errors=(404,),
        arguments={
            "markdown": Argument("flag", "", "Also its document.", choices=("true", "false"), default=False),
        },
    ),
    _of_job("cancel", "Cancel a job"),
    _of_job("retry", "Run a job again"),
    _of_job("dismiss", "Remove an ended job from the list"),
    # --- memories ---
    Call(
        "listMemories", "/v1/memories", "Memories, newest first", function=memories.memories, errors=(404,),
        arguments={
            **_TOPIC,
            "status": Argument("choice", "WORD", "Of this status.", choices=get_args(Status)),
            "type": Argument("choice", "WORD", "Of this type.", choices=get_args(MemoryKind)),
            **_LIMIT,
            "after": Argument("whole", "NUMBER", _NEXT, (1, 2**53)),
            **{
                name: Argument("text", "", f"Of all these {name}, separated by commas.", _WORD) for name in LIST_FILTERS
            },
        },
        links={"memory": "memories/0/memory_id"},
    ),
    Call("showMemory", "/v1/memories/{memory}", "One memory with its text", function=memories.memory, errors=(404,)),
    Call(
        "openItems", "/v1/open", "Open questions and next steps, by topic", function=memories.open_items,
        arguments=_TOPIC | _LIMIT, errors=(404,),
    ),
    Call("topics", "/v1/topics", "Topics, largest first", function=memories.topics),
    Call(
        "review", "/v1/review", "Decisions that may contradict each other", function=memories.review,
        version=memories.review_version, headers=_TAG,
        arguments={
            "all": Argument("flag", "", "Also what was replaced or settled.", choices=("true", "false"), default=False),
        },
    ),
    Call(
        "history", "/v1/history", "The last compactions", function=memories.history, arguments=_TOPIC | _LIMIT,
        errors=(404,),
    ),
    # --- the program ---
    Call("settings", "/v1/settings", "Every setting with its source", "SettingsTable"),
    Call("team", "/v1/team", "The workspace's team, or why it is not reached", "OfTeam"),
    Call("doctor", "/v1/doctor", "The findings of doctor, with remedies", "Findings"),
    Call("healthz", "/healthz", "Whether the server runs", "Health", is_open=True),
    Call("readyz", "/readyz", "Whether it can answer queries", "Health"),
    Call("metrics", "/metrics", "Metrics for Prometheus", media=("text/plain", "application/openmetrics-text")),
    Call("openapi", "/openapi.json", "This document"),
    Call(
        "session", "/v1/session", "The token, in exchange for a ticket of cognee-memory open", "Session", is_open=True,
        body={"ticket": Argument("text", "", "", is_required=True)},
    ),
    Call("page", "/", "The page", is_open=True, headers=_TAG, media=("text/html",)),
    Call(
        "asset", "/assets/{name}", "A file of the page", errors=(404,), is_open=True, headers=_TAG,
        media=("text/javascript", "text/css", "image/svg+xml", "image/png", "image/x-icon", "text/plain"),
    ),
)  # fmt: skip
