"""The arguments of the tools: their JSON Schemas, as a model reads them, and their checks.

Each argument says what it is for, in few words, since a client sends the whole list with every conversation. What a
model needs rarely is taken and not listed (``tools.Tool.unlisted``). The schemas have no ``oneOf``, ``anyOf`` or ``if``
at their root, because some model providers reject these together with every other tool.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bridge.argument_table import EXPLAIN_ARGUMENTS, MAX_IDS, MAX_QUERY_CHARS, Argument, Kind
from bridge.memory import LIST_FILTERS
from jobs import clock
from jobs.errors import JobError
from jobs.kinds import PAIR_VERDICTS, VERDICTS

Schema = dict[str, Any]
Arguments = Mapping[str, Argument]

LONGEST_WAIT_SECONDS = 50  # clients abort a call after 60
LARGEST_NUMBER = 2**53
_TOPIC_ID = "^([a-z0-9][a-z0-9._-]{0,127}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$"
_ANY_LENGTH = (1, math.inf)


def _of(kind: Kind, help: str, **more: Any) -> Argument:
    return Argument(kind, "", help, **more)


def _needed(help: str, **more: Any) -> Argument:
    return _of("text", help, is_required=True, **more)


def _as_in_table(name: str, help: str) -> Argument:
    """With the range and the default of the argument table."""
    return EXPLAIN_ARGUMENTS[name]._replace(help=help)


def _flag(help: str) -> Argument:
    return _of("flag", help, default=False)


def _memory(help: str) -> dict[str, Argument]:
    return {"memory_number": _of("whole", f"{help}: 42 for #42.", range=(1, LARGEST_NUMBER), is_required=True)}


def _filters(noun: str) -> dict[str, Argument]:
    return {
        "topic_id": _of("topic", f"Only {noun} of this topic."),
        "plan_id": _of("text", "Only of the plan with this number."),
        "since": _of("time", f"Only {noun} from this time on, ISO 8601."),
        "until": _of("text", "Only from before this time, ISO 8601."),
        **{name: _of("texts", f"Only {noun} with all of these.") for name in LIST_FILTERS},
        "include_superseded": _flag(f"Also {noun} that were replaced, for questions about the past."),
    }


def _question(noun: str, text: str) -> dict[str, Argument]:
    return {
        "query": _needed("The question, or words of a fitting memory.", range=(1, MAX_QUERY_CHARS)),
        "limit": _as_in_table("max_results", f"Most {noun}."),
        "max_tokens": _as_in_table("max_tokens", f"Most tokens of {text}."),
        **_filters(noun),
    }


RETRIEVE = _question("memories", "text")
CONTEXT = _question("notes", "the block")
EXPLAIN = {
    "query": _needed("The question that was asked.", range=_ANY_LENGTH),
    "memory_numbers": _of(
        "ids", "Explain these alone, found or not. Without: what the query finds.", range=(0, MAX_IDS)
    ),
    "limit": _as_in_table("limit", "Most memories that the query finds."),
    "include_pack_context": _flag("Also the place in memory_context's block."),
}
READ = _memory("The memory to read") | {
    "offset": _of("whole", "The next_offset of the answer before.", range=(0, math.inf), default=0),
}
_RECENT = _filters("memories")
RECENT = {
    "limit": _as_in_table("limit", "Most memories."),
    "file": _of("text", "Only what names this file.", range=(1, 4096)),
    **{name: _RECENT[name] for name in ("topic_id", "since", "include_superseded")},
}
OPEN = {"limit": _as_in_table("limit", "Most items."), "topic_id": _of("topic", "Only items of this topic.")}
TOPICS = {"limit": _of("whole", "Most topics.", range=(1, 200), default=50)}
MARK_OUTDATED = _memory("The memory that no longer holds") | {
    "replaced_by": _of("whole", "The number of the memory that holds now, if one does.", range=(1, LARGEST_NUMBER)),
}
RESOLVE = {
    "pair": _of("text", "As listed, or two decisions: 12.2/14.1 is #12's second and #14's first.", range=(0, 80)),
    "verdict": _of(
        "choice", "Which holds; undecided takes a verdict back.", choices=("list", *PAIR_VERDICTS), default="list"
    ),
    "reason": _of("text", "Why; of both, where each holds.", range=(1, 1000)),
    "limit": _as_in_table("limit", "Most pairs."),
}
FEEDBACK = _memory("The memory that was recalled") | {
    "verdict": _of("choice", "withdrawn takes your earlier verdict back.", choices=VERDICTS, is_required=True),
    "query": _of("text", "The question for which it was recalled.", range=(1, 1000)),
    "note": _of("text", "Why, in one sentence; what holds instead.", range=(1, 1000)),
}
INGEST = {"summary": _of("object", "What the conversation came to.", is_required=True)}
JOB_STATUS = {
    "job_id": _needed("As another tool returned it."),
    "wait_seconds": _of("whole", "Wait so long for its end.", range=(0, LONGEST_WAIT_SECONDS), default=0),
}
COMPACT_PREVIEW = {
    "topic_id": _needed("The topic to merge.", range=_ANY_LENGTH),
    "keep_both": _of("texts", "The conflict_id of former conflicts where both decisions hold."),
}
_SUMMARY = {
    "topic": _needed("The subject, in the same few words each time.", range=_ANY_LENGTH),
    "context": _needed("What was done or found out: one paragraph, understood alone.", range=_ANY_LENGTH),
    "topic_id": _of(
        "text", "The topic_id of an earlier memory on the subject; without, made from topic.", pattern=_TOPIC_ID
    ),
    "decisions": _of("texts", "One sentence each, with the names and values chosen."),
    "rationale": _of("texts", "One reason each, and what was rejected."),
    "open_questions": _of("texts", "What is not decided."),
    "next_steps": _of("texts", "What is to be done."),
    "references": _of("texts", "Files, plans, branches, issues."),
    "plan_id": _of("text", "The number of its plan.", range=(1, 256)),
    **{name: _of("texts", f"{name.capitalize()}, a word or two each.") for name in LIST_FILTERS},
    "source_created_at": _of("text", "When it took place, if not now, ISO 8601."),
}

# Taken by tools, and not listed.
UNLISTED = {
    **dict.fromkeys(("preset", "status", "as_of", "memory_id", "by", "project", "job_id"), _of("text", "")),
    "half_life_days": _of("number", ""),
    "wait_seconds": _of("number", "How long to wait for the job.", range=(0, LONGEST_WAIT_SECONDS)),
    "conversation": _of("object", ""),
}


def schema_of(arguments: Arguments) -> Schema:
    """The schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": {name: _schema(argument) for name, argument in arguments.items()},
        "required": [name for name, argument in arguments.items() if argument.is_required],
        "additionalProperties": False,
    }


