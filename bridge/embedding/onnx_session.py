"""Runs an ONNX graph by the C interface of onnxruntime, whose library is in each of its wheels.

Its Python module does the same, but holds Python's lock while it loads itself and a graph, which is a quarter of the
time of a first question. Here the lock is free, so that other modules are imported meanwhile, numpy too.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The places of functions in the table OrtApi (onnxruntime_c_api.h), which only grows at its end.
_PLACES = {
    "GetErrorMessage": 2, "CreateEnv": 3, "CreateSession": 7, "CreateSessionFromArray": 8, "Run": 9,
    "CreateSessionOptions": 10,
    "DisableCpuMemArena": 19, "SetSessionLogSeverityLevel": 22, "SetSessionGraphOptimizationLevel": 23,
    "SetIntraOpNumThreads": 24, "SetInterOpNumThreads": 25, "SessionGetInputCount": 30, "SessionGetOutputCount": 31,
    "SessionGetInputTypeInfo": 33, "SessionGetOutputTypeInfo": 34, "SessionGetInputName": 36,
    "SessionGetOutputName": 37, "CreateTensorWithDataAsOrtValue": 49, "GetTensorMutableData": 51,
    "CastTypeInfoToTensorInfo": 55, "GetTensorElementType": 60, "GetDimensionsCount": 61, "GetDimensions": 62,
    "GetTensorTypeAndShape": 65, "CreateCpuMemoryInfo": 69, "AllocatorFree": 76, "GetAllocatorWithDefaultOptions": 78,
    "ReleaseStatus": 93, "ReleaseSession": 95, "ReleaseValue": 96, "ReleaseTypeInfo": 98,
    "ReleaseTensorTypeAndShapeInfo": 99, "ReleaseSessionOptions": 100, "AddSessionConfigEntry": 130,
}  # fmt: skip
_API_VERSION = 20  # of the oldest release that is accepted
_SLOW = ("CreateEnv", "CreateSession", "CreateSessionFromArray", "Run")
_FATAL = 4  # the level of the log: errors are raised too
_ELEMENTS = {
    1: "float32", 2: "uint8", 3: "int8", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64",
}  # fmt: skip
_NUMBERS = {element: number for number, element in _ELEMENTS.items()}


class Port(NamedTuple):
    """An input or an output of a graph. ``element``: numpy's name of its numbers; empty for what is no such tensor."""

    name: str
    element: str
    rank: int


class Session:
    """A graph that is open. Threads may share it."""

    def __init__(self, graph: Path | bytes, *, threads: int, level: int, settings: Mapping[str, str]) -> None:
        """``graph``: a file, or what would be in one. ``threads``: inside one run. ``level``: of onnxruntime's
        optimisation. Raises RuntimeError with what onnxruntime says; OSError if its library cannot be loaded."""
        self._library = library = _library()
        options = library.made("CreateSessionOptions")
        try:
            library.call("DisableCpuMemArena", options)  # it would keep the memory of the longest text
            library.call("SetSessionLogSeverityLevel", options, _FATAL)
            library.call("SetSessionGraphOptimizationLevel", options, level)
            library.call("SetIntraOpNumThreads", options, threads)
            library.call("SetInterOpNumThreads", options, 1)
            for name, said in settings.items():
                library.call("AddSessionConfigEntry", options, name.encode(), said.encode())
            if isinstance(graph, bytes):
                made = library.made("CreateSessionFromArray", library.environment, graph, _size(len(graph)), options)
            else:
                path = str(graph) if os.name == "nt" else os.fsencode(graph)
                made = library.made("CreateSession", library.environment, path, options)
            self._session = made
        finally:
            library.release("SessionOptions", options)
        self.inputs, self.outputs = self._ports("Input"), self._ports("Output")

    def __del__(self) -> None:
        if hasattr(self, "_session"):
            self._library.release("Session", self._session)

    def run(self, given: Mapping[str, NDArray[Any]], output: str = "") -> NDArray[Any]:
        """An output, by default the first one, for the inputs by name. Raises RuntimeError with what onnxruntime says;
        ValueError for an output of another type than numbers."""
        import numpy as np

        library, found = self._library, ctypes.c_void_p()
        names, values = _many(ctypes.c_char_p, len(given))(), _many(ctypes.c_void_p, len(given))()
        wanted = _many(ctypes.c_char_p, 1)((output or self.outputs[0].name).encode())
        arrays = {name: np.ascontiguousarray(array) for name, array in given.items()}
        try:
            for at, (name, array) in enumerate(arrays.items()):
                shape = _many(ctypes.c_int64, array.ndim)(*array.shape)
                data, size, rank = ctypes.c_void_p(array.ctypes.data), _size(array.nbytes), _size(array.ndim)
                kind = _NUMBERS[array.dtype.name]
                made = library.made("CreateTensorWithDataAsOrtValue", library.memory, data, size, shape, rank, kind)
                names[at], values[at] = name.encode(), made.value
            count, one, result = _size(len(given)), _size(1), ctypes.byref(found)
            library.call("Run", self._session, None, names, values, count, wanted, one, result)
            return library.copied(found)
        finally:
            for value in (*values, found):
                library.release("Value", value)

    def _ports(self, side: str) -> list[Port]:
        library, session, found = self._library, self._session, []
        for at in map(_size, range(library.made(f"SessionGet{side}Count", session).value or 0)):
            name = library.made(f"SessionGet{side}Name", session, at, library.allocator)
            kind = library.made(f"SessionGet{side}TypeInfo", session, at)
            tensor = library.made("CastTypeInfoToTensorInfo", kind)  # a part of it; null for what is no tensor
            element, rank = library.element_and_rank(tensor) if tensor else ("", 0)
            found.append(Port(ctypes.string_at(name).decode(), element, rank))
            library.call("AllocatorFree", library.allocator, name)
            library.release("TypeInfo", kind)
        return found


