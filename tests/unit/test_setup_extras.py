"""What ``setup --graph`` and ``--team`` install, and where they refuse to."""

import re
from pathlib import Path

import pytest

from jobs.errors import JobError
from worker.terminal import setup_extras
from worker.terminal.setup_extras import GRAPH, TEAM, locked

ROOT = Path(__file__).resolve().parents[2]
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
