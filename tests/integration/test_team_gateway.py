"""The gateway: machines without the database's address work as those with it, and no person reaches another's memories.

A real gateway process over a real Postgres, with a role of its own that row-level security binds.
"""

import json
import os
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid4, uuid5

import by_document
import httpx
import psycopg
import pytest
from gateways import Hosted, created_role
from harness import PATIENCE, Place, until
from inbox_door import job_of
from machines import remember, remembered, succeeded, titles
from pools import PoolProcess
from postgres import database
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from starlette.testclient import TestClient
from team_parts import post

from bridge.settings import load
from bridge.store.team.shared_tables import key_text
from bridge.team import copies, last_try, membership, people, schema, wire
from bridge.team.postgres_team import PostgresTeam
from bridge.team.protocol import CALLS
from bridge.team.rows import Author, Described, Position, SharedRow
from bridge.team.server import PersonsConnections, Server
from jobs import clock, lifecycle
from jobs.errors import JobError
from jobs.ids import new_job_id
from jobs.lock import is_held
from worker.admin import people as admin_people, team as admin_team
from worker.gateway.access import Caller, Limits
from worker.gateway.app import Gateway
from worker.gateway.polls import Polls

NOBODY = "00000000-0000-0000-0000-000000000000"
X, Y, Z = (str(uuid5(NAMESPACE_OID, name)) for name in "xyz")


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """A gateway without copies, and a pool that runs the jobs of workspaces with the default model."""
    with database() as dsn:
        hosted = Hosted(tmp_path_factory.mktemp("hosted"), dsn)
        hosted.start("--requests-per-minute", "100000")
        with PoolProcess(tmp_path_factory.mktemp("pool"), dsn):
            yield hosted
        hosted.stop()
        hosted.close()


def laptop(folder: Path, hosted: Hosted, token: str) -> Place:
    reached_by = {"COGNEE_MEMORY_TEAM": hosted.address, "COGNEE_MEMORY_TEAM_TOKEN": token}
    return Place(folder, **reached_by)


def machine(folder: Path, hosted: Hosted, token: str, workspace_id: str, *, shares: bool = False) -> Place:
    place = laptop(folder, hosted, token)
    membership.join(place.workspace, place.config, workspace_id, shares=shares)
    return place


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


def test_a_group_remembers_together_forgets_for_those_away(hosted: Hosted, tmp_path: Path) -> None:
    """A command shares the workspace; a machine that was off gets nothing that was forgotten meanwhile."""
    group = f"group-{uuid4()}"
    anns, bobs = hosted.token("ann", group), hosted.token("bob", group)
    first = laptop(tmp_path / "ann", hosted, anns)
    try:
        answer = first.json("team", "share")
        assert (answer["success"], answer.get("is_current")) == (True, True), answer
        workspace_id = membership.membership_of(first.workspace, first.config).workspace_id
        second = machine(tmp_path / "bob", hosted, bobs, workspace_id)
        memory_id = remembered(first, remember(first, "The quokkazebra is a lock"))
        with hosted.server.connection() as connection:
            assert people.give(connection, workspace_id, "ann", group)
        with second.worker():
            succeeded(second, remember(second, "Invoices are rounded up"))
            for place in (first, second):
                until(lambda place=place: len(titles(place)) == 2, "both are here")
            copies = first.json("team", "status")["team"]["copies"]
            assert {"ann", "bob"} <= {each["node"].split("/")[0] for each in copies}
        assert noted(second, 0.0) == "None", "nothing is missing"
        until(lambda: second.cli("worker", "stop").returncode == 0 or None, "one was started")
        os.utime(second.spool.worker / "start.log", (0, 0))  # as if it were long ago
        succeeded(first, first.submit("forget", {"memory_ids": [memory_id]}))
        assert noted(second, 0.0) == "TEAM_COPY_BEHIND"
        assert noted(second, PATIENCE) == "None"
        assert [each["title"] for each in second.json("memories", "list")["memories"]] == ["Invoices are rounded up"]
        assert second.cli("worker", "stop").returncode == 0
    finally:
        first.cli("worker", "stop")


# --- walls ---


def described(workspace_id: str, group: str | None = None, name: str = "w") -> Described:
    return replace(Described(workspace_id, name, 8, "m", 3), group=group)


