"""Builds the paths of the OpenAPI document: the operations, their parameters and their replies."""

from __future__ import annotations

from typing import Any, get_args

from bridge.interface import answer_shapes as answers
from bridge.interface.json_schema import Shape
from bridge.memory import LISTS, MemoryKind, Status
from jobs.client import ControlVerb as ControlVerb
from jobs.ids import JOB_ID
from jobs.states import State
from worker.admin.selection import RETRIABLE
from worker.http import jobs as http_jobs, queue as http_queue, schema as shapes
from worker.http.bodies import BODY_BYTES, LARGEST_PAGE

from .json_schema import definition
from .openapi_requests import JOB_FILTERS, NO_FIELDS, new_job, question_body, selection_of_jobs, text_schema

Schema = dict[str, Any]

JSON = "application/json"

REFUSALS = {
    400: ("BadUsage", "Wrong usage: ARGUMENT_INVALID, QUERY_EMPTY, or what is not HTTP."),
    401: ("Unauthorized", "No token, or an old one; or an invalid ticket."),
    403: ("Forbidden", "The Host is not a name of this machine, or the request is from a page of another site."),
    404: ("NotFound", "There is no such item, or no such path."),
    408: ("TooSlow", "The body did not arrive in time."),
    409: ("Conflict", "The current state does not allow it."),
    413: ("TooLarge", f"The body is larger than {BODY_BYTES} bytes."),
    415: ("NotJson", "The Content-Type is not application/json."),
    422: ("Unprocessable", "A job that the worker would reject."),
    500: ("Failed", "A failure that a repetition does not help."),
    503: ("Busy", "A failure that passes: repeat the request."),
}
HEADERS = {
    401: {"WWW-Authenticate": {"required": True, "schema": text_schema()}},
    503: {"Retry-After": {"required": True, "schema": {"type": "integer", "minimum": 1}}},
}
_ALWAYS = (400, 401, 403, 500, 503)
_WITH_BODY = (408, 413, 415)


class Paths:
    """Collects the paths and the shared schemas."""

    def __init__(self) -> None:
        self.shared: Schema = {}
        self.paths: Schema = {}

    def shape(self, shape: Shape) -> Schema:
        """Add the schema of a shape; returns the reference to it."""
        self.shared[shape.__name__] = definition(shape, shape.__name__, self.shared)
        return {"$ref": f"#/$defs/{shape.__name__}"}

    def add(
        self,
        method: str,
        path: str,
        name: str,
        summary: str,
        answer: Schema | None,
        *,
        status: int = 200,
        errors: tuple[int, ...] = (),
        parameters: tuple[Schema, ...] = (),
        body: Schema | None = None,
        refused: Schema | None = None,
        is_open: bool = False,
        links: Schema | None = None,
        media: dict[str, Schema] | None = None,
    ) -> None:
        """Add an operation. ``refused`` is the shape of its own errors, if it has one besides the common shape."""
        common = {"$ref": "#/$defs/Refusal"}
        good: Schema = {"description": summary}
        if answer is not None:
            good["content"] = {JSON: {"schema": answer}}
        if media is not None:
            good["content"] = media
        if links:
            good["links"] = links
        responses: Schema = {str(status): good}
        tags = {"ETag": {"required": True, "schema": text_schema()}}
        if any(each["name"] == "If-None-Match" for each in parameters):
            good["headers"] = tags
            responses["304"] = {
                "description": "The answer has not changed since the one with that tag.",
                "headers": tags,
            }
        wanted = {*_ALWAYS, *errors, *(_WITH_BODY if body else ())} - ({401} if is_open and not body else set())
        for code in sorted(wanted):
            kind, description = REFUSALS[code]
            schema = {"anyOf": [refused, common]} if refused else common
            responses[str(code)] = {"description": description, "content": {JSON: {"schema": schema}}}
            if code in HEADERS:
                responses[str(code)]["headers"] = HEADERS[code]
            if not refused:
                responses[str(code)] = {"$ref": f"#/components/responses/{kind}"}
        operation: Schema = {
            "operationId": name,
            "summary": summary,
            "tags": [path.split("/")[-1 if "v1" not in path else 2]],
        }
        if parameters:
            operation["parameters"] = list(parameters)
        if body is not None:
            operation["requestBody"] = {"required": True, "content": {JSON: {"schema": body}}}
        if is_open:
            operation["security"] = []
        self.paths.setdefault(path, {})[method] = {**operation, "responses": responses}


def _query(name: str, schema: Schema, description: str, **more: Any) -> Schema:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema, **more}


