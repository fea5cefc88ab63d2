"""The lock: what is installed is what was chosen, file for file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = re.split(r"^(?=[\w.-]+)", (ROOT / "requirements.lock").read_text("utf-8"), flags=re.MULTILINE)[1:]


def name_of(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def test_every_package_is_pinned_and_has_the_digest_of_each_of_its_files() -> None:
    assert len(ENTRIES) > 100
    for entry in ENTRIES:
        assert re.match(r"[\w.-]+==\S+", entry), entry
        assert re.findall(r"--hash=sha256:[0-9a-f]{64}", entry), entry


def test_every_direct_dependency_is_in_the_lock() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    direct = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    assert {name_of(one) for one in direct} <= {name_of(entry) for entry in ENTRIES}
