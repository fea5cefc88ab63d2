"""Replicas of a team's store have the same memories, and give the same answers, as one machine that did the same."""

import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest
from fake_embedder import FakeEmbedder
from team_parts import place_of

from bridge.embedding.config import EmbeddingConfig
from bridge.graph.open_stores import Stores
from bridge.memory import Content, Memory, Metadata
from bridge.operations import follow
from bridge.search.reader import Reader
from bridge.slices import Slices
from bridge.store import values
from bridge.store.store import Store
from bridge.store.team import replica, shared_tables
from bridge.store.team.position import copy_state
from bridge.store.team.team_store import TeamStore
from bridge.store.values import BegunForgetting, Change, KeptExtraction, StatusChange
from bridge.team.postgres_team import PostgresTeam
from bridge.team.rows import Author
from bridge.team.server import Server
from bridge.transfer import export_file, lost_memories
from jobs import steps
from jobs.errors import JobError
from jobs.layout import Workspace
from worker.child import main
from worker.child.protocol import FOLLOW, FORGOTTEN

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
WORDS = "upload gateway session token retry index backup invoice font webhook tenant cache shard".split()


@pytest.fixture
def server(dsn: str) -> Iterator[Server]:
    server = Server(dsn)
    yield server
    server.close()


class Machines:
    """The machines of a team, each with its folder, and one machine without a team that does the same."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.server = server
        self.alone_at = place_of(folder / "alone")
        self.alone = Store(self.alone_at, FakeEmbedder())
        self.places = [place_of(folder / "first")]
        self.workspace_id = str(uuid4())
        self.stores = [self.store("first", may_share=True)]
        with self.alone._connection as connection:
            connection.execute("UPDATE meta SET value = ? WHERE key = 'workspace_id'", (self.workspace_id,))

    def store(self, name: str, *, may_share: bool = False) -> TeamStore:
        """The copy of the machine that joined last."""
        team, author = PostgresTeam(self.server), Author(name)
        return TeamStore(self.places[-1], FakeEmbedder(), team, self.workspace_id, author, may_share=may_share)

    def join(self, folder: Path) -> TeamStore:
        self.places.append(place_of(folder))
        store = self.store(folder.name)
        store.catch_up()
        self.stores.append(store)
        store.catch_up()
        return store

    def close(self) -> None:
        for store in (self.alone, *self.stores):
            store.close()


@pytest.fixture
def machines(tmp_path: Path, server: Server) -> Iterator[Machines]:
    machines = Machines(tmp_path, server)
    yield machines
    machines.close()


def shared_rows(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All shared rows, and the numbers given."""
    found = {}
    for table in shared_tables.TABLES:
        columns = ", ".join(shared_tables.quoted(name) for name in table.columns(store._connection))
        found[table.name] = store._connection.execute(f"SELECT {columns} FROM {table.name} ORDER BY 1, 2").fetchall()
    query = "SELECT name, seq FROM sqlite_sequence WHERE name IN ('memories', 'compactions') ORDER BY 1"
    return found | {"numbers": store._connection.execute(query).fetchall()}


def answers(place: Workspace) -> str:
    """What the machine answers to questions, as bytes of JSON text."""
    reader = Reader(place, EmbeddingConfig(cache_dir=Path()), lambda _: FakeEmbedder())
    said = []
    for query in (*WORDS, "token retry of the upload", "which font has an invoice"):
        found = reader.answer("retrieve", {"query": query, "max_results": 50, "relevance_floor": 0.0}, NOW)
        assert found["success"], found
        said.append(found)
    return json.dumps(said, sort_keys=True, default=str)


