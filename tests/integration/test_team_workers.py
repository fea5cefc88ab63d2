"""Workers of several machines share a workspace: a job that is dropped on one runs on any, once, and its record comes
back to where it was dropped.

Real worker processes and a real Postgres. A machine is a folder with a configuration of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from harness import Place, until
from postgres import database

from bridge.team import membership


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with database() as found:
        yield found


class Team:
    """A workspace of a team, and its machines."""

    def __init__(self, folder: Path, dsn: str, model_cache: Path) -> None:
        self.folder = folder
        self.dsn = dsn
        self._cache = model_cache
        self.workspace_id = str(uuid4())
        self.places: list[Place] = []

    def machine(self, name: str, **variables: str) -> Place:
        """A further machine."""
        place = Place(
            self.folder / name,
            COGNEE_MEMORY_STORE=self.dsn,
            COGNEE_MEMORY_CACHE_DIR=str(self._cache),
            **variables,
        )
        membership.join(place.workspace, place.config, self.workspace_id, shares=not self.places)
        self.places.append(place)
        return place

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.dsn, options="-c search_path=cognee_memory") as connection:
            return connection.execute(query.encode(), (self.workspace_id, *values)).fetchall()


@pytest.fixture
def team(tmp_path: Path, dsn: str, model_cache: Path) -> Team:
    return Team(tmp_path, dsn, model_cache)


def summary(topic: str, day: int) -> dict[str, Any]:
    return {
        "summary": {
            "topic": topic,
            "context": f"What was said of it on day {day}.",
            "decisions": [f"{topic}."],
            "created_at": f"2026-11-{day:02}T12:00:00Z",
        }
    }


def test_what_one_machine_remembers_every_other_one_finds(team: Team) -> None:
    first, second = team.machine("first"), team.machine("second")
    with first.worker(), second.worker():
        jobs = [first.submit("ingest", summary("The queue is a spool", 1))]
        jobs += [second.submit("ingest", summary("Invoices are rounded up", 2))]
        assert first.ended(jobs[0]).state == second.ended(jobs[1]).state == "succeeded"
        for place in (first, second):
            until(lambda place=place: place.json("memories", "list")["total"] == 2 or None, "both memories are here")
            answer = place.json("retrieve", "how are invoices rounded?")
            assert "Invoices" in answer["results"][0]["summary_text"]
    assert team.rows("SELECT count(*), max(last_seq) FROM workspaces WHERE id = %s") == [(1, 2)]
