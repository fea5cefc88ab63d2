"""Jobs, attempts and records as immutable values, and the canonical JSON that their digest is computed from.

How a record changes is in ``lifecycle``; where it is stored is in ``spool``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from . import clock
from .kinds import Kind
from .states import ENDS, AttemptOutcome, State

if TYPE_CHECKING:
    from . import schema
    from .payloads import Model

SCHEMA_VERSION: Literal[1] = 1


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass with slots, by name, in order; not of those in it."""
    return {name: getattr(value, name) for name in value.__slots__}


@dataclass(frozen=True, slots=True)
class Job:
    """An accepted request. ``payload`` is the model of its kind.

    ``sent`` is the payload as the client wrote it; the digest is computed from it, and the worker's copy stores it. If
    secrets were removed from both, ``redactions`` counts them by kind of secret, and ``sha256`` is still the digest of
    the original.
    """

    job_id: str
    kind: Kind
    payload: Model
    sent: dict[str, Any]
    sha256: str
    submitted_at: str | None = None
    priority: int = 0
    not_before: str | None = None
    expires_at: str | None = None
    max_attempts: int = 4
    timeout_seconds: float | None = None
    submitted_by: str | None = None
    correlation_id: str | None = None
    redactions: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The content of the worker's copy: the fields of a job file, and two more if its payload was changed."""
        is_changed = self.redactions or self.sha256 != job_digest(self.kind, self.sent)
        redacted = {"job_sha256": self.sha256, "redactions": self.redactions} if is_changed else {}
        sent = {name: value for name, value in fields_of(self).items() if name not in _NOT_SENT}
        return {"schema_version": SCHEMA_VERSION, **sent, "payload": self.sent, **redacted}


_NOT_SENT = ("payload", "sent", "sha256", "redactions")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a job. Consecutive equal attempts that do not count are one entry with a count in ``repeats``.

    ``together`` is how many jobs shared the child. Only the death of a child that ran a single job is blamed on it.
    """

    number: int
    started_at: str
    finished_at: str | None = None
    outcome: AttemptOutcome | None = None
    error_code: str | None = None
    repeats: int = 1
    together: int = 1


@dataclass(frozen=True, slots=True)
class Record:
    """The source of truth about a job's state, and the file that clients poll."""

    job_id: str
    kind: Kind | None
    job_sha256: str | None
    state: State
    generation: int = 1
    attempt: int = 0
    max_attempts: int = 4
    priority: int = 0
    submitted_at: str | None = None
    accepted_at: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    next_attempt_at: str | None = None
    expires_at: str | None = None
    elapsed_ms: int | None = None
    correlation_id: str | None = None
    result: Mapping[str, Any] | None = None
    error: schema.JobError | None = None
    attempts: tuple[Attempt, ...] = field(default=())

    @property
    def ended(self) -> bool:
        """Whether the state is terminal."""
        return self.state in ENDS

    @property
    def success(self) -> bool | None:
        """Whether the job succeeded; None until it has ended."""
        return self.state == "succeeded" if self.ended else None

    @property
    def ticket(self) -> tuple[int, int]:
        """Generation and attempt. An outcome with another ticket belongs to an abandoned attempt and is ignored."""
        return self.generation, self.attempt

    @property
    def errors(self) -> int:
        """The number of attempts that ended in an error; ``max_attempts`` limits it."""
        return sum(1 for attempt in self.attempts if attempt.outcome == "failed")

    @property
    def crashes(self) -> int:
        """The number of attempts in which the child died while it ran this job alone."""
        return sum(1 for attempt in self.attempts if attempt.outcome == "crashed")

    @property
    def worker_deaths(self) -> int:
        """The number of attempts in which the worker itself died while the child ran this job alone."""
        return sum(a.repeats for a in self.attempts if a.outcome == "worker_died" and a.together == 1)

    def as_dict(self) -> schema.JobRecord:
        """The content of the record's file, ``results/<job_id>.json``."""
        own = fields_of(self) | {"success": self.success, "attempts": [*map(fields_of, self.attempts)]}
        return cast("schema.JobRecord", {"schema_version": SCHEMA_VERSION, **own})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Record:
        """The record in a parsed file. Raises KeyError, TypeError or ValueError if it is not a valid record."""
        if data.get("schema_version") != SCHEMA_VERSION:
            raise ValueError(f"unknown schema_version {data.get('schema_version')!r}")
        known = {name: data[name] for name in cls.__slots__ if name in data and name != "attempts"}
        attempts = tuple(Attempt(**attempt) for attempt in data.get("attempts", ()))
        record = cls(attempts=attempts, **known)
        if record.state not in get_args(State):
            raise ValueError(f"unknown state {record.state!r}")
        for name in ("submitted_at", "accepted_at", "started_at", "finished_at", "next_attempt_at", "expires_at"):
            if getattr(record, name) is not None:
                clock.parse(getattr(record, name))
        for name in ("generation", "attempt", "max_attempts", "priority"):
            if type(getattr(record, name)) is not int:
                raise ValueError(f"{name} is no whole number")
        return record


_SIMPLE = json.JSONEncoder(ensure_ascii=False, allow_nan=False)  # made once: that takes longer than to use it


def canonical_json(value: Any) -> str:
    """JSON in canonical form (RFC 8785): sorted keys, no white space, numbers as JavaScript writes them.

    Raises ValueError for NaN and infinities.
    """
    if isinstance(value, dict):
        # JavaScript sorts by UTF-16 code units.
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{canonical_json(name)}:{canonical_json(value[name])}" for name in names) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, float) and math.isfinite(value):
        return _number(value)
    return _SIMPLE.encode(value)


def _number(value: float) -> str:
    """A float as ECMAScript's Number::toString writes it: 1.0 as ``1``, 1e-05 as ``0.00001``."""
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    if not value:
        return "0"
    if 0 < point <= 21:
        shown = text.ljust(point, "0") if len(text) <= point else f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        shown = f"0.{'0' * -point}{text}"
    else:
        shown = f"{text[0]}{'.' if text[1:] else ''}{text[1:]}e{point - 1:+d}"
    return f"-{shown}" if sign else shown


def job_digest(kind: str, payload: dict[str, Any]) -> str:
    """The SHA-256 of the canonical JSON of kind and payload as sent. Two jobs with equal digests are the same job."""
    return sha256(canonical_json({"kind": kind, "payload": payload}).encode()).hexdigest()


def encode(value: Mapping[str, object]) -> bytes:
    """The bytes of a JSON file that we write: compact, one line, UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return (text + "\n").encode("utf-8", "backslashreplace")  # a file name need not be valid UTF-8
