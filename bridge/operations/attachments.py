"""Attachments: what a job needs of the files of the machine on which it was dropped.

A machine alone reads them in the operation. In a team, ``attach`` reads them there, with secrets replaced, and sends
them to the team's database; the operation, which runs in the service, has them from ``lines``. They are JSON objects,
a line each, compressed; what a line holds is the kind's own.
"""

from __future__ import annotations

import gzip
import json
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import file_digest
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from jobs import files, steps
from jobs.errors import JobError
from jobs.kinds import BY_NAME, Kind
from jobs.lifecycle import Failed, Succeeded

from ..team.fields import MOST_PARTS, PART_BYTES

if TYPE_CHECKING:
    from ..graph.open_stores import Stores
    from . import JobCopy, Outcomes, Progress, Task

T = TypeVar("T")
Line = dict[str, Any]

MOST_BYTES = 1024**3  # of what is attached to a job, before it is compressed
_LINE_BYTES = 64 * 1024 * 1024


def attach(kind: Kind, copies: Sequence[JobCopy], stores: Stores, progress: Progress) -> Outcomes:
    """Attach to each job what its kind's ``read_files`` gives. Raises JobError as ``Team``.

    The outcome of a job that cannot have it is the error: FILE_TOO_LARGE, and what ``read_files`` raises.
    """
    from . import task_of_copy

    read = import_module(f"{__package__}.{BY_NAME[kind].module}").read_files
    outcomes: dict[str, Succeeded | Failed] = {}
    for copy in copies:
        with temporary_file(stores) as kept:
            try:
                _write(kept, read(task_of_copy(copy, kind, stores), stores, progress))
            except JobError as error:
                outcomes[copy["job_id"]] = Failed(error)
                continue
            _send(kept, copy["job_id"], stores)
        outcomes[copy["job_id"]] = Succeeded({})
    return outcomes


@contextmanager
def temporary_file(stores: Stores) -> Iterator[IO[bytes]]:
    """A file without a name, beside memory.db. Raises JobError: DISK_FULL where writing it needs more room."""
    try:
        with tempfile.TemporaryFile(dir=stores.workspace.memory) as kept:
            yield kept
    except OSError as error:
        if files.is_no_space(error):
            raise JobError("DISK_FULL") from error
        raise


def _write(kept: IO[bytes], lines: Iterator[Line]) -> None:
    left = MOST_BYTES
    with gzip.GzipFile(fileobj=kept, mode="wb", mtime=0, compresslevel=6) as file:
        for line in lines:
            data = json.dumps(line, default=_shown, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
            left -= len(data)
            if left < 0 or len(data) > _LINE_BYTES:
                raise _too_large(MOST_BYTES if left < 0 else _LINE_BYTES)
            file.write(data)
    if kept.tell() > PART_BYTES * MOST_PARTS:
        raise _too_large(PART_BYTES * MOST_PARTS)


def _shown(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return str(value)


def _too_large(most: int) -> JobError:
    message = f"What the job reads here has more than {most:,} bytes, which is the most that a team takes."
    return JobError("FILE_TOO_LARGE", message, remediation="Name fewer or smaller files in one job.")


def _send(kept: IO[bytes], job_id: str, stores: Stores) -> None:
    assert stores.team is not None
    membership, team = stores.team
    parts = max(1, -(-kept.tell() // PART_BYTES))
    kept.seek(0)
    digest = file_digest(kept, "sha256").hexdigest()  # type: ignore[arg-type]
    kept.seek(0)
    for number in range(parts):
        with steps.fault_point("team.attach"):
            team.attach(membership.workspace_id, job_id, digest, number, parts, kept.read(PART_BYTES))


def lines(task: Task[Any], stores: Stores) -> Iterator[Line]:
    """What is attached to a job that runs in the service. Raises JobError: ARGUMENT_INVALID for what no machine of ours
    has attached, TEAM_UNUSABLE for what is not whole, and as ``Team``."""
    host = stores.host
    assert host is not None
    with temporary_file(stores) as kept:
        for part in host.attachment(stores.store.workspace_id, task.job_id):
            kept.write(part)
        kept.seek(0)
        left = MOST_BYTES
        with gzip.GzipFile(fileobj=kept, mode="rb") as file:
            try:
                while data := file.readline(_LINE_BYTES + 1):
                    left -= len(data)
                    if left < 0 or len(data) > _LINE_BYTES:
                        raise ValueError("it is too large")
                    line = json.loads(data)
                    if not isinstance(line, dict):
                        raise ValueError("a line is no object")
                    yield line
            except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
                raise _strange(str(error)) from None


def checked(form: type[T], value: Any) -> T:
    """The value of a line as this dataclass or type. Raises JobError: ARGUMENT_INVALID."""
    try:
        return cast("T", _adapter(form).validate_python(value))  # type: ignore[arg-type]
    except ValidationError as error:
        raise _strange(error.errors(include_input=False, include_url=False)[0]["msg"]) from None


@cache
def _adapter(form: Any) -> TypeAdapter[Any]:
    return TypeAdapter(form)


def _strange(why: str) -> JobError:
    return JobError("ARGUMENT_INVALID", f"What is attached to the job cannot be read: {why}. Nothing more was stored.")
