"""Models that a user adds: each layout of the hubs, what is refused, the calibration, and the command's answers."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import hub_model
import numpy as np
import onnx
import pytest
from onnx import TensorProto, external_data_helper

from bridge.embedding import added_models, calibration, hub_folder, local_models
from bridge.embedding.centre import Centre
from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import Vectors, embed_query
from bridge.embedding.external_data import locations
from bridge.embedding.factory import create
from bridge.embedding.local_model import LocalModel
from bridge.embedding.local_models import ENGLISH, LOCAL_MODELS
from bridge.embedding.model_addition import add
from bridge.embedding.model_files import SHIPPED_GRAPH
from bridge.embedding.onnx import OnnxEmbedder
from jobs.errors import JobError

PAIRS = [(sentence, sentence) for sentence in calibration.sentences()]
TEXTS = ["We keep backups for thirty days.", "The keeper of the lighthouse counts ships at dawn.", "word"]


def config(model: LocalModel, cache: Path) -> EmbeddingConfig:
    return model.config(EmbeddingConfig(cache_dir=cache))


# --- what the folders say ---


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
