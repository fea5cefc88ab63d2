"""The fields of a team's calls: the bounds of what a request may say, and records and jobs as JSON has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Base64Bytes, Field
from pydantic_core import core_schema

from jobs.errors import JobError
from jobs.ids import JOB_ID
from jobs.model import Job, Record, encode
from jobs.parse import parse_copy
from jobs.states import LIVE

_UUID = r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$"
_WITHOUT_NUL = r"^[^\x00]*$"  # which PostgreSQL stores in no text
Id = Annotated[str, Field(pattern=_UUID)]
ChangeId = Annotated[str, Field(pattern=rf"^$|{_UUID}", description="A UUID; empty before the first change.")]
Node = Annotated[str, Field(min_length=1, max_length=200, pattern=_WITHOUT_NUL)]
JobId = Annotated[str, Field(pattern=rf"^{JOB_ID.pattern}$")]
Name = Annotated[str, Field(max_length=300, pattern=_WITHOUT_NUL)]
VersionName = Annotated[str, Field(max_length=60, pattern=_WITHOUT_NUL)]
Number = Annotated[int, Field(ge=0, lt=2**62)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="The SHA-256 of all parts together.")]
PART_BYTES = 4 * 1024 * 1024
MOST_PARTS = 64
Part = Annotated[Base64Bytes, Field(min_length=1, max_length=PART_BYTES)]
PartNumber = Annotated[int, Field(ge=0, lt=MOST_PARTS)]
PartCount = Annotated[int, Field(gt=0, le=MOST_PARTS)]


def _record(value: Any) -> Record:
    try:
        return Record.from_dict(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise JobError("ARGUMENT_INVALID", f"A record is damaged: {type(error).__name__}.") from None


def _posted(value: Any) -> tuple[Job, Record]:
    """A job that waits, and the record that was made of it."""
    if not isinstance(value, dict) or value.keys() != {"job", "record"}:
        raise ValueError("a posted job has a job and a record")
    record = _record(value["record"])
    job = parse_copy(record.job_id, encode(value["job"]))
    if (record.job_sha256, record.kind, record.priority) != (job.sha256, job.kind, job.priority):
        raise JobError("ARGUMENT_INVALID", f"The record of {record.job_id} is that of another job.")
    if record.state not in LIVE:
        raise JobError("ARGUMENT_INVALID", f"The job {record.job_id} has ended: it is {record.state}.")
    return job, record


def _shown(posted: tuple[Job, Record]) -> dict[str, Any]:
    job, record = posted
    return {"job": job.as_dict(), "record": dict(record.as_dict())}


@dataclass(frozen=True)
class _AsJson:
    """How a class that knows nothing of pydantic is written in JSON, and read."""

    read: Callable[[Any], Any]
    shown: Callable[[Any], dict[str, Any]]
    parts: tuple[str, ...] = ()

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> core_schema.CoreSchema:
        shown = core_schema.plain_serializer_function_ser_schema(self.shown)
        return core_schema.no_info_plain_validator_function(self.read, serialization=shown)

    def __get_pydantic_json_schema__(self, schema: object, handler: object) -> dict[str, Any]:
        if not self.parts:
            return _OBJECT
        parts = dict.fromkeys(self.parts, _OBJECT)
        return {"type": "object", "required": [*parts], "properties": parts, "additionalProperties": False}


_OBJECT = {"type": "object", "additionalProperties": True}
JsonRecord = Annotated[Record, _AsJson(_record, lambda record: dict(record.as_dict()))]
PostedJob = Annotated[tuple[Job, Record], _AsJson(_posted, _shown, ("job", "record"))]
