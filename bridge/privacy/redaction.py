"""Likely secrets in texts: found, and replaced by ``[REDACTED:kind]``. Pure; nothing else decides what is a secret.

Only the secret goes; the line around it stays. Redacting twice equals redacting once. The kinds and how each is
recognised are in ``secret_kinds``, which is loaded when the first text is looked at.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jobs.schema import Redactions

MARK = "[REDACTED:{}]"

# What points at something: it is compared, opened or followed, so it stays as it is. In snake_case and camelCase.
POINTING = frozenset(
    name
    for snake in (
        "path", "paths", "memory_id", "memory_ids", "topic_id", "session_id", "plan_id", "decision_record_id",
        "preview_digest", "undo", "data_id", "id", "source", "target", "node_id", "edge_id",
    )
    for name in (snake, re.sub("_([a-z])", lambda m: m[1].upper(), snake))
)  # fmt: skip

_PASSES = 4  # a replacement may set free what stood against it


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how many of each kind there were."""

    text: str
    counts: dict[str, int] = field(default_factory=dict)


def redact(text: str) -> Redacted:
    """The text with each likely secret replaced. In a time that grows with its length."""
    counts: Counter[str] = Counter()
    for _ in range(_PASSES):
        found = list(_spans(text))
        if not found:
            break
        parts, done = [], 0
        for start, end, kind in found:
            parts += [text[done:start], MARK.format(kind)]
            counts[kind] += 1
            done = end
        text = "".join([*parts, text[done:]])
    return Redacted(text, dict(counts))


def found_in(text: str) -> dict[str, int]:
    """How many likely secrets of each kind a text holds."""
    return redact(text).counts


def redact_value(value: Any, pointing: frozenset[str] = POINTING) -> tuple[Any, dict[str, int]]:
    """A JSON value, or a dataclass, without secrets in its texts, and the counts. What stands under a name of
    ``pointing`` is kept."""
    counts: Counter[str] = Counter()

    def clean(value: Any) -> Any:
        match value:
            case str():
                found = redact(value)
                counts.update(found.counts)
                return found.text
            case list():
                return [clean(item) for item in value]
            case tuple():
                return tuple(clean(item) for item in value)
            case dict():
                return {name: item if name in pointing else clean(item) for name, item in value.items()}
        if is_dataclass(value) and not isinstance(value, type):
            inner = ((each.name, getattr(value, each.name)) for each in fields(value) if each.name not in pointing)
            return replace(value, **{name: clean(item) for name, item in inner})
        return value

    return clean(value), dict(counts)


def redact_bytes(data: bytes) -> tuple[bytes, dict[str, int]]:
    """A file's bytes without secrets: of JSON, whole or broken, of other text, of UTF-16. The rest stays as it is."""
    encoding, errors = _encoding(data)
    found = _redact_json(data.decode(encoding, errors))
    return (found.text.encode(encoding, errors), found.counts) if found.counts else (data, {})


def total(*counts: Mapping[str, int] | None) -> Redactions:
    """What a result tells of what was replaced: ``{"total": n, "kinds": {kind: n}}``."""
    kinds: Counter[str] = Counter()
    for each in counts:
        kinds.update(each or {})
    return {"total": kinds.total(), "kinds": dict(sorted(kinds.items()))}


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Where secrets stand, in order. Those that overlap are one, under the name of the more telling kind."""
    from .secret_kinds import KINDS  # loads detect-secrets: who redacts nothing does without

    lowered = text.lower()
    found = [(each.start, each.end, rank) for rank, kind in enumerate(KINDS) for each in kind.find(text, lowered)]
    at = 0
    found.sort()
    while at < len(found):
        start, end, rank = found[at]
        at += 1
        while at < len(found) and found[at][0] < end:
            end, rank = max(end, found[at][1]), min(rank, found[at][2])
            at += 1
        yield start, end, KINDS[rank].name


# --- files ---

# A string of JSON with an escape in it; one without its end reaches to the end of the text.
_ESCAPED = re.compile(r'"(?:[^"\\]++|\\(?:.|\Z))*+(?:"|\Z)', re.DOTALL)


def _redact_json(text: str) -> Redacted:
    """JSON is looked at as what its strings say, and then as it stands there."""
    counts: Counter[str] = Counter()

    def literal(match: re.Match[str]) -> str:
        if "\\" not in match[0]:
            return match[0]
        try:
            said = json.loads(match[0], strict=False)
        except ValueError:
            return match[0]
        found = redact(said)
        counts.update(found.counts)
        return json.dumps(found.text) if found.counts else match[0]

    if "\\" in text:
        text = _ESCAPED.sub(literal, text)
    found = redact(text)
    counts.update(found.counts)
    return Redacted(found.text, dict(counts))


def _encoding(data: bytes) -> tuple[str, str]:
    """How bytes are read as text, such that writing it gives the same bytes where nothing was found."""
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
