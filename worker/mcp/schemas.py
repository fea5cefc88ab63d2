"""The JSON Schemas of the MCP tools' inputs and outputs, as a model reads them.

Input schemas are written by hand: each field says what it is for. They have no ``oneOf``, ``anyOf`` or ``if`` at their
root, because some model providers reject these together with every other tool. Output schemas are built from
``bridge.interface``, whose models take time to build, so only when a client lists the tools.
"""

from __future__ import annotations

from typing import Any, get_args

from bridge.argument_table import DEFAULT_PRESET, EXPLAIN_ARGUMENTS, MOST_IDS
from jobs.states import State

Schema = dict[str, Any]

LONGEST_WAIT_SECONDS = 50  # clients abort a call after 60
PREVIEW_WAIT_SECONDS = 20
INBOX = "in the inbox"  # the state of a job that no worker has accepted yet


def closed(required: list[str], **properties: Schema) -> Schema:
    """The schema of an object with these fields and no others."""
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})


def _text(description: str, **more: Any) -> Schema:
    return {"type": "string", "description": description, **more}


def _texts(description: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _number(kind: str, description: str, least: float, most: float, **more: Any) -> Schema:
    return {"type": kind, "minimum": least, "maximum": most, "description": description, **more}


def _argument(name: str, description: str) -> Schema:
    """The schema of a number or a choice, with the range, words and default of the argument table."""
    argument = EXPLAIN_ARGUMENTS[name]
    if argument.choices:
        return _text(description, enum=list(argument.choices))
    default = {} if argument.default is None else {"default": argument.default}
    return _number("integer" if argument.kind == "whole" else "number", description, *argument.range, **default)


def _or_null(schema: Schema) -> Schema:
    """The schema, or ``null`` as the default, as the contract requires. The ``anyOf`` is nested, which every
    provider accepts."""
    described = {"description": schema["description"], "default": None}
    return {"anyOf": [{k: v for k, v in schema.items() if k != "description"}, {"type": "null"}], **described}


# --- inputs ---

PROJECT = _text(
    "The workspace that is meant: its path or its folder's name. Only to make sure; any other workspace is refused."
)
_QUERY = _text("The question, or words that a fitting memory would hold; exact identifiers are found too.", minLength=1)
_TIME_AND_PLACE = {
    "topic_id": _text("Only memories of this topic, by the topic_id of an earlier answer."),
    "plan_id": _text("Only memories of this plan. 014, plan-014 and 014-some-title are the same."),
    "since": _text("Only memories from this time on. ISO 8601, such as 2026-11-01 or 2026-11-01T12:00:00Z."),
    "until": _text("Only memories from before this time. ISO 8601."),
    "include_superseded": {
        "type": "boolean",
        "description": "Also what has been replaced by something newer. For questions about history.",
        "default": False,
    },
    "preset": _argument(
        "preset",
        "How age counts: contract halves a score every 7 days, long-lived lets decisions of last year compete."
        f" Default: the workspace's setting, else {DEFAULT_PRESET}.",
    ),
}


def retrieve_input() -> Schema:
    """The input of ``memory_retrieve``."""
    return closed(
        ["query"],
        query=_QUERY,
        max_results=_argument("max_results", "Most memories to return."),
        max_tokens=_argument("max_tokens", "Most tokens of memory text to return."),
        **_TIME_AND_PLACE,
        status=_argument("status", "Only memories of this status; Draft ones are found in no other way."),
        half_life_days=_argument("half_life_days", "Days after which age has halved a score. Wins over preset."),
        as_of=_text("Compute ages at this time instead of now. ISO 8601."),
        project=PROJECT,
    )


def context_input() -> Schema:
    """The input of ``memory_context``."""
    return closed(
        ["query"],
        query=_QUERY,
        max_results=_argument("max_results", "Most notes in the block."),
        max_tokens=_argument("max_tokens", "The block has at most this many tokens."),
        **_TIME_AND_PLACE,
        project=PROJECT,
    )


def explain_input() -> Schema:
    """The input of ``memory_explain``."""
    ids: Schema = {
        "type": "array",
        "items": {"type": "integer"},
        "maxItems": MOST_IDS,
        "description": "The memory_number of memories to explain, whether or not the query finds them.",
    }
    return closed(
        [],
        query=_or_null(_text("The question whose ranking is to be explained. At least one of query and ids.")),
        ids=_or_null(ids),
        project=_or_null(PROJECT),
        include_pack_context={
            "type": "boolean",
            "description": "Also whether each memory would be in memory_context's block for the query, and where.",
            "default": False,
        },
        limit=_argument("limit", "Most memories that come from the query; ids are not limited."),
    )


def ingest_input() -> Schema:
    """The input of ``memory_ingest``."""
    summary = closed(
        ["topic", "context"],
        topic=_text("What it is about, in a few words that stay the same each time the subject comes up.", minLength=1),
        context=_text("What was done or found out, in one paragraph that stands on its own.", minLength=1),
        topic_id=_text(
            "Where to file it: the topic_id of an earlier memory on the subject, else a slug such as sign-in-tokens."
            " Default: made from the topic.",
            pattern="^([a-z0-9][a-z0-9._-]{0,127}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$",
        ),
        decisions=_texts("What was decided, one sentence each, with the names and values that were chosen."),
        rationale=_texts("Why, one reason each, and what was rejected."),
        open_questions=_texts("What is not decided yet."),
        next_steps=_texts("What is to be done next."),
        references=_texts("Files, plans, branches and issues that it is about."),
        plan_id=_text("The plan that it belongs to, such as 014.", minLength=1, maxLength=256),
        session_id=_text("The chat session that it comes from.", minLength=1, maxLength=256),
        status=_text(
            "Draft is kept and not retrieved unless asked for; Superseded no longer holds.",
            enum=["Active", "Draft", "Superseded"],
            default="Active",
        ),
        importance=_number("number", "How much it matters.", 0, 1),
        source_created_at=_text("When it took place, if not now. ISO 8601. Ages are counted from here."),
    )
    conversation = closed(
        ["user_message", "assistant_message"],
        user_message=_text("What the user said, word for word.", minLength=1),
        assistant_message=_text("What was answered, word for word.", minLength=1),
        timestamp=_text("When, if not now. ISO 8601."),
        importance=_number("number", "How much it matters.", 0, 1),
    )
    return closed(
        [],
        summary={**summary, "description": "A structured summary: found best, and merged with others of its topic."},
        conversation={**conversation, "description": "One exchange as it was, where there is nothing to sum up."},
        job_id=_text(
            "Your own id for this job: sending the same again under the same id stores nothing twice."
            " 1 to 64 of a-z, 0-9, '-', '_'. Default: a new one.",
            pattern="^[a-z0-9][a-z0-9_-]{0,63}$",
        ),
        project=PROJECT,
    )


def job_status_input() -> Schema:
    """The input of ``memory_job_status``."""
    return closed(
        ["job_id"],
        job_id=_text("The job_id that memory_ingest or memory_compact_preview returned."),
        wait_seconds=_number(
            "number", "Wait up to this long for the job's end before answering.", 0, LONGEST_WAIT_SECONDS, default=0
        ),
        project=PROJECT,
    )


def compact_preview_input() -> Schema:
    """The input of ``memory_compact_preview``."""
    return closed(
        ["topic_id"],
        topic_id=_text("The topic, by the topic_id of a memory.", minLength=1),
        wait_seconds=_number(
            "number",
            "Wait up to this long; a preview that takes longer is fetched with memory_job_status.",
            0,
            LONGEST_WAIT_SECONDS,
            default=PREVIEW_WAIT_SECONDS,
        ),
        project=PROJECT,
    )


# --- outputs ---


def retrieve_output() -> Schema:
    """The output of ``memory_retrieve``."""
    from bridge.interface.answer_shapes import RetrievalSuccess

    return _schema_of(RetrievalSuccess)


def context_output() -> Schema:
    """The output of ``memory_context``."""
    from bridge.interface.answer_shapes import ContextSuccess

    return _schema_of(ContextSuccess)


def explain_output() -> Schema:
    """The output of ``memory_explain``: the contract's envelope without ``success``, which the tool's result has
    itself."""
    from bridge.interface.answer_shapes import ExplainSuccess

    schema = _schema_of(ExplainSuccess)
    schema["properties"].pop("success")
    schema["required"].remove("success")
    return schema


def ingest_output() -> Schema:
    """The output of ``memory_ingest``."""
    return _open(
        job_id=_text("Ask memory_job_status for it."),
        job_sha256=_text("The digest of what was sent."),
        kind={"const": "ingest"},
        correlation_id=_text("Comes back in the job's record and in the worker's log."),
        worker_started={"type": "boolean", "description": "Whether a worker had to be started to run it."},
        duplicate={"type": "boolean", "description": "Whether the same job was there before: it is not run again."},
    )


def job_status_output() -> Schema:
    """The output of ``memory_job_status``."""
    moment = {"type": ["string", "null"]}
    error = _open(code=_text("Stable."), message=_text("What happened."), remediation=_text("What to do."))
    return _open(
        job_id=_text("The id that was asked for."),
        kind={"type": ["string", "null"]},
        state=_text("Where the job is.", enum=[INBOX, *get_args(State)]),
        success={"type": ["boolean", "null"], "description": "Null until the job has ended."},
        worker_alive={"type": "boolean", "description": "Whether anyone is there to run it."},
        attempt={"type": "integer"},
        submitted_at=moment,
        started_at=moment,
        finished_at=moment,
        next_attempt_at=moment,
        result={"type": ["object", "null"], "description": "What the job did, once it succeeded."},
        error={"anyOf": [error, {"type": "null"}], "description": "Why it failed, or why it is tried again."},
    )


def compact_preview_output() -> Schema:
    """The output of ``memory_compact_preview``."""
    from bridge.interface.result_shapes import CompactionPreview

    schema = _open(
        job_id=_text("The job that makes the preview."),
        state=_text("succeeded, or how far the job is."),
        preview={"type": ["object", "null"], "description": "What a compaction would give; null until succeeded."},
    )
    preview = _schema_of(CompactionPreview)
    schema["$defs"] = preview.pop("$defs", {}) | {"Preview": preview}
    schema["properties"]["preview"] = {"anyOf": [{"$ref": "#/$defs/Preview"}, {"type": "null"}]}
    return schema


def _open(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _schema_of(shape: Any) -> Schema:
    """The schema of a shape, without the titles that pydantic adds: they say nothing to a model and cost tokens."""
    from bridge.interface.json_schema import schema_of

    schema: Schema = _tidy(schema_of(shape))
    return schema


def _tidy(schema: Any, *, names: bool = False) -> Any:
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _tidy(value, names=key in ("properties", "$defs"))
        for key, value in schema.items()
        if names or key not in ("title", "default")
    }
