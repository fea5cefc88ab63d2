"""The gateway: machines without the database's address work as those with it, and no person reaches another's memories.

A real gateway process over a real Postgres, with a role of its own that row-level security binds.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from gateways import Hosted
from harness import PATIENCE, Place, until
from postgres import cluster
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from starlette.testclient import TestClient

from bridge.team import membership, people, schema, wire
from bridge.team.postgres_team import PostgresTeam
from bridge.team.rows import Author, Described, Position, SharedRow
from bridge.team.server import PersonsConnections, Server
from jobs import clock, lifecycle
from jobs.errors import JobError
from jobs.model import encode
from jobs.parse import parse_job
from worker.gateway.access import Caller
from worker.gateway.app import Gateway
from worker.gateway.limits import Limits
from worker.gateway.polls import Polls

NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    with cluster() as server:
        hosted = Hosted(tmp_path_factory.mktemp("hosted"), server.dsn)
        hosted.start()
        yield hosted
        hosted.stop()
        hosted.server.close()


def machine(folder: Path, hosted: Hosted, token: str, workspace_id: str, cache: Path, *, shares: bool = False) -> Place:
    place = Place(
        folder,
        COGNEE_MEMORY_TEAM=hosted.address,
        COGNEE_MEMORY_TEAM_TOKEN=token,
        COGNEE_MEMORY_CACHE_DIR=str(cache),
    )
    membership.join(place.workspace, place.config, workspace_id, shares=shares)
    return place


def summary(topic: str) -> dict[str, Any]:
    return {"summary": {"topic": topic, "context": "What was said.", "decisions": [f"{topic}."]}}


def test_machines_of_a_group_remember_together_through_the_gateway(
    hosted: Hosted, tmp_path: Path, model_cache: Path
) -> None:
    group, workspace_id = f"group-{uuid4()}", str(uuid4())
    anns, bobs = hosted.token("ann", group), hosted.token("bob", group)
    first = machine(tmp_path / "ann", hosted, anns, workspace_id, model_cache, shares=True)
    second = machine(tmp_path / "bob", hosted, bobs, workspace_id, model_cache)
    with first.worker():
        told = first.submit("ingest", summary("The queue is a spool"))
        assert first.ended(told).state == "succeeded"
        with hosted.server.connection() as connection:
            assert people.give(connection, workspace_id, "ann", group)
        with second.worker():
            said = second.submit("ingest", summary("Invoices are rounded up"))
            assert second.ended(said).state == "succeeded"
            for place in (first, second):
                until(lambda place=place: place.json("memories", "list")["total"] == 2 or None, "both are here")
            copies = first.json("team", "status")["team"]["copies"]
            assert {each["node"].split("/")[0] for each in copies} == {"ann", "bob"}


_NOTE = """
import sys
from pathlib import Path
from bridge.search import following
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

following.ASK_SECONDS = 60.0
try:
    print(following.note(Workspace(Path(sys.argv[1])), clock.now(), catch_up_seconds=float(sys.argv[2])))
except JobError as error:
    print(error.code)
