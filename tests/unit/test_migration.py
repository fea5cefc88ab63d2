"""What a text of an earlier version becomes."""

import pytest
from old_workspace import CONVERSATION, ENRICHED, ENRICHED_NEWER, NOTE, PLAIN

from bridge.memory import Metadata
from bridge.transfer.migration import Converted, Skipped, convert

WORKSPACE = "0b9c7f8e-4b1a-4f7e-9a51-0d6c3f0f7a11"
ADDED, ASKED, NOW = "2025-11-17T16:30:00Z", "2026-01-05T12:00:00Z", "2026-01-05T12:00:01Z"


def converted(text: str, added_at: str | None = ADDED, now: str = NOW) -> Converted:
    return convert(text, added_at, ASKED, WORKSPACE, now)


def test_a_plain_summary_gets_the_metadata_that_it_lacks() -> None:
    found = converted(PLAIN)
    assert found.memory.kind == "summary"
    assert found.memory.metadata == Metadata(
        topic_id="plan-014-summaries", session_id="2025-11-17-session-1", plan_id="014", status="Active",
        created_at=ADDED, updated_at=ADDED,
    )  # fmt: skip
    content = found.memory.content
    assert content.decisions == ("Keep summaries as plain text first", "Write metadata later")
    assert content.references.plans == ("Plan 014",)
    assert content.references.files == ("src/summary.py",)


def test_without_a_time_the_day_of_the_migration_stands_for_it() -> None:
    known = converted(PLAIN, None).memory.metadata
    assert (known.session_id, known.created_at, known.updated_at) == ("migrated-2026-01-05", ASKED, ASKED)


def test_a_session_is_of_the_day_when_the_conversation_began_where_that_is_known() -> None:
    scope = "## Time Scope\n- Start: 2025-11-16T23:00:00Z\n"
    text = PLAIN.replace("TimeScope: Nov 17 14:00-16:30\n", "TimeScope:\n" + scope.partition("\n")[2])
    assert converted(text).memory.metadata.session_id == "2025-11-16-session-1"


def test_a_plan_that_is_not_named_is_not_known() -> None:
    assert converted(PLAIN.replace("- Plan 014\n", "")).memory.metadata.plan_id is None


def test_an_enriched_text_keeps_its_own_metadata() -> None:
    assert converted(ENRICHED).memory.metadata == Metadata(
        topic_id="ranking-weights", session_id="2025-11-18-session-2", plan_id="015", status="Active",
        created_at="2025-11-18T10:00:00Z", updated_at="2025-11-18T10:05:00Z",
    )  # fmt: skip
    newer = converted(ENRICHED_NEWER).memory.metadata
    assert (newer.topic_id, newer.source_created_at) == ("ranking-floor", "2025-11-12T08:00:00Z")


def test_what_an_enriched_text_does_not_know_is_completed() -> None:
    lines = {"Topic ID: ranking-weights", "Session ID: 2025-11-18-session-2", "Status: Active"}
    lines |= {"Created: 2025-11-18T10:00:00Z", "Updated: 2025-11-18T10:05:00Z"}
    text = ENRICHED
    for line in lines:
        text = text.replace(line, line.partition(":")[0] + ": N/A")
    assert converted(text).memory.metadata == Metadata(
        topic_id="ranking-weights", plan_id="015", status="Active", created_at=ADDED, updated_at=ADDED
    )


def test_a_conversation_stays_what_it_is_with_its_time_and_importance() -> None:
    found = converted(CONVERSATION)
    assert found.original is None
    assert (found.memory.kind, found.memory.text) == ("legacy", CONVERSATION)
    assert found.memory.metadata == Metadata(created_at="2025-11-10T09:30:00Z", importance=0.7)
    undated = CONVERSATION.replace("timestamp=2025-11-10T09:30:00Z", "timestamp=N/A")
    assert converted(undated).memory.metadata.created_at == ADDED


@pytest.mark.parametrize("text", [NOTE, "", "Summary: of nothing", "# Notes\n\nDecisions are made on Mondays."])
def test_other_texts_are_left_alone(text: str) -> None:
    with pytest.raises(Skipped, match="no memory of an earlier version"):
        converted(text)


def test_a_decision_record_is_left_alone() -> None:
    text = ENRICHED.replace("Template: v1.0", "Decision Record Template: v1.0")
    with pytest.raises(Skipped, match="decision record"):
        converted(text)


@pytest.mark.parametrize("text", [PLAIN, ENRICHED, CONVERSATION])
def test_the_same_text_becomes_the_same_whenever_it_is_migrated(text: str) -> None:
    first, later = converted(text), converted(text, "2025-12-24T00:00:00Z", "2027-01-01T00:00:00Z")
    assert first.memory.id == later.memory.id
    assert (first.original and first.original.id) == (later.original and later.original.id)
