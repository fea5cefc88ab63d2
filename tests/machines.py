"""The machines of a team, for tests: each a folder with a configuration of its own, and a real worker; the service
that runs their jobs; and what has to be true of the team after any fault."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from gateways import Hosted, gateway_of
from harness import Place, until

from bridge.store.team import shared_tables
from bridge.team import membership, notices
from jobs.model import Record

LEASE_SECONDS = 6.0


class Team:
    """A shared workspace and its machines, which reach it by the database's service; the first one shares it. ``dsn``
    is the database's own address, ``service`` what the first machine of a database starts it with."""

    def __init__(self, folder: Path, dsn: str, *, workers: int = 1, **service: str) -> None:
        self.folder = folder
        self.dsn = dsn
        self._workers, self._service = workers, service
        self.workspace_id = str(uuid4())
        self.places: list[Place] = []

    @property
    def gateway(self) -> Hosted:
        """The service, which runs."""
        return gateway_of(self.dsn, workers=self._workers, **self._service)

    @property
    def person(self) -> str:
        """Whose machines these are, and so who sees the workspace."""
        return f"ann-{self.workspace_id}"

    def machine(self, name: str, *, base: Path | None = None, port: int | None = None, **variables: str) -> Place:
        """A further machine, whose folder is in ``base`` if it is given. It reaches the gateway at another ``port`` if
        that is given, such as a link's, or as the variables say."""
        reached_by = {
            "COGNEE_MEMORY_TEAM": self.gateway.address if port is None else f"http://127.0.0.1:{port}",
            "COGNEE_MEMORY_TEAM_TOKEN": self.gateway.token(self.person),
        }
        if self.gateway.authority is not None:
            reached_by["COGNEE_MEMORY_TEAM_CA_FILE"] = self.gateway.authority
        place = Place((base or self.folder) / name, **reached_by | variables)
        membership.join(place.workspace, place.config, self.workspace_id, shares=not self.places)
        self.places.append(place)
        return place

    def node_of(self, place: Place) -> str:
        """The name of the machine's copy, as the team has it."""
        found = membership.membership_of(place.workspace, place.config)
        return f"{self.person}/{found.node}"

    def rows(self, query: str, *values: Any, dsn: str | None = None) -> list[tuple[Any, ...]]:
        """What the database answers. The first value of the query is the workspace's id."""
        with psycopg.connect(dsn or self.dsn, options="-c search_path=cognee_memory") as connection:
            return connection.execute(query.encode(), (self.workspace_id, *values)).fetchall()

    def hold_jobs(self, *, holds: bool = True) -> None:
        """Let no pool start a job of the workspace, as an operator could, until told otherwise; then they look at
        once, and not within half a minute."""
        self.change("UPDATE workspaces SET is_paused = %s WHERE id = %s", holds, self.workspace_id)
        with self.gateway.server.connection() as connection:
            notices.send(connection, self.workspace_id)

    def change(self, statement: str, *values: Any) -> None:
        """Change the team's database, as time or an operator would."""
        with psycopg.connect(self.dsn, options="-c search_path=cognee_memory") as connection:
            connection.execute(statement.encode(), values)

    def is_posted(self, job_id: str) -> bool:
        """Whether the database has the job."""
        return bool(self.rows("SELECT 1 FROM jobs WHERE workspace_id = %s AND job_id = %s", job_id))

    def assert_all_is_well(self, job_ids: Iterable[str]) -> None:
        """No number is missing in the feed, each of these jobs has its effect once, and all copies are equal."""
        self.assert_gapless()
        changes = self.rows("SELECT jobs FROM changes WHERE workspace_id = %s")
        effects = [job for (jobs,) in changes for job in jobs]
        assert len(effects) == len(set(effects)), "no job has two effects"
        assert set(job_ids) <= set(effects), "each job has its effect"
        self.until_equal()

    def assert_gapless(self) -> None:
        """No number of a change is missing."""
        numbers = [seq for (seq,) in self.rows("SELECT seq FROM changes WHERE workspace_id = %s ORDER BY seq")]
        assert numbers == list(range(1, len(numbers) + 1)), "no number is missing"

    def until_equal(self) -> None:
        """Wait until all copies have the database's last change, and have the same rows."""

        def look() -> bool:
            [(last,)] = self.rows("SELECT last_seq FROM workspaces WHERE id = %s")
            return all(seq_of(place) == last for place in self.places)

        until(look, "all copies have all changes")
        assert len({json.dumps(shared_rows(place), default=repr) for place in self.places}) == 1, "equal copies"


