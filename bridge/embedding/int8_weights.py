"""The 8-bit weights of all-MiniLM-L6-v2: how they are computed from the published ones, and where each is in its file.

A weight matrix is stored transposed (inputs, outputs) as unsigned bytes around 128, with one scale per output: the
weight is scale * (byte - 128). The computation uses only operations that IEEE 754 defines exactly, so that the file has
the same bytes on every machine. ``provision`` writes the file, ``tools/build_onnx`` refers to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LAYERS = 6
ZERO_POINT = 128
LARGEST = 127
# GELU is never below -0.17. Its outputs plus this are not negative, so that their 8 bits need no sign.
GELU_SHIFT = 0.17

Tensor = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Slot:
    """A tensor's place in the file: byte offset, shape and numpy type."""

    offset: int
    shape: tuple[int, ...]
    dtype: str


class Published:
    """The tensors of a safetensors file (github.com/huggingface/safetensors: a JSON header, then the bytes)."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header: dict[str, Any] = json.loads(file.read(length))
        self.entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        self.data_start = 8 + length
        self._bytes = np.memmap(path, np.uint8, "r", offset=self.data_start)

    def tensor(self, name: str) -> Tensor:
        """A float32 tensor by its name."""
        start, end = self.entries[name]["data_offsets"]
        return np.asarray(self._bytes[start:end].view("<f4").reshape(self.entries[name]["shape"]))


def tensors(published: Published) -> Iterator[tuple[str, Tensor]]:
    """The tensors of the file by name, in their order."""
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        yield from _quantised(f"{layer}.qkv", np.concatenate([published.tensor(f"{part}.weight") for part in parts]))
        yield f"{layer}.qkv.bias", np.concatenate([published.tensor(f"{part}.bias") for part in parts])
        for name in (f"{layer}.attention.output.dense", f"{layer}.intermediate.dense"):
            yield from _quantised(name, published.tensor(f"{name}.weight"))
        yield from _after_gelu(published, f"{layer}.output.dense")


def _quantised(name: str, weight: Tensor) -> Iterator[tuple[str, Tensor]]:
    steps, scales = _steps(weight)
    yield f"{name}.weight", np.ascontiguousarray((steps.T + ZERO_POINT).astype(np.uint8))
    yield f"{name}.scale", scales


def _steps(weight: Tensor) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The weight (outputs, inputs) in steps of -127 to 127, and the size of a step for each output."""
    scales = (np.abs(weight).max(axis=1) / np.float32(LARGEST)).astype("<f4")
    return np.rint(weight / scales[:, np.newaxis]).astype(np.int32), scales


def _after_gelu(published: Published, name: str) -> Iterator[tuple[str, Tensor]]:
    """A matrix whose inputs are raised by GELU_SHIFT; its bias takes that back."""
    weight = published.tensor(f"{name}.weight")
    yield from _quantised(name, weight)
    steps, scales = _steps(weight)
    raised = GELU_SHIFT * scales.astype(np.float64) * steps.sum(axis=1)  # a sum of integers is exact in any order
    yield f"{name}.bias", (published.tensor(f"{name}.bias") - raised).astype("<f4")


def layout(published: Published) -> dict[str, Slot]:
    """The place of each tensor in the file."""
    slots: dict[str, Slot] = {}
    offset = 0
    for name, tensor in tensors(published):
        slots[name] = Slot(offset, tensor.shape, tensor.dtype.str)
        offset += tensor.nbytes
    return slots


def write(safetensors: Path, target: Path) -> None:
    """Write the file from the published weights. Raises OSError."""
    with target.open("xb") as file:
        for _, tensor in tensors(Published(safetensors)):
            file.write(tensor.tobytes())
