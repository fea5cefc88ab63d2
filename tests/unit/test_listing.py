"""What is remembered, as lists: read beside a writer, and clear about what cannot be read."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from shelf import STORED, Shelf, legacy, summary

from bridge.memory import Memory
from bridge.search import listing
from bridge.store import database, migrations
from bridge.store.opening import reader_of
from bridge.store.sizes import BY_STATUS
from bridge.store.store import Store
from bridge.store.values import Addition, Spent
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

NOW = "2026-11-20T12:00:00Z"


def titled(memory_id: str, topic_id: str, status: str = "Active") -> Memory:
    return summary(memory_id, "Context", status, topic=f"Title {memory_id} " + "x" * 100, topic_id=topic_id)


@pytest.fixture
def workspace(shelf: Shelf) -> Workspace:
    others = titled("b", "other"), titled("c", "other", "Superseded"), legacy("l", "\n  First line\nSecond")
    return shelf.add(*(titled(f"a{number}", "full") for number in range(5)), *others).workspace


def test_the_newest_memories_come_first_with_a_short_title(workspace: Workspace) -> None:
    found = listing.memories(workspace, 3)
    assert [line["memory_id"] for line in found] == ["l", "c", "b"]
    assert found[0]["title"] == "First line"
    assert len(found[1]["title"]) == 80
    assert (found[1]["status"], found[1]["topic_id"], found[1]["memory_number"]) == ("Superseded", "other", 7)


def test_a_list_can_be_of_one_topic(workspace: Workspace) -> None:
    assert [line["memory_id"] for line in listing.memories(workspace, 50, "other")] == ["c", "b"]
    with pytest.raises(JobError, match=r"TOPIC_NOT_FOUND: There is no topic 'oher'. The nearest: 'other'"):
        listing.memories(workspace, 50, "oher")
    with pytest.raises(JobError, match="TOPIC_NOT_FOUND"):
        listing.history(workspace, 50, "oher")


def test_a_number_may_be_written_as_the_tables_show_it(workspace: Workspace) -> None:
    assert listing.memory(workspace, "#6")["memory_id"] == listing.id_of(workspace, "#6") == "b"
    assert listing.memory(workspace, "b") == listing.memory(workspace, "6")
    assert listing.id_of(workspace, "b") == "b"


@pytest.mark.parametrize("wanted", ["99", "nobody", "", "²", "#", "#99", "#b"])
def test_an_unknown_memory_is_not_found(workspace: Workspace, wanted: str) -> None:
    with pytest.raises(JobError, match="MEMORY_NOT_FOUND"):
        listing.memory(workspace, wanted)


def test_topics_come_by_their_active_memories_and_five_are_worth_compacting(workspace: Workspace) -> None:
    full, other = listing.topics(workspace)
    assert (full["topic_id"], full["memories"], full["active"], full["worth_compacting"]) == ("full", 5, 5, True)
    assert (other["topic_id"], other["memories"], other["active"], other["worth_compacting"]) == ("other", 2, 1, False)
    assert (full["oldest"], full["newest"]) == (STORED, STORED)


def test_a_topic_is_named_by_its_id_or_by_the_exact_title_of_its_newest_memory(
    workspace: Workspace, shelf: Shelf
) -> None:
    shelf.add(summary("x", "Context", topic="发票号", topic_id="topic-263200d7"), summary("y", "Context", topic="full"))
    assert {listing.topic_id_of(workspace, name) for name in (" 发票号 ", "topic-263200d7")} == {"topic-263200d7"}
    assert listing.topic_id_of(workspace, "full") == "full", "an id comes before a title"
    assert listing.topic_id_of(workspace, "Full") == "full", "as its title begins"
    assert listing.topic_id_of(workspace, "发票") == "发票", "no part of a title"
    shelf.add(summary("z", "Context", topic="发票号"))
    with pytest.raises(JobError, match="2 topics have the title '发票号': topic-263200d7, z"):
        listing.topic_id_of(workspace, "发票号")
    workspace.memory.joinpath("memory.db").write_bytes(b"damaged")
    assert listing.topic_id_of(workspace, "发票号") == "发票号"


def test_titles_are_of_what_is_named_and_of_what_goes_along(workspace: Workspace) -> None:
    made = [Addition(titled(name, "made"), migrated_from="o") for name in ("m1", "m2")]
    with closing(Store(workspace, FakeEmbedder(dimensions=64))) as store, store.change(NOW) as change:
        change.additions += [Addition(legacy("o", "Original"), hidden=True), *made]
    assert listing.titles(workspace, ["b", "nobody"], None) == [f"#6 {'Title b ' + 'x' * 72}"]
    of_both = ["#9 Original", f"#10 {'Title m1 ' + 'x' * 71}", f"#11 {'Title m2 ' + 'x' * 71}"]
    assert listing.titles(workspace, ["o"], None) == listing.titles(workspace, ["m2"], None) == of_both
    assert listing.titles(workspace, [], "made") == of_both


@pytest.mark.parametrize("older", range(5, migrations.FORMAT))
def test_an_older_store_is_read_before_conversion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: int) -> None:
    workspace = Workspace(tmp_path / "older")
    workspace.memory.mkdir(mode=0o700, parents=True)
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", {each: migrations.MIGRATIONS[each] for each in range(5, older + 1)})
        patch.setattr(migrations, "FORMAT", older)
        with closing(database.open_for_writing(workspace)) as connection:
            connection.execute(
                "INSERT INTO memories (number, id, kind, stored_at, body, sources, passage_row, passage_count)"
                " VALUES (1, 'a', 'legacy', ?, '{\"text\": \"Of old.\"}', '[]', 0, 0)", (NOW,)
            )  # fmt: skip
    assert listing.memory(workspace, "1")["summary_text"] == "Of old."
    assert listing.id_of(workspace, "1") == "a"
    assert listing.titles(workspace, ["a"], None) == ["#1 Of old."]
    sizes = reader_of(workspace).sizes(clock.parse(NOW))
    assert (sizes.memories, sizes.llm_today) == ({("legacy", "none"): 1}, Spent())


def test_counts_are_by_kind_with_what_the_graph_is_owed(workspace: Workspace) -> None:
    assert listing.counts(workspace) == {
        **dict.fromkeys(("memories", "uncompared", "graph_lag"), 8), "summary": 7, "legacy": 1, "has_graph": False,
    }  # fmt: skip


def test_memories_are_counted_by_an_index(workspace: Workspace) -> None:
    with closing(database.open_for_writing(workspace)) as connection:
        plan = [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {BY_STATUS}")]
    assert any("memories_catalogue" in line for line in plan), plan


def test_a_workspace_that_was_never_used_has_nothing(tmp_path: Path) -> None:
    unused = Workspace(tmp_path / "unused")
    assert listing.memories(unused, 5) == []
    assert listing.topics(unused) == []
    assert listing.counts(unused) == {"memories": 0, "uncompared": 0, "graph_lag": 0, "has_graph": False}
    with pytest.raises(JobError, match="MEMORY_NOT_FOUND"):
        listing.memory(unused, "1")


def test_a_damaged_store_is_an_error_of_the_table(workspace: Workspace) -> None:
    data = bytearray(workspace.memory_db.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    workspace.memory_db.write_bytes(data)
    for look in (lambda: listing.counts(workspace), lambda: listing.memories(workspace, 5)):
        with pytest.raises(JobError, match="STORE_UNREADABLE"):
            look()


def dated(memory_id: str, date: str | None, status: str = "Active", topic_id: str = "t") -> Memory:
    said = {"topic": f"Title {memory_id}", "topic_id": topic_id}
    return summary(memory_id, "Context", status, **said, created_at=None, source_created_at=date)


def test_the_most_recent_memories_are_those_with_the_latest_dates(shelf: Shelf) -> None:
    workspace = shelf.workspace
    assert listing.recent(workspace, 9) == ([], 0)
    shelf.add(
        dated("new", "2026-11-19T12:00:00Z"),
        dated("replaced", "2026-11-18T12:00:00Z", "Superseded"),
        dated("draft", "2026-11-18T12:00:00Z", "Draft"),
        dated("imported", "2024-01-01T12:00:00Z", topic_id="other"),
        dated("undated", None),
        dated("old", "2026-01-01T12:00:00Z"),
    )

    def ids(limit: int = 9, **filters: Any) -> tuple[list[str], int]:
        found, total = listing.recent(workspace, limit, **filters)
        return [memory.id for memory in found], total

    assert ids() == (["new", "old", "imported", "undated"], 4)
    assert ids(2) == (["new", "old"], 4)
    assert ids(include_superseded=True) == (["new", "replaced", "old", "imported", "undated"], 5)
    assert ids(since=datetime(2026, 1, 1, 12, tzinfo=UTC)) == (["new", "old"], 2)
    assert ids(topic_id="other") == (["imported"], 1)
    with pytest.raises(JobError, match=r"TOPIC_NOT_FOUND: There is no topic 'othe'. The nearest: 'other'"):
        ids(topic_id="othe")
    assert {topic["topic_id"]: topic["title"] for topic in listing.topics(workspace)}["t"] == "Title old"
