"""What the tests of this folder start from."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from harness import Place

DAYS = 86_400


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a job that failed and one whose time to be kept is over, and no worker."""
    base = tmp_path_factory.mktemp("template")
    place = Place(base / "place")
    place.environment["COGNEE_MEMORY_CONFIG_DIR"] = str(base / "place" / "config")
    with place.worker():
        for job_id, outcome in (("again", "fail"), ("old", "succeed")):
            place.submit("noop", {"outcome": outcome}, job_id=job_id)
            place.ended(job_id)
    long_ago = time.time() - 30 * DAYS
    os.utime(place.spool.record("old"), (long_ago, long_ago))
    return base / "place"


@pytest.fixture
def prepared(template: Path, tmp_path: Path) -> Place:
    made = Place(tmp_path / "place")
    shutil.copytree(template, tmp_path / "place", dirs_exist_ok=True)
    return made
