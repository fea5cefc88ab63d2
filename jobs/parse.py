"""Parses the bytes of a dropped file into a job, or raises the error that rejects it.

Owns strict JSON. The models are in ``payloads``, the sentences about a wrong field in ``check``; both are imported
with the first job, since pydantic is half of a worker's start and a third of its memory.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .errors import JobError
from .ids import is_job_id
from .kinds import BY_NAME, KIND_NAMES, TEST_ONLY, Kind
from .model import SCHEMA_VERSION, Job, job_digest
from .spelling import did_you_mean

if TYPE_CHECKING:
    from .payloads import JobFile, Model

MAX_DEPTH = 32
_LARGEST = 2**63 - 1


def read_json(data: bytes) -> Any:
    """Strict JSON: UTF-8 without BOM, no duplicate names, no NaN, no NUL, bounded depth and numbers.

    Raises JobError: JSON_INVALID, whose message says what is wrong, and where if the position is known.
    """
    text = _decode(data)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_names,
            parse_constant=_reject_constant,
            parse_float=_finite_float,
            parse_int=_bounded_int,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise JobError("JSON_INVALID", f"The file is not valid JSON ({where}): {error.msg}.") from None
    except RecursionError:
        raise JobError("JSON_INVALID", f"The JSON is nested deeper than {MAX_DEPTH} levels.") from None
    except ValueError as error:
        raise JobError("JSON_INVALID", f"The file is not acceptable JSON: {error}.") from None
    _check_texts(value, 1)
    return value


# The longer marks first: the little-endian mark of UTF-32 begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "begins with a byte order mark; write UTF-8 without one"),
    (codecs.BOM_UTF32_LE, "is UTF-32; write UTF-8"),
    (codecs.BOM_UTF32_BE, "is UTF-32; write UTF-8"),
    (codecs.BOM_UTF16_LE, "is UTF-16; write UTF-8"),
    (codecs.BOM_UTF16_BE, "is UTF-16; write UTF-8"),
)


def _decode(data: bytes) -> str:
    for mark, problem in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            raise JobError("JSON_INVALID", f"The file {problem}.")
    if not data.strip():
        raise JobError("JSON_INVALID", "The file is empty.")
    if b"\0" in data:
        index = data.index(b"\0")
        raise JobError("JSON_INVALID", f"Byte {index} is NUL: the file is not UTF-8, or was not written to its end.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} (0x{data[error.start]:02x}) cannot be read"
        raise JobError("JSON_INVALID", f"The file is not UTF-8: {problem}.") from None


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        duplicate = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the name {duplicate[:64]!r} occurs twice in one object")
    return values


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _bounded_int(text: str) -> int:
    # The length first: Python takes seconds for a number of a megabyte, or rejects it with its own message.
    if len(text) > 20 or abs(value := int(text)) > _LARGEST:
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _check_texts(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise JobError("JSON_INVALID", f"The JSON is nested deeper than {MAX_DEPTH} levels.")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for name, item in value.items():
            _check_text(name)
            _check_texts(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _check_texts(item, depth + 1)


def _check_text(text: str) -> None:
    if "\0" in text:
        raise JobError("JSON_INVALID", "A text in the JSON holds a NUL character.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise JobError("JSON_INVALID", "A text in the JSON holds half of a surrogate pair.") from None


def parse_job(name: str, data: bytes, *, max_attempts: int = 4, test_jobs: bool = False) -> Job:
    """The job in a file ``<name>.json``. ``max_attempts`` is the default; ``test_jobs`` allows the
    kinds for tests.

    Raises JobError: JSON_INVALID, SCHEMA_VERSION_UNSUPPORTED, KIND_UNKNOWN or JOB_INVALID.
    """
    return _job(_envelope(name, read_json(data), test_jobs=test_jobs), max_attempts)


def parse_copy(name: str, data: bytes) -> Job:
    """The job in the worker's copy of it; a redacted copy has two more fields (``Job.as_dict``).

    Raises as ``parse_job``.
    """
    value, redaction = _read_copy(data)
    job = _job(_envelope(name, value, test_jobs=True), max_attempts=4)
    if not redaction:
        return job
    sha256, counts = redaction.get("job_sha256"), redaction.get("redactions")
    is_digest = isinstance(sha256, str) and re.fullmatch("[0-9a-f]{64}", sha256) is not None
    if not is_digest or not isinstance(counts, dict) or any(type(count) is not int for count in counts.values()):
        raise JobError("JOB_INVALID", "The copy does not say what was taken out of it.")
    return replace(job, sha256=str(sha256), redactions=counts)


def copy_envelope(name: str, data: bytes) -> JobFile:
    """The worker's copy of a job, whose payload is not looked into. Raises as ``parse_job``."""
    return _envelope(name, _read_copy(data)[0], test_jobs=True)


def _read_copy(data: bytes) -> tuple[Any, dict[str, Any]]:
    """The fields of a job file in a copy, and those that it has besides."""
    value = read_json(data)
    redaction = {n: value.pop(n) for n in ("job_sha256", "redactions") if n in value} if isinstance(value, dict) else {}
    return value, redaction


def with_redactions(job: Job, sent: dict[str, Any], redactions: dict[str, int]) -> Job:
    """The same job, id and digest, with a redacted payload; ``redactions``: how many more, by kind of secret.

    Raises JobError: JOB_INVALID when the redacted payload no longer fits its model.
    """
    total = Counter(job.redactions) + Counter(redactions)
    return replace(job, payload=payload_of(job.kind, sent), sent=sent, redactions=dict(total))


def payload_of(kind: Kind, sent: dict[str, Any]) -> Model:
    """A payload as sent, as the model of its kind. Raises JobError: JOB_INVALID."""
    from .check import check
    from .payloads import PAYLOADS

    return check(PAYLOADS[kind], sent, "payload")


def _envelope(name: str, value: Any, *, test_jobs: bool) -> JobFile:
    if not isinstance(value, dict):
        raise JobError("JOB_INVALID", "The file holds JSON, but not an object.")
    version = value.get("schema_version", value.get("schemaVersion"))
    if version is not None and (isinstance(version, bool) or version != SCHEMA_VERSION):
        raise JobError("SCHEMA_VERSION_UNSUPPORTED", f"The job has schema_version {str(version)[:40]!r}.")
    kind = value.get("kind")
    if isinstance(kind, str) and (kind not in KIND_NAMES or (kind in TEST_ONLY and not test_jobs)):
        hint = did_you_mean(kind, [k for k in KIND_NAMES if k not in TEST_ONLY])
        raise JobError("KIND_UNKNOWN", f"There is no job kind {kind[:64]!r}.{hint}")
    from .check import check
    from .payloads import JobFile

    file = check(JobFile, value)
    assert isinstance(file, JobFile)
    if file.job_id != name or not is_job_id(name):
        raise JobError("JOB_INVALID", f"The field job_id is {file.job_id!r}, but the file is named {name!r}.")
    return file


def _job(file: JobFile, max_attempts: int) -> Job:
    payload = payload_of(file.kind, file.payload)
    defaults = {"priority": default_priority(file.kind, payload), "max_attempts": max_attempts}
    given = {name: value for name, value in file if value is not None and name in Job.__slots__ and name != "payload"}
    return Job(payload=payload, sent=file.payload, sha256=job_digest(file.kind, file.payload), **defaults | given)


def default_priority(kind: Kind, payload: Model) -> int:
    """The priority of a job that names none. Higher runs first."""
    found = BY_NAME[kind]
    if found.preview_priority is not None and getattr(payload, "preview", False):
        return found.preview_priority
    return found.priority
