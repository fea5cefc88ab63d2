"""Makes the judge's files for the package from trained weights: the same form as the embedding model's, in 8 bits.

python -m tools.judge WEIGHTS.npz FOLDER     FOLDER has the embedding model's files: bridge/data/all-MiniLM-L6-v2

The embeddings and the lowest layers are those of the embedding model, in its file; only the trained layers are in the
judge's own. ``tools.judge_training`` makes WEIGHTS.npz. What is printed goes to ``cross_encoder``: the digests.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto

from bridge.embedding import model_files
from bridge.embedding.installer import install
from bridge.embedding.local_models import ENGLISH_FULL
from bridge.settings import load
from bridge.standing import cross_encoder

from .default_model import WIDTH, Graph, embeddings, layer
from .int8_weights import GELU_SHIFT, LAYERS, ZERO_POINT, Published, Source, layer_tensors, packed, tensors

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

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        self._tensors = tensors

    def tensor(self, name: str) -> Any:
        """A float32 tensor by its name."""
        return self._tensors[name].astype("<f4")


class Packaged:
    """The trained tensors of the judge in the package, as ``Trained`` gave them, but for the rounding to 8 bits."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """``shapes``: of the trained tensors, by name."""
        like = Trained({name: np.ones(shape, "<f4") for name, shape in shapes.items()})
        self._slots = packed(_own(like))[1]
        self._bytes = (model_files.DEFAULT_FOLDER / cross_encoder.WEIGHTS).read_bytes()

    def tensor(self, name: str) -> Any:
        """A float32 tensor by its name."""
        layer, _, part = name.partition(".attention.self.")
        if part:
            which = ("query", "key", "value").index(part.split(".")[0])
            return np.split(self._read(f"{layer}.qkv.{part.split('.')[1]}"), 3)[which]
        found = self._read(name)
        if name.endswith(".output.dense.bias") and ".attention." not in name:  # GELU's shift, as ``layer_tensors``
            return found + np.float32(GELU_SHIFT) * self._read(name.replace("bias", "weight")).sum(axis=1)
        return found[:, 0] if name == "judge.weight" else found

    def _read(self, name: str) -> Any:
        slot = self._slots[name]
        count = int(np.prod(slot.shape))
        found = np.frombuffer(self._bytes, slot.dtype, count, slot.offset).reshape(slot.shape)
        if slot.dtype != "|u1":
            return found
        return ((found.astype("<f4") - ZERO_POINT) * self._read(name.replace("weight", "scale")).reshape(1, -1)).T


def _own(trained: Source) -> list[tuple[str, Any]]:
    own = [tensor for number in range(FROZEN, LAYERS) for tensor in layer_tensors(trained, number)]
    own += [("judge.weight", trained.tensor("judge.weight")[:, np.newaxis])]
    return [*own, ("judge.bias", trained.tensor("judge.bias").reshape(1))]


def make(trained: Trained, published: Path, folder: Path) -> None:
    """Write the graph and the weights into the folder; ``published`` has the published files."""
    content, own_slots = packed(_own(trained))
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
    (folder / cross_encoder.WEIGHTS).write_bytes(content)
    onnx.save(graph.model("judge-int8", logit, "logit", ["batch", 1]), folder / cross_encoder.GRAPH)


if __name__ == "__main__":
    into = Path(sys.argv[2])
    make(Trained(np.load(sys.argv[1])), install(ENGLISH_FULL, load().cache_folder), into)
    for file in (cross_encoder.GRAPH, cross_encoder.WEIGHTS):
        print(file, hashlib.sha256((into / file).read_bytes()).hexdigest())