"""


def noted(place: Place, catch_up_seconds: float) -> str:
    """What a command would say of the copy, however busy the machine is."""
    return place.python("-c", _NOTE, str(place.workspace.root), str(catch_up_seconds)).stdout.strip()


def test_a_member_who_only_reads_follows_again_and_gets_nothing_that_was_forgotten_meanwhile(
    tmp_path: Path, hosted: Hosted, model_cache: Path
) -> None:
    group, workspace_id = f"group-{uuid4()}", str(uuid4())
    writer = machine(tmp_path / "w", hosted, hosted.token(f"w-{group}", group), workspace_id, model_cache, shares=True)
    reader = machine(tmp_path / "r", hosted, hosted.token(f"r-{group}", group), workspace_id, model_cache)
    with writer.worker():
        stored = writer.ended(writer.submit("ingest", summary("The quokkazebra is a lock")))
        with hosted.server.connection() as connection:
            assert people.give(connection, workspace_id, f"w-{group}", group)
        with reader.worker():
            until(lambda: reader.json("memories", "list")["total"] == 1 or None, "it is here")
        assert noted(reader, 0.0) == "None", "nothing is missing"
        until(lambda: reader.cli("worker", "stop").returncode == 0 or None, "one was started")
        os.utime(reader.spool.worker / "start.log", (0, 0))  # as if it were long ago
        gone = writer.submit("forget", {"memory_ids": [(stored.result or {})["memory_id"]]})
        assert writer.ended(gone).state == "succeeded"
        assert noted(reader, 0.0) == "TEAM_COPY_BEHIND"
        assert noted(reader, PATIENCE) == "None"
        assert reader.json("memories", "list")["total"] == 0
        assert reader.cli("worker", "stop").returncode == 0


def test_a_workspace_is_shared_through_the_gateway_by_the_command(
    hosted: Hosted, tmp_path: Path, model_cache: Path
) -> None:
    place = Place(
        tmp_path / "laptop",
        COGNEE_MEMORY_TEAM=hosted.address,
        COGNEE_MEMORY_TEAM_TOKEN=hosted.token(f"erin-{uuid4()}"),
        COGNEE_MEMORY_CACHE_DIR=str(model_cache),
    )
    try:
        answer = place.json("team", "share")
        assert (answer["success"], answer.get("is_current")) == (True, True), answer
    finally:
        place.cli("worker", "stop")


# --- walls ---


class Strangers:
    """Ann's workspace with a row, and Bob, who is in no group of hers."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted = hosted
        self.ann, self.bob = f"ann-{uuid4()}", f"bob-{uuid4()}"
        self.anns, self.bobs = hosted.token(self.ann), hosted.token(self.bob)
        self.workspace_id = str(uuid4())
        with hosted.team(self.anns) as team:
            row = SharedRow("tombstones", json.dumps(["x"]), {"id": "x", "forgotten_at": "2026-11-20T12:00:00Z"})
            what = Described(self.workspace_id, "ann's", 8, "a model", 3)
            team.share(what, str(uuid4()), [row], Author("laptop"))


@pytest.fixture(scope="module")
def strangers(hosted: Hosted) -> Strangers:
    return Strangers(hosted)


def bodies(workspace_id: str) -> dict[str, dict[str, Any]]:
    """A valid body for each route that is about a workspace."""
    record = {
        "schema_version": 1, "job_id": "a", "kind": "noop", "job_sha256": "0" * 64, "state": "queued",
        "generation": 1, "attempt": 0, "max_attempts": 4, "priority": 0,
    }  # fmt: skip
    more: dict[str, dict[str, Any]] = {
        "look": {"node": "n", "seconds": 30.0},
        "take": {"node": "n", "seconds": 30.0},
        "renew": {"lease": 7, "seconds": 30.0},
        "release": {"lease": 7},
        "due": {"lease": 7, "node": "n", "limit": 10},
        "running": {"lease": 7},
        "write": {"lease": 7, "records": []},
        "cancel_requests": {"lease": 7},
        "is_committed": {"record": record},
        "forget_texts": {"lease": 7},
        "post": {"node": "n", "jobs": []},
        "reports": {"node": "n"},
        "acknowledge": {"node": "n", "seen": []},
        "cancel": {"job_id": "a"},
        "note_copy": {"node": "n", "applied_seq": 0, "version": "0", "has_removed_all": True, "runs_jobs": True},
        "remove_copy": {"node": "n"},
        "failed_jobs": {"limit": 50},
        "incoming": {"seq": 0, "change": ""},
        "missing": {"seq": 0, "change": ""},
        "commit": {"seq": 1, "change": "", "jobs": [], "node": "n", "lease": None, "format": 8},
        "listen": {"seconds": 0.1, "node": "n"},
        "answer": {"verb": "retrieve", "arguments": {"query": "x"}, "root": "/"},
    }  # fmt: skip
    of_workspaces = [name for name, each in wire.OPERATIONS.items() if issubclass(each.body, wire.Call)]
    return {
        name: {"workspace_id": workspace_id, **more.get(name, {})}
        for name in [*of_workspaces, "incoming", "commit", "listen", "answer"]
    }


def ask(hosted: Hosted, name: str, body: dict[str, Any], token: str) -> httpx.Response:
    content = json.dumps(body).encode() + b"\n" + (wire.END if name in ("commit", "share") else b"")
    return httpx.post(
        hosted.address + wire.PREFIX + name, content=content, headers={"Authorization": f"Bearer {token}"}
    )