class _Library:
    """The library, loaded: its functions by their names, its environment, and where names and tensors are kept."""

    def __init__(self) -> None:
        spec = find_spec("onnxruntime")
        folder = Path(spec.origin).parent / "capi" if spec is not None and spec.origin else Path()
        paths = [path for end in ("so.*", "*.dylib", "dll") for path in folder.glob(f"*onnxruntime.{end}")]
        if not paths:
            raise OSError(f"the library of onnxruntime is not in {folder}")
        get_base = ctypes.CDLL(str(paths[0])).OrtGetApiBase
        get_base.restype = ctypes.POINTER(ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32))
        table = ctypes.cast(get_base()[0](_API_VERSION), ctypes.POINTER(ctypes.c_void_p))
        if not table:
            raise OSError(f"the library of onnxruntime in {folder} is older than this program needs")
        frees, keeps = ctypes.CFUNCTYPE(ctypes.c_void_p), ctypes.PYFUNCTYPE(ctypes.c_void_p)  # Python's lock
        self._functions = {name: (frees if name in _SLOW else keeps)(table[at]) for name, at in _PLACES.items()}
        self.environment = self.made("CreateEnv", _FATAL, b"")
        self.memory = self.made("CreateCpuMemoryInfo", 0, 0)
        self.allocator = self.made("GetAllocatorWithDefaultOptions")

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that gives a status. Raises RuntimeError with its message."""
        status = self._functions[name](*arguments)
        if status:
            given = ctypes.c_void_p(status)
            said = ctypes.string_at(self._functions["GetErrorMessage"](given)).decode("utf-8", "replace")
            self.release("Status", given)
            raise RuntimeError(said)

    def made(self, name: str, *arguments: Any) -> ctypes.c_void_p:
        """What a function gives by its last argument: a pointer, or a number as its value. Raises as ``call``."""
        result = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(result))
        return result

    def release(self, kind: str, what: Any) -> None:
        """Release what a function has made, or nothing."""
        self._functions[f"Release{kind}"](what if isinstance(what, ctypes.c_void_p) else ctypes.c_void_p(what))

    def element_and_rank(self, tensor: ctypes.c_void_p) -> tuple[str, int]:
        """As ``Port`` has them."""
        element = self.made("GetTensorElementType", tensor).value or 0
        return _ELEMENTS.get(element, ""), self.made("GetDimensionsCount", tensor).value or 0

    def copied(self, value: ctypes.c_void_p) -> NDArray[Any]:
        """The numbers of a tensor. Raises ValueError for one of texts."""
        import numpy as np

        kind = self.made("GetTensorTypeAndShape", value)
        element, rank = self.element_and_rank(kind)
        shape = _many(ctypes.c_int64, rank)()
        self.call("GetDimensions", kind, shape, _size(rank))
        self.release("TensorTypeAndShapeInfo", kind)
        if not element:
            raise ValueError("an output of the graph has no numbers")
        result = np.empty(tuple(shape), element)
        if result.nbytes:
            ctypes.memmove(result.ctypes.data, self.made("GetTensorMutableData", value), result.nbytes)
        return result


_size = ctypes.c_size_t


@cache
def _many(kind: type[Any], count: int) -> Any:
    """The type of an array, which takes longer to make than the rest of a call."""
    return kind * count


_library = cache(_Library)  # which stays until the process ends
