"""The pydantic models of the job file and of each kind's payload.

Names are snake_case; camelCase forms are accepted and renamed. Unknown names are rejected, so that a typing error
does not pass silently. The messages about errors are made in ``check``; ``parse`` makes jobs of valid files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict

from . import clock
from .kinds import CAPTURE_TOOLS, KINDS, Kind


def _timestamp(text: str) -> str:
    return clock.iso(clock.parse(text))


def _topic_id(text: str) -> str:
    text = text.lower() if re.fullmatch(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", text) else text
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,127}", text):
        raise ValueError("a topic id is a UUID or a slug: a-z, 0-9, '.', '_', '-', at most 128 characters")
    return text


def _number(value: Any) -> Any:
    if isinstance(value, (bool, str)):
        raise ValueError("must be a number")
    return value


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _without_unknown_time(value: Any) -> Any:
    """None for an empty text or ``N/A``, which clients write for an unknown time; any other value is validated."""
    return None if isinstance(value, str) and value.strip() in ("", "N/A") else value


# The same rules as the validators above, as patterns for the JSON Schemas.
_FILLED_PATTERN = r"\S"
_TOPIC_ID_PATTERN = r"^([a-z0-9][a-z0-9._-]{0,127}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$"

Text = Annotated[str, Field(strict=True)]
FilledText = Annotated[str, Field(strict=True, json_schema_extra={"pattern": _FILLED_PATTERN}), AfterValidator(_filled)]
Timestamp = Annotated[
    str, Field(strict=True, description="ISO 8601; without an offset it is UTC."), AfterValidator(_timestamp)
]
# The time of a memory, which may be unknown.
OptionalTimestamp = Annotated[
    Timestamp | None,
    BeforeValidator(_without_unknown_time, json_schema_input_type=Timestamp | Literal["", "N/A"] | None),
]
TopicId = Annotated[
    str,
    Field(
        strict=True,
        description="A UUID, or a slug such as plan-014-summaries.",
        json_schema_extra={"pattern": _TOPIC_ID_PATTERN},
    ),
    AfterValidator(_topic_id),
]
ShortText = Annotated[str, Field(strict=True, min_length=1, max_length=256)]
Importance = Annotated[float, Field(ge=0, le=1), BeforeValidator(_number)]
Seconds = Annotated[float, Field(gt=0, le=86_400), BeforeValidator(_number)]


def _trimmed(tag: Any) -> Any:
    return tag.strip().lower() if isinstance(tag, str) else tag


def _each_once(tags: list[str]) -> list[str]:
    return list(dict.fromkeys(tags))


Tag = Annotated[str, Field(strict=True, min_length=1, max_length=40, pattern=r"^[^,]+$"), BeforeValidator(_trimmed)]
Tags = Annotated[
    list[Tag],
    Field(max_length=20, description="Short words without commas, kept in lower case."),
    AfterValidator(_each_once),
]
IngestStatus = Literal["Draft", "Active", "Final", "Superseded"]


def _has(name: str) -> JsonDict:
    """A JSON Schema: the field is present and not null, and ``dry_run`` not false (which equal absent)."""
    given: JsonDict = {"const": True} if name == "dry_run" else {"not": {"type": "null"}}
    return {"required": [name], "properties": {name: given}}


def _has_any(names: Sequence[str]) -> JsonDict:
    return _has(names[0]) if len(names) == 1 else {"anyOf": [*map(_has, names)]}


def _choices(schema: JsonDict, model: type[Model]) -> None:
    """Add to a JSON Schema which fields exclude each other."""
    if model.one_of:
        schema["oneOf"] = [*map(_has, model.one_of)]
    apart: list[JsonDict] = [{"allOf": [_has_any(one), _has_any(other)]} for one, other, _ in model.apart]
    if apart:
        schema["not"] = apart[0] if len(apart) == 1 else {"anyOf": [*apart]}


class Model(BaseModel):
    """Base of all models here: rejects unknown fields, accepts camelCase, treats null in optional fields as absent."""

    # A job needs few of them, and to build all takes a start longer than to read a job.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, json_schema_extra=_choices)
    one_of: ClassVar[tuple[str, ...]] = ()  # exactly one of these is given
    # Of the first fields and of the second ones, only one side is given: else the message says why.
    apart: ClassVar[tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _snake_case(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        known = _camel_names(cls)
        renamed: dict[str, Any] = {}
        for name, value in data.items():
            target = str(known.get(name, name))
            if target in renamed:
                raise ValueError(f"{target!r} is given twice, as snake_case and as camelCase")
            renamed[target] = value
        return {name: value for name, value in renamed.items() if value is not None or not cls._is_optional(name)}

    @model_validator(mode="after")
    def _is_one_choice(self) -> Self:
        given = {name for name in type(self).model_fields if getattr(self, name) not in (None, False)}
        if self.one_of and len(given.intersection(self.one_of)) != 1:
            raise ValueError(f"exactly one of {', '.join(self.one_of[:-1])} and {self.one_of[-1]} must be given")
        for one, other, why in self.apart:
            if not given.isdisjoint(one) and not given.isdisjoint(other):
                raise ValueError(why)
        return self

    @classmethod
    def _is_optional(cls, name: str) -> bool:
        return name in cls.model_fields and not cls.model_fields[name].is_required()


@cache
def _camel_names(model: type[Model]) -> dict[str, str]:
    return {to_camel(name): name for name in model.model_fields}


class TimeScope(Model):
    """The period that a conversation covered."""

    start: Timestamp | None = None
    end: Timestamp | None = None
    turn_count: Annotated[StrictInt, Field(ge=0)] | None = None


class GivenLabels(Model):
    """The properties that are given beside a summary's text, or in a structured summary."""

    topic_id: TopicId | None = None
    session_id: ShortText | None = None
    plan_id: ShortText | None = None
    status: IngestStatus | None = None
    tags: Tags | None = None