def _schema(argument: Argument) -> Schema:
    least, most = argument.range
    help = {"description": argument.help}
    match argument.kind:
        case "flag" | "whole" | "choice" if argument.default is not None:  # some models read only the description
            help["description"] += f" Default: {json.dumps(argument.default)}."
            help |= {"default": argument.default}
    match argument.kind:
        case "object":
            return schema_of(_SUMMARY) | help
        case "flag":
            return {"type": "boolean", **help}
        case "whole":
            return {"type": "integer", **_bounds("minimum", least, "maximum", most), **help}
        case "ids":
            return {"type": "array", "items": {"type": "integer"}, "maxItems": most, **help}
        case "texts":
            return {"type": "array", "items": {"type": "string"}, **help}
        case _:
            enum = {"enum": list(argument.choices)} if argument.choices else {}
            pattern = {"pattern": argument.pattern} if argument.pattern else {}
            return {"type": "string", **help, **_bounds("minLength", least, "maxLength", most), **enum, **pattern}


def _bounds(lower: str, least: float, upper: str, most: float) -> Schema:
    shown = {lower: least} if least > 0 or (least == 0 and lower == "minimum") else {}
    return shown | ({upper: most} if most not in (math.inf, LARGEST_NUMBER) else {})


# --- the checks of a call ---


def as_meant(name: str, value: Any, argument: Argument | None) -> Any:
    """The value of an argument; None if it was not given. Models send an empty text for what they leave out: for an
    optional argument, for a field of an object, as the item of a list."""
    if isinstance(value, str) and not value.strip() and not (argument and argument.is_required):
        return None
    if isinstance(value, list) and argument and argument.kind == "texts":
        return [each for each in value if each != ""]
    if isinstance(value, dict) and name == "summary":
        meant = {key: as_meant(key, each, _SUMMARY.get(key)) for key, each in value.items()}
        return {key: each for key, each in meant.items() if each is not None}
    return value


_TYPES: dict[Kind, tuple[type | tuple[type, ...], str]] = {
    "text": (str, "a text"),
    "choice": (str, "a text"),
    "topic": (str, "a text"),
    "time": (str, "a text"),
    "object": (dict, "an object"),
    "flag": (bool, "true or false"),
}


def checked(name: str, value: Any, argument: Argument) -> Any:
    """A value of the right type, a number also within its range. Raises JobError: ARGUMENT_INVALID."""
    least, most = argument.range
    if argument.kind in ("whole", "number"):
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON has one type of number
        numbers = int if argument.kind == "whole" else (int, float)
        if isinstance(value, bool) or not isinstance(value, numbers) or not least <= value <= most:
            what = "a whole number" if argument.kind == "whole" else "a number"
            reach = f"of {least} to {most}" if math.isfinite(most) else f"from {least} on"
            raise JobError("ARGUMENT_INVALID", f"{name} must be {what} {reach}.")
        return value
    kind, shown = _TYPES.get(argument.kind, (object, ""))
    if not isinstance(value, kind):
        raise JobError("ARGUMENT_INVALID", f"{name} must be {shown}.", remediation=f"{name}: {argument.help}")
    if argument.kind == "time":
        return _moment(name, str(value))
    return str(value).lower() if argument.kind == "topic" else value


def _moment(name: str, text: str) -> datetime:
    try:
        return clock.parse(text)
    except ValueError:
        raise JobError("ARGUMENT_INVALID", f"{name} must be an ISO 8601 time, such as 2026-11-01.") from None