@pytest.mark.parametrize("name", sorted(bodies(NOBODY)))
def test_no_route_shows_or_changes_another_persons_workspace(strangers: Strangers, name: str) -> None:
    hosted, body = strangers.hosted, bodies(strangers.workspace_id)[name]
    before = dump(hosted, strangers.workspace_id)
    theirs = ask(hosted, name, body, strangers.bobs)
    nowhere = ask(hosted, name, bodies(NOBODY)[name], strangers.bobs)
    assert (theirs.status_code, theirs.json()["error_code"]) == (404, "TEAM_NOT_SHARED")
    assert theirs.json() == nowhere.json(), "it does not tell whether there is such a workspace"
    assert dump(hosted, strangers.workspace_id) == before


@pytest.mark.parametrize("name", sorted(bodies(NOBODY)))
def test_each_route_answers_the_person_whose_workspace_it_is(strangers: Strangers, name: str) -> None:
    """So that the refusals above are not those of a broken request."""
    answer = ask(strangers.hosted, name, bodies(strangers.workspace_id)[name], strangers.anns)
    expected = (409,) if name in ("write", "forget_texts", "commit") else (200,)  # without the lease, or the position
    if name == "answer":
        assert answer.json()["error_code"] == "TEAM_NO_COPY", "this gateway answers no questions"
    else:
        assert answer.status_code in expected, answer.text


def dump(hosted: Hosted, workspace_id: str) -> list[Any]:
    with hosted.server.connection() as connection:
        return [
            connection.execute(
                f"SELECT {table}::text FROM {table} WHERE {key} = %s ORDER BY 1".encode(), (workspace_id,)
            ).fetchall()
            for table, key in [("rows", "workspace_id"), ("changes", "workspace_id"), ("jobs", "workspace_id"),
                               ("copies", "workspace_id"), ("workspaces", "id")]
        ]  # fmt: skip


def test_row_level_security_alone_shows_and_changes_nothing_of_another_persons_workspace(strangers: Strangers) -> None:
    """As if the gateway's own check were missing: Bob's requests about Ann's workspace, with the gateway's role."""
    server = Server(strangers.hosted.gateway_dsn, upgrades=False)
    before = dump(strangers.hosted, strangers.workspace_id)
    mine = PostgresTeam(PersonsConnections(server, strangers.ann, strangers.workspace_id))
    theirs = PostgresTeam(PersonsConnections(server, strangers.bob, strangers.workspace_id))
    try:
        assert mine.registered(strangers.workspace_id) is not None, "the role can read at all"
        with mine.incoming(strangers.workspace_id, Position(0, "")) as found:
            assert found is not None
            assert [row.key for _, row in found.rows] == ['["x"]']
        assert theirs.registered(strangers.workspace_id) is None
        assert theirs.take("n", [strangers.workspace_id], 30) is None
        assert theirs.workspaces(100) == []
        assert theirs.copies(strangers.workspace_id) == []
        assert theirs.overview(strangers.workspace_id) is None
        assert theirs.failed_jobs(strangers.workspace_id, 50) == []
        with theirs.incoming(strangers.workspace_id, Position(0, "")) as found:
            assert found is None
        with pytest.raises(JobError):
            theirs.commit(strangers.workspace_id, Position(1, ""), [], [], Author("n"), 8)
        with pytest.raises(JobError):
            theirs.post(strangers.workspace_id, "n", [])
        with pytest.raises(JobError):
            theirs.note_copy(strangers.workspace_id, "n", 1, "0", True, runs_jobs=True)
        what = Described(str(uuid4()), "in Ann's name", 8, "m", 3, strangers.ann)
        with pytest.raises(JobError):
            theirs.share(what, str(uuid4()), [], Author("n"))
        with PersonsConnections(server, "", None).connection() as connection:
            for table in ("workspaces", "rows", "changes", "jobs", "job_askers", "copies"):
                assert connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,), table
        bobs = PersonsConnections(server, strangers.bob, None)
        for denied in ("UPDATE tokens SET person = person", "INSERT INTO persons VALUES ('x')", "SET ROLE cognee"):
            with bobs.connection() as connection, refused(connection):
                connection.execute(denied.encode())
        with server.connection() as connection:
            left = connection.execute("SELECT current_setting('cognee_memory.person', true)").fetchone()
        assert left in ((None,), ("",)), "a connection keeps nothing of the person that it was used for"
    finally:
        server.close()
    assert dump(strangers.hosted, strangers.workspace_id) == before


