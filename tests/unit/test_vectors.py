"""The vector file: what is committed is never rewritten under a reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge.embedding.embedder import Vectors
from bridge.store import vector_files


def rows(*values: float) -> Vectors:
    return np.array([[value] * 3 for value in values], np.float32)


def read(folder: Path, generation: int, count: int) -> list[float]:
    found = vector_files.open_rows(vector_files.path_of(folder, generation), count, 3)
    assert found is not None
    assert found.shape == (count, 3)
    return [float(row[0]) for row in found]


def test_rows_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    vector_files.append(vector_files.path_of(tmp_path, 1), 0, rows(1, 2))
    vector_files.append(vector_files.path_of(tmp_path, 1), 2, rows(3))
    assert read(tmp_path, 1, 3) == [1, 2, 3]


def test_a_reader_maps_no_more_than_what_was_committed(tmp_path: Path) -> None:
    vector_files.append(vector_files.path_of(tmp_path, 1), 0, rows(1, 2, 3))
    assert read(tmp_path, 1, 2) == [1, 2]


def test_what_an_aborted_append_left_is_overwritten(tmp_path: Path) -> None:
    vector_files.append(vector_files.path_of(tmp_path, 1), 0, rows(1))
    vector_files.append(vector_files.path_of(tmp_path, 1), 1, rows(7, 8, 9))  # never committed
    vector_files.append(vector_files.path_of(tmp_path, 1), 1, rows(2))
    assert read(tmp_path, 1, 2) == [1, 2]


def test_an_append_behind_a_mapped_file_does_not_change_what_the_reader_sees(tmp_path: Path) -> None:
    vector_files.append(vector_files.path_of(tmp_path, 1), 0, rows(1, 2))
    mapped = vector_files.open_rows(vector_files.path_of(tmp_path, 1), 2, 3)
    vector_files.append(vector_files.path_of(tmp_path, 1), 2, rows(*range(3, 2000)))
    assert mapped is not None
    assert mapped[:, 0].tolist() == [1, 2]


def test_a_mapped_generation_stays_readable_after_it_was_dropped(tmp_path: Path) -> None:
    vector_files.append(vector_files.path_of(tmp_path, 1), 0, rows(1, 2))
    mapped = vector_files.open_rows(vector_files.path_of(tmp_path, 1), 2, 3)
    vector_files.append(vector_files.path_of(tmp_path, 2), 0, rows(5))
    vector_files.drop_other_generations(tmp_path, 2)
    assert [path.name for path in tmp_path.glob("*.f32")] == ["00000002.f32"]
    assert mapped is not None
    assert mapped[:, 0].tolist() == [1, 2]


def test_the_mapping_cannot_be_written(tmp_path: Path) -> None:
    vector_files.append(vector_files.path_of(tmp_path, 1), 0, rows(1))
    mapped = vector_files.open_rows(vector_files.path_of(tmp_path, 1), 1, 3)
    assert mapped is not None
    with pytest.raises(ValueError, match="read-only"):
        mapped[0, 0] = 5


def test_a_missing_or_short_file_is_reported_as_such(tmp_path: Path) -> None:
    assert vector_files.open_rows(vector_files.path_of(tmp_path, 1), 1, 3) is None
    vector_files.append(vector_files.path_of(tmp_path, 1), 0, rows(1))
    assert vector_files.open_rows(vector_files.path_of(tmp_path, 1), 2, 3) is None


def test_a_file_that_is_removed_while_it_is_opened_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a rebuild does, between the look at the size and the mapping."""
    path = vector_files.path_of(tmp_path, 1)
    vector_files.append(path, 0, rows(1))
    real = np.memmap

    def removed_first(*arguments: Any, **options: Any) -> Any:
        path.unlink()
        return real(*arguments, **options)

    monkeypatch.setattr(np, "memmap", removed_first)
    assert vector_files.open_rows(path, 1, 3) is None


def test_no_rows_need_no_mapping(tmp_path: Path) -> None:
    vector_files.append(vector_files.path_of(tmp_path, 1), 0, np.empty((0, 3), np.float32))
    assert read(tmp_path, 1, 0) == []


def test_rows_are_little_endian_float32_whatever_they_came_as(tmp_path: Path) -> None:
    vector_files.append(
        vector_files.path_of(tmp_path, 1), 0, np.asfortranarray(np.array([[1, 2, 3], [4, 5, 6]], ">f8"))
    )  # type: ignore[arg-type]
    found = vector_files.open_rows(vector_files.path_of(tmp_path, 1), 2, 3)
    assert found is not None
    assert found.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert vector_files.path_of(tmp_path, 1).stat().st_size == 24


def test_the_file_is_the_users_alone(tmp_path: Path) -> None:
    vector_files.append(vector_files.path_of(tmp_path / "vectors", 1), 0, rows(1))
    assert vector_files.path_of(tmp_path / "vectors", 1).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "vectors").stat().st_mode & 0o777 == 0o700