class Machines(Team):
    """As ``Team``, with short leases."""

    def __init__(self, folder: Path, dsn: str, *, workers: int = 1, **service: str) -> None:
        lease = {"COGNEE_MEMORY_LEASE_SECONDS": f"{LEASE_SECONDS:g}"}
        super().__init__(folder, dsn, workers=workers, **lease | service)


def summary(topic: str, day: int) -> dict[str, Any]:
    said = {"topic": topic, "context": f"What was said of it on day {day}.", "decisions": [f"{topic}."]}
    return {"summary": said | {"created_at": f"2026-11-{day:02}T12:00:00Z"}}


def pause(place: Place) -> None:
    assert place.cli("jobs", "pause").returncode == 0
    until(lambda: place.heartbeat().get("state") == "paused", "it is paused")


def resume(place: Place) -> None:
    assert place.cli("jobs", "resume").returncode == 0
    until(lambda: place.heartbeat().get("state") != "paused", "it goes on")


def remember(place: Place, topic: str, **fields: Any) -> str:
    """Drop a job that stores a summary; returns its id."""
    words = {"topic": topic, "context": f"What was said of it: {topic}.", "decisions": [f"{topic}."]}
    return place.submit("ingest", {"summary": words}, **fields)


def remembered(place: Place, job_id: str) -> str:
    """The id of the memory that a job has stored, once it has."""
    return str(result_of(succeeded(place, job_id))["memory_id"])


def succeeded(place: Place, job_id: str) -> Record:
    """The record of a job that has succeeded, once it has ended."""
    record = place.ended(job_id)
    assert record.state == "succeeded", f"{record}\n{place.log_end()}"
    return record


def result_of(record: Record) -> dict[str, Any]:
    assert record.result is not None
    return dict(record.result)


def _rows(place: Place, query: str) -> list[Any]:
    """The rows of a copy; none before it is made."""
    if not place.workspace.memory_db.exists():
        return []
    address = f"file:{place.workspace.memory_db}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
        try:
            return connection.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []  # it is being made


def titles(place: Place) -> list[str]:
    """The topics of the memories of a copy, sorted; "" of one without a topic."""
    bodies = _rows(place, "SELECT body FROM memories WHERE NOT hidden")
    return sorted(json.loads(body).get("topic", "") for (body,) in bodies)


def files_with(folder: Path, phrase: str) -> list[str]:
    """The files below a folder that have a phrase. One that is removed meanwhile has none."""
    found = []
    for path in (Path(at, name) for at, _, names in os.walk(folder) for name in names):
        with contextlib.suppress(FileNotFoundError):
            if path.is_file() and phrase.encode() in path.read_bytes():
                found.append(str(path))
    return sorted(found)


def seq_of(place: Place) -> int:
    """The number of the last change that a copy has; -1 before there is one."""
    found = _rows(place, "SELECT value FROM meta WHERE key = 'team_seq'")
    return int(found[0][0]) if found else -1


def shared_rows(place: Place) -> dict[str, list[Any]]:
    """All rows of a copy that every copy has to have. Empty before there is one."""
    found: dict[str, list[Any]] = {}
    if not place.workspace.memory_db.exists():
        return found
    address = f"file:{place.workspace.memory_db}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'verdicts'").fetchone():
            return found  # it is being made
        for table in shared_tables.TABLES:
            columns = ", ".join(f'"{name}"' for name in table.columns(connection))
            keys = ", ".join(f'"{name}"' for name in table.key)
            found[table.name] = connection.execute(f"SELECT {columns} FROM {table.name} ORDER BY {keys}").fetchall()
        return found