def test_the_gateways_role_runs_nothing_with_the_rights_of_the_owner(strangers: Strangers) -> None:
    """Temporary views in front of all tables, which call a function: no function of the owner may look at them."""
    hosted, evil = strangers.hosted, "pg_temp.evil()"
    denied = pytest.raises(psycopg.errors.InsufficientPrivilege)
    with psycopg.connect(hosted.gateway_dsn, autocommit=True) as role, denied:
        role.execute("CREATE TEMP TABLE x (a integer)")
    with psycopg.connect(hosted.dsn, autocommit=True) as owner:
        database = owner.info.dbname
        owner.execute(f'GRANT TEMPORARY ON DATABASE "{database}" TO gateway'.encode())
        tables = [
            name for (name,) in owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'cognee_memory'")
        ]
        functions = owner.execute(
            "SELECT p.oid::regprocedure::text, p.pronargs, p.proconfig FROM pg_proc AS p WHERE p.prosecdef"
            " AND p.pronamespace = 'cognee_memory'::regnamespace"
        ).fetchall()
    assert functions, "the walls have one"
    with psycopg.connect(hosted.gateway_dsn, autocommit=True) as role:
        role.execute(
            "CREATE FUNCTION pg_temp.evil() RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$ BEGIN"
            " INSERT INTO cognee_memory.persons VALUES ('forged by ' || current_user); RETURN NULL; END $$"
        )
        for table in tables:
            columns = f"{evil} AS id, 'mallory'::text AS person, NULL::text AS group_name"
            role.execute(f"CREATE TEMP VIEW {table} AS SELECT {columns}".encode())
        for path in ("pg_temp, cognee_memory", "cognee_memory, pg_catalog"):
            role.execute(f"SET search_path = {path}".encode())
            for signature, arguments, configuration in functions:
                assert any(each.endswith("pg_temp") for each in configuration), f"{signature}: pg_temp comes last"
                name = signature.partition("(")[0]
                nothing = ", ".join(["NULL"] * arguments)
                role.execute(f"SELECT cognee_memory.{name.removeprefix('cognee_memory.')}({nothing})".encode())
    with psycopg.connect(hosted.dsn, autocommit=True) as owner:
        owner.execute(f'REVOKE TEMPORARY ON DATABASE "{database}" FROM gateway'.encode())
        assert owner.execute("SELECT name FROM cognee_memory.persons WHERE name LIKE 'forged%'").fetchall() == []


@contextmanager
def refused(connection: psycopg.Connection[Any]) -> Iterator[None]:
    with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
        yield


def test_a_role_for_hosts_works_with_all_workspaces_and_can_change_no_table_and_read_no_token(
    strangers: Strangers, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted = strangers.hosted
    with hosted.server.connection() as connection:
        connection.execute(b"CREATE ROLE host LOGIN PASSWORD 'x'")
        for _ in range(2):
            people.allow_host(connection, "host")
    dsn = make_conninfo(**conninfo_to_dict(hosted.dsn) | {"user": "host", "password": "x"})
    server = Server(dsn)
    team = PostgresTeam(server)
    workspace_id = str(uuid4())
    try:
        team.share(Described(workspace_id, "the host's", 8, "a model", 3), str(uuid4()), [], Author("host"))
        found = team.registered(strangers.workspace_id)
        assert found is not None
        assert {workspace_id, strangers.workspace_id} <= {each.workspace_id for each in team.workspaces(1000)}
        team.commit(strangers.workspace_id, found.position, [], [], Author("host"), 8)
        lease = team.take("host", [workspace_id], 30)
        assert lease is None, "no job is due"
        for denied in ("SELECT 1 FROM tokens", "SELECT 1 FROM persons", "DROP TABLE rows", "ALTER TABLE rows ADD x int",
                       "CREATE TABLE cognee_memory.mine (x int)", "DROP POLICY own ON rows"):  # fmt: skip
            with server.connection() as connection, refused(connection):
                connection.execute(denied.encode())
        monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "ALTER TABLE jobs ADD note text"))
        monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
        with pytest.raises(JobError) as caught:
            team.time()
        assert (caught.value.code, "team database" in caught.value.remediation) == ("TEAM_UNUSABLE", True)
    finally:
        server.close()