class Strangers:
    """Ann's workspace with a row, and Bob, who is in no group of hers."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted = hosted
        self.ann, self.bob = f"ann-{uuid4()}", f"bob-{uuid4()}"
        self.anns, self.bobs = hosted.token(self.ann), hosted.token(self.bob)
        self.workspace_id = str(uuid4())
        with hosted.team(self.anns) as team:
            row = SharedRow("tombstones", json.dumps([X]), {"id": X, "forgotten_at": "2026-11-20T12:00:00Z"})
            what = Described(self.workspace_id, "ann's", 8, "a model", 3)
            team.share(what, str(uuid4()), [row], Author("laptop"))


@pytest.fixture(scope="module")
def strangers(hosted: Hosted) -> Strangers:
    return Strangers(hosted)


def bodies(workspace_id: str) -> dict[str, dict[str, Any]]:
    """A valid body for each route that is about a workspace."""
    more: dict[str, dict[str, Any]] = {
        "attach": {"job_id": "a", "digest": "0" * 64, "part": 0, "parts": 2, "data": "AAAA"},
        "post": {"node": "n", "jobs": []},
        "reports": {"node": "n"},
        "acknowledge": {"node": "n", "seen": []},
        "cancel": {"job_id": "a"},
        "note_copy": {"node": "n", "applied_seq": 0, "version": "0", "has_removed_all": True},
        "remove_copy": {"node": "n"},
        "failed_jobs": {"limit": 50},
        "dismiss": {"job_ids": None},
        "incoming": {"seq": 0, "change": ""},
        "missing": {"seq": 0, "change": ""},
        "listen": {"seconds": 0.1, "node": "n"},
        "answer": {"verb": "retrieve", "arguments": {"query": "x"}, "root": "/"},
    }  # fmt: skip
    of_workspaces = [name for name, call in CALLS.items() if "workspace_id" in call.body.model_fields]
    return {
        name: {"workspace_id": workspace_id, **more.get(name, {})}
        for name in [*of_workspaces, "incoming", "listen", "answer"]
    }


def sent(hosted: Hosted, name: str, content: Any, token: str) -> httpx.Response:
    return hosted.client.post(wire.PREFIX + name, content=content, headers={"Authorization": f"Bearer {token}"})


def ask(hosted: Hosted, name: str, body: dict[str, Any], token: str) -> httpx.Response:
    return sent(hosted, name, json.dumps(body).encode() + b"\n" + (wire.END if name == "share" else b""), token)


@pytest.mark.parametrize("name", sorted(bodies(NOBODY)))
def test_each_route_answers_whose_workspace_it_is_and_touches_no_other(strangers: Strangers, name: str) -> None:
    hosted, body = strangers.hosted, bodies(strangers.workspace_id)[name]
    before = dump(hosted, strangers.workspace_id)
    theirs = ask(hosted, name, body, strangers.bobs)
    nowhere = ask(hosted, name, bodies(NOBODY)[name], strangers.bobs)
    assert (theirs.status_code, theirs.json()["error_code"]) == (404, "TEAM_NOT_SHARED")
    assert theirs.json() == nowhere.json(), "it does not tell whether there is such a workspace"
    assert dump(hosted, strangers.workspace_id) == before
    answer = ask(hosted, name, body, strangers.anns)  # so that the refusals are not those of a broken request
    if name == "answer":
        assert answer.json()["error_code"] == "TEAM_NO_COPY", "this gateway answers no questions"
    else:
        assert answer.status_code == 200, answer.text


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
            assert json.dumps([X]) in [row.key for _, row in found.rows]
        assert theirs.registered(strangers.workspace_id) is None
        assert theirs.take("n", [strangers.workspace_id], 30) is None
        assert theirs.workspaces() == []
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
            theirs.note_copy(strangers.workspace_id, "n", 1, "0", True)
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
    gateway = conninfo_to_dict(hosted.gateway_dsn)["user"]
    denied = pytest.raises(psycopg.errors.InsufficientPrivilege)
    with psycopg.connect(hosted.gateway_dsn, autocommit=True) as role, denied:
        role.execute("CREATE TEMP TABLE x (a integer)")
    with psycopg.connect(hosted.dsn, autocommit=True) as owner:
        database = owner.info.dbname
        owner.execute(f'GRANT TEMPORARY ON DATABASE "{database}" TO {gateway}'.encode())
        tables = [name for (name,) in owner.execute("SELECT tablename FROM pg_tables WHERE schemaname='cognee_memory'")]
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
        owner.execute(f'REVOKE TEMPORARY ON DATABASE "{database}" FROM {gateway}'.encode())
        assert owner.execute("SELECT name FROM cognee_memory.persons WHERE name LIKE 'forged%'").fetchall() == []


@contextmanager
def refused(connection: psycopg.Connection[Any]) -> Iterator[None]:
    with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
        yield


def test_a_role_for_hosts_runs_all_workspaces_no_more(strangers: Strangers, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can change no table and read no token."""
    hosted = strangers.hosted
    with hosted.server.connection() as connection:
        role = created_role(connection, "x")
        for _ in range(2):
            people.allow_host(connection, role)
    dsn = make_conninfo(**conninfo_to_dict(hosted.dsn) | {"user": role, "password": "x"})
    server = Server(dsn)
    team = PostgresTeam(server)
    workspace_id = str(uuid4())
    try:
        team.share(Described(workspace_id, "the host's", 8, "a model", 3), str(uuid4()), [], Author("host"))
        found = team.registered(strangers.workspace_id)
        assert {workspace_id, strangers.workspace_id} <= {each.workspace_id for each in team.workspaces()}
        team.commit(strangers.workspace_id, found.position, [], [], Author("host"), 8)
        assert team.take("host", [workspace_id], 30) is None, "no job is due"
        team.keep_receipt(workspace_id, {"receipt": "r"})
        assert (team.receipts(workspace_id), team.receipt(workspace_id, "r")) == (["r"], {"receipt": "r"})
        with strangers.hosted.team(strangers.anns) as ann:
            ann.attach(strangers.workspace_id, "a", sha256(b"what").hexdigest(), 0, 1, b"what")
        assert list(team.attachment(strangers.workspace_id, "a")) == [b"what"]
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
        with pytest.raises(JobError, match="TEAM_REFUSED"):
            team.time()
    person = f"dave-{uuid4()}"
    hosted.token(person)
    with hosted.server.connection() as connection:
        expired = people.create_token(connection, person, "m", -1)
    for wrong in (expired, token[:-1] + "x", "cmt_1_2", "cmt__", "x" * 5000):
        answer = ask(hosted, "time", {}, wrong)
        assert (answer.status_code, answer.json()["error_code"]) == (401, "TEAM_REFUSED")
    assert hosted.client.post(wire.PREFIX + "time", json={}).status_code == 401


