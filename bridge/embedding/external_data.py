"""The files beside an ONNX graph that hold its weights, as the graph names them.

The graph is read as protobuf messages, without a library for it; nothing of it is run.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

_DEEPEST = 64  # messages in one another
_LENGTH_DELIMITED, _VARINT = 2, 0
_SIZES = {1: 8, 5: 4}  # of the other wire types, in bytes

# For each message of onnx.proto, the fields that lead to tensors.
_FIELDS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "external"},
}


def locations(graph: Path) -> set[str]:
    """The locations of the graph's external data. Raises ValueError if the file is no such message; OSError."""
    with graph.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        view = memoryview(content)
        try:
            return set(_locations(view, "model", 0))
        finally:
            view.release()


def _locations(message: memoryview, kind: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        raise ValueError("its messages are nested too deeply")
    for number, part in _parts(message):
        inner = _FIELDS[kind].get(number)
        if inner == "external":
            entry = {field: bytes(value) for field, value in _parts(part)}
            if entry.get(1) == b"location":
                yield entry.get(2, b"").decode()
        elif inner is not None:
            yield from _locations(part, inner, depth + 1)


def _parts(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Number and content of the fields that have a length. Raises ValueError."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        wire, size = tag & 7, 0
        if wire == _VARINT:
            _, at = _varint(message, at)
        elif wire == _LENGTH_DELIMITED:
            size, at = _varint(message, at)
            if at + size > len(message):
                raise ValueError("it is cut off")
            yield tag >> 3, message[at : at + size]
        elif wire not in _SIZES:
            raise ValueError("it is no message of ONNX")
        at += _SIZES.get(wire, size)


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """The number at a position, and the position behind it. Raises ValueError."""
    result = 0
    for shift in range(0, 64, 7):
        if at >= len(message):
            raise ValueError("it is cut off")
        byte = message[at]
        at += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, at
    raise ValueError("it is no message of ONNX")
