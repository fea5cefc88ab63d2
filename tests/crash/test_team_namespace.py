"""A worker in a network of its own is cut off: packets are lost, and nobody is told.

Skipped where no network namespace can be made: that is up to the machine, not to this project.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gateways import gateway_of
from harness import until
from machines import Machines, remember, succeeded
from namespaces import Namespace, NoNamespaces, namespace
from postgres import Cluster, cluster
from psycopg.conninfo import conninfo_to_dict

STOPPED_SECONDS = 90.0  # then systemd, as it is set by default, would kill it


class Wired(Machines):
    """A machine on the gateway's host, and one in a network of its own. All verify certificates: the machines the
    gateway's, and the gateway the database's."""

    def __init__(self, folder: Path, server: Cluster, wire: Namespace, certificate: Path) -> None:
        parts = conninfo_to_dict(server.dsn)
        user = f"{parts['user']}:{parts['password']}"
        dsn = f"postgresql://{user}@{wire.address}:{parts['port']}/{parts['dbname']}?sslrootcert={certificate}"
        super().__init__(folder, dsn)
        gateway_of(dsn, host=wire.address, certificate=certificate)
        self.wire = wire
        self.here = self.machine("here")
        self.away = self.machine("away")
        self.away.launcher = wire.launcher


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Wired]:
    certificates: list[Path] = []
    try:
        with namespace() as wire, cluster(prepare=lambda server: certificates.append(serve(server, wire))) as server:
            yield Wired(tmp_path, server, wire, certificates[0])
    except NoNamespaces as error:
        pytest.skip(str(error))


def serve(server: Cluster, wire: Namespace) -> Path:
    return server.serve(wire.address, wire.network)


def test_a_worker_that_is_cut_off_goes_on_once_packets_come_again(team: Wired) -> None:
    """And in the middle of a cut it can be stopped."""
    with team.here.worker(), team.away.worker() as stopped:
        known = remember(team.here, "What both know")
        succeeded(team.here, known)
        team.until_equal()
        team.wire.cut()
        meanwhile = [remember(team.here, "Said here meanwhile"), remember(team.away, "Said away meanwhile")]
        succeeded(team.here, meanwhile[0])
        until(lambda: "TEAM_UNREACHABLE" in team.away.log(), "it knows that nothing comes")
        answer = team.away.json("retrieve", "what do both know?")
        assert "both know" in answer["results"][0]["summary_text"], "what is known is answered without a network"
        team.wire.heal()
        succeeded(team.away, meanwhile[1])
        after = remember(team.here, "Said after")
        succeeded(team.here, after)
        team.assert_all_is_well([known, *meanwhile, after])
        team.wire.cut()
        began = time.monotonic()
        assert stopped.stop() == 0
        took = time.monotonic() - began
        print(f"stopped {took:.1f} s after the cut")
        assert took < STOPPED_SECONDS