class Summary(GivenLabels):
    """A structured summary of a conversation."""

    topic: FilledText
    context: FilledText
    decisions: list[Text] | None = None
    rationale: list[Text] | None = None
    open_questions: list[Text] | None = None
    next_steps: list[Text] | None = None
    references: list[Text] | None = None
    references_files: list[Text] | None = None
    references_plans: list[Text] | None = None
    references_branches: list[Text] | None = None
    references_issues: list[Text] | None = None
    time_scope: Text | TimeScope | None = None
    created_at: OptionalTimestamp = None
    updated_at: OptionalTimestamp = None
    source_created_at: OptionalTimestamp = None
    importance: Importance | None = None


class Conversation(Model):
    """One exchange, kept as a legacy memory."""

    user_message: FilledText
    assistant_message: FilledText
    timestamp: OptionalTimestamp = None
    importance: Importance | None = None


_BESIDE_TEXT = f"{', '.join(GivenLabels.model_fields)} go beside summary_text only"


class Ingest(GivenLabels):
    """Exactly one of ``summary``, ``summary_text`` and ``conversation``.

    The other fields are allowed with ``summary_text`` only, and override what the text says.
    """

    one_of = ("summary", "summary_text", "conversation")
    apart = ((tuple(GivenLabels.model_fields), ("summary", "conversation"), _BESIDE_TEXT),)

    summary: Summary | None = None
    summary_text: FilledText | None = Field(
        default=None, description="A summary as text: the enriched template, a plain summary, or any words."
    )
    conversation: Conversation | None = None


class Cognify(Model):
    """Texts, files of the workspace, or memories of any type. With none of these: all raw memories that were not
    cognified yet."""

    apart = tuple(
        (one, other, "texts, paths and memory_ids exclude each other")
        for one, other in ((("texts",), ("paths", "memory_ids")), (("paths",), ("memory_ids",)))
    )

    texts: Annotated[list[FilledText], Field(min_length=1)] | None = None
    paths: Annotated[list[FilledText], Field(min_length=1)] | None = None
    memory_ids: Annotated[list[ShortText], Field(min_length=1)] | None = None


_CAPTURED = ("tools", "session", "transcript", "file", "files", "since", "include", "exclude", "limit")


