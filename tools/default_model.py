"""Makes the default model that travels in the package: all-MiniLM-L6-v2 in 8 bits, from the published weights.

python -m tools.default_model FOLDER     writes the files into FOLDER
make model                               writes them into the package; the same bytes again, or the code has changed

The files are the published tokenizer, the weights (``int8_weights``), and the ONNX graph: the computation without the
weights, which are external data, so that they are mapped into memory and only what is used is read.

Each row of a matrix's input, which is one token, is quantised by its own largest value. So a token's numbers do not
depend on other tokens. Products and sums are those of integers, and exact. Both operands are unsigned, since processors
without the VNNI instructions saturate sums of a signed and an unsigned one. The layers between the matrices are fused
operators of onnxruntime, in float32.

The published weights are fetched into the cache folder, as for who chooses them. Only the tools import the package
``onnx``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from bridge.embedding import model_files
from bridge.embedding.installer import install
from bridge.embedding.local_models import ENGLISH, ENGLISH_FULL
from bridge.settings import load

from .int8_weights import GELU_SHIFT, LARGEST, LAYERS, WORDS, ZERO_POINT, Published, Slot, packed, tensors

HEADS, WIDTH = 12, 384
EPSILON = 1e-12  # config.json: layer_norm_eps
OPSET = 20
FUSED = "com.microsoft"
_TYPES = {"|u1": TensorProto.UINT8, "<f4": TensorProto.FLOAT}


class Graph:
    """Collects nodes and constants. Each method returns the name of its output."""

    def __init__(self, slots: dict[str, Slot], location: str = model_files.INT8_WEIGHTS.name) -> None:
        self.use(slots, location)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def use(self, slots: dict[str, Slot], location: str) -> None:
        """Take the next weights from the file of this name."""
        self._slots, self._location = slots, location

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

    def weight(self, name: str) -> str:
        """Add a tensor of the file of weights."""
        slot = self._slots[name]
        tensor = TensorProto(
            name=name, data_type=_TYPES[slot.dtype], dims=slot.shape, data_location=TensorProto.EXTERNAL
        )
        length = int(np.prod(slot.shape)) * np.dtype(slot.dtype).itemsize
        for key, value in (("location", self._location), ("offset", slot.offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        self.constants[name] = tensor
        return name

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
        summed = self.node("MatMulInteger", bytes_, self.weight(f"{name}.weight"), zero, weight_zero)
        real = self.node("Mul", self.node("Cast", summed, to=TensorProto.FLOAT), step)
        return self.node("Mul", real, self.weight(f"{name}.scale"))

    def added_and_normalised(self, x: str, y: str, bias: str, norm: str) -> str:
        """The layer normalisation of x + y + bias."""
        weight, offset = self.weight(f"{norm}.weight"), self.weight(f"{norm}.bias")
        return self.node("SkipLayerNormalization", y, x, weight, offset, bias, domain=FUSED, epsilon=EPSILON)

    def model(self, name: str, x: str, output: str, shape: list[str | int]) -> onnx.ModelProto:
        """The model of what was collected, with the inputs of an encoder; ``x`` is its float32 ``output``."""
        self.nodes.append(helper.make_node("Identity", [x], [output]))
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ]
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
        made = helper.make_graph(self.nodes, name, inputs, outputs, [*self.constants.values()])
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(made, opset_imports=opsets, ir_version=9)


def build(slots: dict[str, Slot]) -> onnx.ModelProto:
    """The model with inputs int64 (batch, seq) and output float32 (batch, seq, 384)."""
    graph = Graph(slots)
    x = embeddings(graph)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.INT32)
    graph.constant("thirds", [WIDTH] * 3)
    for number in range(LAYERS):
        x = layer(graph, number, x, mask)
    return graph.model("all-MiniLM-L6-v2-int8", x, "last_hidden_state", ["batch", "seq", WIDTH])


def layer(graph: Graph, number: int, x: str, mask: str) -> str:
    """The output of a layer of the transformer, from the one below."""
    name = f"encoder.layer.{number}"
    joined = graph.node("Add", graph.product(x, f"{name}.qkv"), graph.weight(f"{name}.qkv.bias"))
    query, key, value = graph.nodes_of("Split", joined, "thirds", outputs=3, axis=-1)
    attended = graph.node("MultiHeadAttention", query, key, value, "", mask, domain=FUSED, num_heads=HEADS)
    dense = f"{name}.attention.output.dense"
    projected, bias = graph.product(attended, dense), graph.weight(f"{dense}.bias")
    x = graph.added_and_normalised(x, projected, bias, f"{name}.attention.output.LayerNorm")
    dense = f"{name}.intermediate.dense"
    inner = graph.node("BiasGelu", graph.product(x, dense), graph.weight(f"{dense}.bias"), domain=FUSED)
    dense = f"{name}.output.dense"
    outer, bias = graph.product(inner, dense, after_gelu=True), graph.weight(f"{dense}.bias")
    return graph.added_and_normalised(x, outer, bias, f"{name}.output.LayerNorm")


def embeddings(graph: Graph) -> str:
    """The lowest layer's input, from the words, types and positions."""
    bytes_ = graph.node("Gather", graph.weight(f"{WORDS}.weight"), "input_ids")
    scales = graph.node("Gather", graph.weight(f"{WORDS}.scale"), "input_ids")
    zero = graph.constant("zero_128_real", ZERO_POINT, np.float32)
    words = graph.node("Mul", graph.node("Sub", graph.node("Cast", bytes_, to=TensorProto.FLOAT), zero), scales)
    types = graph.node("Gather", graph.weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
    positions = graph.node(
        "Slice",
        graph.weight("embeddings.position_embeddings.weight"),
        graph.constant("first", [0]),
        graph.node("Shape", "input_ids", start=1, end=2),
    )
    summed = graph.node("Add", graph.node("Add", words, types), positions)
    weight, bias = (graph.weight(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias"))
    return graph.node("LayerNormalization", summed, weight, bias, axis=-1, epsilon=EPSILON)


def write(published: Path, folder: Path) -> None:
    """Write the model's files into ``folder``, from the folder of the published ones."""
    folder.mkdir(parents=True, exist_ok=True)
    content, slots = packed(tensors(Published(published / model_files.WEIGHTS.name)))
    (folder / model_files.INT8_WEIGHTS.name).write_bytes(content)
    (folder / model_files.INT8_GRAPH.name).write_bytes(build(slots).SerializeToString(deterministic=True))
    tokenizer = (published / model_files.TOKENIZER.name).read_bytes()
    (folder / model_files.TOKENIZER.name).write_bytes(tokenizer)
    (folder / model_files.WORDS.name).write_bytes("\n".join(json.loads(tokenizer)["model"]["vocab"]).encode())


if __name__ == "__main__":
    target = Path(sys.argv[1])
    write(install(ENGLISH_FULL, load().cache_folder), target)
    ENGLISH.verify(target)
