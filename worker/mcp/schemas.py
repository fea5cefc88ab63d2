"""The JSON Schemas of the MCP tools' inputs, as a model reads them. Those of the outputs are in ``outputs``.

They are written by hand: each field says what it is for, in few words, since a client sends the whole list with every
conversation. What a model needs rarely is taken and not listed (``tools.Tool.unlisted``). They have no ``oneOf``,
``anyOf`` or ``if`` at their root, because some model providers reject these together with every other tool.
"""

from __future__ import annotations

from typing import Any

from bridge.argument_table import EXPLAIN_ARGUMENTS, MAX_IDS, MAX_QUERY_CHARS
from bridge.memory import LISTS
from jobs.kinds import PAIR_VERDICTS, VERDICTS

Schema = dict[str, Any]

LONGEST_WAIT_SECONDS = 50  # clients abort a call after 60
PREVIEW_WAIT_SECONDS = 20
STATUS_WAIT_SECONDS = 10  # for a change of a status
MAX_TOPICS, TOPICS_SHOWN = 200, 50


def closed(required: list[str], **properties: Schema) -> Schema:
    """The schema of an object with these fields and no others."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def text_field(description: str, **more: Any) -> Schema:
    """The schema of a text."""
    return {"type": "string", "description": description, **more}


def _texts(description: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _flag(description: str) -> Schema:
    return {"type": "boolean", "default": False, "description": f"{description} Default: false."}


def _whole(description: str, least: int, most: int | None = None, default: int | None = None) -> Schema:
    """The schema of a whole number. The description has the default too: some models read only that."""
    schema: Schema = {"type": "integer", "minimum": least}
    if most is not None:
        schema["maximum"] = most
    if default is not None:
        schema["default"], description = default, f"{description} Default: {default}."
    return schema | {"description": description}


def _argument(name: str, description: str) -> Schema:
    """The schema of a whole number with the range and the default of the argument table."""
    argument = EXPLAIN_ARGUMENTS[name]
    least, most = map(int, argument.range)
    return _whole(description, least, most, argument.default)


# --- inputs ---

_QUERY = text_field("The question, or words of a fitting memory.", minLength=1, maxLength=MAX_QUERY_CHARS)


def _filters(noun: str) -> dict[str, Schema]:
    return {
        "topic_id": text_field(f"Only {noun} of this topic."),
        "plan_id": text_field("Only of the plan with this number."),
        "since": text_field(f"Only {noun} from this time on, ISO 8601."),
        "until": text_field("Only from before this time, ISO 8601."),
        **{name: _texts(f"Only {noun} with all of these.") for name in LISTS},
        "include_superseded": _flag(f"Also {noun} that were replaced, for questions about the past."),
    }


def retrieve_input() -> Schema:
    """The input of ``memory_retrieve``."""
    return closed(
        ["query"],
        query=_QUERY,
        limit=_argument("max_results", "Most memories."),
        max_tokens=_argument("max_tokens", "Most tokens of text."),
        **_filters("memories"),
    )


def context_input() -> Schema:
    """The input of ``memory_context``."""
    return closed(
        ["query"],
        query=_QUERY,
        limit=_argument("max_results", "Most notes."),
        max_tokens=_argument("max_tokens", "Most tokens of the block."),
        **_filters("notes"),
    )


def explain_input() -> Schema:
    """The input of ``memory_explain``."""
    numbers = {
        "type": "array",
        "items": {"type": "integer"},
        "maxItems": MAX_IDS,
        "description": "Explain these alone, found or not. Without: what the query finds.",
    }
    return closed(
        ["query"],
        query=text_field("The question that was asked.", minLength=1),
        memory_numbers=numbers,
        limit=_argument("limit", "Most memories that the query finds."),
        include_pack_context=_flag("Also the place in memory_context's block."),
    )


def read_input() -> Schema:
    """The input of ``memory_read``."""
    return closed(
        ["memory_number"],
        memory_number=_whole("The memory to read: 42 for #42.", 1),
        offset=_whole("The next_offset of the answer before.", 0, default=0),
    )


def topics_input() -> Schema:
    """The input of ``memory_topics``."""
    return closed([], limit=_whole("Most topics.", 1, MAX_TOPICS, TOPICS_SHOWN))


def recent_input() -> Schema:
    """The input of ``memory_recent``."""
    filters = _filters("memories")
    return closed(
        [],
        limit=_argument("limit", "Most memories."),
        **{name: filters[name] for name in ("topic_id", "since", "include_superseded")},
    )


def open_input() -> Schema:
    """The input of ``memory_open``."""
    return closed([], limit=_argument("limit", "Most items."), topic_id=text_field("Only items of this topic."))


def mark_outdated_input() -> Schema:
    """The input of ``memory_mark_outdated``."""
    return closed(
        ["memory_number"],
        memory_number=_whole("The memory that no longer holds: 42 for #42.", 1),
        replaced_by=_whole("The number of the memory that holds now, if one does.", 1),
    )


def resolve_input() -> Schema:
    """The input of ``memory_resolve``."""
    return closed(
        [],
        pair=text_field("As listed, or two decisions: 12.2/14.1 is #12's second and #14's first.", maxLength=80),
        verdict=text_field("Which holds.", enum=list(PAIR_VERDICTS)),
        reason=text_field("Why; of both, where each holds.", minLength=1, maxLength=1000),
        limit=_argument("limit", "Most pairs."),
    )


def feedback_input() -> Schema:
    """The input of ``memory_feedback``."""
    return closed(
        ["memory_number", "verdict"],
        memory_number=_whole("The memory that was recalled: 42 for #42.", 1),
        verdict=text_field("withdrawn takes your earlier verdict back.", enum=list(VERDICTS)),
        query=text_field("The question for which it was recalled.", minLength=1, maxLength=1000),
        note=text_field("Why, in one sentence; what holds instead.", minLength=1, maxLength=1000),
    )


def ingest_input() -> Schema:
    """The input of ``memory_ingest``."""
    summary = closed(
        ["topic", "context"],
        topic=text_field("The subject, in the same few words each time.", minLength=1),
        context=text_field("What was done or found out: one paragraph, understood alone.", minLength=1),
        topic_id=text_field(
            "The topic_id of an earlier memory on the subject; without, made from topic.",
            pattern="^([a-z0-9][a-z0-9._-]{0,127}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$",
        ),
        decisions=_texts("One sentence each, with the names and values chosen."),
        rationale=_texts("One reason each, and what was rejected."),
        open_questions=_texts("What is not decided."),
        next_steps=_texts("What is to be done."),
        references=_texts("Files, plans, branches, issues."),
        plan_id=text_field("The number of its plan.", minLength=1, maxLength=256),
        **{name: _texts(f"{name.capitalize()}, a word or two each.") for name in LISTS},
        source_created_at=text_field("When it took place, if not now, ISO 8601."),
    )
    return closed(["summary"], summary={**summary, "description": "What the conversation came to."})


def job_status_input() -> Schema:
    """The input of ``memory_job_status``."""
    return closed(
        ["job_id"],
        job_id=text_field("As another tool returned it."),
        wait_seconds=_whole("Wait so long for its end.", 0, LONGEST_WAIT_SECONDS, 0),
    )


def compact_preview_input() -> Schema:
    """The input of ``memory_compact_preview``."""
    return closed(
        ["topic_id"],
        topic_id=text_field("The topic to merge.", minLength=1),
        keep_both=_texts("The conflict_id of former conflicts where both decisions hold."),
    )
