"""How much is remembered, as numbers: of every format that there was, and without reading the memories themselves."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

import pytest
from fake_embedder import FakeEmbedder

from bridge.memory import Content, Memory, Metadata
from bridge.store import database, migrations
from bridge.store.opening import reader_of
from bridge.store.sizes import BY_STATUS
from bridge.store.store import Store
from bridge.store.values import Sizes, Spent
from jobs.errors import JobError
from jobs.layout import Workspace

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)
STORED = "2026-11-20T12:00:00Z"


def test_memories_are_counted_by_kind_and_status_with_what_they_take(workspace: Workspace) -> None:
    store = Store(workspace, FakeEmbedder())
    for number, status in enumerate(("Active", "Active", "Superseded")):
        about = Metadata(topic_id=f"topic-{number % 2}", status=status)  # type: ignore[arg-type]
        store.add([(Memory(f"s{number}", 0, "summary", about, STORED, Content("Topic", "Told.")), None)], STORED)
    store.add([(Memory("old", 0, "legacy", Metadata(), STORED, text="Of old."), None)], STORED)
    store.close()
    found = reader_of(workspace).sizes(NOW)
    assert found.memories == {("summary", "Active"): 2, ("summary", "Superseded"): 1, ("legacy", "none"): 1}
    assert (found.topics, found.graph_lag) == (2, 0)
    assert found.passages >= 4
    assert found.vector_bytes > 0
    assert found.database_bytes >= workspace.memory_db.stat().st_size


def test_memories_are_counted_by_an_index(workspace: Workspace) -> None:
    with closing(database.open_for_writing(workspace)) as connection:
        plan = [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {BY_STATUS}")]
    assert any("memories_catalogue" in line for line in plan), plan


@pytest.mark.parametrize("older", range(1, migrations.FORMAT))
def test_a_store_of_an_older_format_has_sizes_too(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, older: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:older])
        patch.setattr(migrations, "FORMAT", older)
        with closing(database.open_for_writing(workspace)) as connection:
            connection.execute(
                "INSERT INTO memories (number, id, kind, stored_at, body, sources, passage_row, passage_count)"
                " VALUES (1, 'a', 'legacy', ?, '{\"text\": \"Of old.\"}', '[]', 0, 0)", (STORED,)
            )  # fmt: skip
    found = reader_of(workspace).sizes(NOW)
    assert (found.memories, found.llm_today) == ({("legacy", "none"): 1}, Spent())


def test_a_workspace_that_was_never_used_has_none_and_a_damaged_store_is_an_error(workspace: Workspace) -> None:
    assert reader_of(workspace).sizes(NOW) == Sizes({}, 0, 0, 0, 0, 0, Spent())
    workspace.memory_db.write_bytes(b"no database" * 1000)
    with pytest.raises(JobError, match="STORE_UNREADABLE"):
        reader_of(workspace).sizes(NOW)
