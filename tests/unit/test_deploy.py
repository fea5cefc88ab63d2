"""The files of deploy: what they start, name and set is what the program has. Nothing is built or started here."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from harness import masked

from bridge.settings import load
from jobs.errors import JobError
from worker.cli import parser
from worker.gateway import gateway_metrics
from worker.gateway.app import Gateway
from worker.pool import pool_worker

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = ("operator", "gateway", "pool")
MADE = ("./backup",)  # by secrets.sh


@pytest.mark.parametrize("name", OURS)
def test_each_of_our_containers_runs_a_command_of_the_program_with_settings_that_it_has(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = SERVICES[name]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)  # as in the image
    given = parser().parse_args(service["command"])
    given.folder = tmp_path  # of a pool
    with masked(0o022), pytest.raises(JobError, match="The setting store is missing"):
        given.run(given)
    variables = {key: value for key, value in service["environment"].items() if key.startswith("COGNEE_MEMORY_")}
    found = load(environment=variables | {"COGNEE_MEMORY_CONFIG_DIR": "/none"})
    assert sum(source == "environment" for source in found.sources.values()) == len(variables) + 1
    assert "sslrootcert=/run/secrets/ca" in service["environment"]["COGNEE_MEMORY_STORE"]


@pytest.mark.parametrize("name", SERVICES)
def test_every_secret_volume_and_service_that_a_container_names_is_there(name: str) -> None:
    service = SERVICES[name]
    assert set(service["secrets"]) <= set(COMPOSE["secrets"])
    named = re.findall(r"/run/secrets/(\w+)", yaml.safe_dump(service))
    assert set(named) <= set(service["secrets"]), "it reads only what it is given"
    for volume in service.get("volumes", []):
        source = volume.split(":")[0]
        assert source in COMPOSE["volumes"] or (DEPLOY / source).is_file() or source in MADE, volume
    assert set(service.get("depends_on", {})) <= set(SERVICES)


def test_each_role_of_the_database_has_its_own_password_and_no_container_of_ours_has_two() -> None:
    roles = {name: SERVICES[name]["environment"]["COGNEE_MEMORY_STORE"].split("//")[1].split("@")[0] for name in OURS}
    made = re.findall(r"^CREATE ROLE (\w+)", (DEPLOY / "postgres-init.sh").read_text("utf-8"), re.MULTILINE)
    assert sorted(roles.values()) == sorted(made)
    assert len({SERVICES[name]["environment"]["PGPASSFILE"] for name in OURS}) == len(OURS)
    command = SERVICES["operator"]["command"]
    granted = parser().parse_args(command)
    assert (granted.gateway_role, granted.host_role) == (roles["gateway"], roles["pool"])


def test_images_have_a_version_and_services_that_stay_are_watched() -> None:
    assert re.fullmatch(r"postgres:\d+\.\d+-\w+", SERVICES["postgres"]["image"])
    for name in ("postgres", "backup", "gateway", "pool"):
        assert SERVICES[name]["healthcheck"]["test"][0] == "CMD"
        assert SERVICES[name]["restart"] == "unless-stopped"
    compile(SERVICES["gateway"]["healthcheck"]["test"][-1], "gateway", "exec")
    compile(SERVICES["pool"]["healthcheck"]["test"][-1], "pool", "exec")
    assert "/healthz" in SERVICES["gateway"]["healthcheck"]["test"][-1]
    asked = re.search(r'b"(\w+) 1\.0"', SERVICES["pool"]["healthcheck"]["test"][-1])
    assert asked[1] in Path(pool_worker.__file__).read_text("utf-8")
    assert hasattr(Gateway, "_health")


def test_what_the_image_is_made_of_is_there_and_reaches_the_builder() -> None:
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").split()
    kept = [line.removeprefix("!") for line in lines if line.startswith("!")]
    assert all((ROOT / path).exists() for path in kept)
    dockerfile = (DEPLOY / "Dockerfile").read_text("utf-8")
    for copied in re.findall(r"^COPY (\S+) ", dockerfile, re.MULTILINE):
        assert copied == "." or copied in kept
    [command] = re.findall(r"^RUN .* && (cognee-memory .+?) &&", dockerfile, re.MULTILINE)
    parser().parse_args(shlex.split(command)[1:])
    assert {"bridge", "jobs", "worker", "pyproject.toml"} <= set(kept)


def test_the_alerts_of_the_guide_ask_for_metrics_that_the_gateway_and_a_pool_have() -> None:
    folder = ROOT / "docs"
    texts = [(folder / name).read_text("utf-8") for name in ("team-operations.md", "alerts-team.yaml")]
    asked = set(re.findall(r"cognee_memory_(?:gateway|pool)_\w+", "".join(texts)))
    sources = [Path(module.__file__ or "").read_text("utf-8") for module in (gateway_metrics, pool_worker)]
    there = set(re.findall(r'"(cognee_memory_\w+)"', "".join(sources)))
    assert {re.sub("_bucket$", "", name) for name in asked} <= there
    for name in ("alerts.yaml", "alerts-team.yaml"):
        rules = yaml.safe_load((folder / name).read_text("utf-8"))
        assert all(each["alert"] and each["expr"] for each in rules["groups"][0]["rules"])


def test_the_database_has_the_settings_of_the_guide_and_the_pool_s_metrics_are_reached_by_others() -> None:
    command = SERVICES["postgres"]["command"][0]
    page = (ROOT / "docs" / "team-operations.md").read_text("utf-8")
    for name in ("idle_in_transaction_session_timeout", "log_parameter_max_length"):
        [value] = re.findall(rf"{name}=(\S+)", command)
        assert re.search(rf"{name} = '?{value}\b", page), name
    pool = parser().parse_args(SERVICES["pool"]["command"])
    assert (pool.metrics_host, [str(pool.metrics_port)]) == ("0.0.0.0", SERVICES["pool"]["expose"])


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("openssl") is None, reason="needs root and openssl")
def test_the_script_makes_every_secret_with_its_owner_and_changes_none_afterwards(tmp_path: Path) -> None:
    shutil.copy(DEPLOY / "secrets.sh", tmp_path)

    def run() -> dict[str, tuple[int, int, bytes]]:
        done = subprocess.run([tmp_path / "secrets.sh", "memory.example.org"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found = {path.name: path for path in (tmp_path / "secrets").iterdir()}
        return {name: (at.stat().st_uid, at.stat().st_mode & 0o777, at.read_bytes()) for name, at in found.items()}

    made = run()
    assert {Path(each["file"]).name for each in COMPOSE["secrets"].values()} == made.keys() - {"ca.key"}
    for name, (owner, mode, _) in made.items():
        is_public = name.endswith(".pem")
        wanted = (
            999 if name.endswith("_password") else 10001 if name.endswith("_pgpass") or name == "gateway.key" else 0
        )
        assert (owner, mode) == (wanted, 0o644 if is_public else 0o600), name
    assert (tmp_path / "backup").stat().st_uid == 10001
    (tmp_path / "secrets" / "ca.key").unlink()  # it was moved away
    assert run() == {name: each for name, each in made.items() if name != "ca.key"}
    for server, host in (("gateway", "memory.example.org"), ("gateway", "localhost"), ("postgres", "postgres")):
        checked = subprocess.run(
            ["openssl", "verify", "-CAfile", "ca.pem", "-verify_hostname", host, f"{server}.pem"],
            cwd=tmp_path / "secrets", capture_output=True, text=True,
        )  # fmt: skip
        assert checked.returncode == 0, checked.stderr


def test_the_secrets_are_not_committed() -> None:
    folders = {Path(each["file"]).parent.as_posix() for each in COMPOSE["secrets"].values()}
    assert folders == {"secrets"}
    assert {"deploy/secrets/", "deploy/backup/"} <= set((ROOT / ".gitignore").read_text("utf-8").splitlines())
