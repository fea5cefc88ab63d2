"""From the bytes of a file to a job with its id and payload, or to the reason why it cannot be one."""

import codecs
import hashlib
import json
import math
import re
import shutil
import struct
import subprocess
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st
from payload_cases import BAD, GOOD, conversation, summary

from jobs.check import check
from jobs.errors import ERRORS, JobError, Reaction
from jobs.ids import is_job_id, new_job_id
from jobs.kinds import KIND_NAMES, Kind
from jobs.model import Job, canonical_json, encode, job_digest
from jobs.parse import MAX_DEPTH, default_priority, parse_job, read_json
from jobs.payloads import PAYLOADS, EmptyPayload, Migrate

JOB: dict[str, Any] = {"schema_version": 1, "job_id": "a", "kind": "check", "payload": {}}


def parse(value: Any, **options: Any) -> Job:
    return parse_job("a", encode(value), **options)


def attempt(action: Callable[[], Any]) -> Any:
    """What the action gives, or None where it rejects the file. Any other error passes."""
    try:
        return action()
    except JobError as error:
        if ERRORS[error.code].reaction is not Reaction.REJECT:
            raise
        return None


def refusal(value: Any, name: str = "a", **options: Any) -> JobError:
    with pytest.raises(JobError) as caught:
        parse_job(name, value if isinstance(value, bytes) else encode(value), **options)
    return caught.value


# --- JSON ---


NO_JSON = [
    (b"", "is empty"),
    (b" \n", "is empty"),
    (b"x", "line 1, column 1"),
    (b'{"a": 1', "line 1, column 8"),
    (b'{\n"a": 1,}', "line 2"),
    (b'{"a": "\xff"}', r"byte 7 \(0xff\)"),
    ('{"a": "é"}'.encode("latin-1"), r"byte 7 \(0xe9\)"),
    (b'{"a": "\xed\xa0\x80"}', r"byte 7 \(0xed\)"),
    ('{"a": 1}'.encode("utf-16"), "UTF-16"),
    (codecs.BOM_UTF16_BE + '{"a": 1}'.encode("utf-16-be"), "UTF-16"),
    ('{"a": 1}'.encode("utf-16-le"), "Byte 1 is NUL"),
    ('{"a": 1}'.encode("utf-32"), "UTF-32"),
    (b'{"a": 1}' + b"\0" * 4096, "Byte 8 is NUL"),
    (b'\xef\xbb\xbf{"a": 1}', "byte order mark"),
    (b'{"a": NaN}', "NaN"),
    (b'{"a": -Infinity}', "-Infinity"),
    (b'{"a": 1e999}', "too large"),
    (b'{"a": 9223372036854775808}', "too large"),
    (b'{"a": -9223372036854775808}', "too large"),
    (b'{"a": ' + b"9" * 5000 + b"}", "too large"),
    (b'{"a": ' + b"9" * 1_000_000 + b"}", "too large"),
    (b'{"a": 1, "b": 2, "a": 3}', "'a' occurs twice"),
    (b'{"a": "x\\u0000y"}', "NUL"),
    (b'{"x\\u0000y": 1}', "NUL"),
    (b'{"a": "\\ud800"}', "surrogate"),
    (b'{"a": {"\\udfff": 1}}', "surrogate"),
    (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "deeper than 32"),
    (b"[" * 100_000, "deeper than 32"),
]


@pytest.mark.parametrize(("data", "says"), NO_JSON, ids=range(28))
def test_what_others_would_read_in_another_way_is_no_json(data: bytes, says: str) -> None:
    with pytest.raises(JobError, match=says) as caught:
        read_json(data)
    assert caught.value.code == "JSON_INVALID"


def test_the_largest_numbers_and_the_deepest_nesting_pass() -> None:
    deep = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert canonical_json(read_json(deep)).encode() == deep
    assert read_json(b"[9223372036854775807, -9223372036854775807, 1e308]") == [2**63 - 1, 1 - 2**63, 1e308]


def test_a_reason_shows_no_control_characters_and_no_megabytes_of_the_input() -> None:
    error = refusal(JOB | {"\x1b[2J\u202eevil": 1})
    assert error.message == r"The field \x1b[2J\u202eevil is not known."
    assert error.details["fields"] == [r"\x1b[2J\u202eevil"]
    assert len(refusal(JOB | {"not_before": "x" * 900_000}).message) < 500


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_bytes_raise_anything_but_a_rejection(data: bytes) -> None:
    attempt(lambda: read_json(data))
    attempt(lambda: parse_job("a", data))


