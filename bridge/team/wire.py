"""A team over HTTP: one POST for each call of the table, JSON both ways, checked on both sides.

What has rows is a stream of lines: a header, then a row a line, so that a large workspace needs no memory.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
from collections.abc import Iterable, Iterator
from typing import IO, Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from jobs.errors import JobError

from .fields import ChangeId, Id, Name, Node, Number
from .protocol import STRICT
from .rows import FeedRow, SharedRow

PREFIX = "/v1/team/"


class Body(BaseModel):
    """The body of a request that is no call of the table. ``workspace_id`` is the one workspace that it is about."""

    model_config = STRICT

    workspace_id: Id


class Question(Body):
    """``arguments`` contain what the settings supply; ``root`` is the folder that the answer names."""

    verb: Literal["retrieve", "explain", "context"]
    arguments: dict[str, Any]
    root: Annotated[str, Field(min_length=1, max_length=4096)]


class Incoming(Body):
    """Asks for the rows after a position."""

    seq: Number
    change: ChangeId


class Listen(Body):
    """Waits until something has changed since ``mark``, which an earlier answer gave; without one, the answer comes at
    once. Without ``node``, as earlier versions ask, it waits for a notice, and the answer is whether one came."""

    seconds: Annotated[float, Field(ge=0, le=60)]
    node: Node | None = None
    mark: float | None = None


class Share(Body):
    """The header of a workspace that is shared."""

    name: Name
    format: Number
    embedder: Name
    dimensions: Annotated[int, Field(gt=0, le=8192)]
    change_id: Id
    node: Node
    group: Name | None


def is_this_machine(host: str) -> bool:
    """Whether what is said to this host crosses no network."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def parsed(body: type[BaseModel], data: bytes) -> Any:
    """The checked body of a request. Raises JobError: ARGUMENT_INVALID."""
    try:
        return body.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise JobError("ARGUMENT_INVALID", f"The request's {place or 'body'} is invalid: {first['msg']}.") from None


# --- rows ---


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
