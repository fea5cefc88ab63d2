"""Makes the judge's files for the package from trained weights: the same form as the embedding model's, in 8 bits.

python -m tools.judge WEIGHTS.npz FOLDER     FOLDER has the embedding model's files: bridge/data/all-MiniLM-L6-v2

The embeddings and the lowest layers are those of the embedding model, in its file; only the trained layers are in the
judge's own. ``tools.judge_training`` makes WEIGHTS.npz. What is printed goes to ``cross_encoder``: the digests.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper

from bridge.embedding import model_files
from bridge.embedding.installer import install
from bridge.embedding.local_models import ENGLISH_FULL
from bridge.settings import load
from bridge.standing import cross_encoder

from .default_model import FUSED, OPSET, WIDTH, Graph, embeddings, layer
from .int8_weights import LAYERS, Published, layer_tensors, packed, tensors

FROZEN = 2
"""The lowest layers, which are those of the embedding model."""

PAIRS = Path(__file__).parent / "judge_pairs"


class Pair(NamedTuple):
    """A labelled pair of statements. ``label``: ``replaced``, ``both`` (both hold) or ``same`` (in other words)."""

    label: str
    kind: str
    id: str
    earlier: str
    later: str
    topics: tuple[str, str] = ("", "")


def read_pairs() -> dict[str, list[Pair]]:
    """All pairs of the project, by the hand that wrote them."""
    return {path.stem: [_pair(json.loads(line)) for line in path.open("rb")] for path in sorted(PAIRS.glob("*.jsonl"))}


def _pair(values: list[str]) -> Pair:
    label, kind, name, earlier, later, *topics = values
    return Pair(label, kind, name, earlier, later, (topics[0], topics[1]) if topics else ("", ""))


class Trained:
    """The trained tensors, as ``Published`` gives the published ones."""

    def __init__(self, path: Path) -> None:
        self._tensors = dict(np.load(path))

    def tensor(self, name: str) -> Any:
        """A float32 tensor by its name."""
        return self._tensors[name].astype("<f4")


def make(trained: Trained, published: Path, folder: Path) -> None:
    """Write the graph and the weights into the folder; ``published`` has the published files."""
    own = [tensor for number in range(FROZEN, LAYERS) for tensor in layer_tensors(trained, number)]
    own += [("judge.weight", trained.tensor("judge.weight")[:, np.newaxis])]
    own += [("judge.bias", trained.tensor("judge.bias").reshape(1))]
    content, own_slots = packed(own)
    _, slots = packed(tensors(Published(published / model_files.WEIGHTS.name)))
    graph = Graph(slots)
    x = embeddings(graph)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.INT32)
    graph.constant("thirds", [WIDTH] * 3)
    for number in range(LAYERS):
        if number == FROZEN:
            graph.use(own_slots, cross_encoder.WEIGHTS)
        x = layer(graph, number, x, mask)
    first = graph.node("Gather", x, graph.constant("first_token", 0), axis=1)
    mean = graph.node("ReduceMean", x, graph.constant("tokens_axis", [1]), keepdims=0)
    pooled = graph.node("Concat", first, mean, axis=-1)
    logit = graph.node("Add", graph.node("MatMul", pooled, graph.weight("judge.weight")), graph.weight("judge.bias"))
    graph.nodes.append(helper.make_node("Identity", [logit], ["logit"]))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("logit", TensorProto.FLOAT, ["batch", 1])
    made = helper.make_graph(graph.nodes, "judge-int8", inputs, [output], [*graph.constants.values()])
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    (folder / cross_encoder.WEIGHTS).write_bytes(content)
    onnx.save(helper.make_model(made, opset_imports=opsets, ir_version=9), folder / cross_encoder.GRAPH)


if __name__ == "__main__":
    into = Path(sys.argv[2])
    make(Trained(Path(sys.argv[1])), install(ENGLISH_FULL, load().cache_folder), into)
    for file in (cross_encoder.GRAPH, cross_encoder.WEIGHTS):
        print(file, hashlib.sha256((into / file).read_bytes()).hexdigest())
