"""Builds the 8-bit ONNX graph of all-MiniLM-L6-v2: the computation without the weights.

Each row of a matrix's input, which is one token, is quantised by its own largest value. So a token's numbers do not
depend on other tokens. Products and sums are those of integers, and exact. Both operands are unsigned, since processors
without the VNNI instructions saturate sums of a signed and an unsigned one. The layers between the matrices are fused
operators of onnxruntime, in float32.

The weights are external data: byte ranges of the published ``model.safetensors``, and of the file that
``bridge/embedding/int8_weights`` derives from it. Only the tools import the package ``onnx``.

python -m tools.build_int8_onnx MODEL.safetensors bridge/data/all-MiniLM-L6-v2-int8.onnx
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from bridge.embedding import int8_weights, model_files
from bridge.embedding.int8_weights import GELU_SHIFT, LARGEST, LAYERS, ZERO_POINT

HEADS, WIDTH = 12, 384
EPSILON = 1e-12  # config.json: layer_norm_eps
OPSET = 20
FUSED = "com.microsoft"
_TYPES = {"|u1": TensorProto.UINT8, "<f4": TensorProto.FLOAT}


class Graph:
    """Collects nodes and constants. Each method returns the name of its output."""

    def __init__(self, safetensors: Path) -> None:
        self._published = int8_weights.Published(safetensors)
        self._slots = int8_weights.layout(self._published)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def nodes_of(self, operator: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:
        """Add a node of an operator with several outputs."""
        names = [f"{operator}_{len(self.nodes)}_{number}" for number in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of an operator."""
        return self.nodes_of(operator, *inputs, outputs=1, **attributes)[0]

    def constant(self, name: str, value: Any, dtype: Any = np.int64) -> str:
        """Add a constant that is stored in the graph."""
        self.constants[name] = numpy_helper.from_array(np.array(value, dtype), name)
        return name

    def _external(self, name: str, file: str, offset: int, shape: Any, data_type: int) -> str:
        tensor = TensorProto(name=name, data_type=data_type, dims=shape, data_location=TensorProto.EXTERNAL)
        length = int(np.prod(shape)) * (1 if data_type == TensorProto.UINT8 else 4)
        for key, value in (("location", file), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        self.constants[name] = tensor
        return name

    def published(self, name: str) -> str:
        """Add a published tensor."""
        entry = self._published.entries[name]
        offset = self._published.data_start + entry["data_offsets"][0]
        return self._external(name, model_files.WEIGHTS.name, offset, entry["shape"], TensorProto.FLOAT)

    def derived(self, name: str) -> str:
        """Add a tensor of the 8-bit file."""
        slot = self._slots[name]
        return self._external(
            f"int8.{name}", model_files.INT8_WEIGHTS.name, slot.offset, slot.shape, _TYPES[slot.dtype]
        )

    def product(self, x: str, name: str, *, after_gelu: bool = False) -> str:
        """``x`` (..., inputs) times the 8-bit matrix of this name, in float32."""
        if after_gelu:
            x = self.node("Add", x, self.constant("gelu_shift", GELU_SHIFT, np.float32))
            largest, steps, zero = x, 255, self.constant("zero_0", 0, np.uint8)
        else:
            largest, steps, zero = self.node("Abs", x), LARGEST, self.constant("zero_128", ZERO_POINT, np.uint8)
        step = self.node("ReduceMax", largest, self.constant("last_axis", [-1]), keepdims=1)
        step = self.node("Mul", step, self.constant(f"one_{steps}th", 1 / steps, np.float32))
        whole = self.constant("one", 1, np.float32)
        bytes_ = self.node("QuantizeLinear", self.node("Div", x, step), whole, zero)
        weight_zero = self.constant("zero_128", ZERO_POINT, np.uint8)
        summed = self.node("MatMulInteger", bytes_, self.derived(f"{name}.weight"), zero, weight_zero)
        real = self.node("Mul", self.node("Cast", summed, to=TensorProto.FLOAT), step)
        return self.node("Mul", real, self.derived(f"{name}.scale"))

    def added_and_normalised(self, x: str, y: str, bias: str, norm: str) -> str:
        """The layer normalisation of x + y + bias."""
        weight, offset = self.published(f"{norm}.weight"), self.published(f"{norm}.bias")
        return self.node("SkipLayerNormalization", y, x, weight, offset, bias, domain=FUSED, epsilon=EPSILON)


def build(safetensors: Path) -> onnx.ModelProto:
    """The model with inputs int64 (batch, seq) and output float32 (batch, seq, 384)."""
    graph = Graph(safetensors)
    x = _embeddings(graph)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.INT32)
    graph.constant("thirds", [WIDTH] * 3)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        joined = graph.node("Add", graph.product(x, f"{layer}.qkv"), graph.derived(f"{layer}.qkv.bias"))
        query, key, value = graph.nodes_of("Split", joined, "thirds", outputs=3, axis=-1)
        attended = graph.node("MultiHeadAttention", query, key, value, "", mask, domain=FUSED, num_heads=HEADS)
        dense = f"{layer}.attention.output.dense"
        projected, bias = graph.product(attended, dense), graph.published(f"{dense}.bias")
        x = graph.added_and_normalised(x, projected, bias, f"{layer}.attention.output.LayerNorm")
        dense = f"{layer}.intermediate.dense"
        inner = graph.node("BiasGelu", graph.product(x, dense), graph.published(f"{dense}.bias"), domain=FUSED)
        dense = f"{layer}.output.dense"
        outer, bias = graph.product(inner, dense, after_gelu=True), graph.derived(f"{dense}.bias")
        x = graph.added_and_normalised(x, outer, bias, f"{layer}.output.LayerNorm")
    graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "seq", WIDTH])
    made = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2-int8", inputs, [output], [*graph.constants.values()])
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=9)


def _embeddings(graph: Graph) -> str:
    words = graph.node("Gather", graph.published("embeddings.word_embeddings.weight"), "input_ids")
    types = graph.node("Gather", graph.published("embeddings.token_type_embeddings.weight"), "token_type_ids")
    positions = graph.node(
        "Slice",
        graph.published("embeddings.position_embeddings.weight"),
        graph.constant("first", [0]),
        graph.node("Shape", "input_ids", start=1, end=2),
    )
    summed = graph.node("Add", graph.node("Add", words, types), positions)
    weight, bias = (graph.published(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias"))
    return graph.node("LayerNormalization", summed, weight, bias, axis=-1, epsilon=EPSILON)


if __name__ == "__main__":
    onnx.save(build(Path(sys.argv[1])), sys.argv[2])