def test_a_revoked_an_expired_and_an_invented_token_are_refused_at_once(hosted: Hosted) -> None:
    token = hosted.token(f"carol-{uuid4()}")
    with hosted.team(token) as team:
        team.time()
        with hosted.server.connection() as connection:
            assert people.revoke_token(connection, token.split("_")[1])
        with pytest.raises(JobError) as caught:
            team.time()
        assert caught.value.code == "TEAM_REFUSED"
    person = f"dave-{uuid4()}"
    hosted.token(person)
    with hosted.server.connection() as connection:
        expired = people.create_token(connection, person, "m", -1)
    for wrong in (expired, token[:-1] + "x", "cmt_1_2", "cmt__", "x" * 5000):
        answer = httpx.post(
            hosted.address + wire.PREFIX + "time", json={}, headers={"Authorization": f"Bearer {wrong}"}
        )
        assert (answer.status_code, answer.json()["error_code"]) == (401, "TEAM_REFUSED")
    assert httpx.post(hosted.address + wire.PREFIX + "time", json={}).status_code == 401


# --- machines that wait ---


def listen(strangers: Strangers, mark: float | None, seconds: float) -> dict[str, Any]:
    body = {"workspace_id": strangers.workspace_id, "node": "laptop", "mark": mark, "seconds": seconds}
    answer = ask(strangers.hosted, "listen", body, strangers.anns)
    return dict(answer.json()["value"])


def test_who_waits_hears_of_what_happened_between_two_of_its_requests(strangers: Strangers) -> None:
    first = listen(strangers, None, 20.0)
    assert first["changed"], "it has not heard of anything yet"
    assert not listen(strangers, first["mark"], 0.1)["changed"]
    with strangers.hosted.team(strangers.anns) as team:
        team.tell(strangers.workspace_id)
    heard = listen(strangers, first["mark"], 20.0)
    assert heard["changed"]
    assert listen(strangers, first["mark"], 20.0)["changed"], "as of that mark, also if the answer was lost"
    assert not listen(strangers, heard["mark"], 0.1)["changed"]


def test_an_earlier_version_that_waits_is_told_whether_a_notice_came(strangers: Strangers) -> None:
    body = {"workspace_id": strangers.workspace_id, "seconds": 0.1}
    assert ask(strangers.hosted, "listen", body, strangers.anns).json()["value"] is False


class Counted(Limits):
    """Limits that count the requests."""

    requests = 0

    def spend(self, person: str, now: float) -> None:
        self.requests += 1


def test_a_request_counts_against_the_limit_unless_it_waits(strangers: Strangers) -> None:
    server, limits = Server(strangers.hosted.gateway_dsn, upgrades=False), Counted(1.0, 1e9)
    headers = {"Authorization": f"Bearer {strangers.anns}"}
    with TestClient(Gateway(server, limits).application(), headers=headers) as client:

        def ask(mark: float, seconds: float) -> bool:
            body = {"workspace_id": strangers.workspace_id, "node": "laptop", "mark": mark, "seconds": seconds}
            return bool(client.post(wire.PREFIX + "listen", json=body).json()["value"]["changed"])

        until(lambda: ask(0.0, 0.0), "the gateway listens")
        limits.requests = 0
        assert not ask(time.time(), 1.05)
        assert limits.requests == 0
        assert not ask(time.time(), 0.0)
        assert limits.requests == 1


class Waiting:
    """Polls over the gateway's own role, and whom they told of what."""

    def __init__(self, strangers: Strangers) -> None:
        self.told: list[str] = []
        self.ended: list[tuple[str, str]] = []
        self.server = Server(strangers.hosted.gateway_dsn, upgrades=False)
        self.polls = Polls(self.server, self.told.append, lambda gone, _, error: self.ended.append((gone, error.code)))
        self.caller = Caller(strangers.ann, strangers.anns.split("_")[1])
        self.polls.add("token", self.caller, strangers.workspace_id, "laptop")

    def look(self) -> list[str]:
        self.told.clear()
        self.polls.look()
        return self.told


@pytest.fixture
def waiting(strangers: Strangers) -> Iterator[Waiting]:
    waiting = Waiting(strangers)
    yield waiting
    waiting.server.close()


