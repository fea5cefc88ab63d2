"""Where a team is, from which sources that may come, and how it is shown."""

import asyncio
import json
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness import Place
from psycopg.conninfo import conninfo_to_dict

from bridge.graph.open_stores import Stores
from bridge.settings import SETTINGS, Settings, is_allowed_in_workspace, load
from bridge.team import address, copy_age, membership, opening
from bridge.team.gateway_team import GatewayTeam
from bridge.team.postgres_team import PostgresTeam
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace
from worker.gateway.access import Limits
from worker.gateway.serving import Serving, _require_private_way

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


# --- the address ---


ADDRESSES = [
    "postgresql://u@localhost/d", "postgresql://u@127.0.0.1:5433/d", "postgresql://u@[::1]/d",
    "postgresql:///d?host=/run/postgresql", "postgres://u@localhost/d",
]  # fmt: skip


@pytest.mark.parametrize("given", ADDRESSES)
def test_on_this_machine_the_connection_is_as_the_address_says(given: str) -> None:
    assert "sslmode" not in conninfo_to_dict(address.conninfo(given))


@pytest.mark.parametrize(
    "given", ["postgresql://u@db.example/d", "postgresql://u@localhost,db.example/d", "postgresql://u@10.0.0.7/d"]
)
def test_to_another_machine_certificate_and_name_are_verified(given: str) -> None:
    found = conninfo_to_dict(address.conninfo(given))
    assert (found["sslmode"], found["sslrootcert"]) == ("verify-full", "system")


@pytest.mark.parametrize("name", ["PGHOST", "PGHOSTADDR", "PGSERVICE"])
def test_a_host_in_the_environment_makes_an_address_anothers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "10.0.0.7")
    assert conninfo_to_dict(address.conninfo("postgresql:///d"))["sslmode"] == "verify-full"
    assert "sslmode" not in conninfo_to_dict(address.conninfo("postgresql://localhost/d"))
    monkeypatch.delenv(name)
    assert "sslmode" not in conninfo_to_dict(address.conninfo("postgresql:///d"))
    assert conninfo_to_dict(address.conninfo("postgresql:///d?service=team"))["sslmode"] == "verify-full"


def test_the_password_file_is_the_users_despite_another_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGPASSFILE", raising=False)
    monkeypatch.setenv("MEMORY_USER_HOME", str(tmp_path))
    found = conninfo_to_dict(address.conninfo("postgresql://u@localhost/d"))
    assert Path(str(found["passfile"])).name == ".pgpass"
    monkeypatch.setenv("PGPASSFILE", "/elsewhere/pass")
    assert conninfo_to_dict(address.conninfo("postgresql://u@localhost/d"))["passfile"] == "/elsewhere/pass"


WEAKER = [
    f"postgresql://u:hunter2@db.example/d?sslmode={mode}" for mode in "disable allow prefer require verify-ca".split()
]


@pytest.mark.parametrize("given", [*WEAKER, "mysql://u@h/d", "db.example", "postgresql://u:%zz@h/d"])
def test_a_weaker_mode_to_another_machine_or_no_address_is_refused_without_showing_it(given: str) -> None:
    with pytest.raises(JobError, match="SETTING_INVALID") as caught:
        address.conninfo(given)
    assert given not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_no_file_of_a_workspace_can_say_where_the_team_is_or_who_asks() -> None:
    ours = {name for name in SETTINGS if name in ("store", "pool_store", "team", "team_token", "team_ca_file")}
    assert len(ours) == 5
    assert not any(is_allowed_in_workspace(name, trusted) for name in ours for trusted in (False, True))


PUBLIC_FILES = [
    (opening.server_of, 'store = "postgresql://u:p@localhost/d"'),
    (opening.server_of, 'store = "postgresql://u@localhost/d"\npool_store = "postgresql://u:p@localhost/d"'),
    (opening.team_of, 'team_token = "t"\nteam = "https://h"'),
]


