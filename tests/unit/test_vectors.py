"""The vector file, and its 8-bit copy: nothing is rewritten under a reader, and no answer depends on the copy."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_embedder import FakeEmbedder
from hypothesis import given, strategies as st

from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import Vectors, normalised
from bridge.memory import Content, Memory, Metadata
from bridge.search import coarse_vectors, estimate as estimating, index_cache, snapshot as search
from bridge.search.coarse_vectors import CoarseRows, copied
from bridge.search.estimate import exact_top
from bridge.search.index_cache import CoarseCopy
from bridge.search.reader import Reader
from bridge.store import vector_files
from bridge.store.store import Store
from jobs.layout import Workspace


def rows(*values: float) -> Vectors:
    return np.array([[value] * 3 for value in values], np.float32)


def read(folder: Path, generation: int, count: int) -> list[float]:
    found = vector_files.open_rows(vector_files.path_of(folder, generation), count, 3)
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
    assert mapped[:, 0].tolist() == [1, 2]


def test_a_mapped_generation_stays_readable_after_it_was_dropped(tmp_path: Path) -> None:
    vector_files.append(vector_files.path_of(tmp_path, 1), 0, rows(1, 2))
    mapped = vector_files.open_rows(vector_files.path_of(tmp_path, 1), 2, 3)
    vector_files.append(vector_files.path_of(tmp_path, 2), 0, rows(5))
    vector_files.drop_other_generations(tmp_path, 2)
    assert [path.name for path in tmp_path.glob("*.f32")] == ["00000002.f32"]
    assert mapped[:, 0].tolist() == [1, 2]


def test_the_mapping_cannot_be_written(tmp_path: Path) -> None:
    vector_files.append(vector_files.path_of(tmp_path, 1), 0, rows(1))
    mapped = vector_files.open_rows(vector_files.path_of(tmp_path, 1), 1, 3)
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
    assert found.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert vector_files.path_of(tmp_path, 1).stat().st_size == 24


def test_the_file_is_the_users_alone(tmp_path: Path) -> None:
    vector_files.append(vector_files.path_of(tmp_path / "vectors", 1), 0, rows(1))
    assert vector_files.path_of(tmp_path / "vectors", 1).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "vectors").stat().st_mode & 0o777 == 0o700


# --- coarse vectors ---


NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
STORED = "2026-11-19T12:00:00Z"
QUERIES = ["a0 b1 c2", "b3", "d1 and c4", "nothing of it", "a1 a2 a3 a4"]


def coarse_rows(count: int, seed: int, dimensions: int = 48) -> Vectors:
    return normalised(np.random.default_rng(seed).standard_normal((count, dimensions)) ** 3)


def copy_of(vectors: Vectors) -> CoarseRows:
    return copied(vectors)


@given(st.integers(1, 40), st.integers(0, 10_000))
def test_no_product_is_farther_from_the_true_one_than_the_bound(count: int, seed: int) -> None:
    vectors, query = coarse_rows(count, seed), coarse_rows(1, seed + 1)[0]
    products, error = copy_of(vectors).products(query, count)()
    true = vectors.astype(np.float64) @ query.astype(np.float64)
    assert np.abs(products - true).max() <= error < 0.1


def test_two_threads_give_the_products_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, vector = coarse_rows(1901, seed=1), coarse_rows(1, seed=2)[0]
    alone, error = copy_of(vectors).products(vector, 1800)()
    monkeypatch.setattr(coarse_vectors, "_ALONE_BYTES", 0)
    monkeypatch.setattr(coarse_vectors, "_BLOCK_BYTES", 256 * 48)
    copy = copy_of(vectors)
    assert [block.shape[1] for block in copy.blocks] == [256] * 7 + [109]
    together = copy.products(vector, 1800)()
    assert (alone == together[0]).all()
    assert error == together[1]


def test_a_row_of_zeros_has_the_product_zero() -> None:
    vectors = np.zeros((2, 8), np.float32)
    assert np.abs(copy_of(vectors).products(coarse_rows(1, 1, 8)[0], 2)()[0]).max() < 1e-6


@pytest.mark.parametrize("gathered", [1, 7])
def test_an_exact_product_has_the_same_bits_beside_any_rows(monkeypatch: pytest.MonkeyPatch, gathered: int) -> None:
    vectors, query = coarse_rows(90, 1, 384), coarse_rows(1, 2, 384)[0]
    places = np.arange(0, 90, 2)
    alone = [vector_files.exact_products(vectors, np.array([place]), query)[0] for place in places]
    assert np.allclose(alone, vectors[places].astype(np.float64) @ query)
    monkeypatch.setattr(vector_files, "_GATHERED", gathered)
    assert vector_files.exact_products(vectors, places, query).tolist() == alone


@pytest.mark.parametrize("damage", [np.nan, np.inf, 5.0])
def test_damaged_rows_are_not_copied_so_that_the_comparison_in_full_finds_them(damage: float) -> None:
    vectors = coarse_rows(20, 1).copy()
    vectors[7, 3] = damage
    assert copied(vectors) is None


def test_rows_are_copied_again_only_when_many_rows_are_missing() -> None:
    vectors = coarse_rows(100, 4)
    copy = CoarseCopy((Path("vectors"), (1, 1)))
    assert copy.of(vectors[:60]) is None
    copy._making.result()
    assert len(copy.of(vectors[:61]) or ()) == 60
    assert copy._making is None
    copy.of(vectors)
    copy._making.result()
    assert len(copy.of(vectors) or ()) == 100


@given(
    st.lists(st.integers(0, 20).map(float), min_size=1, max_size=30),
    st.integers(1, 10), st.floats(0, 4), st.integers(0, 1000),
)  # fmt: skip
def test_the_highest_are_chosen_whatever_the_error(values: list[float], count: int, error: float, seed: int) -> None:
    true = np.array(values)
    estimated = true + np.random.default_rng(seed).uniform(-error, error, len(true))
    chosen = exact_top(np.stack([estimated - error, estimated + error]), count, lambda indexes: true[indexes])
    assert sorted(true[chosen], reverse=True) == sorted(values, reverse=True)[:count]


@pytest.mark.parametrize("exact_rows", [10**6, 0])
def test_a_copy_changes_no_byte_of_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exact_rows: int) -> None:
    """Also with two stages, which choose among whole texts first."""
    monkeypatch.setattr(search, "EXACT_ROWS", exact_rows)
    monkeypatch.setattr(estimating, "FIRST_STAGE", 20)
    workspace, embedder = Workspace(tmp_path), FakeEmbedder(dimensions=64)
    workspace.memory.mkdir(mode=0o700)
    store = Store(workspace, embedder)
    store.add([(memory(number), None) for number in range(120)], STORED)
    store.close()
    warm = Reader(workspace, EmbeddingConfig(cache_dir=Path()), lambda _: embedder)
    ask(warm, "to begin")
    ask(warm, "to begin")  # starts the copy
    assert warm._cache._coarse._making.result() is not None
    compared = list[int]()
    products = CoarseRows.products
    monkeypatch.setattr(
        CoarseRows, "products", lambda self, vector, count: compared.append(count) or products(self, vector, count)
    )
    for query in QUERIES:
        for more in ({}, {"max_results": 30, "include_superseded": True}, {"relevance_floor": 0.0, "max_results": 7}):
            before = len(compared)
            cold = ask(Reader(workspace, EmbeddingConfig(cache_dir=Path()), lambda _: embedder), query, **more)
            assert len(compared) == before
            assert ask(warm, query, **more) == cold
            assert len(compared) > before


def test_a_first_query_makes_no_copy(tmp_path: Path) -> None:
    cache = index_cache.IndexCache()
    assert cache.coarse(tmp_path, coarse_rows(5, 1)) is None
    assert cache._coarse._making is None


def memory(number: int) -> Memory:
    text = " ".join(f"{letter}{number * step % 5}" for letter, step in zip("abcd", (1, 3, 7, 11), strict=True))
    content = Content(f"Topic {number % 9}", f"It is about {text}.", (f"Take a{number % 4}.", f"Then {text}!"))
    status = "Superseded" if number % 10 == 0 else "Active"
    return Memory(f"m{number}", 0, "summary", Metadata(status=status, created_at=STORED), STORED, content)  # type: ignore[arg-type]


def ask(reader: Reader, query: str, **more: Any) -> dict[str, Any]:
    answer = reader.answer("retrieve", {"query": query, "relevance_floor": 0.1, **more}, NOW)
    assert answer["success"], answer
    return dict(answer)