# --- the job ---


def test_a_job_needs_no_more_than_its_four_fields() -> None:
    job = parse(JOB)
    assert (job.job_id, job.kind, job.payload, job.max_attempts) == ("a", "check", EmptyPayload(), 4)
    assert job.submitted_at is job.not_before is job.expires_at is job.timeout_seconds is None
    assert job.submitted_by is job.correlation_id is None


def test_every_field_of_the_file_arrives() -> None:
    fields = {
        "submitted_at": "2026-11-20T20:00:00Z",
        "priority": -3,
        "not_before": "2026-11-20T21:00:00Z",
        "expires_at": "2026-11-20T22:00:00Z",
        "max_attempts": 2,
        "timeout_seconds": 1.5,
        "submitted_by": "vscode",
        "correlation_id": "c",
    }
    job = parse(JOB | fields)
    assert {name: getattr(job, name) for name in fields} == fields
    assert job.as_dict() == JOB | fields


def test_null_means_the_default_in_every_field_that_has_one() -> None:
    names = ("submitted_at", "priority", "not_before", "expires_at", "max_attempts", "timeout_seconds")
    assert parse(JOB | dict.fromkeys((*names, "submitted_by", "correlation_id"))) == parse(JOB)


def test_the_setting_for_attempts_is_the_default_and_the_job_wins() -> None:
    assert parse(JOB, max_attempts=9).max_attempts == 9
    assert parse(JOB | {"max_attempts": 2}, max_attempts=9).max_attempts == 2


def test_camel_case_names_mean_the_same_at_every_depth() -> None:
    scope = {"turnCount": 3}
    summary = {"topic": "t", "context": "c", "topicId": "x", "openQuestions": ["q"], "timeScope": scope}
    camel = parse(
        {"schemaVersion": 1, "jobId": "a", "kind": "ingest", "payload": {"summary": summary}, "notBefore": "2026-11-20"}
    )
    scope = {"turn_count": 3}
    summary = {"topic": "t", "context": "c", "topic_id": "x", "open_questions": ["q"], "time_scope": scope}
    snake = parse(JOB | {"kind": "ingest", "payload": {"summary": summary}, "not_before": "2026-11-20"})
    assert camel.payload == snake.payload
    assert camel.not_before == snake.not_before == "2026-11-20T00:00:00Z"


@pytest.mark.parametrize("name", ["Payload", "PAYLOAD", "pay-load", "JobId", "job-id", "Kind", "job__id", "jobID"])
def test_no_other_spelling_passes_for_a_field(name: str) -> None:
    error = refusal(JOB | {name: {}})
    assert (error.code, error.details["fields"][0]) == ("JOB_INVALID", name)


def test_a_field_in_both_spellings_is_refused() -> None:
    error = refusal(JOB | {"notBefore": None, "not_before": "2026-11-20"})
    assert "'not_before' is given twice" in error.message


WRONG_FIELDS = [
    ({"schema_version": 2}, "SCHEMA_VERSION_UNSUPPORTED", "'2'"),
    ({"schema_version": "1"}, "SCHEMA_VERSION_UNSUPPORTED", "'1'"),
    ({"schema_version": True}, "SCHEMA_VERSION_UNSUPPORTED", "'True'"),
    ({"schema_version": None}, "JOB_INVALID", "schema_version"),
    ({"kind": "ingestt"}, "KIND_UNKNOWN", "Did you mean 'ingest'"),
    ({"kind": "x" * 1000}, "KIND_UNKNOWN", "x" * 64),
    ({"kind": None}, "JOB_INVALID", "kind"),
    ({"kind": ["check"]}, "JOB_INVALID", "kind"),
    ({"job_id": "b"}, "JOB_INVALID", "named 'a'"),
    ({"job_id": 1}, "JOB_INVALID", "job_id"),
    ({"payload": None}, "JOB_INVALID", "payload"),
    ({"payload": []}, "JOB_INVALID", "payload"),
    ({"payload": {"x": 1}}, "JOB_INVALID", "payload.x is not known"),
    ({"priority": 101}, "JOB_INVALID", "priority"),
    ({"priority": 1.5}, "JOB_INVALID", "priority"),
    ({"priority": "1"}, "JOB_INVALID", "priority"),
    ({"max_attempts": 0}, "JOB_INVALID", "max_attempts"),
    ({"max_attempts": True}, "JOB_INVALID", "max_attempts"),
    ({"timeout_seconds": 0}, "JOB_INVALID", "timeout_seconds"),
    ({"timeout_seconds": "5"}, "JOB_INVALID", "timeout_seconds"),
    ({"not_before": "soon"}, "JOB_INVALID", "not_before"),
    ({"not_before": 5}, "JOB_INVALID", "not_before"),
    ({"submitted_by": ""}, "JOB_INVALID", "submitted_by"),
    ({"correlation_id": "x" * 257}, "JOB_INVALID", "correlation_id"),
    ({"proirity": 1}, "JOB_INVALID", "proirity is not known. Did you mean 'priority'"),
]


