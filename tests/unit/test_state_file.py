"""State files: read by one rule, whatever stands in their place."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import state_file


def read(path: Path) -> str:
    return state_file.read(path, lambda content: str(content["name"].upper()), absent="absent", damaged="damaged")


def test_a_state_file_is_read_in_its_shape_also_under_a_second_hard_link(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text('{"name": "worker"}')
    os.link(path, tmp_path / "backup.json")
    assert read(path) == "WORKER"


def test_a_missing_state_file_is_absent(tmp_path: Path) -> None:
    assert read(tmp_path / "state.json") == "absent"


def _link(path: Path) -> None:
    (path.parent / "elsewhere.json").write_text('{"name": "worker"}')
    path.symlink_to(path.parent / "elsewhere.json")


def _text(text: str) -> Callable[[Path], Any]:
    return lambda path: path.write_text(text)


IN_ITS_PLACE = [
    pytest.param(_link, id="link"),
    pytest.param(Path.mkdir, id="folder"),
    pytest.param(os.mkfifo, id="pipe"),
    pytest.param(lambda path: path.write_bytes(b"\xff\xfe"), id="no UTF-8"),
    pytest.param(_text(""), id="empty"),
    pytest.param(_text('{"name": "wor'), id="half written"),
    pytest.param(_text('{"name": "worker", "size": NaN}'), id="NaN"),
    pytest.param(_text('{"name": "worker", "more": ' + "[" * 100_000 + "]" * 100_000 + "}"), id="deep"),
    pytest.param(_text(" " * state_file.LIMIT + '{"name": "worker"}'), id="huge"),
    pytest.param(_text('{"name": "worker", "size": ' + "9" * 5000 + "}"), id="long number"),
    pytest.param(_text('{"name": 1}'), id="another type"),
    pytest.param(_text("{}"), id="without a field"),
    pytest.param(_text("[]"), id="a list"),
    pytest.param(_text("null"), id="null"),
]


@pytest.mark.parametrize("put", IN_ITS_PLACE)
def test_whatever_is_in_place_of_a_state_file_is_damage_only(tmp_path: Path, put: Callable[[Path], Any]) -> None:
    path = tmp_path / "state.json"
    put(path)
    assert read(path) == "damaged"