def test_who_waits_is_told_of_a_change_whose_notice_was_lost(strangers: Strangers, waiting: Waiting) -> None:
    hosted, workspace_id = strangers.hosted, strangers.workspace_id
    assert waiting.look() == [], "it has just looked by itself"
    team = PostgresTeam(hosted.server)
    found = team.registered(workspace_id)
    assert found is not None
    row = SharedRow("tombstones", json.dumps(["y"]), {"id": "y", "forgotten_at": "2026-11-20T12:00:00Z"})
    team.commit(workspace_id, found.position, [row], [], Author("host"), 8)
    assert waiting.look() == [workspace_id]
    assert waiting.look() == []
    file = {"schema_version": 1, "job_id": str(uuid4()), "kind": "noop", "payload": {}}
    job = parse_job(file["job_id"], encode(file), test_jobs=True)  # type: ignore[arg-type]
    team.post(workspace_id, "host", [(job, lifecycle.accept(job, clock.now()))])
    assert waiting.look() == [workspace_id], "a job is due"
    team.cancel(workspace_id, job.job_id)
    assert waiting.look() == []


def test_who_waits_is_seen_and_keeps_its_graph(strangers: Strangers, waiting: Waiting) -> None:
    hosted, workspace_id = strangers.hosted, strangers.workspace_id
    node = f"{strangers.ann}/laptop"
    with hosted.team(strangers.anns) as team:
        team.note_copy(workspace_id, "laptop", 1, "0", True, runs_jobs=True)
    graph = (
        "UPDATE workspaces SET graph_owner = %s, graph_until = clock_timestamp() + interval '1 s' * %s WHERE id = %s"
    )
    until_of = "SELECT graph_until > clock_timestamp() + interval '100 s' FROM workspaces WHERE id = %s"
    with hosted.server.connection() as connection:
        connection.execute("UPDATE copies SET seen_at = seen_at - interval '1 day' WHERE node = %s", (node,))
        connection.execute(graph.encode(), (node, 10, workspace_id))
        waiting.look()
        [[seen]] = connection.execute(
            "SELECT seen_at > clock_timestamp() - interval '1 h' FROM copies WHERE node = %s", (node,)
        )
        assert seen
        assert connection.execute(until_of.encode(), (workspace_id,)).fetchone() == (True,)
        connection.execute(graph.encode(), (node, -1, workspace_id))  # it has let it go
        waiting.look()
        assert connection.execute(until_of.encode(), (workspace_id,)).fetchone() == (False,)


def test_who_waits_with_a_token_that_was_revoked_is_refused(strangers: Strangers) -> None:
    waiting = Waiting(strangers)
    token = strangers.hosted.token(strangers.ann)
    waiting.polls.add("another", Caller(strangers.ann, token.split("_")[1]), strangers.workspace_id, "laptop")
    with strangers.hosted.server.connection() as connection:
        assert people.revoke_token(connection, token)
    assert waiting.polls.caller("another") is not None, "until the next look"
    waiting.polls.look()
    assert waiting.ended == [(strangers.workspace_id, "TEAM_REFUSED")]
    assert waiting.polls.caller("another") is None
    assert waiting.polls.caller("token") == waiting.caller
    waiting.server.close()


def test_who_waits_for_a_workspace_that_was_taken_away_is_told(strangers: Strangers) -> None:
    hosted, person = strangers.hosted, f"erin-{uuid4()}"
    token, workspace_id = hosted.token(person), str(uuid4())
    with hosted.team(token) as team:
        team.share(Described(workspace_id, "w", 8, "m", 3), str(uuid4()), [], Author("laptop"))
    waiting = Waiting(strangers)
    waiting.polls.add("erin's", Caller(person, token.split("_")[1]), workspace_id, "laptop")
    with hosted.server.connection() as connection:
        assert people.give(connection, workspace_id, None, None)
    waiting.polls.look()
    assert waiting.ended == [(workspace_id, "TEAM_NOT_SHARED")]
    assert not waiting.polls.may_wait("erin's", workspace_id, "laptop")
    waiting.server.close()


def test_a_machine_cannot_act_in_the_name_of_another_person(strangers: Strangers) -> None:
    group, hosted = f"group-{uuid4()}", strangers.hosted
    ann, bob = f"ann-{uuid4()}", f"bob-{uuid4()}"
    anns, bobs = hosted.token(ann, group), hosted.token(bob, group)
    workspace_id = str(uuid4())
    with hosted.team(anns) as team:
        team.share(replace(Described(workspace_id, "w", 8, "m", 3), group=group), str(uuid4()), [], Author("laptop"))
        team.note_copy(workspace_id, "laptop", 1, "0", True, runs_jobs=True)
    with hosted.team(bobs) as team:
        team.note_copy(workspace_id, f"{ann}/laptop", 99, "0", True, runs_jobs=True)
        team.remove_copy(workspace_id, "laptop")
        nodes = {each.node for each in team.copies(workspace_id)}
    assert nodes == {f"{ann}/laptop", f"{bob}/{ann}/laptop"}
    with hosted.team(bobs) as team, pytest.raises(JobError) as caught:
        team.share(replace(Described(str(uuid4()), "w", 8, "m", 3), group="others"), str(uuid4()), [], Author("n"))
    assert caught.value.code == "ARGUMENT_INVALID"