class Script:
    """Random changes of every kind, the same for the same seed. A step returns the change that it asks for."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.count = 0

    def step(self, store: Store) -> Callable[[Change], None]:
        ids = store.all_ids()
        kinds = [self.add] * 3
        if ids:
            kinds += [self.status, self.drop, self.hide, self.feedback, self.compact, self.extract, self.capture]
            kinds += [self.forget, self.bring_back]
        return self.dice.choice(kinds)(sorted(ids), store)

    def change(self, store: Store, times: int) -> None:
        """Change the store so often."""
        for _ in range(times):
            asked, at = self.step(store), self.at()
            with store.change(at) as change:
                asked(change)

    def at(self) -> str:
        self.count += 1
        return f"2026-11-20T{self.count // 3600 % 24:02d}:{self.count // 60 % 60:02d}:{self.count % 60:02d}Z"

    def memory(self, memory_id: str | None = None, number: int = 0) -> Memory:
        text = " ".join(self.dice.choices(WORDS, k=self.dice.randint(3, 90)))
        known = Metadata(
            self.dice.choice(["uploads", "billing", None]), "session", "plan-1",
            self.dice.choice(["Active", "Draft"]), self.at(), self.at(), None, self.dice.random(),
        )  # fmt: skip
        content = Content(self.dice.choice(WORDS), text + ".", (f"Use {self.dice.choice(WORDS)}.",))
        return Memory(memory_id or self.new_id(), number, "summary", known, self.at(), content)

    def new_id(self) -> str:
        return f"00000000-0000-4000-8000-{self.dice.getrandbits(48):012x}"

    def add(self, ids: list[str], store: Store) -> Callable[[Change], None]:
        new = [values.Addition(self.memory(), "job") for _ in range(self.dice.randint(1, 3))]
        if self.dice.random() < 0.2:
            new.append(values.Addition(self.memory(number=store.last_number() + 4), "job"))
        if self.dice.random() < 0.2:
            new.append(values.Addition(self.memory(), "job", hidden=True))
        return lambda change: change.additions.extend(new)

    def status(self, ids: list[str], store: Store) -> Callable[[Change], None]:
        summaries = [one for one in self.some(ids) if store.select([one])[one].kind == "summary"]
        new = [StatusChange(one, self.dice.choice(["Active", "Superseded"]), self.at()) for one in summaries]
        return lambda change: change.statuses.extend(new)

    def drop(self, ids: list[str], store: Store) -> Callable[[Change], None]:
        chosen = self.some(ids)
        return lambda change: change.dropped.extend(chosen)

    def hide(self, ids: list[str], store: Store) -> Callable[[Change], None]:
        visible = [one for one in ids if not store.is_hidden(one)][:1]
        return lambda change: change.hidden.extend(visible)

    def bring_back(self, ids: list[str], store: Store) -> Callable[[Change], None]:
        hidden = [values.Addition(self.memory(one), "job") for one in ids if store.is_hidden(one)][:1]
        return lambda change: change.additions.extend(hidden)

    def feedback(self, ids: list[str], store: Store) -> Callable[[Change], None]:
        given = [values.Feedback(one, "someone", "helpful", self.at(), "why?", "It held.") for one in self.some(ids)]
        return lambda change: change.feedback.extend(given)

    def compact(self, ids: list[str], store: Store) -> Callable[[Change], None]:
        chosen = store.select([one for one in self.some(ids) if not store.is_hidden(one)])
        sources = [one for one, memory in chosen.items() if memory.kind == "summary"]
        record = Memory(
            self.new_id(), 0, "decision_record", Metadata("uploads", status="DecisionRecord", created_at=self.at()),
            self.at(), Content("Uploads", "Merged.", ("Retry five times.",)), "", tuple(sources),
        )  # fmt: skip
        made = values.Compaction(
            record.id, "uploads", self.at(), values.AppliedJob("compact", "a" * 64), "digest",
            tuple(values.Source(one, "0" * 64, "Active", None) for one in sources), (), "template",
        )  # fmt: skip

        def compacted(change: Change) -> None:
            change.statuses += [StatusChange(one, "Superseded", made.applied_at) for one in sources]
            change.compactions.append(made)
            change.additions += [values.Addition(record, "job")]

        return compacted

    def extract(self, ids: list[str], store: Store) -> Callable[[Change], None]:
        chosen = self.some(ids)
        found = values.Extraction((values.ExtractedNode("n", "Entity", ("name",), {"name": "x"}),))
        return lambda change: change.extractions.extend(KeptExtraction(one, found, "job") for one in chosen)

    def capture(self, ids: list[str], store: Store) -> Callable[[Change], None]:
        session = values.CapturedSession("codex", self.dice.choice("abc"), "/p", "v", "captured", self.at())
        source = values.CaptureSource(
            ids[0], "codex", session.session_id, "/p", "1", "2", "rules", 0.3, (), self.at(), "job"
        )

        def captured(change: Change) -> None:
            change.captured_sessions.append(session)
            change.capture_sources.append(source)

        return captured

    def forget(self, ids: list[str], store: Store) -> Callable[[Change], None]:
        chosen, at = self.some(ids), self.at()
        job = values.AppliedJob(f"forget-{self.count}", "c" * 64)

        def forgotten(change: Change) -> None:
            change.dropped += chosen
            change.extractions_to_drop += chosen
            change.tombstones += chosen
            change.forgettings.append(BegunForgetting(job, at, values.Plan(tuple(chosen))))

        return forgotten

    def some(self, ids: list[str]) -> list[str]:
        return self.dice.sample(ids, min(len(ids), self.dice.randint(1, 3)))


@pytest.mark.parametrize("seed", range(4))
def test_machines_that_take_turns_end_with_what_one_machine_would_have(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(replica, "_TOGETHER", (1, 2000)[seed % 2])
    machines.join(tmp_path / "second")
    script, dice = Script(seed), random.Random(seed)
    for number in range(60):
        writer = dice.choice(machines.stores)
        writer.catch_up()
        asked = script.step(writer)
        at, job = script.at(), values.AppliedJob(f"job-{number}", "d" * 64)
        for store in (machines.alone, writer):
            with store.change(at, [job]) as change:
                asked(change)
    late = machines.join(tmp_path / "late")
    expected, said = shared_rows(machines.alone), answers(machines.alone_at)
    for store in machines.stores:
        store.catch_up()
        assert shared_rows(store) == expected
    assert [answers(place) for place in machines.places] == [said] * 3
    assert late.catch_up() == 0, "what is applied is applied once"


def test_a_change_for_a_state_that_is_past_is_refused_everywhere(machines: Machines, tmp_path: Path) -> None:
    first, second = machines.stores[0], machines.join(tmp_path / "second")
    script = Script(1)
    with first.change(script.at()) as change:
        change.additions += [values.Addition(script.memory())]
    with pytest.raises(JobError, match="TEAM_CONFLICT"), second.change(script.at()) as change:
        change.additions += [values.Addition(script.memory())]
    assert second.count() == 0
    second.catch_up()
    with second.change(script.at()) as change:
        change.additions += [values.Addition(script.memory())]
    first.catch_up()
    assert shared_rows(first) == shared_rows(second)
    assert [memory.number for memory in first.after(0, 9)] == [1, 2]


@pytest.mark.parametrize("point", ["before:team.commit", "after:team.commit", "after:memory.commit"])
def test_what_is_committed_for_the_team_is_in_the_copy_after_a_crash(
    machines: Machines, tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        pass

    def crash(here: str) -> None:
        if here == point:
            raise Crash

    script, job = Script(1), values.AppliedJob("job", "a" * 64)
    store = machines.stores.pop()
    with monkeypatch.context() as patch:
        patch.setattr(steps, "_fault", crash)
        with pytest.raises(Crash), store.change(script.at(), [job]) as change:
            change.additions += [values.Addition(script.memory())]
    store.close()
    again = machines.store("first")
    machines.stores.append(again)
    again.catch_up()
    is_there = point != "before:team.commit"
    assert (again.count(), again.is_applied(job)) == (int(is_there), is_there)
    assert shared_rows(machines.join(tmp_path / "second")) == shared_rows(again)


Backup = dict[str, list[tuple[Any, ...]]]


def backup(server: Server) -> Backup:
    with server.connection() as connection:
        return {
            name: connection.execute(f"SELECT * FROM {name}".encode()).fetchall()
            for name in ("workspaces", "rows", "changes")
        }


def restore(server: Server, saved: Backup) -> None:
    with server.connection() as connection, connection.transaction():
        connection.execute("DELETE FROM workspaces")
        for name, found in saved.items():
            for row in found:
                values = [json.dumps(value) if isinstance(value, dict | list) else value for value in row]
                connection.execute(f"INSERT INTO {name} VALUES ({', '.join(['%s'] * len(row))})".encode(), values)


def test_a_copy_is_made_anew_if_the_database_lost_last_changes(machines: Machines, tmp_path: Path, dsn: str) -> None:
    """As after a restore from a backup, where others went on from an earlier state."""
    first, second = machines.stores[0], machines.join(tmp_path / "second")
    script = Script(7)
    script.change(first, 12)
    second.catch_up()
    kept = shared_rows(second)
    saved = backup(machines.server)
    script.change(first, 8)
    restore(machines.server, saved)
    script.change(second, 9)
    assert shared_rows(first) != kept
    first.catch_up()
    assert shared_rows(first) == shared_rows(second)
    assert answers(machines.places[0]) == answers(machines.places[1])


def test_what_the_database_lost_is_exported_without_what_was_forgotten(machines: Machines, tmp_path: Path) -> None:
    first, second = machines.stores[0], machines.join(tmp_path / "second")
    script = Script(3)
    with_topic = (each for each in iter(script.memory, None) if each.metadata.topic_id is not None)
    before, lost, forgotten_here, forgotten_there, still = islice(with_topic, 5)

    def add(store: TeamStore, *memories: Memory) -> None:
        with store.change(script.at()) as change:
            change.additions += [values.Addition(each) for each in memories]

    def forget(store: TeamStore, memory: Memory) -> None:
        with store.change(script.at()) as change:
            change.tombstones += [memory.id]
            change.dropped += [memory.id] if store.known(memory.id) else []

    add(first, before, still)
    second.catch_up()
    saved = backup(machines.server)
    add(first, lost, forgotten_here, forgotten_there)
    forget(first, forgotten_here)
    forget(first, before)
    restore(machines.server, saved)
    forget(second, forgotten_there)

    assert follow_with(first, machines.places[0]) > 0
    assert shared_rows(first) | {"numbers": []} == shared_rows(second) | {"numbers": []}, "no number is given again"
    [kept] = lost_memories.all_set_aside(machines.places[0])
    with kept.memories.open("rb") as file:
        checked = export_file.inspect(file, Slices(lambda _: None, "", 1))
    assert checked.ids == {lost.id}
    assert kept.forgotten.read_text().split() == [before.id]
    assert not lost_memories.all_set_aside(machines.places[1]), "what was not ahead lost nothing"

    assert not lost_memories.is_settled(machines.places[0], kept)
    add(first, lost)
    assert not lost_memories.is_settled(machines.places[0], kept), "what was forgotten is still there"
    forget(first, before)
    assert lost_memories.is_settled(machines.places[0], kept), "all is back, and forgotten again"

    second.catch_up()
    forget(second, lost)
    follow_with(first, machines.places[0])
    [plan] = first.forgettings.unfinished()[-1:]
    assert kept.memories.relative_to(machines.places[0].root).as_posix() in plan.files


def follow_with(store: TeamStore, place: Workspace) -> int:
    """Follow as the worker's child does."""
    stores = cast(Stores, SimpleNamespace(store=store, workspace=place))
    return follow.catch_up(stores, datetime(2026, 11, 20, 13, tzinfo=UTC))