def test_an_operators_slip_is_told_with_what_helps(hosted: Hosted) -> None:
    operator = load(environment={"COGNEE_MEMORY_STORE": hosted.dsn})
    for verb, days, helps in (
        ("give", 1, "list"),
        ("token", 1, "persons"),
        ("token", 0, "--d"),
        ("member", 1, "persons"),
    ):
        asks = Namespace(verb=verb, id="nosuch", person="nobody", group="none", machine="m", days=days)
        with pytest.raises(JobError, match="ARGUMENT_INVALID") as caught:
            admin_people.asked(operator, asks)
        assert helps in f"{caught.value.message} {caught.value.remediation}"


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
        post(team, strangers.workspace_id, new_job_id(), "laptop")
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

        def ask(mark: float, seconds: float, *, is_reached: bool = True) -> bool:
            body = {"workspace_id": strangers.workspace_id, "node": "laptop", "mark": mark, "seconds": seconds}
            answer = client.post(wire.PREFIX + "listen", json=body)
            return (answer.is_success or is_reached) and bool(answer.json()["value"]["changed"])

        until(lambda: ask(0.0, 0.0, is_reached=False), "the gateway listens, and reaches the database")
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
    row = SharedRow("tombstones", json.dumps(["y"]), {"id": "y", "forgotten_at": "2026-11-20T12:00:00Z"})
    team.commit(workspace_id, found.position, [row], [], Author("host"), 8)
    assert waiting.look() == [workspace_id]
    assert waiting.look() == []
    job = job_of(str(uuid4()))
    team.post(workspace_id, "host", [(job, lifecycle.accept(job, clock.now()))])
    assert waiting.look() == [], "a laptop runs no jobs"
    team.cancel(workspace_id, job.job_id)