@pytest.mark.parametrize("lie", [{"state": "succeeded"}, {"priority": 10**6}, {"kind": "graph"}])
def test_a_record_that_says_other_than_its_job_is_refused(strangers: Strangers, lie: dict[str, Any]) -> None:
    job = parse_job("lie", encode({"schema_version": 1, "job_id": "lie", "kind": "check", "payload": {}}))
    record = lifecycle.accept(job, clock.now()).as_dict() | lie
    body = {"workspace_id": strangers.workspace_id, "node": "n", "jobs": [{"job": job.as_dict(), "record": record}]}
    answer = ask(strangers.hosted, "post", body, strangers.anns)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "ARGUMENT_INVALID")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"{}", b'{"workspace_id": 1}', b'{"workspace_id": "x"}', b"\xff", b'{"a": ' * 5000],
)
def test_what_is_no_request_gets_a_clear_error(strangers: Strangers, body: bytes) -> None:
    for name in ("registered", "commit", "incoming", "listen"):
        headers = {"Authorization": f"Bearer {strangers.anns}"}
        answer = httpx.post(strangers.hosted.address + wire.PREFIX + name, content=body, headers=headers)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "ARGUMENT_INVALID"), name


@pytest.mark.parametrize(
    "line",
    [
        b'[1, "secrets", "[1]", {}, null]', b'[1, "tombstones", "1", {}, null]',
        b'[1, "memories", "[1, 2]", {}, null]', b"7",
    ],
)  # fmt: skip
def test_a_row_of_no_shared_table_is_refused_and_nothing_is_changed(strangers: Strangers, line: bytes) -> None:
    before = dump(strangers.hosted, strangers.workspace_id)
    head = wire.header(bodies(strangers.workspace_id)["commit"] | {"seq": 1})
    headers = {"Authorization": f"Bearer {strangers.anns}"}
    with strangers.hosted.team(strangers.anns) as team:
        found = team.registered(strangers.workspace_id)
    assert found is not None
    head = wire.header(json.loads(head) | {"seq": found.position.seq, "change": found.position.change})
    url = strangers.hosted.address + wire.PREFIX + "commit"
    for content in (head + line + b"\n" + wire.END, head + b'[1, "tombstones", "[\\"y\\"]", null, null]\n'):
        answer = httpx.post(url, content=content, headers=headers)
        assert answer.json()["success"] is False
    assert dump(strangers.hosted, strangers.workspace_id) == before


def test_the_audit_tells_who_changed_what_and_holds_no_secret(strangers: Strangers) -> None:
    lines = [
        json.loads(line.split("gateway.audit ", 1)[1])
        for line in strangers.hosted.log.splitlines()
        if "gateway.audit" in line
    ]
    assert any(
        each["operation"] == "share" and each["person"] == strangers.ann and each["outcome"] == "ok" for each in lines
    )
    assert strangers.anns.split("_", 2)[2] not in strangers.hosted.log
    parts = conninfo_to_dict(strangers.hosted.gateway_dsn)
    assert str(parts["password"]) not in strangers.hosted.log


def test_the_metrics_and_the_description_are_published(strangers: Strangers) -> None:
    metrics = httpx.get(strangers.hosted.address + "/metrics").text
    assert 'cognee_memory_gateway_requests_total{operation="share",outcome="ok"}' in metrics
    described = httpx.get(strangers.hosted.address + "/openapi.json").json()
    assert set(described["paths"]) == {
        wire.PREFIX + name for name in [*wire.OPERATIONS, "share", "incoming", "commit", "listen", "answer"]
    }


def tombstone(**more: Any) -> dict[str, Any]:
    return {"id": "y", "forgotten_at": "2026-11-20T12:00:00Z"} | more