class Migrate(Model):
    """Migrates the memories of earlier versions, shows what a migration would do, or undoes one."""

    apart = (
        (("undo",), ("limit", "dry_run"), "undo goes without dry_run and limit: it takes the whole migration back"),
    )

    dry_run: StrictBool | None = False
    limit: Annotated[StrictInt, Field(ge=1)] | None = None
    undo: ShortText | None = Field(default=None, description="The id of the receipt of a migration to take back.")


ConflictId = Annotated[str, Field(strict=True, pattern=r"^[0-9a-f]{8}$")]


class Compact(Model):
    """Merges a topic's summaries into a decision record, or previews the merge."""

    topic_id: TopicId
    preview: StrictBool | None = False
    preview_digest: Annotated[str, Field(strict=True, pattern=r"^[0-9a-f]{64}$")] | None = Field(
        default=None, description="The preview to apply; without one the present summaries are compacted."
    )
    keep_both: Annotated[list[ConflictId], Field(min_length=1, max_length=1000)] | None = Field(
        default=None,
        description="The conflicts to reject, by the conflict_id of a preview: both decisions hold. Not with"
        " preview_digest, since a preview has rejected what it was made with.",
    )

    @model_validator(mode="after")
    def _one_choice(self) -> Compact:
        if self.preview_digest is not None and self.keep_both is not None:
            raise ValueError("keep_both goes without preview_digest: make a preview with it, and apply that one")
        return self


class Restore(Model):
    """Undoes a compaction."""

    decision_record_id: ShortText


class Forget(Model):
    """Exactly one of ``memory_ids``, ``topic_id`` and ``session``: the memories to delete."""

    one_of = ("memory_ids", "topic_id", "session")

    memory_ids: Annotated[list[ShortText], Field(min_length=1)] | None = None
    topic_id: TopicId | None = None
    session: ShortText | None = Field(
        default=None, description="A captured session, as tool/id. It is not captured again."
    )


class SetStatus(Model):
    """Changes a memory's status by hand."""

    memory_id: ShortText
    status: IngestStatus
    replaced_by: ShortText | None = Field(
        default=None, description="The id of the memory that holds instead; only with Superseded."
    )

    @model_validator(mode="after")
    def _only_what_no_longer_holds_is_replaced(self) -> SetStatus:
        if self.replaced_by is not None and self.status != "Superseded":
            raise ValueError("replaced_by needs the status Superseded")
        if self.replaced_by == self.memory_id:
            raise ValueError("a memory cannot replace itself")
        return self


class Feedback(Model):
    """Says whether a memory helped. A later feedback of the same ``by`` on the memory replaces it."""

    memory_id: ShortText
    verdict: Literal["helpful", "wrong", "withdrawn"] = Field(description="withdrawn takes the earlier feedback back.")
    query: Annotated[str, Field(strict=True, min_length=1, max_length=1000)] | None = Field(
        default=None, description="The question for which the memory was found."
    )
    note: Annotated[str, Field(strict=True, min_length=1, max_length=1000)] | None = None
    by: Annotated[str, Field(strict=True, min_length=1, max_length=100)] | None = Field(
        default="person", description="Who gives it: person, agent, or a name."
    )


class PairedStatement(Model):
    """A decision of a memory."""

    memory_id: ShortText
    statement: FilledText = Field(description="The decision's words, as the memory has them.")


class Resolve(Model):
    """Says which of two decisions holds. A later verdict on the pair replaces it; the memories stay as they are."""

    older: PairedStatement
    newer: PairedStatement
    verdict: Literal["newer", "older", "both", "undecided"] = Field(
        description="Which of the two holds. undecided takes an earlier verdict back."
    )
    reason: Annotated[str, Field(strict=True, min_length=1, max_length=1000)] | None = None
    by: Annotated[str, Field(strict=True, min_length=1, max_length=100)] | None = Field(
        default="person", description="Who says it: person, agent, or a name."
    )


class Ask(Model):
    """Asks the knowledge graph a question."""

    question: FilledText
    top_k: Annotated[StrictInt, Field(ge=1, le=100)] | None = 10


class Import(Model):
    """Imports an export file."""

    path: FilledText = Field(description="A file inside the workspace.")


if TYPE_CHECKING:
    CaptureTool = str
else:
    CaptureTool = Literal[CAPTURE_TOOLS]  # the JSON Schemas list the names

