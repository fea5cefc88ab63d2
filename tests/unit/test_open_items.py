"""What is still open: items that no later memory has closed, with the real model."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bridge.embedding.embedder import Embedder
from bridge.memory import Content, Memory, Metadata
from bridge.search.open_items import open_items
from bridge.store.store import Store
from jobs.errors import JobError
from jobs.layout import Workspace

STORED = "2026-11-20T12:00:00Z"
QUESTION = "How long do we keep audit logs?"
ANSWER = "Audit logs are kept for 400 days."


def memory(day: int, topic: str = "logs", status: Any = "Active", kind: Any = "summary", **words: Any) -> Memory:
    content = Content(topic.title(), words.pop("context", ""), **{name: tuple(texts) for name, texts in words.items()})
    labels = Metadata(topic, status=status, created_at=f"2026-10-{day:02}T12:00:00Z")
    return Memory(f"{topic}-{day}", 0, kind, labels, STORED, content)


def left(tmp_path: Path, embedder: Embedder, *memories: Memory, topic_id: str | None = None) -> list[str]:
    workspace = Workspace(tmp_path)
    workspace.memory.mkdir(mode=0o700)
    with closing(Store(workspace, embedder)) as store:
        store.add([(each, None) for each in memories], STORED)
    return [f"{item['memory_number']} {item['text']}" for item in open_items(workspace, topic_id)]


def test_a_workspace_without_memories_has_nothing_open(tmp_path: Path) -> None:
    assert open_items(Workspace(tmp_path)) == []


ANSWERED_ITEMS = [
    ("What about two helpers?", "If two helpers run, the second one exits and leaves the token to the first."),
    (QUESTION, ANSWER),
    ("Write the migration guide", "The migration guide is published in docs/migration.md."),
    ("Do we support Python 3.14?", "Python 3.14 is supported from 1.5 on."),
    ("Remove the feature flag new-editor", "The flag new-editor is gone."),
]


@pytest.mark.parametrize(("item", "closes"), ANSWERED_ITEMS)
@pytest.mark.parametrize("place", ["decisions", "context"])
def test_an_item_answered_later_closes(tmp_path: Path, embedder: Embedder, item: str, closes: str, place: str) -> None:
    later = memory(2, decisions=[closes]) if place == "decisions" else memory(2, context=closes)
    assert left(tmp_path, embedder, memory(1, next_steps=[item]), later) == []


TOUCHED_ITEMS = [
    ("What about two helpers?", "Only the tray helper renews tokens."),
    (QUESTION, "Audit logs are written as JSON lines."),
    ("Write the migration guide", "The migration runs in one transaction."),
    ("Write a test for exports", "Write a test for imports first."),
    (QUESTION, QUESTION),
]


@pytest.mark.parametrize(("item", "other"), TOUCHED_ITEMS)
def test_an_item_a_later_one_only_touches_stays_open(tmp_path: Path, embedder: Embedder, item: str, other: str) -> None:
    assert left(tmp_path, embedder, memory(1, open_questions=[item]), memory(2, context=other)) == [f"1 {item}"]


NOT_CLOSING = [
    memory(1, decisions=[ANSWER]),
    memory(3, topic="other", decisions=[ANSWER]),
    memory(3, status="Superseded", decisions=[ANSWER]),
    memory(3, status="Draft", decisions=[ANSWER]),
    memory(3, next_steps=[ANSWER]),
]


@pytest.mark.parametrize(
    "closing_memory", NOT_CLOSING, ids=["earlier", "another topic", "superseded", "draft", "no statement"]
)
def test_only_a_later_valid_one_of_the_topic_closes(tmp_path: Path, embedder: Embedder, closing_memory: Memory) -> None:
    found = left(tmp_path, embedder, memory(2, open_questions=[QUESTION]), closing_memory)
    assert f"1 {QUESTION}" in found


def test_a_superseded_memory_and_a_draft_leave_nothing_open(tmp_path: Path, embedder: Embedder) -> None:
    gone = [memory(day, status=status, open_questions=[QUESTION]) for day, status in ((1, "Superseded"), (2, "Draft"))]
    assert left(tmp_path, embedder, *gone) == []


def test_an_item_that_is_said_again_is_shown_once_where_it_is_newest(tmp_path: Path, embedder: Embedder) -> None:
    again = memory(2, open_questions=[QUESTION.upper()])
    assert left(tmp_path, embedder, memory(1, open_questions=[QUESTION]), again) == [f"2 {QUESTION.upper()}"]


def test_a_record_closes_by_its_own_decisions_and_a_summary_does_not(tmp_path: Path, embedder: Embedder) -> None:
    record = memory(2, status="DecisionRecord", kind="decision_record", open_questions=[QUESTION], decisions=[ANSWER])
    own = memory(1, topic="other", open_questions=[QUESTION], decisions=[ANSWER])
    assert left(tmp_path, embedder, record, own) == [f"2 {QUESTION}"]


def test_topics_come_by_their_newest_item_and_in_a_topic_the_newest_first(tmp_path: Path, embedder: Embedder) -> None:
    memories = [
        memory(1, topic="birds", open_questions=["Where do swifts sleep?"], next_steps=["Build a box."]),
        memory(2, topic="trees", open_questions=["How old is the oak?"]),
        memory(3, topic="birds", next_steps=["Count the owls."]),
    ]
    expected = ["3 Count the owls.", "1 Where do swifts sleep?", "1 Build a box.", "2 How old is the oak?"]
    assert left(tmp_path, embedder, *memories) == expected


def test_one_topic_can_be_asked_for_and_an_unknown_one_is_an_error(tmp_path: Path, embedder: Embedder) -> None:
    memories = [memory(1, open_questions=[QUESTION]), memory(2, topic="trees", open_questions=["How old is the oak?"])]
    assert left(tmp_path, embedder, *memories, topic_id="trees") == ["2 How old is the oak?"]
    with pytest.raises(JobError, match=r"TOPIC_NOT_FOUND.*'trees'"):
        open_items(Workspace(tmp_path), "tress")
