"""The operations of a team as HTTP has them: one POST for each, JSON both ways, checked on both sides.

What has rows is a stream of lines: a header, then a row a line, so that a large workspace needs no memory.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jobs import clock
from jobs.errors import JobError
from jobs.ids import JOB_ID
from jobs.model import Record, encode
from jobs.named_files import require_none
from jobs.parse import parse_copy
from jobs.states import LIVE

from .copies import Access, Machine
from .leases import Lease
from .protocol import Team
from .rows import FeedRow, Position, Registered, SharedRow
from .shared_jobs import MOST_FAILED, Report

PREFIX = "/v1/team/"
_UUID = r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$"
_WITHOUT_NUL = r"^[^\x00]*$"  # which PostgreSQL stores in no text
Id = Annotated[str, Field(pattern=_UUID)]
ChangeId = Annotated[str, Field(pattern=rf"^$|{_UUID}", description="A UUID; empty before the first change.")]
Node = Annotated[str, Field(min_length=1, max_length=200, pattern=_WITHOUT_NUL)]
JobId = Annotated[str, Field(pattern=rf"^{JOB_ID.pattern}$")]
Name = Annotated[str, Field(max_length=300, pattern=_WITHOUT_NUL)]
Number = Annotated[int, Field(ge=0, lt=2**62)]


class Call(BaseModel):
    """The body of a request. ``workspace_id`` is the one workspace that it is about."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    workspace_id: Id


class Empty(BaseModel):
    """The body of a request about no workspace."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(Call):
    """A question. ``arguments`` contain what the settings supply; ``root`` is the folder that the answer names."""

    verb: Literal["retrieve", "explain", "context"]
    arguments: dict[str, Any]
    root: Annotated[str, Field(min_length=1, max_length=4096)]


class Incoming(Call):
    """Asks for the rows after a position, or how many changes there are."""

    seq: Number
    change: ChangeId


class Take(Call):
    node: Node
    seconds: Annotated[float, Field(gt=0, le=600)]


class OfLease(Call):
    lease: Number


class Renew(OfLease):
    seconds: Annotated[float, Field(gt=0, le=600)]


class Due(OfLease):
    node: Node
    limit: Annotated[int, Field(gt=0, le=1000)]


class Write(OfLease):
    records: list[dict[str, Any]]


class OfJob(Call):
    job_id: JobId


class IsCommitted(Call):
    record: dict[str, Any]


class PostedJob(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    job: dict[str, Any]
    record: dict[str, Any]


class Post(Call):
    node: Node
    jobs: Annotated[list[PostedJob], Field(max_length=256)]


class FailedJobs(Call):
    limit: Annotated[int, Field(gt=0, le=MOST_FAILED)]


class Dismiss(Call):
    job_ids: Annotated[list[JobId], Field(max_length=1000)] | None


class OfNode(Call):
    node: Node


class Seen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    record: dict[str, Any]
    version: Number


class Acknowledge(OfNode):
    seen: Annotated[list[Seen], Field(max_length=1000)]


class NoteCopy(OfNode):
    applied_seq: Number
    version: Annotated[str, Field(max_length=60, pattern=_WITHOUT_NUL)]
    has_removed_all: bool
    runs_jobs: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation: its body, what runs it, and whether it changes something, which the audit then tells.

    ``run`` gets the team for the person, the body, and the person's own name of a node.
    """

    body: type[BaseModel]
    run: Callable[[Team, Any, Callable[[str], str]], Any]
    changes: bool = False


def _lease(body: OfLease) -> Lease:
    return Lease(body.workspace_id, body.lease)


