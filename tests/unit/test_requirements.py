"""The lock: what is installed is what was chosen, file for file."""

import re
import tomllib
from pathlib import Path

import pytest

from jobs.errors import JobError
from worker.terminal import setup_extras
from worker.terminal.setup_extras import GRAPH, TEAM, locked

ROOT = Path(__file__).resolve().parents[2]


def entries(lock: str) -> list[str]:
    return re.split(r"^(?=[\w.-]+)", (ROOT / lock).read_text("utf-8"), flags=re.MULTILINE)[1:]


FOR_USERS, FOR_TESTS = entries("requirements.lock"), entries("requirements-dev.lock")


def name_of(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def files_of(entry: str) -> tuple[str, ...]:
    """The name with the version, and the digests; without where it is wanted."""
    return entry.split(maxsplit=1)[0], *re.findall(r"sha256:[0-9a-f]{64}", entry)


def test_every_package_is_pinned_and_has_the_digest_of_each_of_its_files() -> None:
    assert len(FOR_USERS) > 100
    for entry in FOR_TESTS:
        assert re.match(r"[\w.-]+==\S+", entry), entry
        assert re.findall(r"--hash=sha256:[0-9a-f]{64}", entry), entry


def test_what_users_install_is_what_was_tested() -> None:
    assert {files_of(entry) for entry in FOR_USERS} < set(map(files_of, FOR_TESTS))


def test_every_direct_dependency_is_in_its_lock() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for direct, lock in ((project["dependencies"], FOR_USERS), (project["optional-dependencies"]["dev"], FOR_TESTS)):
        assert {name_of(one) for one in direct} <= {name_of(entry) for entry in lock}


@pytest.mark.parametrize("path", ["Makefile", "README.md", "docs/operations.md", "deploy/Dockerfile"])
def test_an_install_from_the_lock_has_the_lock_as_its_constraint_too(path: str) -> None:
    """Without it, pip before 23.3 looks for the newest release of what is asked for with extras."""
    content = (ROOT / path).read_text("utf-8")
    installs = re.findall(r"--require-hashes -c (\S+) -r (\S+)", content)
    assert installs
    assert [pair for pair in installs if pair[0] != pair[1]] == []
    assert not re.search(r"(?<!uv )pip install [^\n]*--require-hashes -r \S*(?:requirements|LOCK)", content)


# --- what setup installs beside the core ---


LOCK = (ROOT / "requirements.lock").read_text("utf-8")


def names(lock: str) -> set[str]:
    return set(re.findall(r"^([\w.-]+)==", lock, re.MULTILINE))


def test_the_drivers_part_of_the_lock_has_its_packages_with_their_digests() -> None:
    part = locked(LOCK, TEAM.packages)
    assert names(part) == set(TEAM.packages or ())
    assert part.count("--hash=sha256:") > len(names(part))
    assert all(line in LOCK for line in part.splitlines())


def test_the_graph_is_all_that_the_lock_names() -> None:
    assert locked(LOCK, GRAPH.packages) == LOCK
    assert "cognee" in names(LOCK)


def test_the_core_has_none_of_the_extras() -> None:
    core = names((ROOT / "requirements-core.lock").read_text("utf-8"))
    assert core.isdisjoint({"cognee", "litellm", *(TEAM.packages or ())})


def test_what_is_there_already_is_not_installed_again() -> None:
    assert setup_extras.add(GRAPH) is False


@pytest.mark.parametrize("folder", ["archive-v0", "environments-v2"])
def test_nothing_is_installed_into_folders_of_uvx(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.terminal.setup_extras.find_spec", lambda name: None)
    monkeypatch.setattr("sys.prefix", str(tmp_path / folder / "x"))
    with pytest.raises(JobError, match="EXTRA_NOT_ADDED") as refused:
        setup_extras.add(GRAPH)
    assert "uvx --from 'cognee-memory[graph]' cognee-memory" in refused.value.remediation
