"""A workspace that is too large for a machine's copy: the gateway answers its questions, from a copy of its own.

A real gateway, and real workers. What is large is said by a setting.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from gateways import Hosted
from harness import Place, until
from machines import summary
from postgres import database

from bridge.team import membership, people

NOW = "2026-11-30T12:00:00Z"
COMMANDS = (("retrieve", "how are invoices rounded?"), ("explain", "invoices"), ("context", "invoices"))


class Pair:
    """A machine with a copy of a workspace, and a laptop that keeps none of a workspace with more than one memory."""

    def __init__(self, folder: Path, hosted: Hosted, cache: Path) -> None:
        self.hosted = hosted
        self.workspace_id, self.ann = str(uuid4()), f"ann-{uuid4()}"
        common = {
            "COGNEE_MEMORY_TEAM": hosted.address,
            "COGNEE_MEMORY_TEAM_TOKEN": hosted.token(self.ann),
            "COGNEE_MEMORY_CACHE_DIR": str(cache),
        }
        self.host = Place(folder / "host", **common)
        membership.join(self.host.workspace, self.host.config, self.workspace_id, shares=True)
        self.laptop = Place(folder / "laptop", **common, COGNEE_MEMORY_TEAM_COPY_MEMORIES="1")
        membership.join(self.laptop.workspace, self.laptop.config, self.workspace_id)


@pytest.fixture
def pair(tmp_path: Path, model_cache: Path) -> Iterator[Pair]:
    with database() as dsn:
        hosted = Hosted(tmp_path, dsn)
        hosted.start("--copies", str(tmp_path / "copies"), "--workers", "1", COGNEE_MEMORY_CACHE_DIR=str(model_cache))
        yield Pair(tmp_path, hosted, model_cache)
        hosted.stop()
        hosted.server.close()


def answers(place: Place) -> list[str]:
    found = []
    for command in COMMANDS:
        said = place.json(*command, "--as-of", NOW)
        said.pop("warnings", None)
        found.append(json.dumps(said, sort_keys=True).replace(str(place.workspace.root), "."))
    return found


def both_answer_alike(laptop: Place, host: Place) -> None:
    """Each copy finds by itself, soon after a memory came, what that replaces."""
    until(lambda: answers(laptop) == answers(host), "both answer alike")


def test_the_gateway_answers_as_a_copy_would_knows_each_change_and_refuses_who_may_no_longer_see_it(pair: Pair) -> None:
    host, laptop = pair.host, pair.laptop
    with host.worker():
        for day in range(1, 4):
            told = host.submit("ingest", summary(f"Invoices of day {day} are rounded up", day))
            assert host.ended(told).state == "succeeded"
        with laptop.worker():
            until(lambda: "no copy is made here" in laptop.log(), "it has decided")
            until(lambda: laptop.json(*COMMANDS[0])["success"], "the gateway has made its copy")
            both_answer_alike(laptop, host)
            assert not laptop.workspace.memory_db.exists()
            told = laptop.submit("ingest", summary("Invoices of Sundays are rounded down", 5))
            record = laptop.ended(told)
            assert record.state == "succeeded"
            hits = laptop.json("retrieve", "invoices of Sundays", "--as-of", NOW)["results"]
            assert "rounded down" in hits[0]["summary_text"], "at once: the gateway asks what is new before it answers"
            both_answer_alike(laptop, host)
            memory_id = (record.result or {})["memory_id"]
            assert host.ended(host.submit("forget", {"memory_ids": [memory_id]})).state == "succeeded"
            hits = laptop.json("retrieve", "invoices of Sundays", "--as-of", NOW)["results"]
            assert "rounded down" not in json.dumps(hits)
            assert laptop.json("memories", "list")["error_code"] == "TEAM_NO_COPY", "it is not as if there were none"
            rebuilt = laptop.ended(laptop.submit("rebuild", {"what": "index"}))
            assert (rebuilt.state, rebuilt.error and rebuilt.error["code"]) == ("failed", "TEAM_NO_COPY")
            (laptop.workspace.root / "talk.md").write_text(
                "## User\n\nWe keep the queue in SQLite, since it survives a crash.\n\n## Assistant\n\nNoted.\n"
            )
            captured = laptop.ended(laptop.submit("capture", {"file": "talk.md"}))
            assert (captured.state, (captured.result or {}).get("captured")) == ("succeeded", 1), captured
            assert not laptop.workspace.memory_db.exists(), "what its files hold needs no copy here"
            assert laptop.json(*COMMANDS[0])["results"]
            with pair.hosted.server.connection() as connection:
                people.add_person(connection, other := f"bob-{uuid4()}")
                people.give(connection, pair.workspace_id, other, None)
            refused = laptop.json(*COMMANDS[0])
            assert (refused["success"], refused["error_code"], refused["results"]) == (False, "TEAM_NOT_SHARED", [])
