"""The machines of a team, for tests: each a folder with a configuration of its own, and a real worker; and the service
that runs their jobs."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from gateways import Hosted, gateway_of
from harness import Place, until

from bridge.team import membership, notices


class Team:
    """A shared workspace and its machines, which reach it by the database's service; the first one shares it. ``dsn``
    is the database's own address, ``service`` what the first machine of a database starts it with."""

    def __init__(self, folder: Path, dsn: str, model_cache: Path, *, workers: int = 1, **service: str) -> None:
        self.folder = folder
        self.dsn = dsn
        self.model_cache = model_cache
        self._workers, self._service = workers, {"COGNEE_MEMORY_CACHE_DIR": str(model_cache)} | service
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
            "COGNEE_MEMORY_CACHE_DIR": str(self.model_cache),
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


def summary(topic: str, day: int) -> dict[str, Any]:
    return {
        "summary": {
            "topic": topic,
            "context": f"What was said of it on day {day}.",
            "decisions": [f"{topic}."],
            "created_at": f"2026-11-{day:02}T12:00:00Z",
        }
    }


def pause(place: Place) -> None:
    assert place.cli("jobs", "pause").returncode == 0
    until(lambda: place.heartbeat().get("state") == "paused", "it is paused")


def resume(place: Place) -> None:
    assert place.cli("jobs", "resume").returncode == 0
    until(lambda: place.heartbeat().get("state") != "paused", "it goes on")