def test_who_waits_is_seen(strangers: Strangers, waiting: Waiting) -> None:
    hosted, workspace_id = strangers.hosted, strangers.workspace_id
    node = f"{strangers.ann}/laptop"
    with hosted.team(strangers.anns) as team:
        team.note_copy(workspace_id, "laptop", 1, "0", True)
    with hosted.server.connection() as connection:
        connection.execute("UPDATE copies SET seen_at = seen_at - interval '1 day' WHERE node = %s", (node,))
        waiting.look()
        [[seen]] = connection.execute(
            "SELECT seen_at > clock_timestamp() - interval '1 h' FROM copies WHERE node = %s", (node,)
        )
        assert seen


def test_who_waits_with_a_token_that_was_revoked_is_refused(strangers: Strangers, waiting: Waiting) -> None:
    token = strangers.hosted.token(strangers.ann)
    waiting.polls.add("another", Caller(strangers.ann, token.split("_")[1]), strangers.workspace_id, "laptop")
    with strangers.hosted.server.connection() as connection:
        assert people.revoke_token(connection, token)
    assert waiting.polls.caller("another") is not None, "until the next look"
    waiting.polls.look()
    assert waiting.ended == [(strangers.workspace_id, "TEAM_REFUSED")]
    assert waiting.polls.caller("another") is None
    assert waiting.polls.caller("token") == waiting.caller


def test_who_waits_for_a_workspace_that_was_taken_away_is_told(strangers: Strangers, waiting: Waiting) -> None:
    hosted, person = strangers.hosted, f"erin-{uuid4()}"
    token, workspace_id = hosted.token(person), str(uuid4())
    with hosted.team(token) as team:
        team.share(described(workspace_id), str(uuid4()), [], Author("laptop"))
    waiting.polls.add("erin's", Caller(person, token.split("_")[1]), workspace_id, "laptop")
    with hosted.server.connection() as connection:
        assert people.give(connection, workspace_id, None, None)
    waiting.polls.look()
    assert waiting.ended == [(workspace_id, "TEAM_NOT_SHARED")]
    assert not waiting.polls.may_wait("erin's", workspace_id, "laptop")


def test_machines_that_lost_access_are_told_and_tokens_are_listed_also_after_their_person(strangers: Strangers) -> None:
    hosted, workspace_id = strangers.hosted, strangers.workspace_id
    person, group = f"eve-{uuid4()}", f"group-{uuid4()}"
    hosted.token(person, group)
    with hosted.server.connection() as connection:
        people.give(connection, workspace_id, strangers.ann, group)
        token = people.create_token(connection, person, "laptop", 10)
    with hosted.team(token) as team:
        team.note_copy(workspace_id, "vm/1", 1, "1", True)
        seen = team.access(workspace_id)
    assert seen.expires_at is not None
    assert timedelta(days=9) < seen.expires_at - clock.now() < timedelta(days=11)
    assert (f"{person}/vm/1", "laptop", True) in seen.machines

    def listed() -> people.Token:
        with hosted.server.connection() as connection:
            return next(each for each in people.tokens(connection) if each.id == token.split("_")[1])

    used = listed().last_used_at
    assert used is not None
    with hosted.team(token) as team:
        team.time()
    assert listed().last_used_at == used, "not a write for each request"
    with hosted.server.connection() as connection:
        assert people.remove_person(connection, person)
        assert (f"{person}/vm/1", "laptop", False) in copies.access(connection, workspace_id).machines
        people.add_person(connection, person)
    assert listed().revoked_at is not None
    with hosted.team(token) as team, pytest.raises(JobError, match="revoked"):
        team.time()