@pytest.mark.parametrize(("change", "code", "says"), WRONG_FIELDS)
def test_a_wrong_field_is_named(change: dict[str, Any], code: str, says: str) -> None:
    error = refusal(JOB | change)
    assert error.code == code
    assert says in error.message


@pytest.mark.parametrize("name", ["schema_version", "job_id", "kind", "payload"])
def test_a_missing_field_is_named(name: str) -> None:
    error = refusal({key: value for key, value in JOB.items() if key != name})
    assert error.code == "JOB_INVALID"
    assert f"The field {name} is missing." in error.message


@pytest.mark.parametrize("value", [[], "x", 1, None, True])
def test_json_that_is_no_object_is_no_job(value: object) -> None:
    assert "not an object" in refusal(json.dumps(value).encode()).message


def test_a_device_name_is_no_job_s_name() -> None:
    assert refusal(JOB | {"job_id": "con"}, name="con").code == "JOB_INVALID"


@pytest.mark.parametrize("spelling", ["kind", "Kind"])
def test_test_jobs_pass_only_where_they_are_wanted(spelling: str) -> None:
    value = {**{name: JOB[name] for name in ("schema_version", "job_id", "payload")}, spelling: "noop"}
    assert refusal(value).code in ("KIND_UNKNOWN", "JOB_INVALID")
    assert "noop" not in refusal(JOB | {"kind": "nop"}).message
    assert parse(JOB | {"kind": "noop"}, test_jobs=True).kind == "noop"


SLOW_FILES = [
    JOB | {f"unknown{number}": 1 for number in range(30_000)},
    JOB | {"A" * 500_000: 1},
    JOB | {"a_" * 250_000: 1},
    JOB | {"payload": {"x" * 500_000: 1}},
    JOB | {"job_id": "x" * 500_000},
]


@pytest.mark.parametrize(
    "value",
    SLOW_FILES,
    ids=["many names", "a long name", "a name of many words", "a long name in the payload", "a long id"],
)
def test_a_file_made_to_be_slow_is_refused_in_time_and_in_few_words(value: dict[str, Any]) -> None:
    began = time.process_time()
    error = refusal(value)
    assert time.process_time() - began < 5  # it was hours for some of these
    assert len(json.dumps(error.as_dict())) < 10_000


def test_a_repeated_name_among_many_is_found_in_time() -> None:
    names = [f'"n{number}": 1' for number in range(60_000)]
    data = f"{{{', '.join([*names, names[-1]])}}}".encode()
    began = time.process_time()
    with pytest.raises(JobError, match="'n59999' occurs twice"):
        read_json(data)
    assert time.process_time() - began < 5


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
field_names = st.sampled_from(["summary", "topic", "topicId", "what", "limit", "dry_run", "time_scope", "memory_ids"])


@given(
    st.fixed_dictionaries(
        {"schema_version": st.just(1), "job_id": st.just("a"), "kind": st.sampled_from(KIND_NAMES)},
        optional={
            "payload": st.dictionaries(field_names, json_values, max_size=3),
            "priority": json_values,
            "notBefore": json_values,
            "timeout_seconds": json_values,
        },
    )
)
def test_no_job_raises_anything_but_a_rejection(value: dict[str, Any]) -> None:
    job = attempt(lambda: parse_job("a", json.dumps(value).encode(), test_jobs=True))
    if job is not None:
        assert parse_job("a", encode(job.as_dict()), test_jobs=True) == job


# --- priorities ---


