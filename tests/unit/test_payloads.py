"""The payload of each kind: what passes, what does not, and how it is said."""

from typing import Any

import pytest
from payload_cases import BAD, GOOD, conversation, summary

from jobs.check import check
from jobs.errors import JobError
from jobs.kinds import Kind
from jobs.payloads import PAYLOADS

UUID = "0193C7A2-7F3A-7000-8000-00000000000A"


def payload(kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
    return check(PAYLOADS[kind], value, "payload").model_dump(exclude_none=True)


def refusal(kind: Kind, value: Any) -> JobError:
    with pytest.raises(JobError, match="JOB_INVALID") as caught:
        check(PAYLOADS[kind], value, "payload")
    return caught.value


@pytest.mark.parametrize(("kind", "value", "taken"), GOOD)
def test_a_payload_is_taken_with_its_defaults(kind: Kind, value: dict[str, Any], taken: dict[str, Any]) -> None:
    assert payload(kind, value) == taken


@pytest.mark.parametrize(("kind", "value", "says"), BAD)
def test_a_payload_is_refused_with_the_place_and_the_reason(kind: Kind, value: Any, says: str) -> None:
    error = refusal(kind, value)
    assert says in error.message
    assert error.message.startswith("The field payload")


def test_the_place_is_named_whichever_spelling_was_used() -> None:
    error = refusal("ingest", summary(timeScope={"turnCount": -1}))
    assert "payload.summary.time_scope.turn_count" in error.message


def test_every_wrong_field_is_listed_for_programs() -> None:
    error = refusal("ingest", summary(importance=2, topic="", openQuestions=[1]))
    expected = {"payload.summary.importance", "payload.summary.topic", "payload.summary.open_questions[0]"}
    assert set(error.details["fields"]) == expected


def test_the_list_of_wrong_fields_has_an_end() -> None:
    error = refusal("graph", {f"x{number}": 1 for number in range(1000)})
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
    refusal("ask", {"question": None})
    refusal("ingest", summary(topic=None))


def test_a_uuid_in_capitals_is_the_same_topic() -> None:
    assert payload("compact", {"topic_id": UUID})["topic_id"] == UUID.lower()
    refusal("compact", {"topic_id": UUID[:-1] + "G"})


def test_times_are_kept_in_utc() -> None:
    taken = payload("ingest", summary(created_at="2026-11-20T10:00:00+02:00", updated_at="2026-11-20"))
    assert taken["summary"]["created_at"] == "2026-11-20T08:00:00Z"
    assert taken["summary"]["updated_at"] == "2026-11-20T00:00:00Z"


def test_words_are_kept_as_they_are() -> None:
    text = "  spaces, \u2028 separators and 🙂  \n"
    assert payload("ingest", summary(context=text))["summary"]["context"] == text