def test_a_revoked_machine_says_so_until_it_has_a_new_token(hosted: Hosted, tmp_path: Path) -> None:
    """At once, and after a restart too."""
    token = hosted.token("ivy")
    place = machine(tmp_path / "ivy", hosted, token, workspace_id := str(uuid4()), shares=True)
    with place.worker():
        succeeded(place, remember(place, "The queue is a spool"))
        with hosted.server.connection() as connection:
            assert people.revoke_token(connection, token)
        until(lambda: is_refused(place), "it is known")
        assert place.json("status")["team_problem"]["code"] == "TEAM_REFUSED"
        text = place.cli("status").stdout
        assert "Ask an operator for a new token" in text
        assert "Nothing to do" not in text
        waited = place.cli("ingest", "--wait", "--timeout", "3", "Why a spool?", "It survives.").stderr
        assert waited.startswith("The job waits: The team's gateway does not let this machine in"), waited
    with place.worker():
        until(lambda: is_refused(place), "it is refused again")
        answer = place.json("retrieve", "spool")
        assert answer["results"], "for some hours"
        [note] = [each for each in answer["warnings"] if "new token" in each]
        assert "This copy answers until" in note
    kept = json.loads(place.workspace.team_problem.read_bytes())
    long_ago = dict.fromkeys(("refused_at", "answers_until"), "2026-01-01T00:00:00Z")  # one is of the other
    place.workspace.team_problem.write_text(json.dumps(kept | long_ago))
    for asked in (("retrieve", "spool"), ("memories", "list"), ("context", "spool")):
        refused = json.loads(place.cli(*asked, "--json").stdout)
        assert (refused["success"], refused["error_code"]) == (False, "TEAM_REFUSED")
    until(lambda: is_held(place.spool.lock), "who reads has started a worker")
    place.cli("worker", "stop")
    place.environment["COGNEE_MEMORY_TEAM_TOKEN"] = hosted.token("ivy")
    with place.worker():
        until(lambda: len(titles(place)) == 2, "it is let in, and its job has run")
        until(lambda: place.json("status")["team_problem"] is None, "it says so")
        with hosted.server.connection() as connection:
            assert people.give(connection, workspace_id, None, None)
        error = place.json("team", "status")["team"]["error"]
        assert (error["code"], "An operator can let you in again" in error["remediation"]) == ("TEAM_NOT_SHARED", True)
        until(lambda: "let you in again" in str(place.json("status")["team_problem"]), "the worker says so")


def is_refused(place: Place) -> bool:
    known = (place.heartbeat().get("team") or {"problem": None})["problem"] == "TEAM_REFUSED"
    return known and last_try.error_of(place.workspace) is not None


def test_a_workspace_is_joined_by_its_name_where_one_alone_has_it(hosted: Hosted, tmp_path: Path) -> None:
    token = hosted.token(f"fay-{uuid4()}")
    name, twin = f"backend-{uuid4()}", f"app-{uuid4()}"
    with hosted.team(token) as team:
        ids = [str(uuid4()) for _ in range(3)]
        for workspace_id, called in zip(ids, (name, twin, twin), strict=True):
            team.share(Described(workspace_id, called, 8, "a model", 3), str(uuid4()), [], Author("laptop"))
    place = Place(tmp_path / "fay", COGNEE_MEMORY_TEAM=hosted.address, COGNEE_MEMORY_TEAM_TOKEN=token)
    settings = load(environment=place.environment)
    for wrong, said in ((twin, "2 workspaces are called"), ("nowhere", "no workspace 'nowhere'")):
        with pytest.raises(JobError, match=said) as caught:
            admin_team.join(place.workspace, settings, wrong)
        assert "team list" in caught.value.remediation
    assert admin_team.join(place.workspace, settings, name).workspace_id == ids[0]


def test_a_machine_cannot_act_in_the_name_of_another_person(strangers: Strangers) -> None:
    group, hosted = f"group-{uuid4()}", strangers.hosted
    ann, bob = f"ann-{uuid4()}", f"bob-{uuid4()}"
    anns, bobs = hosted.token(ann, group), hosted.token(bob, group)
    workspace_id = str(uuid4())
    with hosted.team(anns) as team:
        team.share(described(workspace_id, group), str(uuid4()), [], Author("laptop"))
        team.note_copy(workspace_id, "laptop", 1, "0", True)
    with hosted.team(bobs) as team:
        team.note_copy(workspace_id, f"{ann}/laptop", 99, "0", True)
        team.remove_copy(workspace_id, "laptop")
        nodes = {each.node for each in team.copies(workspace_id)}
    assert nodes == {f"{ann}/laptop", f"{bob}/{ann}/laptop"}
    with hosted.team(bobs) as team, pytest.raises(JobError, match="ARGUMENT_INVALID"):
        team.share(described(str(uuid4()), "others"), str(uuid4()), [], Author("n"))


