"""The store of a team keeps every promise of a store, over a real Postgres; so do its replicas' readers."""

from collections.abc import Iterator
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest
from fake_embedder import FakeEmbedder
from postgres import database
from store_conformance import StoreConformance, place_of

from bridge.store.team.team_store import TeamStore
from bridge.team.postgres_team import PostgresTeam
from bridge.team.rows import Author
from bridge.team.server import Server

pytestmark = pytest.mark.slow  # it needs PostgreSQL


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with database() as dsn:
        server = Server(dsn)
        yield server
        server.close()


class TestTeamStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _server(self, server: Server) -> None:
        self.server = server

    def open_store(self, folder: Path, embedder: FakeEmbedder) -> TeamStore:
        return TeamStore(
            place_of(folder),
            embedder,
            PostgresTeam(self.server),
            str(uuid5(NAMESPACE_URL, str(folder))),
            Author("a machine"),
            may_share=True,
        )
