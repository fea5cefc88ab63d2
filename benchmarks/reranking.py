"""``python -m benchmarks.reranking``: how long a reranker of the size of MiniLM-L-6 takes on this machine.

The model is a cross-encoder made of the installed embedding model's layers, so it takes the time of a real one, and
its scores mean nothing.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from bridge.embedding import model_files
from bridge.embedding.factory import processors
from bridge.embedding.installer import install
from bridge.embedding.local_models import ENGLISH_FULL
from bridge.reranking.config import RerankConfig
from bridge.reranking.local_reranker import LocalReranker
from bridge.settings import load

TEXTS = 20
WORDS = (50, 100, 200, 500)  # a word is about a token
ROUNDS = 5


def make(source: Path, folder: Path) -> Path:
    """A cross-encoder with one output: the mean of all that the embedding model puts out."""
    model = onnx.load(source / model_files.GRAPH.name, load_external_data=False)
    graph = model.graph
    axes = numpy_helper.from_array(np.array([1, 2]), "all_axes")
    shape = numpy_helper.from_array(np.array([-1, 1]), "one_column")
    graph.initializer.extend([axes, shape])
    graph.node.append(helper.make_node("ReduceMean", [graph.output[0].name, "all_axes"], ["mean"], keepdims=0))
    graph.node.append(helper.make_node("Reshape", ["mean", "one_column"], ["logits"]))
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1]))
    onnx.save(model, folder / "model.onnx")
    for file in (model_files.WEIGHTS.name, "tokenizer.json"):
        (folder / file).write_bytes((source / file).read_bytes())
    return folder


def main() -> None:
    source = install(ENGLISH_FULL, load().cache_folder)
    with tempfile.TemporaryDirectory() as made:
        config = RerankConfig(model=str(make(source, Path(made))))
        began = time.perf_counter()
        reranker = LocalReranker(config, processors())
        reranker.relevance("what", ["first"])
        print(f"load and one pair: {time.perf_counter() - began:.2f} s; {processors()} processors")
        print(f"\n| words a text | {TEXTS} texts, best of {ROUNDS} |\n|---|---|")
        for words in WORDS:
            texts = [f"text {number} " + "a queue of jobs waits " * (words // 5) for number in range(TEXTS)]
            times = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                reranker.relevance("which jobs wait in the queue?", texts)
                times.append(time.perf_counter() - began)
            print(f"| {words} | {min(times):.2f} s |")


if __name__ == "__main__":
    main()