@pytest.mark.parametrize("lie", [{"state": "succeeded"}, {"priority": 10**6}, {"kind": "graph"}])
def test_a_record_that_says_other_than_its_job_is_refused(strangers: Strangers, lie: dict[str, Any]) -> None:
    job = job_of("lie", "check")
    record = lifecycle.accept(job, clock.now()).as_dict() | lie
    body = {"workspace_id": strangers.workspace_id, "node": "n", "jobs": [{"job": job.as_dict(), "record": record}]}
    answer = ask(strangers.hosted, "post", body, strangers.anns)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "ARGUMENT_INVALID")


NO_REQUESTS = [b"", b"{", b"[]", b"{}", b'{"workspace_id": 1}', b'{"workspace_id": "x"}', b"\xff", b'{"a": ' * 5000]


@pytest.mark.parametrize("body", NO_REQUESTS)
def test_what_is_no_request_gets_a_clear_error(strangers: Strangers, body: bytes) -> None:
    for name in ("registered", "share", "incoming", "listen"):
        answer = sent(strangers.hosted, name, body, strangers.anns)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "ARGUMENT_INVALID"), name


NOT_SHARED = [
    b'[1, "secrets", "[1]", {}, null]', b'[1, "tombstones", "1", {}, null]',
    b'[1, "memories", "[1, 2]", {}, null]', b"7",
]  # fmt: skip


@pytest.mark.parametrize("line", NOT_SHARED)
def test_a_row_of_no_shared_table_is_refused_and_nothing_is_shared(strangers: Strangers, line: bytes) -> None:
    workspace_id = str(uuid4())
    answer = share(strangers, workspace_id, line + b"\n" + wire.END)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "ARGUMENT_INVALID")
    answer = share(strangers, workspace_id, f'[1, "tombstones", "[\\"{Y}\\"]", null, null]\n'.encode())
    assert (answer.status_code, answer.json()["error_code"]) == (400, "ARGUMENT_INVALID"), "its end is missing"
    assert dump(strangers.hosted, workspace_id) == [[]] * 5


def share(strangers: Strangers, workspace_id: str, *rows: bytes) -> httpx.Response:
    head = wire.Share(
        workspace_id=workspace_id, name="w", format=8, embedder="a model", dimensions=3, change_id=str(uuid4()),
        node="laptop", group=None,
    )  # fmt: skip
    return sent(strangers.hosted, "share", iter([wire.header(head), *rows]), strangers.anns)


def test_the_audit_tells_who_changed_what_and_holds_no_secret(strangers: Strangers) -> None:
    lines = [
        json.loads(line.split("gateway.audit ", 1)[1])
        for line in strangers.hosted.log.splitlines()
        if "gateway.audit" in line
    ]
    shared = [each for each in lines if each["operation"] == "share"]
    assert any((each["person"], each["outcome"]) == (strangers.ann, "ok") for each in shared)
    assert strangers.anns.split("_", 2)[2] not in strangers.hosted.log
    assert str(conninfo_to_dict(strangers.hosted.gateway_dsn)["password"]) not in strangers.hosted.log


def test_the_metrics_and_the_description_are_published(strangers: Strangers) -> None:
    metrics = strangers.hosted.client.get("/metrics").text
    assert 'cognee_memory_gateway_requests_total{operation="share",outcome="ok"}' in metrics
    described = strangers.hosted.client.get("/openapi.json").json()
    assert set(described["paths"]) == {wire.PREFIX + name for name in [*CALLS, "share", "incoming", "listen", "answer"]}


def session(session_id: str, **more: Any) -> dict[str, Any]:
    """A row of the table of captured sessions."""
    named = {"tool": "codex", "session_id": session_id, "path": "/p", "version": "1", "state": "kept"}
    return named | {"captured_at": "2026-11-20T12:00:00Z", "segments": "[]"} | more