@pytest.mark.parametrize(("opened", "setting"), PUBLIC_FILES)
def test_a_public_file_is_refused(opened: Any, setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One with a secret that others can read."""
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(tmp_path))
    file = tmp_path / "config.toml"
    file.write_text(setting)
    file.chmod(0o644)
    settings = load()
    with pytest.raises(JobError) as caught:
        opened(settings)
    assert "chmod 600" in caught.value.remediation
    file.chmod(0o600)
    opened(load()).close()


def test_the_databases_address_is_no_way_for_a_member() -> None:
    with pytest.raises(JobError, match="gateway") as caught:
        opening.team_of(Settings(store="postgresql://u@localhost/d"))
    assert caught.value.code == "SETTING_INVALID"
    assert "token" in caught.value.remediation


@pytest.mark.parametrize(("is_pool", "reached"), [(True, PostgresTeam), (False, GatewayTeam)])
def test_a_copy_is_of_database_or_gateway(workspace: Workspace, tmp_path: Path, is_pool: bool, reached: type) -> None:
    membership.join(workspace, tmp_path / "config", WANTED, is_pool=is_pool)
    settings = Settings(
        store="postgresql://u@localhost/d", team="https://h", team_token="t", config_dir=tmp_path / "config"
    )
    with Stores(workspace, settings) as stores:
        assert type(stores.team[1]) is reached


@pytest.mark.parametrize("given", ["http://memory.example", "memory.example", "ftp://h", "https://"])
def test_a_gateway_is_reached_over_https_only(given: str) -> None:
    with pytest.raises(JobError, match="SETTING_INVALID"):
        GatewayTeam(given, "token")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "memory.example", "::"])
def test_a_gateway_without_a_certificate_serves_this_machine_only(host: str) -> None:
    with pytest.raises(JobError, match="certificate"):
        _require_private_way(Serving(host, 8443))
    _require_private_way(Serving(host, 8443, behind_proxy=True))
    _require_private_way(Serving("127.0.0.1", 8443))


# --- the membership ---


@pytest.fixture
def workspace(place: Place) -> Workspace:
    return place.workspace


WANTED = "00000000-0000-0000-0000-00000000000a"


def test_a_workspace_is_in_a_team_once_its_user_says_so_until_they_leave(workspace: Workspace, tmp_path: Path) -> None:
    config = tmp_path / "config"
    assert membership.membership_of(workspace, config) is None
    found = membership.join(workspace, config, WANTED, shares=True)
    assert (found.workspace_id, found.shares) == (WANTED, True)
    assert membership.membership_of(workspace, config) == found
    assert membership.membership_of(workspace, tmp_path / "another user") is None
    membership.leave(workspace, config)
    assert membership.membership_of(workspace, config) is None


DAMAGED_NOTES = [b"", b"{", b"[]", b'{"workspace_id": "x", "shares": true}', b'{"workspace_id": 7}']


@pytest.mark.parametrize("damaged", DAMAGED_NOTES)
def test_a_damaged_membership_is_an_error_not_no_team(workspace: Workspace, tmp_path: Path, damaged: bytes) -> None:
    """Else what belongs to the team would be stored here alone."""
    membership.join(workspace, tmp_path / "config", WANTED)
    [file] = (tmp_path / "config" / "teams").iterdir()
    file.write_bytes(damaged)
    with pytest.raises(JobError, match="SETTING_INVALID"):
        membership.membership_of(workspace, tmp_path / "config")


def test_each_folder_is_a_copy_named_by_the_machines_setting_and_a_pool_is_told_from_one(tmp_path: Path) -> None:
    nodes = []
    for name, is_pool in (("a", False), ("b", False), ("c", True)):
        workspace = Workspace(tmp_path / name)
        workspace.root.mkdir()
        nodes.append(membership.join(workspace, tmp_path, WANTED, machine="build-3", is_pool=is_pool).node)
    assert len(set(nodes)) == 3
    assert [node.partition("/")[0] for node in nodes] == ["build-3", "build-3", "pool-build-3"]
    for wrong in ("", "a/b", "x" * 65, "a\nb"):
        with pytest.raises(JobError, match="team_machine"):
            membership.require_machine(wrong)


# --- the copy's age ---


def test_what_is_noted_of_a_copy_is_read_until_it_is_forgotten(workspace: Workspace) -> None:
    assert copy_age.read(workspace) is None
    copy_age.note_current(workspace, NOW, 30, 7, "its id")
    assert copy_age.read(workspace) == (NOW, NOW + timedelta(days=30), 7, "its id")
    copy_age.record_no_copy(workspace)
    assert copy_age.has_no_copy(workspace)
    assert copy_age.read(workspace) is None
    copy_age.forget(workspace)
    assert copy_age.read(workspace) is None


@pytest.mark.parametrize("damaged", [b"", b"[]", b"{}", json.dumps({"current_at": 7, "answers_until": 8}).encode()])
def test_a_copy_whose_note_is_damaged_is_one_of_unknown_age(workspace: Workspace, damaged: bytes) -> None:
    workspace.team_copy.write_bytes(damaged)
    assert copy_age.read(workspace) == (None, None, None, "")
    assert copy_age.current_at(workspace) is None


def test_the_note_of_an_earlier_version_names_no_change(workspace: Workspace) -> None:
    entry = {"current_at": clock.iso(NOW), "answers_until": clock.iso(NOW)}
    workspace.team_copy.write_text(json.dumps(entry))
    assert copy_age.read(workspace) == (NOW, NOW, None, "")


# --- limits ---


def test_a_person_may_ask_so_often_in_a_minute_and_waits_for_what_is_too_much() -> None:
    limits = Limits(60, 1000)
    for _ in range(60):
        limits.spend("ann", 0.0)
    with pytest.raises(JobError, match="TEAM_LIMITED") as caught:
        limits.spend("ann", 0.0)
    assert caught.value.details == {"retry_after_seconds": 1.0}
    limits.spend("bob", 0.0)
    limits.spend("ann", 1.0)


def test_bytes_beyond_the_limit_of_a_minute_wait_until_they_fit() -> None:
    limits = Limits(1000, 600)
    assert limits.pause("ann", 600, 0.0) == 0
    assert limits.pause("ann", 20, 0.0) == 2.0
    assert limits.pause("ann", 20, 2.0) == 2.0
    assert limits.pause("bob", 20, 2.0) == 0


def test_a_person_has_a_few_transfers_at_once_and_another_one_waits_for_its_turn() -> None:
    async def story() -> None:
        limits = Limits(1000, 600)
        async with AsyncExitStack() as others:
            async with limits.transfer("ann"):
                for _ in range(3):
                    await others.enter_async_context(limits.transfer("ann"))
                fifth = asyncio.create_task(others.enter_async_context(limits.transfer("ann")))
                await asyncio.sleep(0)
                async with limits.transfer("bob"):
                    assert not fifth.done()
            await fifth

    asyncio.run(story())


def test_a_clock_that_goes_back_gives_and_takes_nothing() -> None:
    limits = Limits(2, 1000)
    limits.spend("ann", 100.0)
    limits.spend("ann", 50.0)
    with pytest.raises(JobError):
        limits.spend("ann", 50.0)
