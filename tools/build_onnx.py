"""Builds the ONNX graph of all-MiniLM-L6-v2: the computation without the weights.

The graph's weights are external data: byte ranges of the published ``model.safetensors``, which must be beside the
graph under that name. So the graph is small enough to ship, and no weight is converted or stored twice. It uses
standard operators only. Only this tool imports the package ``onnx``.

python tools/build_onnx.py MODEL.safetensors bridge/data/all-MiniLM-L6-v2.onnx
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, WIDTH = 6, 12, 384
EPSILON = 1e-12  # config.json: layer_norm_eps
OPSET = 20  # the first opset with Gelu


class Graph:
    """Collects nodes and constants. Each method returns the name of its output."""

    def __init__(self, safetensors: Path) -> None:
        with safetensors.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            self._tensors: dict[str, Any] = json.loads(file.read(length))
        self._data_start = 8 + length
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def node(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node of an operator."""
        output = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, name: str, value: Any, dtype: type = np.int64) -> str:
        """Add a constant that is stored in the graph."""
        self.constants[name] = numpy_helper.from_array(np.array(value, dtype), name)
        return name

    def weight(self, name: str) -> str:
        """Add a tensor of the safetensors file as external data."""
        start, end = self._tensors[name]["data_offsets"]
        tensor = TensorProto(
            name=name,
            data_type=TensorProto.FLOAT,
            dims=self._tensors[name]["shape"],
            data_location=TensorProto.EXTERNAL,
        )
        for key, value in (
            ("location", "model.safetensors"),
            ("offset", self._data_start + start),
            ("length", end - start),
        ):
            tensor.external_data.add(key=key, value=str(value))
        self.constants[name] = tensor
        return name

    def linear(self, x: str, name: str) -> str:
        """``x`` (tokens, in) times the stored (out, in) weight, plus its bias."""
        return self.node("Gemm", x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), transB=1)

    def norm(self, x: str, name: str) -> str:
        """The layer normalisation of ``x`` with the stored weight and bias."""
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)


def build(safetensors: Path) -> onnx.ModelProto:
    """The model with inputs int64 (batch, seq) and output float32 (batch, seq, 384)."""
    graph = Graph(safetensors)
    x = _embeddings(graph)
    shape = graph.node("Shape", x)
    x = graph.node("Reshape", x, graph.constant("tokens", [-1, WIDTH]))
    hidden_mask = _hidden_mask(graph)
    head_shape = graph.node(
        "Concat", graph.node("Shape", "input_ids"), graph.constant("heads", [HEADS, WIDTH // HEADS]), axis=0
    )
    graph.constant("scale", (WIDTH / HEADS) ** -0.5, np.float32)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        attended = _attention(graph, x, f"{layer}.attention.self", head_shape, hidden_mask)
        projected = graph.linear(attended, f"{layer}.attention.output.dense")
        x = graph.norm(graph.node("Add", x, projected), f"{layer}.attention.output.LayerNorm")
        inner = graph.node("Gelu", graph.linear(x, f"{layer}.intermediate.dense"))
        outer = graph.linear(inner, f"{layer}.output.dense")
        x = graph.norm(graph.node("Add", x, outer), f"{layer}.output.LayerNorm")
    graph.node("Reshape", x, shape, output="last_hidden_state")
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-MiniLM-L6-v2",
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"])
                for name in ("input_ids", "attention_mask", "token_type_ids")
            ],
            [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "seq", WIDTH])],
            list(graph.constants.values()),
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=9,
    )


def _embeddings(graph: Graph) -> str:
    words = graph.node("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    types = graph.node("Gather", graph.weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
    positions = graph.node(
        "Slice",
        graph.weight("embeddings.position_embeddings.weight"),
        graph.constant("first", [0]),
        graph.node("Shape", "input_ids", start=1, end=2),
    )
    return graph.norm(graph.node("Add", graph.node("Add", words, types), positions), "embeddings.LayerNorm")


def _hidden_mask(graph: Graph) -> str:
    """0 for tokens, -1e9 for padding: float32 (batch, 1, 1, seq), to add to attention scores."""
    present = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    absent = graph.node("Sub", graph.constant("one", 1, np.float32), present)
    low = graph.node("Mul", absent, graph.constant("low", -1e9, np.float32))
    return graph.node("Unsqueeze", low, graph.constant("axes", [1, 2]))


def _attention(graph: Graph, x: str, name: str, head_shape: str, hidden_mask: str) -> str:
    def head(part: str, order: list[int]) -> str:
        split = graph.node("Reshape", graph.linear(x, f"{name}.{part}"), head_shape)
        return graph.node("Transpose", split, perm=order)

    query, key, value = head("query", [0, 2, 1, 3]), head("key", [0, 2, 3, 1]), head("value", [0, 2, 1, 3])
    scores = graph.node("Mul", graph.node("MatMul", query, key), "scale")
    weights = graph.node("Softmax", graph.node("Add", scores, hidden_mask), axis=-1)
    mixed = graph.node("Transpose", graph.node("MatMul", weights, value), perm=[0, 2, 1, 3])
    return graph.node("Reshape", mixed, "tokens")


if __name__ == "__main__":
    onnx.save(build(Path(sys.argv[1])), sys.argv[2])
