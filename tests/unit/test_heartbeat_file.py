"""The heartbeat file, as clients read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs import files, heartbeat
from jobs.layout import SpoolPaths


@pytest.fixture
def place(tmp_path: Path) -> SpoolPaths:
    place = SpoolPaths(tmp_path / "spool")
    files.make_folder(place.worker)
    return place


def test_a_backup_with_hard_links_hides_no_heartbeat(place: SpoolPaths) -> None:
    """``cp -al`` gives each file a second name."""
    place.heartbeat.write_text('{"state": "ready"}')
    (place.root / "copy").hardlink_to(place.heartbeat)
    assert heartbeat.read(place) == {"state": "ready"}


def test_a_link_in_its_place_is_no_heartbeat(place: SpoolPaths) -> None:
    (place.root / "elsewhere").write_text('{"state": "ready"}')
    place.heartbeat.symlink_to(place.root / "elsewhere")
    assert heartbeat.read(place) is None