def _limit(default: int = 50) -> Schema:
    return _query(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": default},
        "The maximum number of items.",
    )


_JOB = {
    "name": "job_id",
    "in": "path",
    "required": True,
    "description": "The complete id of a job.",
    "schema": text_schema(pattern=f"^{JOB_ID.pattern}$"),
}
_IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of an earlier answer; the reply is 304 if the answer has not changed.",
    "schema": text_schema(),
}
_AFTER = "`next` of the previous page."
_WORD = text_schema(minLength=1, maxLength=128)


def _to_job(place: str) -> Schema:
    return {
        name: {"operationId": name, "parameters": {"job_id": f"$response.body#/{place}"}}
        for name in ("showJob", "cancelJob", "retryJob", "dismissJob")
    }


def describe(document: Paths) -> None:
    add, shape = document.add, document.shape
    shape(answers.Refusal)

    for verb, success, failure in (
        ("retrieve", answers.RetrievalSuccess, answers.RetrievalFailure),
        ("explain", answers.ExplainSuccess, answers.ExplainFailure),
        ("context", answers.ContextSuccess, answers.ContextFailure),
    ):
        own = _query("settings", {"const": "none"}, "Arguments that are absent do not come from the settings.")
        what = {
            "retrieve": "The memories that match a query, best first",
            "explain": "Why memories match, or do not",
            "context": "A block for a prompt",
        }[verb]
        add(
            "post",
            f"/v1/{verb}",
            verb,
            what,
            shape(success),
            errors=(404, 409, 422),
            parameters=(own,),
            body=question_body(verb),
            refused=shape(failure),
        )

    add(
        "get", "/v1/status", "status", "The workspace's status", shape(shapes.QueueStatus), parameters=(_IF_NONE_MATCH,)
    )
    add(
        "get",
        "/v1/activity",
        "activity",
        "The jobs that ended, over time",
        shape(shapes.Activity),
        parameters=(
            _query(
                "hours",
                {"type": "number", "minimum": 0.01, "maximum": http_queue.MAX_HOURS, "default": 24},
                "How many hours back.",
            ),
            _query(
                "buckets",
                {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": 48},
                "The number of equal spans.",
            ),
        ),
    )
    add(
        "get",
        "/v1/rejected",
        "rejected",
        "Files that could not become jobs",
        shape(shapes.RejectedFiles),
        parameters=(_limit(),),
    )
    verbs = {"enum": list(get_args(ControlVerb))}
    add(
        "post",
        "/v1/control",
        "control",
        "A request to the worker",
        shape(shapes.Controlled),
        body={
            "type": "object",
            "additionalProperties": False,
            "required": ["request"],
            "properties": {"request": verbs},
        },
    )

    states = {"type": "array", "minItems": 1, "items": {"enum": list(get_args(State))}}
    add(
        "get",
        "/v1/jobs",
        "listJobs",
        "Jobs, newest first",
        shape(shapes.JobsPage),
        parameters=(
            _query("state", states, "Of these states.", style="form", explode=False),
            _query("kind", JOB_FILTERS["kind"], "Of this kind."),
            _query("error", JOB_FILTERS["error"], "With this error."),
            _query("contains", text_schema(minLength=1, maxLength=256), "Whose id or correlation id contains this."),
            _limit(),
            _query("after", _WORD, _AFTER),
            _IF_NONE_MATCH,
        ),
        links=_to_job("jobs/0/job_id"),
    )
    correlation = {
        "name": "X-Correlation-Id",
        "in": "header",
        "required": False,
        "schema": text_schema(pattern="^[!-~]{1,256}$"),
        "description": "The job's correlation id, if its file has none.",
    }
    add(
        "post",
        "/v1/jobs",
        "submitJob",
        "Submit a job",
        shape(shapes.Submitted),
        status=202,
        errors=(404, 409, 422),
        parameters=(correlation,),
        body=new_job(document.shared),
        links=_to_job("job_id"),
    )
    for verb, chosen, summary in (
        ("cancel", http_jobs.CANCELLABLE, "Cancel jobs"),
        ("retry", RETRIABLE, "Run jobs again"),
        ("dismiss", http_jobs.DISMISSIBLE, "Remove ended jobs from the list"),
    ):
        add(
            "post",
            f"/v1/jobs/{verb}",
            f"{verb}Jobs",
            summary,
            shape(shapes.ManyAsked),
            body=selection_of_jobs(chosen),
        )
    add(
        "get",
        "/v1/jobs/{job_id}",
        "showJob",
        "One job in detail",
        shape(shapes.WholeJob),
        errors=(404,),
        parameters=(_JOB,),
    )
    for verb, summary in (
        ("cancel", "Cancel a job"),
        ("retry", "Run a job again"),
        ("dismiss", "Remove an ended job from the list"),
    ):
        add(
            "post",
            f"/v1/jobs/{{job_id}}/{verb}",
            f"{verb}Job",
            summary,
            shape(shapes.Asked),
            errors=(404, 409),
            parameters=(_JOB,),
            body=NO_FIELDS,
        )

    add(
        "get",
        "/v1/memories",
        "listMemories",
        "Memories, newest first",
        shape(shapes.MemoriesPage),
        errors=(404,),
        parameters=(
            _query("topic_id", _WORD, "Of this topic."),
            _query("status", {"enum": list(get_args(Status))}, "Of this status."),
            *(_query(name, _WORD, f"Of all these {name}, separated by commas.") for name in LISTS),
            _query("type", {"enum": list(get_args(MemoryKind))}, "Of this type."),
            _limit(),
            _query("after", {"type": "integer", "minimum": 1, "maximum": 2**53}, _AFTER),
        ),
        links={
            "showMemory": {
                "operationId": "showMemory",
                "parameters": {"memory": "$response.body#/memories/0/memory_id"},
            }
        },
    )
    memory = {
        "name": "memory",
        "in": "path",
        "required": True,
        "description": "A memory's id or number.",
        "schema": text_schema(minLength=1, maxLength=256, pattern="^[A-Za-z0-9._:-]+$"),
    }
    add(
        "get",
        "/v1/memories/{memory}",
        "showMemory",
        "One memory with its text",
        shape(shapes.WholeMemory),
        errors=(404,),
        parameters=(memory,),
    )
    add(
        "get",
        "/v1/open",
        "openItems",
        "Open questions and next steps, by topic",
        shape(shapes.OpenItems),
        errors=(404,),
        parameters=(_query("topic_id", _WORD, "Of this topic."), _limit()),
    )
    add("get", "/v1/topics", "topics", "Topics, largest first", shape(shapes.Topics))
    add(
        "get",
        "/v1/review",
        "review",
        "Decisions that may contradict each other",
        shape(shapes.Review),
        parameters=(_query("all", {"enum": ["true", "false"]}, "Also what was replaced or settled."),),
    )
    add(
        "get",
        "/v1/history",
        "history",
        "The last compactions",
        shape(shapes.History),
        errors=(404,),
        parameters=(_query("topic_id", _WORD, "Of this topic."), _limit()),
    )

    add("get", "/v1/settings", "settings", "Every setting with its source", shape(shapes.SettingsTable))
    add("get", "/v1/team", "team", "The workspace's team, or why it is not reached", shape(shapes.OfTeam))
    add("get", "/v1/doctor", "doctor", "The findings of doctor, with remedies", shape(shapes.Findings))
    add("get", "/healthz", "healthz", "Whether the server runs", shape(shapes.Health), is_open=True)
    add("get", "/readyz", "readyz", "Whether it can answer queries", shape(shapes.Health))
    add(
        "get",
        "/metrics",
        "metrics",
        "Metrics for Prometheus",
        None,
        media={
            "text/plain": {"schema": text_schema()},
            "application/openmetrics-text": {"schema": text_schema()},
        },
    )
    add("get", "/openapi.json", "openapi", "This document", {"type": "object"})
    ticket = {
        "type": "object",
        "additionalProperties": False,
        "required": ["ticket"],
        "properties": {"ticket": text_schema()},
    }
    add(
        "post",
        "/v1/session",
        "session",
        "The token, in exchange for a ticket of cognee-memory open",
        shape(shapes.Session),
        is_open=True,
        body=ticket,
    )
    add(
        "get",
        "/",
        "page",
        "The page",
        None,
        is_open=True,
        parameters=(_IF_NONE_MATCH,),
        media={"text/html": {"schema": text_schema()}},
    )
    name = {"name": "name", "in": "path", "required": True, "description": "A file of the page.", "schema": _WORD}
    kinds = ("text/javascript", "text/css", "image/svg+xml", "image/png", "image/x-icon", "text/plain")
    files = {kind: {"schema": text_schema()} for kind in kinds}
    add(
        "get",
        "/assets/{name}",
        "asset",
        "A file of the page",
        None,
        errors=(404,),
        is_open=True,
        parameters=(name, _IF_NONE_MATCH),
        media=files,
    )