@pytest.mark.parametrize(
    "row",
    [
        SharedRow("persons", json.dumps(["y"]), {"name": "y"}),
        SharedRow("tombstones", json.dumps(["y", "z"]), tombstone()),
        SharedRow("tombstones", "y", tombstone()),
        SharedRow("tombstones", json.dumps(["z"]), tombstone()),
        SharedRow("tombstones", json.dumps(["y"]), tombstone(more=1)),
        SharedRow("tombstones", json.dumps(["y"]), {"id": "y"}),
        SharedRow("tombstones", json.dumps(["y"]), tombstone(forgotten_at=None)),
        SharedRow("tombstones", json.dumps(["y"]), tombstone(forgotten_at=["2026"])),
        SharedRow("tombstones", json.dumps(["y"]), tombstone(), b"\0" * 12),
        SharedRow("effects", json.dumps(["a", "b"]), {"job_id": "a", "job_sha256": "b", "at": "2026-W01-1"}),
        SharedRow("effects", json.dumps(["a", "b"]), {"job_id": "a", "job_sha256": "b", "at": "2026-02-30T00:00:00Z"}),
        SharedRow("memories", json.dumps([1]), {"number": 1}),
        SharedRow("sqlite_sequence", json.dumps(["rows"]), {"seq": 1}),
        SharedRow("sqlite_sequence", json.dumps(["memories"]), {"seq": "1"}),
    ],
)
def test_a_row_that_no_copy_could_apply_is_refused(strangers: Strangers, row: SharedRow) -> None:
    """A changed client of one person must not stop the copies of all others."""
    with strangers.hosted.team(strangers.anns) as team:
        at = team.registered(strangers.workspace_id)
        assert at is not None
        with pytest.raises(JobError) as caught:
            team.commit(strangers.workspace_id, at.position, [row], [], Author("laptop"), 8)
        assert caught.value.code == "ARGUMENT_INVALID"
        assert team.registered(strangers.workspace_id) == at, "nothing of the change is kept"
        valid = SharedRow("tombstones", json.dumps(["y"]), tombstone())
        team.commit(strangers.workspace_id, at.position, [valid], [], Author("laptop"), 8)


def test_clients_that_take_nothing_hold_up_nobody(hosted: Hosted) -> None:
    """More of them than the gateway has connections, each with an answer that does not fit into the sockets."""
    group, workspace_id = f"group-{uuid4()}", str(uuid4())
    tokens = [hosted.token(f"person-{uuid4()}", group) for _ in range(6)]
    large = ({"id": f"{number}".rjust(100_000, "x"), "forgotten_at": "2026-11-20T12:00:00Z"} for number in range(80))
    rows = (SharedRow("tombstones", json.dumps([each["id"]]), each) for each in large)
    with hosted.team(tokens[0]) as team:
        team.share(replace(Described(workspace_id, "w", 8, "m", 3), group=group), str(uuid4()), rows, Author("laptop"))
    url, asked = hosted.address + wire.PREFIX + "incoming", {"workspace_id": workspace_id, "seq": 0, "change": ""}
    with httpx.Client(timeout=60, limits=httpx.Limits(max_connections=None)) as client, ExitStack() as stalled:
        for token in tokens[:5] * 4:
            headers = {"Authorization": f"Bearer {token}"}
            answer = stalled.enter_context(client.stream("POST", url, json=asked, headers=headers))
            assert answer.status_code == 200
        for token in tokens:
            assert ask(hosted, "registered", {"workspace_id": workspace_id}, token).status_code == 200
        with hosted.team(tokens[5]) as team, team.incoming(workspace_id, Position(0, "")) as found:
            assert found is not None
            assert len(list(found.rows)) == 80
    with hosted.team(tokens[0]) as team, team.incoming(workspace_id, Position(0, "")) as found:
        assert found is not None, "those who went away have given back their turns"
        assert len(list(found.rows)) == 80


def test_a_row_without_an_end_is_refused(strangers: Strangers) -> None:
    with strangers.hosted.team(strangers.anns) as team:
        found = team.registered(strangers.workspace_id)
    assert found is not None
    at = {"seq": found.position.seq, "change": found.position.change}
    head = wire.header(bodies(strangers.workspace_id)["commit"] | at)
    headers = {"Authorization": f"Bearer {strangers.anns}"}
    parts = iter([head, *[b"x" * 1024 * 1024] * 17])
    answer = httpx.post(strangers.hosted.address + wire.PREFIX + "commit", content=parts, headers=headers, timeout=60)
    assert (answer.status_code, answer.json()["error_code"]) == (413, "HTTP_TOO_LARGE")
