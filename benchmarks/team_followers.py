"""Many copies of a team's workspaces in one process, each followed once a second, for ``team_soak``.

``python -m benchmarks.team_followers PLAN SEEN``: PLAN is a JSON file with a list of copies; to SEEN a line is appended
for each change that a copy has applied: the copy's number, the change's number, the time.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from bridge.embedding.factory import create
from bridge.settings import load
from bridge.store.team.team_store import TeamStore
from bridge.team.gateway_team import GatewayTeam
from bridge.team.postgres_team import PostgresTeam
from bridge.team.protocol import Team
from bridge.team.rows import Author
from bridge.team.server import Server
from jobs.errors import JobError
from jobs.layout import Workspace


def main() -> None:
    copies = json.loads(Path(sys.argv[1]).read_text())
    embedder = create(load().embedding)
    teams: dict[str, Team] = {}
    stores: dict[int, TeamStore] = {}
    with Path(sys.argv[2]).open("a") as seen:
        while True:
            for number, copy in enumerate(copies):
                key = copy["token"] or copy["address"]
                try:
                    if key not in teams:
                        teams[key] = _team(copy)
                    if number not in stores:
                        workspace = Workspace(Path(copy["folder"]))
                        workspace.memory.mkdir(mode=0o700, parents=True, exist_ok=True)
                        author = Author(f"follower-{number}")
                        stores[number] = TeamStore(workspace, embedder, teams[key], copy["workspace_id"], author)
                    if stores[number].catch_up():
                        print(number, stores[number].position.seq, time.time(), file=seen, flush=True)
                except JobError as error:
                    print(number, error.code, file=sys.stderr, flush=True)
            time.sleep(1)


def _team(copy: dict[str, Any]) -> Team:
    if copy["token"]:
        return GatewayTeam(copy["address"], copy["token"])
    return PostgresTeam(Server(copy["address"]))


if __name__ == "__main__":
    main()
