"""Real sentence models in ONNX, small enough to be made in a test, in the layouts of model hubs.

A token's vector is a row of a table: random, plus a vector that all share, so that any two texts have a high cosine, as
with many published models. A text's vector is the mean of its tokens', so texts with common words are near each other.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WIDTH, ROWS = 48, 2_000
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_MODULES = "sentence_transformers.models."

# For each family: where the graph is, its inputs, its pooling, and the files that only this one has.
LAYOUTS: dict[str, dict[str, Any]] = {
    "bge-small-en-v1.5": {"graph": "onnx/model.onnx", "pooling": "cls_token", "inputs": 3},
    "e5-small-v2": {"graph": "onnx/model.onnx", "pooling": "mean_tokens", "inputs": 3},
    "gte-small": {"graph": "onnx/model.onnx", "pooling": "mean_tokens", "inputs": 3},
    "snowflake-arctic-embed-s": {
        "graph": "onnx/model_quantized.onnx", "pooling": "cls_token", "inputs": 3,
        "prompts": {"query": "Represent this sentence for searching relevant passages: "},
    },
    "nomic-embed-text-v1.5": {"graph": "onnx/model.onnx", "pooling": "mean_tokens", "inputs": 3, "external": True},
    "multilingual-e5-base": {"graph": "onnx/model.onnx", "pooling": "mean_tokens", "inputs": 2},
    "all-small-sentence": {"graph": "model.onnx", "pooling": "mean_tokens", "inputs": 2, "sentence": True},
}  # fmt: skip


def make(folder: Path, name: str = "e5-small-v2", *, seed: int = 0, shared: float = 2.0, **more: Any) -> Path:
    """Write a folder as a hub has the model ``name``, or one of no family. ``shared``: how strong the common vector is,
    beside random ones of length 1. ``more`` replaces what the family's layout says."""
    layout = {"graph": "onnx/model.onnx", "pooling": "mean_tokens", "inputs": 3} | LAYOUTS.get(name, {}) | more
    home = folder / name
    graph = home / layout["graph"]
    graph.parent.mkdir(parents=True)
    model = _model(layout["inputs"], seed, shared, sentence=layout.get("sentence", False))
    data = {"save_as_external_data": True, "location": "model.onnx_data", "size_threshold": 1024}
    onnx.save(model, graph, **(data if layout.get("external") else {}))
    _tokenizer().save(str(home / "tokenizer.json"))
    modes = ("cls_token", "mean_tokens", "max_tokens", "lasttoken")
    pooling = {f"pooling_mode_{mode}": mode == layout["pooling"] for mode in modes}
    written: dict[str, Any] = {
        "config.json": {"hidden_size": WIDTH, "max_position_embeddings": 512, "model_type": "bert"},
        "1_Pooling/config.json": {"word_embedding_dimension": WIDTH, **pooling},
        "modules.json": [{"type": _MODULES + kind} for kind in ("Transformer", "Pooling", "Normalize")],
        "sentence_bert_config.json": {"max_seq_length": 256},
    }
    if "prompts" in layout:
        written["config_sentence_transformers.json"] = {"prompts": layout["prompts"]}
    for path, content in written.items():
        (home / path).parent.mkdir(exist_ok=True)
        (home / path).write_text(json.dumps(content))
    (home / "README.md").write_text("---\nlicense: mit\n---\n# A model\n")
    return home


def _model(inputs: int, seed: int, shared: float, *, sentence: bool) -> Any:
    random = np.random.default_rng(seed)
    table = random.normal(size=(ROWS, WIDTH)) / np.sqrt(WIDTH)
    common = random.normal(size=WIDTH)
    table += shared * common / np.linalg.norm(common)
    names = ("input_ids", "attention_mask", "token_type_ids")[:inputs]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("ReduceMean", ["words", "axis_1"], ["text"], keepdims=1),
        helper.make_node("Add", ["words", "text"], ["mixed"]),  # what attention does: the first token knows the others
    ]
    added = "mixed"
    for name in names[1:]:  # each input is used, and changes nothing where there is neither padding nor a second text
        nodes += [
            helper.make_node("Unsqueeze", [name, "axis_2"], [f"{name}_3"]),
            helper.make_node("Cast", [f"{name}_3"], [f"{name}_f"], to=TensorProto.FLOAT),
            helper.make_node("Mul" if name == "attention_mask" else "Add", [added, f"{name}_f"], [f"{name}_out"]),
        ]
        added = f"{name}_out"
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "seq", WIDTH])]
    nodes.append(helper.make_node("Identity", [added], ["last_hidden_state"]))
    if sentence:
        nodes.append(helper.make_node("ReduceMean", [added, "axis_1"], ["sentence_embedding"], keepdims=0))
        outputs.append(helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", WIDTH]))
    constants = {"table": table.astype(np.float32), "axis_1": np.array([1]), "axis_2": np.array([2])}
    graph = helper.make_graph(
        nodes,
        "words",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"]) for name in names],
        outputs,
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _tokenizer() -> Any:
    """Any word has an id: its letters are spelled, as a published vocabulary would do for rare words."""
    pieces = [*SPECIAL, *(chr(code) for code in range(33, 127)), *(f"##{chr(code)}" for code in range(33, 127))]
    pieces += [word for word in _WORDS if word not in pieces]
    tokenizer = Tokenizer(models.WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(length=128)  # as published ones do; it must not reach the model
    tokenizer.enable_truncation(16)
    return tokenizer


_WORDS = (
    "the a we of in is for query passage search document keep backups thirty days queue sqlite file database postgresql"
    " server port which what where how does use listens on lighthouse keeper counts ships at dawn soup lentils cook"
).split()