PRIORITIES = [
    ("ask", {}, 20),
    ("compact", {"preview": True}, 20),
    ("set_status", {}, 10),
    ("forget", {}, 10),
    ("restore", {}, 10),
    ("ingest", {}, 0),
    ("compact", {"preview": False}, -10),
    ("migrate", {}, -10),
    ("rebuild", {}, -10),
]


@pytest.mark.parametrize(("kind", "payload", "priority"), PRIORITIES)
def test_what_a_person_waits_for_goes_first(kind: str, payload: dict[str, Any], priority: int) -> None:
    assert default_priority(kind, PAYLOADS[kind].model_construct(**payload)) == priority


def test_the_job_s_own_priority_wins() -> None:
    assert parse(JOB).priority == -10
    assert parse(JOB | {"priority": 0}).priority == 0


# --- digests ---


def test_the_digest_is_of_kind_and_payload_as_they_were_sent_and_of_no_other_field() -> None:
    sent = {"kind": "migrate", "payload": {"limit": 10, "dryRun": True}}
    text = '{"kind":"migrate","payload":{"dryRun":true,"limit":10}}'
    job = parse(JOB | sent)
    assert job.payload == Migrate(dry_run=True, limit=10)
    assert job.sha256 == hashlib.sha256(text.encode()).hexdigest() == job_digest("migrate", sent["payload"])
    assert parse(JOB | {"priority": 3, "submitted_by": "me"}).sha256 == parse(JOB).sha256


def test_the_order_of_names_does_not_matter_and_neither_does_how_a_number_is_written() -> None:
    one = parse_job("a", b'{"kind":"migrate","payload":{"limit":10},"job_id":"a","schema_version":1}')
    other = parse_job("a", b'{"schema_version":1,"job_id":"a","payload":{ "limit" : 10},"kind":"migrate"}')
    assert one == other
    assert canonical_json({"a": 1.0, "b": 1e2, "c": -0.0}) == canonical_json({"c": 0, "b": 100, "a": 1})


CANONICAL = [
    (1.5, "1.5"),
    (0.1 + 0.2, "0.30000000000000004"),
    (1e-6, "0.000001"),
    (1e-7, "1e-7"),
    (1.5e-7, "1.5e-7"),
    (1e21, "1e+21"),
    (1e20, "100000000000000000000"),
    (123456789012345680000.0, "123456789012345680000"),
    (5e-324, "5e-324"),
    (-2.5, "-2.5"),
    (-0.0, "0"),
    (True, "true"),
    (None, "null"),
    ("\u007f\u2028ä🙂", '"\u007f\u2028ä🙂"'),
    ('"\\/\b\f\n\r\t\x1f', '"\\"\\\\/\\b\\f\\n\\r\\t\\u001f"'),
    ({"\ue000": 1, "😀": 2}, '{"😀":2,"\ue000":1}'),
    ((1, [2]), "[1,[2]]"),
]