def test_a_workspace_with_memories_does_not_join_by_itself(tmp_path: Path, server: Server) -> None:
    place = place_of(tmp_path / "own")
    with ExitStack() as stack:
        own = Store(place, FakeEmbedder())
        stack.callback(own.close)
        own.add([(Script(1).memory(), None)], "2026-11-20T12:00:00Z")
    with pytest.raises(JobError, match="TEAM_NOT_SHARED"):
        TeamStore(place, FakeEmbedder(), PostgresTeam(server), str(uuid4()), Author("second"), may_share=True)
    with sqlite3.connect(place.memory_db) as connection:
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (1,)


def test_rows_in_parts_equal_whole_ones(machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory that was dropped and came back has another number: the rows of both may be in two parts."""
    script = Script(3)
    first = machines.stores[0]
    for _ in range(12):
        first.add([(script.memory(), None)], script.at())
    second = machines.join(tmp_path / "second")
    [ninth] = first.select(first.all_ids()[8:9]).values()
    with first.change(script.at()) as change:
        change.dropped += [ninth.id]
    first.add([(ninth, None)], script.at())
    monkeypatch.setattr(replica, "_TOGETHER", 1)
    second.catch_up()
    third = machines.join(tmp_path / "third")
    assert shared_rows(first) == shared_rows(second) == shared_rows(third)
    assert answers(machines.places[0]) == answers(machines.places[1]) == answers(machines.places[2])


def test_what_others_forget_while_copies_are_removed_is_not_noted_as_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the removal and the note about it, further changes may have come: they wait for the next removal."""
    noted: list[str] = []
    monkeypatch.setattr(follow, "catch_up", lambda *_: noted.append("caught up"))
    monkeypatch.setattr(follow, "finish", lambda *_: noted.append("finished"))
    server = main.Server(None, None)  # type: ignore[arg-type]
    server._stores, server._depth = SimpleNamespace(is_in_team=True, renew=lambda: None), 1  # type: ignore[assignment]
    assert server._tried(FORGOTTEN, [], lambda _: None) == {}
    assert noted == ["finished"]
    noted.clear()
    monkeypatch.setattr(follow, "remove_forgotten", lambda *_: None)
    assert server._tried(FOLLOW, [], lambda _: None) == {}
    assert noted == ["caught up"]


def test_a_row_that_a_copy_cannot_apply_is_set_aside_until_it_is_well_again(tmp_path: Path, machines: Machines) -> None:
    """As a database has it that took rows before they were checked."""
    [first] = machines.stores
    first.add([(Script(1).memory(), "job")], "2026-11-20T12:00:00Z")
    second = machines.join(tmp_path / "second")

    def write(statement: str, *values: Any) -> None:
        with machines.server.connection() as connection, connection.transaction():
            (seq,) = connection.execute(
                "UPDATE workspaces SET last_seq = last_seq + 1, last_change = gen_random_uuid() WHERE id = %s"
                " RETURNING last_seq",
                (machines.workspace_id,),
            ).fetchone() or (0,)
            connection.execute(
                "INSERT INTO changes (workspace_id, seq, id, node, jobs, row_count)"
                " SELECT id, last_seq, last_change, 'evil', '[]', 0 FROM workspaces WHERE id = %s",
                (machines.workspace_id,),
            )
            connection.execute(statement.encode(), (*values, seq, machines.workspace_id))

    copied = (
        "INSERT INTO rows (tbl, key, value, vectors, vectors_seq, seq, workspace_id)"
        " SELECT tbl, %s, %s::json, vectors, NULL, %s, workspace_id FROM rows"
        " WHERE workspace_id = %s AND tbl = 'memories' AND key = '[1]'"
    )
    with machines.server.connection() as connection:
        (value,) = connection.execute(
            "SELECT value FROM rows WHERE workspace_id = %s AND tbl = 'memories'", (machines.workspace_id,)
        ).fetchone() or ({},)
    write(copied, '[{"x":1}]', None)
    write(copied, "[ 2 ]", json.dumps(value))
    write(copied, "[3]", json.dumps({**value, "number": 3, "body": "[1"}))
    write(copied, "[4]", json.dumps({**value, "number": 4}))
    for store in (first, second):
        store.catch_up()
    first.add([(Script(2).memory(), "job")], "2026-11-20T12:00:01Z")
    second.catch_up()
    assert shared_rows(second) == shared_rows(first)
    assert len(second.all_ids()) == 2
    for place in machines.places:
        left_out = {each.key: each.why for each in copy_state(place).set_aside}
        assert left_out.keys() == {'[{"x":1}]', "[ 2 ]", "[3]", "[4]"}
    well = "UPDATE rows SET value = NULL, seq = %s WHERE workspace_id = %s AND tbl = 'memories' AND key = '[4]'"
    write(well)
    second.catch_up()
    assert {each.key for each in copy_state(machines.places[1]).set_aside} == {'[{"x":1}]', "[ 2 ]", "[3]"}
