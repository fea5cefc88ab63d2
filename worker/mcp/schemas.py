"""The JSON Schemas of the MCP tools' inputs, as a model reads them. Those of the outputs are in ``outputs``.

They are written by hand: each field says what it is for. They have no ``oneOf``, ``anyOf`` or ``if`` at their root,
because some model providers reject these together with every other tool.
"""

from __future__ import annotations

from typing import Any

from bridge.argument_table import DEFAULT_PRESET, EXPLAIN_ARGUMENTS, MAX_IDS, MAX_QUERY_CHARS
from jobs.kinds import VERDICTS

Schema = dict[str, Any]

LONGEST_WAIT_SECONDS = 50  # clients abort a call after 60
PREVIEW_WAIT_SECONDS = 20
STATUS_WAIT_SECONDS = 10  # for a change of a status
MAX_TOPICS, TOPICS_SHOWN = 200, 50


def closed(required: list[str], **properties: Schema) -> Schema:
    """The schema of an object with these fields and no others."""
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})


def text_field(description: str, **more: Any) -> Schema:
    """The schema of a text."""
    return {"type": "string", "description": description, **more}


def _texts(description: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _number(kind: str, description: str, least: float, most: float, **more: Any) -> Schema:
    return {"type": kind, "minimum": least, "maximum": most, "description": description, **more}


def _argument(name: str, description: str) -> Schema:
    """The schema of a number or a choice, with the range, words and default of the argument table."""
    argument = EXPLAIN_ARGUMENTS[name]
    if argument.choices:
        return text_field(description, enum=list(argument.choices))
    default = {} if argument.default is None else {"default": argument.default}
    return _number("integer" if argument.kind == "whole" else "number", description, *argument.range, **default)


def _or_null(schema: Schema) -> Schema:
    """The schema, or ``null`` as the default, as the contract requires. The ``anyOf`` is nested, which every
    provider accepts."""
    described = {"description": schema["description"], "default": None}
    return {"anyOf": [{k: v for k, v in schema.items() if k != "description"}, {"type": "null"}], **described}


# --- inputs ---

PROJECT = text_field(
    "The workspace that is meant: its path or its folder's name. Only to make sure; any other workspace is refused."
)
_QUERY = text_field(
    "The question, or words that a fitting memory would hold; exact identifiers are found too.",
    minLength=1,
    maxLength=MAX_QUERY_CHARS,
)
_TIME_AND_PLACE = {
    "topic_id": text_field("Only memories of this topic, by the topic_id of an earlier answer."),
    "plan_id": text_field("Only memories of this plan. 014, plan-014 and 014-some-title are the same."),
    "since": text_field("Only memories from this time on. ISO 8601, such as 2026-11-01 or 2026-11-01T12:00:00Z."),
    "until": text_field("Only memories from before this time. ISO 8601."),
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
        as_of=text_field("Compute ages at this time instead of now. ISO 8601."),
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
        "maxItems": MAX_IDS,
        "description": "The memory_number of memories to explain, whether or not the query finds them.",
    }
    return closed(
        [],
        query=_or_null(text_field("The question whose ranking is to be explained. At least one of query and ids.")),
        ids=_or_null(ids),
        project=_or_null(PROJECT),
        include_pack_context={
            "type": "boolean",
            "description": "Also whether each memory would be in memory_context's block for the query, and where.",
            "default": False,
        },
        limit=_argument("limit", "Most memories that come from the query; ids are not limited."),
    )


def _one_memory() -> dict[str, Schema]:
    return {
        "memory_number": {"type": "integer", "minimum": 1, "description": "The memory's number: 42 for #42."},
        "memory_id": text_field("Its memory_id, instead of the number.", minLength=1),
    }


def read_input() -> Schema:
    """The input of ``memory_read``."""
    return closed(
        [],
        **_one_memory(),
        offset={
            "type": "integer",
            "minimum": 0,
            "default": 0,
            "description": "For a long text: the next_offset of the answer before.",
        },
        project=PROJECT,
    )


def topics_input() -> Schema:
    """The input of ``memory_topics``."""
    return closed(
        [],
        limit=_number("integer", "Most topics to return.", 1, MAX_TOPICS, default=TOPICS_SHOWN),
        project=PROJECT,
    )


def recent_input() -> Schema:
    """The input of ``memory_recent``."""
    return closed(
        [],
        limit=_argument("limit", "Most memories to return."),
        since=_TIME_AND_PLACE["since"],
        topic_id=_TIME_AND_PLACE["topic_id"],
        include_superseded=_TIME_AND_PLACE["include_superseded"],
        project=PROJECT,
    )


def open_input() -> Schema:
    """The input of ``memory_open``."""
    return closed(
        [],
        limit=_argument("limit", "Most items to return."),
        topic_id=_TIME_AND_PLACE["topic_id"],
        project=PROJECT,
    )


def mark_outdated_input() -> Schema:
    """The input of ``memory_mark_outdated``."""
    return closed(
        [],
        **_one_memory(),
        wait_seconds=_number(
            "number",
            "Wait up to this long for the change; a longer one is looked up with memory_job_status.",
            0,
            LONGEST_WAIT_SECONDS,
            default=STATUS_WAIT_SECONDS,
        ),
        project=PROJECT,
    )


def feedback_input() -> Schema:
    """The input of ``memory_feedback``."""
    return closed(
        ["verdict"],
        **_one_memory(),
        verdict=text_field(
            "helpful: it was true and of use. wrong: what it says does not hold, or is not about the question."
            " withdrawn: takes your earlier verdict back.",
            enum=list(VERDICTS),
        ),
        query=text_field("The question for which it was recalled.", minLength=1, maxLength=1000),
        note=text_field("Why, in one sentence, such as what holds instead.", minLength=1, maxLength=1000),
        by=text_field(
            "Who says so; a later verdict of the same name replaces it.", minLength=1, maxLength=100, default="agent"
        ),
        wait_seconds=_number(
            "number",
            "Wait up to this long for the change; a longer one is looked up with memory_job_status.",
            0,
            LONGEST_WAIT_SECONDS,
            default=STATUS_WAIT_SECONDS,
        ),
        project=PROJECT,
    )


def ingest_input() -> Schema:
    """The input of ``memory_ingest``."""
    summary = closed(
        ["topic", "context"],
        topic=text_field(
            "What it is about, in a few words that stay the same each time the subject comes up.", minLength=1
        ),
        context=text_field("What was done or found out, in one paragraph that is understood alone.", minLength=1),
        topic_id=text_field(
            "Where to file it: the topic_id of an earlier memory on the subject, else a slug such as sign-in-tokens."
            " Default: made from the topic.",
            pattern="^([a-z0-9][a-z0-9._-]{0,127}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$",
        ),
        decisions=_texts("What was decided, one sentence each, with the names and values that were chosen."),
        rationale=_texts("Why, one reason each, and what was rejected."),
        open_questions=_texts("What is not decided yet."),
        next_steps=_texts("What is to be done next."),
        references=_texts("Files, plans, branches and issues that it is about."),
        plan_id=text_field("The plan that it belongs to, such as 014.", minLength=1, maxLength=256),
        session_id=text_field("The chat session that it comes from.", minLength=1, maxLength=256),
        status=text_field(
            "Draft is kept and not retrieved unless asked for; Superseded no longer holds.",
            enum=["Active", "Draft", "Superseded"],
            default="Active",
        ),
        importance=_number("number", "How much it matters.", 0, 1),
        source_created_at=text_field("When it took place, if not now. ISO 8601. Ages are counted from here."),
    )
    conversation = closed(
        ["user_message", "assistant_message"],
        user_message=text_field("What the user said, word for word.", minLength=1),
        assistant_message=text_field("What was answered, word for word.", minLength=1),
        timestamp=text_field("When, if not now. ISO 8601."),
        importance=_number("number", "How much it matters.", 0, 1),
    )
    return closed(
        [],
        summary={**summary, "description": "A structured summary: found best, and merged with others of its topic."},
        conversation={**conversation, "description": "One exchange as it was, where there is nothing to sum up."},
        job_id=text_field(
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
        job_id=text_field(
            "The job_id that memory_ingest, memory_feedback, memory_mark_outdated or memory_compact_preview returned."
        ),
        wait_seconds=_number(
            "number", "Wait up to this long for the job's end before answering.", 0, LONGEST_WAIT_SECONDS, default=0
        ),
        project=PROJECT,
    )


def compact_preview_input() -> Schema:
    """The input of ``memory_compact_preview``."""
    return closed(
        ["topic_id"],
        topic_id=text_field("The topic, by the topic_id of a memory.", minLength=1),
        keep_both=_texts("Conflicts of a former preview that are none, by their conflict_id: both decisions hold."),
        wait_seconds=_number(
            "number",
            "Wait up to this long; a preview that takes longer is fetched with memory_job_status.",
            0,
            LONGEST_WAIT_SECONDS,
            default=PREVIEW_WAIT_SECONDS,
        ),
        project=PROJECT,
    )
