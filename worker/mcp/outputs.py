"""The JSON Schemas of the MCP tools' outputs, made from the answers' types.

Building their models takes time, so this happens only when a client lists the tools.
"""

from __future__ import annotations

from typing import Any, get_args

from jobs.states import IN_INBOX, State

from .schemas import Schema


def retrieve_output() -> Schema:
    """The output of ``memory_retrieve``."""
    from .answer_shapes import Retrieved

    return _schema_of(Retrieved)


def context_output() -> Schema:
    """The output of ``memory_context``."""
    from .answer_shapes import Recalled

    return _schema_of(Recalled)


def explain_output() -> Schema:
    """The output of ``memory_explain``: the contract's envelope without ``success``, which the tool's result has
    itself. docs/schemas has the fields of an item."""
    from bridge.interface.answer_shapes import ExplainSuccess

    schema = _without_details(_schema_of(ExplainSuccess))
    schema["properties"].pop("success")
    schema["required"].remove("success")
    return schema


def ingest_output() -> Schema:
    """The output of ``memory_ingest``."""
    from .answer_shapes import Accepted

    return _schema_of(Accepted)


def read_output() -> Schema:
    """The output of ``memory_read``."""
    from .answer_shapes import MemoryWhole

    return _schema_of(MemoryWhole)


def topics_output() -> Schema:
    """The output of ``memory_topics``."""
    from .answer_shapes import Topics

    return _schema_of(Topics)


def recent_output() -> Schema:
    """The output of ``memory_recent``."""
    from .answer_shapes import Recent

    return _schema_of(Recent)


def open_output() -> Schema:
    """The output of ``memory_open``."""
    from .answer_shapes import OpenItems

    return _schema_of(OpenItems)


def mark_outdated_output() -> Schema:
    """The output of ``memory_mark_outdated``."""
    from .answer_shapes import MarkedOutdated

    return _schema_of(MarkedOutdated)


def resolve_output() -> Schema:
    """The output of ``memory_resolve``."""
    from .answer_shapes import Resolved

    return _schema_of(Resolved)


def feedback_output() -> Schema:
    """The output of ``memory_feedback``."""
    from .answer_shapes import GivenFeedback

    return _schema_of(GivenFeedback)


def job_status_output() -> Schema:
    """The output of ``memory_job_status``."""
    from .answer_shapes import JobStatus

    schema = _schema_of(JobStatus)
    schema["properties"]["state"]["enum"] = [IN_INBOX, *get_args(State)]
    return schema


def compact_preview_output() -> Schema:
    """The output of ``memory_compact_preview``. docs/schemas has the fields of a preview."""
    from .answer_shapes import Previewed

    return _schema_of(Previewed)


def _schema_of(shape: Any) -> Schema:
    """The schema of a shape, without what says nothing to a model and costs tokens in every conversation."""
    from bridge.interface.json_schema import schema_of

    schema: Schema = _tidy(schema_of(shape))
    return schema


_SAYS_LITTLE = ("title", "default", "format", "pattern", "minimum", "maximum")


def _tidy(schema: Any, *, names: bool = False) -> Any:
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {
        key: _tidy(value, names=key in ("properties", "$defs"))
        for key, value in schema.items()
        if names or key not in _SAYS_LITTLE
    }
    match tidied.get("anyOf"):
        case [{"type": str(kind), **rest}, {"type": "null"}] if not rest and not names:
            del tidied["anyOf"]
            tidied["type"] = [kind, "null"]
    return tidied


def _without_details(schema: Schema) -> Schema:
    """The schema with any object where it had the shape of one."""

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {"type": "object"} if "$ref" in value else {key: plain(each) for key, each in value.items()}

    return {key: plain(value) for key, value in schema.items() if key != "$defs"}