Pattern = Annotated[str, Field(strict=True, min_length=1, max_length=1024)]


class ExportedFile(Model):
    """A file with an exported conversation."""

    path: FilledText = Field(description="The file inside the workspace: the export itself, or a copy of it.")
    source: FilledText | None = Field(default=None, description="The path of which it is a copy.")
    modified_at: Timestamp | None = Field(default=None, description="When that file was changed last. ISO 8601.")


class Capture(Model):
    """Captures sessions of other tools as memories, shows what a capture would keep, or undoes one."""

    apart = (
        (("undo",), _CAPTURED, "undo goes without a choice of sessions: it takes the whole capture back"),
        (
            ("file", "files"),
            ("tools", "session", "transcript"),
            "file and files go without tools, session and transcript",
        ),
    )

    tools: Annotated[list[CaptureTool], Field(min_length=1)] | None = Field(
        default=None, description="From which tools; by default, from all that are enabled for the workspace."
    )
    session: ShortText | None = Field(default=None, description="The id of one session, as its tool names it.")
    transcript: Pattern | None = Field(default=None, description="The path of one transcript of these tools.")
    file: FilledText | None = Field(default=None, description="An exported conversation: a file inside the workspace.")
    files: Annotated[list[ExportedFile], Field(min_length=1, max_length=1000)] | None = Field(
        default=None, description="Exported conversations, each in a file, or in a copy of a file from elsewhere."
    )
    since: Timestamp | None = Field(default=None, description="Only transcripts that were changed since. ISO 8601.")
    include: Annotated[list[Pattern], Field(min_length=1)] | None = Field(
        default=None, description="Only sessions whose tool/id, path or title matches one of these patterns (* and ?)."
    )
    exclude: Annotated[list[Pattern], Field(min_length=1)] | None = Field(
        default=None, description="Not the sessions whose tool/id, path or title matches one of these patterns."
    )
    limit: Annotated[StrictInt, Field(ge=1)] | None = Field(
        default=None, description="The most sessions to read, the oldest first."
    )
    again: StrictBool | None = Field(default=False, description="Also capture sessions whose capture was undone.")
    dry_run: StrictBool | None = False
    reason: ShortText | None = Field(default=None, description="Why a hook submitted it, such as session_end.")
    undo: ShortText | None = Field(default=None, description="The id of the receipt of a capture to take back.")


class Rebuild(Model):
    """Rebuilds derived data."""

    what: Literal["index", "graph", "both"] | None = "both"


class EmptyPayload(Model):
    """The empty payload of kinds that take no arguments."""


class Noop(Model):
    """For tests of the job engine; accepted only if the setting for test jobs is on."""

    sleep_ms: Annotated[StrictInt, Field(ge=0, le=600_000)] | None = 0
    outcome: Literal["succeed", "fail", "retry", "crash", "segfault", "hang", "flood", "swell", "critical"] | None = (
        "succeed"
    )


PAYLOADS: dict[Kind, type[Model]] = {kind.name: globals()[kind.payload] for kind in KINDS}


class JobFile(Model):
    """The file that a client drops."""

    schema_version: Literal[1]
    job_id: Annotated[str, Field(strict=True, pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")] = Field(
        description="Equal to the file's name without .json, and none of Windows' device names."
    )
    kind: Kind
    payload: dict[str, Any]
    submitted_at: Timestamp | None = None
    priority: Annotated[StrictInt, Field(ge=-100, le=100)] | None = Field(
        default=None, description="Higher runs first; the default depends on the kind."
    )
    not_before: Timestamp | None = Field(default=None, description="The job does not start before. ISO 8601.")
    expires_at: Timestamp | None = Field(default=None, description="The job does not start after. ISO 8601.")
    max_attempts: Annotated[StrictInt, Field(ge=1, le=100)] | None = Field(
        default=None, description="How many attempts may end in an error."
    )
    timeout_seconds: Seconds | None = Field(default=None, description="Longest time of one attempt.")
    submitted_by: ShortText | None = None
    correlation_id: ShortText | None = Field(
        default=None, description="Comes back in the record and in the log; the job's id where none is given."
    )