@pytest.mark.parametrize(("value", "text"), CANONICAL)
def test_canonical_json_is_what_javascript_writes(value: object, text: str) -> None:
    assert canonical_json(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_canonical_json_refuses_what_is_no_number(value: float) -> None:
    with pytest.raises(ValueError):
        canonical_json({"a": [value]})


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_node_writes_the_same_numbers() -> None:
    bits = hashlib.shake_256(b"numbers").digest(80_000)
    numbers = [number for (number,) in struct.iter_unpack("<d", bits) if math.isfinite(number)]
    numbers += [number / 10**power for number in (1, 3, 7, 12345) for power in range(-25, 25)]
    script = "process.stdout.write(JSON.stringify(JSON.parse(require('fs').readFileSync(0))))"
    ran = subprocess.run(["node", "-e", script], input=json.dumps(numbers).encode(), capture_output=True, check=True)
    assert ran.stdout.decode() == canonical_json([float(number) for number in numbers])


# --- the payload of each kind ---


UUID = "0193C7A2-7F3A-7000-8000-00000000000A"


def payload(kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
    return check(PAYLOADS[kind], value, "payload").model_dump(exclude_none=True)


def refusal_of(kind: Kind, value: Any) -> JobError:
    with pytest.raises(JobError, match="JOB_INVALID") as caught:
        check(PAYLOADS[kind], value, "payload")
    return caught.value


@pytest.mark.parametrize(("kind", "value", "taken"), GOOD)
def test_a_payload_is_taken_with_its_defaults(kind: Kind, value: dict[str, Any], taken: dict[str, Any]) -> None:
    assert payload(kind, value) == taken


@pytest.mark.parametrize(("kind", "value", "says"), BAD)
def test_a_payload_is_refused_with_the_place_and_the_reason(kind: Kind, value: Any, says: str) -> None:
    error = refusal_of(kind, value)
    assert says in error.message
    assert error.message.startswith("The field payload")


def test_every_wrong_field_is_named_whichever_spelling_was_used_and_listed_for_programs_up_to_an_end() -> None:
    error = refusal_of("ingest", summary(timeScope={"turnCount": -1}))
    assert "payload.summary.time_scope.turn_count" in error.message
    error = refusal_of("ingest", summary(importance=2, topic="", openQuestions=[1]))
    expected = {"payload.summary.importance", "payload.summary.topic", "payload.summary.open_questions[0]"}
    assert set(error.details["fields"]) == expected
    error = refusal_of("graph", {f"x{number}": 1 for number in range(1000)})
    assert len(error.details["fields"]) == 20


@pytest.mark.parametrize("unknown", ["N/A", "", " n/a".upper(), None])
def test_a_time_that_is_not_known_may_be_said_so(unknown: str | None) -> None:
    dates = dict.fromkeys(("created_at", "updated_at", "source_created_at"), unknown)
    assert payload("ingest", summary(**dates)) == payload("ingest", summary())
    assert payload("ingest", conversation(timestamp=unknown)) == payload("ingest", conversation())


def test_null_equals_absent_in_every_optional_field() -> None:
    for kind, model in PAYLOADS.items():
        for name, field in model.model_fields.items():
            if field.is_required():
                continue
            required: dict[str, Any] = next(value for k, value, _ in GOOD if k == kind)
            if name not in required:
                assert payload(kind, required | {name: None}) == payload(kind, required)


def test_null_in_a_required_field_is_no_value() -> None:
    refusal_of("ask", {"question": None})
    refusal_of("ingest", summary(topic=None))


def test_a_uuid_in_capitals_is_the_same_topic() -> None:
    assert payload("compact", {"topic_id": UUID})["topic_id"] == UUID.lower()
    refusal_of("compact", {"topic_id": UUID[:-1] + "G"})


def test_times_are_kept_in_utc() -> None:
    taken = payload("ingest", summary(created_at="2026-11-20T10:00:00+02:00", updated_at="2026-11-20"))
    assert taken["summary"]["created_at"] == "2026-11-20T08:00:00Z"
    assert taken["summary"]["updated_at"] == "2026-11-20T00:00:00Z"


def test_words_are_kept_as_they_are() -> None:
    text = "  spaces, \u2028 separators and 🙂  \n"
    assert payload("ingest", summary(context=text))["summary"]["context"] == text


# --- job ids ---


@pytest.mark.parametrize("text", ["a", "0", "a" * 64, "0193c7a2-ingest-7f3a", "a_b", "com", "console", "com10", "lpt"])
def test_a_job_id_is_lower_case_and_short(text: str) -> None:
    assert is_job_id(text)


NO_IDS = ["", "a" * 65, "A", "-a", "_a", ".a", "a.b", "a/b", "..", "a b", "a\n", "ä", "a\0", "٣"]
DEVICES_OF_WINDOWS = ["con", "prn", "aux", "nul", "com0", "com9", "lpt0", "lpt9"]


@pytest.mark.parametrize("text", [*NO_IDS, *DEVICES_OF_WINDOWS])
def test_what_could_leave_the_folder_or_clash_on_another_system_is_no_job_id(text: str) -> None:
    assert not is_job_id(text)


@given(st.text(max_size=70))
def test_a_job_id_is_a_plain_file_name(text: str) -> None:
    if is_job_id(text):
        assert re.fullmatch(r"[a-z0-9_-]{1,64}", text, re.ASCII)


def test_a_new_id_is_a_uuid_of_version_7() -> None:
    made = uuid.UUID(new_job_id())
    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert is_job_id(str(made))


def test_ids_made_later_sort_later(monkeypatch: pytest.MonkeyPatch) -> None:
    day = 1_700_000_000_000_000_000
    moments = iter([1_000_000_000, 1_001_000_000, day, day + 300, day + 999_999, day + 1_000_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(moments))
    made = [new_job_id() for _ in range(6)]
    assert made == sorted(made)


def test_ids_made_at_the_same_moment_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1)
    assert len({new_job_id() for _ in range(1000)}) == 1000
