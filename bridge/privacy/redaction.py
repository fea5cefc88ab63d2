"""Replaces likely secrets in texts by ``[REDACTED:kind]``. Pure. All redaction goes through this module.

Only the secret is replaced, not the line around it. Redaction is idempotent. The kinds and their patterns are in
``secret_kinds``, which is loaded for the first text.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jobs.model import Job
    from jobs.schema import Redactions

MARK = "[REDACTED:{}]"

# Fields whose values refer to something (ids and paths); they are not redacted. In snake_case and camelCase.
REFERENCE_FIELDS = frozenset(
    name
    for snake in (
        "path", "paths", "memory_id", "memory_ids", "topic_id", "session_id", "plan_id", "decision_record_id",
        "preview_digest", "undo", "data_id", "id", "source", "target", "node_id", "edge_id",
    )
    for name in (snake, re.sub("_([a-z])", lambda m: m[1].upper(), snake))
)  # fmt: skip

_PASSES = 4  # a replacement may make an adjacent secret recognisable


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the number of secrets by kind."""

    text: str
    counts: dict[str, int] = field(default_factory=dict)


def redact(text: str, known: set[str] | None = None) -> Redacted:
    """The text with each likely secret replaced, in linear time. Each secret counts once; those that are ``known`` do
    not count, and those of this text are added to them."""
    known = set() if known is None else known
    counts: Counter[str] = Counter()
    for _ in range(_PASSES):
        spans = _spans(text)
        if not spans:
            break
        parts, done = [], 0
        for start, end, kind in spans:
            parts += [text[done:start], MARK.format(kind)]
            if text[start:end] not in known:
                known.add(text[start:end])
                counts[kind] += 1
            done = end
        text = "".join([*parts, text[done:]])
    return Redacted(text, dict(counts))


def without_secrets(job: Job) -> Job:
    """The job with its texts redacted and its digest unchanged. Raises JobError: JOB_INVALID if it is then invalid."""
    from jobs.parse import with_redactions  # not at the top: what redacts other texts does not need it

    sent, counts = redact_value(job.sent)
    return with_redactions(job, sent, counts) if counts else job


def redact_value(value: Any, pointing: frozenset[str] = REFERENCE_FIELDS) -> tuple[Any, dict[str, int]]:
    """A JSON value, dataclass or named tuple without secrets in its texts, and their number by kind. Fields named in
    ``pointing`` are not changed."""
    counts: Counter[str] = Counter()
    known: set[str] = set()

    def clean(value: Any) -> Any:
        if hasattr(value, "_replace"):
            named = value._asdict().items()
            return value._replace(**{name: clean(item) for name, item in named if name not in pointing})
        match value:
            case str():
                redacted = redact(value, known)
                counts.update(redacted.counts)
                return redacted.text
            case list():
                return [clean(item) for item in value]
            case tuple():
                return tuple(clean(item) for item in value)
            case dict():
                return {name: item if name in pointing else clean(item) for name, item in value.items()}
        if is_dataclass(value) and not isinstance(value, type):
            inner = ((item.name, getattr(value, item.name)) for item in fields(value) if item.name not in pointing)
            return replace(value, **{name: clean(item) for name, item in inner})
        return value

    return clean(value), dict(counts)


def redact_bytes(data: bytes) -> tuple[bytes, dict[str, int]]:
    """A file's bytes without secrets, and their number by kind. The file may be JSON, even broken, or other text, also
    in UTF-16; its other bytes are not changed."""
    counts: Counter[str] = Counter()
    # UTF-8 in any case: the NULs of a file that was half written look like UTF-16.
    for encoding, errors in dict.fromkeys([_encoding(data), ("utf-8", "surrogateescape")]):
        redacted = _redact_json(data.decode(encoding, errors))
        if redacted.counts:
            data = redacted.text.encode(encoding, errors)
            counts.update(redacted.counts)
    return data, dict(counts)


def total(*counts: Mapping[str, int] | None) -> Redactions:
    """The sum of several counts by kind, as results report it: ``{"total": n, "kinds": {kind: n}}``."""
    kinds: Counter[str] = Counter()
    for by_kind in counts:
        kinds.update(by_kind or {})
    return {"total": kinds.total(), "kinds": dict(sorted(kinds.items()))}


def _spans(text: str) -> list[tuple[int, int, str]]:
    """(start, end, kind) of each secret, in order. Overlapping ones are merged, with the kind listed first."""
    from .secret_kinds import KINDS, find  # not at the top: most processes need none of its many expressions

    spans: list[tuple[int, int, int]] = []
    for start, end, rank in sorted(find(text)):
        if spans and start < spans[-1][1]:
            first, last, before = spans[-1]
            spans[-1] = first, max(last, end), min(before, rank)
        else:
            spans.append((start, end, rank))
    return [(start, end, KINDS[rank].name) for start, end, rank in spans]


# --- files ---

# A JSON string with an escape; an unterminated one extends to the end of the text.
_ESCAPED = re.compile(r'"(?:[^"\\]++|\\(?:.|\Z))*(?:"|\Z)', re.DOTALL)


def _redact_json(text: str) -> Redacted:
    """Redacts the decoded JSON strings that have escapes, then the raw text."""
    counts: Counter[str] = Counter()

    def literal(match: re.Match[str]) -> str:
        if "\\" not in match[0]:
            return match[0]
        try:
            value = json.loads(match[0], strict=False)
        except ValueError:
            return match[0]
        redacted = redact(value)
        counts.update(redacted.counts)
        return json.dumps(redacted.text) if redacted.counts else match[0]

    if "\\" in text:
        text = _ESCAPED.sub(literal, text)
    redacted = redact(text)
    counts.update(redacted.counts)
    return Redacted(redacted.text, dict(counts))


def _encoding(data: bytes) -> tuple[str, str]:
    """The encoding and error handler for a file; encoding the decoded text gives the same bytes."""
    for mark, encoding in (
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            return encoding, "replace"
    start = data[:4096]
    if start.count(0) * 3 > len(start):  # Latin letters of UTF-16 without a mark
        return ("utf-16-le" if start[1::2].count(0) >= start[::2].count(0) else "utf-16-be"), "replace"
    return "utf-8", "surrogateescape"
