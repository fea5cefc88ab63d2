"""What the tests of this folder start from."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness import Place
from side_by_side import SideBySide

DAYS = 86_400
AT_ONCE = 4  # they wait for processes most of the time


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


@pytest.fixture(scope="session")
def side_by_side(
    request: pytest.FixtureRequest, template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SideBySide]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield SideBySide(template, tmp_path_factory.mktemp("side-by-side"), pool, request.session.items)
