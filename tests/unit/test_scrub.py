"""What is left of a job's files when a memory is forgotten: all but the texts."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, strategies as st

from bridge.interface.json_schema import Shape, schema_of
from bridge.interface.result_shapes import RESULTS
from jobs import lifecycle
from jobs.clock import parse
from jobs.diagnostics import DIAGNOSTICS, FIXES, GROUPS, LEVELS
from jobs.errors import ERRORS, JobError
from jobs.kinds import BY_NAME, KIND_NAMES
from jobs.lifecycle import Failed, Started, Succeeded
from jobs.model import Job, Record
from jobs.scrub import WORDS, is_plain, keeps_copy, without_strings, without_texts

AT = parse("2026-11-20T12:00:00Z")
ID = "0193c7a2-1111-5222-8333-444455556666"

PLAIN = st.sampled_from([ID, "a" * 64, "2026-11-20", "2026-11-20T12:00:00.123Z", "Active", "STORE_BUSY", "ingest"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | PLAIN,
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["topic", "kind", "items", "n"]), inner),
)


def ended(event: Succeeded | Failed, kind: Any = "ingest") -> Record:
    job = Job("j", kind, {}, {}, "0" * 64, correlation_id="c-1")
    return lifecycle.step(lifecycle.step(lifecycle.accept(job, AT), Started(), AT), event, AT)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(inner)


@given(st.dictionaries(st.sampled_from(["topic", "kind", "items"]), JSON))
def test_only_the_texts_of_a_result_go(result: dict[str, Any]) -> None:
    before = ended(Succeeded(result))
    after = without_texts(before)
    assert all(text == "" or is_plain(text) for text in strings(after.result))
    assert without_texts(after) == after
    kept = {name: value for name, value in before.as_dict().items() if name != "result"}
    assert {name: value for name, value in after.as_dict().items() if name != "result"} == kept
    plain = [text for text in strings(result) if is_plain(text)]
    assert [text for text in strings(after.result) if is_plain(text)] == plain
    numbers = [v for v in result.values() if isinstance(v, int | float)]
    assert [v for v in (after.result or {}).values() if isinstance(v, int | float)] == numbers


def test_of_an_error_the_table_s_words_stay() -> None:
    error = JobError("TOPIC_NOT_FOUND", "There is no topic 'zebra'.", details={"nearest": ["zebras"]})
    assert without_texts(ended(Failed(error))).error == JobError("TOPIC_NOT_FOUND").as_dict()


def _instance(shape: Shape) -> dict[str, Any]:
    """A value of the shape with a text wherever one may be: made of its JSON Schema."""
    schema = schema_of(shape)

    def value(part: dict[str, Any]) -> Any:
        if "$ref" in part:
            return value(schema["$defs"][part["$ref"].rpartition("/")[2]])
        for name in ("anyOf", "oneOf", "allOf"):
            if name in part:
                return value(part[name][0])
        if "const" in part or "enum" in part:
            return part.get("const", part.get("enum", [None])[0])
        match part.get("type"):
            case "object":
                return {name: value(inner) for name, inner in part.get("properties", {}).items()}
            case "array":
                return [value(part.get("items", {}))] * max(1, part.get("minItems", 1))
            case "string":
                pattern = part.get("pattern", "")
                dated = "\\d" in pattern and "T" in pattern
                return "2026-11-20T12:00:00Z" if dated else "a" * 64 if "64" in pattern else "Words of somebody."
            case "integer" | "number":
                return max(1, part.get("minimum", 0)) if part.get("maximum", 2) > 1 else 0.5
            case "boolean":
                return True
        return None

    return value(schema)


@pytest.mark.parametrize("kind", sorted(RESULTS))
def test_without_its_texts_a_result_is_still_of_its_kind(kind: Any) -> None:
    schema = schema_of(RESULTS[kind])
    result = _instance(RESULTS[kind])
    jsonschema_rs.validate(schema, result)
    found = without_texts(ended(Succeeded(result), kind)).result
    jsonschema_rs.validate(schema, found)
    assert "Words of somebody." not in json.dumps(found)


@pytest.mark.parametrize("kind", sorted(RESULTS))
def test_every_word_of_our_own_in_a_result_is_known(kind: str) -> None:
    """Else a record that loses its texts would lose it, and no longer be of its kind's shape."""

    def words(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            yield from (word for word in (part.get("const"), *part.get("enum", ())) if isinstance(word, str))
            for inner in part.values():
                yield from words(inner)
        elif isinstance(part, list):
            for inner in part:
                yield from words(inner)

    found = set(words(schema_of(RESULTS[kind])))
    assert found - {*KIND_NAMES, *ERRORS} <= WORDS
    tables = {*DIAGNOSTICS, *LEVELS, *GROUPS, *FIXES}
    assert found - tables - {*KIND_NAMES, *ERRORS} <= set(BY_NAME[kind].words), "its row in jobs/kinds.py names them"


def test_lists_of_texts_become_empty() -> None:
    assert without_strings({"decisions": ["a b", "c"], "superseded": [ID]}) == {"decisions": [], "superseded": [ID]}


def test_the_copy_of_a_job_that_came_too_late_is_not_kept() -> None:
    assert not keeps_copy(ended(Failed(JobError("MEMORY_FORGOTTEN"))))
    assert keeps_copy(ended(Failed(JobError("POISON"))))
    assert not keeps_copy(ended(Succeeded({}), "forget")), "it may name a topic"
    assert keeps_copy(ended(Failed(JobError("TOPIC_NOT_FOUND")), "forget")), "it may be tried again"
    assert keeps_copy(ended(Succeeded({})))