def record_of(value: dict[str, Any]) -> Record:
    """A record. Raises JobError: ARGUMENT_INVALID."""
    try:
        return Record.from_dict(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise JobError("ARGUMENT_INVALID", f"A record is damaged: {type(error).__name__}.") from None


def _shown(record: Record) -> dict[str, Any]:
    return dict(record.as_dict())


def registered_shown(found: Registered | None) -> dict[str, Any] | None:
    """What a reply says of a workspace."""
    return None if found is None else found._asdict() | {"position": list(found.position)}


def registered_of(value: dict[str, Any] | None) -> Registered | None:
    """The workspace of a reply."""
    return None if value is None else Registered(**(value | {"position": Position(*value["position"])}))


def _post(team: Team, body: Post, named: Callable[[str], str]) -> Any:
    jobs = []
    for posted in body.jobs:
        record = record_of(posted.record)
        job = parse_copy(record.job_id, encode(posted.job))
        if (record.job_sha256, record.kind, record.priority) != (job.sha256, job.kind, job.priority):
            raise JobError("ARGUMENT_INVALID", f"The record of {record.job_id} is that of another job.")
        require_none(job)
        if record.state not in LIVE:
            raise JobError("ARGUMENT_INVALID", f"The job {record.job_id} has ended: it is {record.state}.")
        jobs.append((job, record))
    return team.post(body.workspace_id, named(body.node), jobs)


def _acknowledge(team: Team, body: Acknowledge, named: Callable[[str], str]) -> None:
    seen = [Report(body.workspace_id, record_of(each.record), each.version) for each in body.seen]
    team.acknowledge(named(body.node), seen)


def _missing(team: Team, body: Incoming, named: Callable[[str], str]) -> Any:
    found = team.missing(body.workspace_id, Position(body.seq, body.change))
    return None if found is None else found._asdict()


def _look(team: Team, body: Take, named: Callable[[str], str]) -> Any:
    found = team.look(body.workspace_id, named(body.node), body.seconds)
    return {
        "lease": None if found.lease is None else found.lease.number,
        "registered": registered_shown(found.registered),
        "due_seconds": found.due_seconds,
    }


def _take(team: Team, body: Take, named: Callable[[str], str]) -> Any:
    lease = team.take(named(body.node), [body.workspace_id], body.seconds)
    return None if lease is None else lease.number


OPERATIONS: dict[str, Operation] = {
    "time": Operation(Empty, lambda team, body, named: clock.iso(team.time())),
    "registered": Operation(Call, lambda team, body, named: registered_shown(team.registered(body.workspace_id))),
    "missing": Operation(Incoming, _missing),
    "memory_count": Operation(Call, lambda team, body, named: team.memory_count(body.workspace_id)),
    "look": Operation(Take, _look),
    "take": Operation(Take, _take),
    "renew": Operation(Renew, lambda team, body, named: team.renew(_lease(body), body.seconds)),
    "release": Operation(OfLease, lambda team, body, named: team.release(_lease(body))),
    "due": Operation(
        Due,
        lambda team, body, named: [
            {"record": _shown(each.record), "job": each.job}
            for each in team.due(_lease(body), named(body.node), body.limit)
        ],
    ),
    "running": Operation(OfLease, lambda team, body, named: [_shown(each) for each in team.running(_lease(body))]),
    "write": Operation(
        Write, lambda team, body, named: team.write(_lease(body), [record_of(each) for each in body.records]), True
    ),
    "cancel_requests": Operation(OfLease, lambda team, body, named: team.cancel_requests(_lease(body))),
    "is_committed": Operation(
        IsCommitted, lambda team, body, named: team.is_committed(body.workspace_id, record_of(body.record))
    ),
    "forget_texts": Operation(OfLease, lambda team, body, named: team.forget_texts(_lease(body)), True),
    "post": Operation(Post, _post, True),
    "reports": Operation(
        OfNode,
        lambda team, body, named: [
            {"record": _shown(each.record), "version": each.version}
            for each in team.reports(named(body.node), body.workspace_id)
        ],
    ),
    "acknowledge": Operation(Acknowledge, _acknowledge),
    "cancel": Operation(OfJob, lambda team, body, named: team.cancel(body.workspace_id, body.job_id), True),
    "note_copy": Operation(
        NoteCopy,
        lambda team, body, named: team.note_copy(
            body.workspace_id,
            named(body.node),
            body.applied_seq,
            body.version,
            body.has_removed_all,
            runs_jobs=body.runs_jobs,
        ),
    ),
    "remove_copy": Operation(
        OfNode, lambda team, body, named: team.remove_copy(body.workspace_id, named(body.node)), True
    ),
    "copies": Operation(
        Call,
        lambda team, body, named: [
            each._asdict() | {"seen_at": clock.iso(each.seen_at)} for each in team.copies(body.workspace_id)
        ],
    ),
    "access": Operation(Call, lambda team, body, named: access_shown(team.access(body.workspace_id))),
    "overview": Operation(Call, lambda team, body, named: overview_shown(team.overview(body.workspace_id))),
    "failed_jobs": Operation(
        FailedJobs,
        lambda team, body, named: [
            each._asdict() | {"failed_at": clock.iso(each.failed_at)}
            for each in team.failed_jobs(body.workspace_id, body.limit)
        ],
    ),
    "dismiss": Operation(Dismiss, lambda team, body, named: team.dismiss(body.workspace_id, body.job_ids), True),
    "workspaces": Operation(Empty, lambda team, body, named: [overview_shown(each) for each in team.workspaces(1000)]),
    "tell": Operation(Call, lambda team, body, named: team.tell(body.workspace_id)),
}


def access_shown(found: Access | None) -> dict[str, Any] | None:
    """Who has access, as JSON."""
    if found is None:
        return None
    ends = None if found.expires_at is None else clock.iso(found.expires_at)
    return {"expires_at": ends, "machines": [list(each) for each in found.machines]}


def access_of(value: dict[str, Any]) -> Access:
    """Who has access, of a reply."""
    ends = value["expires_at"]
    return Access(None if ends is None else clock.parse(ends), [Machine(*each) for each in value["machines"]])


def overview_shown(found: Any) -> dict[str, Any] | None:
    """An overview as JSON."""
    if found is None:
        return None
    until = None if found.lease_until is None else clock.iso(found.lease_until)
    return {**found._asdict(), "lease_until": until}


def parsed(body: type[BaseModel], data: bytes) -> Any:
    """The checked body of a request. Raises JobError: ARGUMENT_INVALID."""
    try:
        return body.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise JobError("ARGUMENT_INVALID", f"The request's {place or 'body'} is invalid: {first['msg']}.") from None


# --- rows ---


class Listen(Call):
    """Waits until something has changed since ``mark``, which an earlier answer gave; without one, the answer comes at
    once. Without ``node``, as earlier versions ask, it waits for a notice, and the answer is whether one came."""

    seconds: Annotated[float, Field(ge=0, le=60)]
    node: Node | None = None
    mark: float | None = None


class Commit(Call):
    """The header of a change."""

    seq: Number
    change: ChangeId
    jobs: list[JobId]
    node: Node
    lease: Number
    format: Number


class Share(Call):
    """The header of a workspace that is shared."""

    name: Name
    format: Number
    embedder: Name
    dimensions: Annotated[int, Field(gt=0, le=8192)]
    change_id: Id
    node: Node
    group: Name | None


def header(value: BaseModel | dict[str, Any]) -> bytes:
    """The first line."""
    shown = value.model_dump() if isinstance(value, BaseModel) else value
    return json.dumps(shown).encode() + b"\n"


def row_line(row: SharedRow, seq: int | None = None) -> bytes:
    """A row as a line."""
    vectors = None if row.vectors is None else base64.b64encode(row.vectors).decode()
    return json.dumps([seq, row.table, row.key, row.value, vectors]).encode() + b"\n"


def lines_of(data: IO[bytes], most: int) -> Iterator[bytes]:
    """The lines of a file, none of which has more than ``most`` bytes. Raises JobError: HTTP_TOO_LARGE."""
    while line := data.readline(most):
        if len(line) == most and not line.endswith(b"\n"):
            raise JobError("HTTP_TOO_LARGE", f"A line of the body has more than {most} bytes.")
        yield line


def rows_of(lines: Iterable[bytes | str]) -> Iterator[FeedRow]:
    """The rows of lines; the last one says that nothing is missing. Raises JobError: TEAM_UNUSABLE."""
    for line in lines:
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            if value == "end":
                return
            seq, table, key, columns, vectors = value
            if not (isinstance(table, str) and isinstance(key, str) and isinstance(columns, dict | None)):
                raise ValueError("a row of another form")
            data = None if vectors is None else base64.b64decode(vectors, validate=True)
        except (ValueError, TypeError, binascii.Error, RecursionError) as error:
            raise JobError("TEAM_UNUSABLE", f"A row cannot be read: {type(error).__name__}.") from None
        yield FeedRow(seq or 0, SharedRow(table, key, columns, data))
    raise JobError("TEAM_UNREACHABLE", "The rows ended before their end.")


END = b'"end"\n'