def test_clients_that_take_nothing_hold_up_nobody(hosted: Hosted) -> None:
    """More of them than the gateway has connections, each with an answer that does not fit into the sockets."""
    group, workspace_id = f"group-{uuid4()}", str(uuid4())
    tokens = [hosted.token(f"person-{uuid4()}", group) for _ in range(6)]
    large = [session(f"s{number}", path="x" * 100_000) for number in range(80)]
    rows = (SharedRow("captured_sessions", key_text(["codex", each["session_id"]]), each) for each in large)
    with hosted.team(tokens[0]) as team:
        team.share(described(workspace_id, group), str(uuid4()), rows, Author("laptop"))
    url, asked = hosted.address + wire.PREFIX + "incoming", {"workspace_id": workspace_id, "seq": 0, "change": ""}
    with httpx.Client(timeout=60, limits=httpx.Limits(max_connections=None)) as client, ExitStack() as stalled:
        for token in tokens[:5] * 4:
            headers = {"Authorization": f"Bearer {token}"}
            answer = stalled.enter_context(client.stream("POST", url, json=asked, headers=headers))
            assert answer.status_code == 200
        for token in tokens:
            assert ask(hosted, "registered", {"workspace_id": workspace_id}, token).status_code == 200
        with hosted.team(tokens[5]) as team, team.incoming(workspace_id, Position(0, "")) as found:
            assert len(list(found.rows)) == 80
    with hosted.team(tokens[0]) as team, team.incoming(workspace_id, Position(0, "")) as found:
        assert found is not None, "those who went away have given back their turns"
        assert len(list(found.rows)) == 80


def test_a_row_without_an_end_is_refused(strangers: Strangers) -> None:
    answer = share(strangers, str(uuid4()), *[b"x" * 1024 * 1024] * 17)
    assert (answer.status_code, answer.json()["error_code"]) == (413, "HTTP_TOO_LARGE")


def memory(number: int, memory_id: str, words: str = "Said.", *, hidden: bool = False) -> SharedRow:
    """A memory as a copy would write it."""
    value = {
        "number": number, "id": memory_id, "kind": "legacy", "status": None, "topic_id": None, "session_id": None,
        "plan_id": None, "plan_key": None, "created_at": None, "updated_at": None, "source_created_at": None,
        "importance": None, "status_set_at": None, "stored_at": "2026-11-20T12:00:00Z", "origin_job": "a",
        "hidden": int(hidden), "body": json.dumps({"text": words}), "sources": "[]", "dated": 1795176000.0,
        "migrated_from": None,
    }  # fmt: skip
    return SharedRow("memories", key_text([number]), value, None if hidden else b"\0" * 12)


NO_WORKSPACES = [
    [SharedRow("persons", json.dumps([Y]), {"name": Y})],
    [replace(memory(2, Y), vectors=None)],
    [replace(memory(2, Y, hidden=True), vectors=b"\0" * 12)],
    [memory(2, X)],
    [memory(1, Y)],
]


@pytest.mark.parametrize("rows", NO_WORKSPACES)
def test_rows_that_are_no_workspace_are_not_shared(hosted: Hosted, rows: list[SharedRow]) -> None:
    """A changed client of one person must not stop the copies of all others."""
    workspace_id = str(uuid4())
    with hosted.team(hosted.token(f"ann-{uuid4()}")) as team, pytest.raises(JobError, match="ARGUMENT_INVALID"):
        team.share(described(workspace_id), str(uuid4()), [memory(1, X), *rows], Author("n"))
    assert dump(hosted, workspace_id) == [[]] * 5


def test_the_gateways_role_changes_no_row_that_is_there_and_sees_no_receipt(strangers: Strangers) -> None:
    server = Server(strangers.hosted.gateway_dsn, upgrades=False)
    anns = PersonsConnections(server, strangers.ann, strangers.workspace_id)
    try:
        for denied in ("UPDATE rows SET seq = seq", "DELETE FROM rows", "UPDATE changes SET seq = seq",
                       "DELETE FROM changes", "SELECT 1 FROM receipts"):  # fmt: skip
            with anns.connection() as connection, refused(connection):
                connection.execute(denied.encode())
    finally:
        server.close()


def test_no_request_is_answered_otherwise_than_the_document_says(strangers: Strangers, tmp_path: Path) -> None:
    hosted, description = strangers.hosted, tmp_path / "openapi.json"
    description.write_bytes(hosted.client.get("/openapi.json").content)
    # A record is any object for the schema; who asks without a token is limited after some tries.
    left_out = ("--exclude-checks", "positive_data_acceptance,ignored_auth")
    by_document.ask(
        description, hosted.address, strangers.anns, "gateway_hooks", *left_out,
        env=os.environ | {"COGNEE_MEMORY_SHARED": strangers.workspace_id}, folder=tmp_path, phases="coverage,fuzzing",
    )  # fmt: skip
    assert " failed: " not in hosted.log
