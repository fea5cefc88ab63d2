"""The default model, which travels in the package: its bytes, how they are made, and what is said when they differ."""

from __future__ import annotations

import importlib
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bridge.embedding import local_models, model_files
from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.factory import create
from bridge.embedding.local_models import ENGLISH, ENGLISH_FULL
from jobs.errors import JobError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package's model, which the program takes for its own."""
    folder = tmp_path / "all-MiniLM-L6-v2"
    shutil.copytree(model_files.DEFAULT_FOLDER, folder)
    monkeypatch.setitem(local_models.LOCAL_MODELS, ENGLISH.identity, replace(ENGLISH, folder=folder))
    return folder


def test_the_package_has_the_pinned_files_and_their_licence() -> None:
    ENGLISH.verify(model_files.DEFAULT_FOLDER)
    assert model_files.digest(model_files.SHIPPED_GRAPH) == model_files.GRAPH.sha256
    assert "Apache License" in (model_files.DEFAULT_FOLDER / "LICENSE.txt").read_text("utf-8")
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    folder = model_files.DEFAULT_FOLDER.relative_to(ROOT / "bridge").as_posix()
    assert f"{folder}/*" in listed["bridge"]


def test_it_is_used_without_a_cache_folder_and_nothing_is_written(tmp_path: Path) -> None:
    cache = tmp_path / "none"
    config = EmbeddingConfig(cache_dir=cache)
    local_models.verify(config)
    assert ENGLISH.is_installed(cache)
    assert not ENGLISH_FULL.is_installed(cache)
    assert create(config).embed(["word"]).shape == (1, ENGLISH.dimensions)
    assert not cache.exists()


def test_a_broken_installation_is_corrupt_and_says_how_to_mend_it(installed: Path) -> None:
    for file in ENGLISH.files:
        (installed / file.name).rename(installed / "kept")
        for harm in ("missing", "shortened"):
            if harm == "shortened":
                (installed / file.name).write_bytes(b"short")
            with pytest.raises(JobError, match=f"MODEL_CORRUPT.*{file.name}") as caught:
                create(EmbeddingConfig(cache_dir=installed))
            assert "Install the program again" in caught.value.remediation
        (installed / "kept").rename(installed / file.name)


def test_a_changed_byte_is_found_by_doctor_and_by_whoever_keeps_vectors(installed: Path) -> None:
    weights = installed / model_files.INT8_WEIGHTS.name
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    config = EmbeddingConfig(cache_dir=installed)
    with pytest.raises(JobError, match="MODEL_CORRUPT"):
        local_models.verify(config)
    with pytest.raises(JobError, match="MODEL_CORRUPT"):
        create(config, bulk=True).embed(["word"])


# --- how it is made ---


def test_the_tool_makes_the_same_bytes_again(full_weights: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    importlib.import_module("tools.default_model").write(full_weights, tmp_path)
    ENGLISH.verify(tmp_path)


def test_the_graph_of_the_full_weights_is_what_its_tool_builds(full_weights: Path) -> None:
    onnx = pytest.importorskip("onnx")
    shipped = onnx.load(str(model_files.SHIPPED_GRAPH), load_external_data=False)
    assert importlib.import_module("tools.build_onnx").build(full_weights / model_files.WEIGHTS.name) == shipped


def test_8_bit_weights_are_within_half_a_step_of_the_published_ones(full_weights: Path) -> None:
    """Of every matrix and output, and of every word; so no scale is wrong and nothing is cut off."""
    int8_weights = importlib.import_module("tools.int8_weights")
    published = int8_weights.Published(full_weights / model_files.WEIGHTS.name)
    kept = dict(int8_weights.tensors(published))
    for name, turned in (
        (int8_weights.WORDS, False),
        *((f"encoder.layer.{layer}.intermediate.dense", True) for layer in range(int8_weights.LAYERS)),
    ):
        stored = kept[f"{name}.weight"].T if turned else kept[f"{name}.weight"]
        scales = kept[f"{name}.scale"].reshape(-1, 1)
        steps = stored.astype(np.float64) - int8_weights.ZERO_POINT
        errors = np.abs(steps * scales - published.tensor(f"{name}.weight"))
        assert (errors <= scales * 0.5001).all()
