"""Runs an ONNX graph by the C interface of onnxruntime, whose library is in each of its wheels.

Its Python module does the same, but holds Python's lock while it loads itself and a graph, which is a quarter of the
time of a first question. Here the lock is free, so that other modules are imported meanwhile.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# The places of functions in the table OrtApi (onnxruntime_c_api.h), which only grows at its end.
_GET_ERROR_MESSAGE, _CREATE_ENV, _CREATE_SESSION, _RUN, _CREATE_OPTIONS = 2, 3, 7, 9, 10
_DISABLE_ARENA, _SET_LOG_LEVEL, _SET_OPTIMISATION, _SET_INTRA_THREADS, _SET_INTER_THREADS = 19, 22, 23, 24, 25
_INPUT_COUNT, _OUTPUT_COUNT, _INPUT_TYPE, _OUTPUT_TYPE, _INPUT_NAME, _OUTPUT_NAME = 30, 31, 33, 34, 36, 37
_CREATE_TENSOR, _GET_DATA, _AS_TENSOR, _GET_ELEMENT_TYPE, _GET_RANK, _GET_SHAPE = 49, 51, 55, 60, 61, 62
_GET_TENSOR_TYPE, _CREATE_CPU_MEMORY, _FREE, _GET_ALLOCATOR, _ADD_CONFIG = 65, 69, 76, 78, 130
_RELEASE_STATUS, _RELEASE_SESSION, _RELEASE_VALUE, _RELEASE_TYPE, _RELEASE_TENSOR_TYPE = 93, 95, 96, 98, 99
_RELEASE_OPTIONS = 100
_SLOW = {_CREATE_ENV, _CREATE_SESSION, _RUN}
_API_VERSION = 20  # of the oldest release that is accepted
_FATAL = 4  # the level of the log: errors are raised too
_ELEMENTS = {1: "float32", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64"}
_INT64 = 7


class Port(NamedTuple):
    """An input or an output of a graph. ``element``: numpy's name of its numbers; empty for what is no such tensor."""

    name: str
    element: str
    rank: int


class Session:
    """A graph that is open. Threads may share it."""

    def __init__(self, graph: Path, *, threads: int, level: int, settings: Mapping[str, str]) -> None:
        """``threads``: inside one run. ``level``: of onnxruntime's optimisation. Raises RuntimeError with what
        onnxruntime says; OSError if its library cannot be loaded."""
        self._library = library = _library()
        self._session, options = ctypes.c_void_p(), library.made(_CREATE_OPTIONS)
        try:
            library.call(_DISABLE_ARENA, options)  # it would keep the memory of the longest text
            for place, value in (
                (_SET_LOG_LEVEL, _FATAL), (_SET_OPTIMISATION, level), (_SET_INTRA_THREADS, threads),
                (_SET_INTER_THREADS, 1),
            ):  # fmt: skip
                library.call(place, options, value)
            for name, said in settings.items():
                library.call(_ADD_CONFIG, options, name.encode(), said.encode())
            path = str(graph) if os.name == "nt" else os.fsencode(graph)
            self._session = library.made(_CREATE_SESSION, library.environment, path, options)
        finally:
            library.release(_RELEASE_OPTIONS, options)
        self.inputs = self._ports(_INPUT_COUNT, _INPUT_NAME, _INPUT_TYPE)
        self.outputs = self._ports(_OUTPUT_COUNT, _OUTPUT_NAME, _OUTPUT_TYPE)

    def __del__(self) -> None:
        if getattr(self, "_session", None):
            self._library.release(_RELEASE_SESSION, self._session)

    def run(self, given: Mapping[str, NDArray[np.int64]], output: str = "") -> NDArray[Any]:
        """An output, by default the first one, for the inputs by name. Raises RuntimeError with what onnxruntime says;
        ValueError for an output of another type than numbers."""
        library, output = self._library, output or self.outputs[0].name
        names = _many(ctypes.c_char_p, len(given))(*(name.encode() for name in given))
        values = _many(ctypes.c_void_p, len(given))()
        found = ctypes.c_void_p()
        arrays = [np.ascontiguousarray(array, np.int64) for array in given.values()]
        try:
            for place, array in enumerate(arrays):
                shape = _many(ctypes.c_int64, array.ndim)(*array.shape)
                values[place] = library.made(
                    _CREATE_TENSOR, library.memory, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes),
                    shape, ctypes.c_size_t(array.ndim), _INT64,
                ).value  # fmt: skip
            wanted = _many(ctypes.c_char_p, 1)(output.encode())
            library.call(
                _RUN, self._session, None, names, values, ctypes.c_size_t(len(given)), wanted, ctypes.c_size_t(1),
                ctypes.byref(found),
            )  # fmt: skip
            return library.copied(found)
        finally:
            for value in (*values, found):
                library.release(_RELEASE_VALUE, value)

    def _ports(self, count: int, name: int, kind: int) -> list[Port]:
        """The inputs or outputs, by the places of three functions."""
        library = self._library
        return [
            Port(library.name_of(name, self._session, at), *library.described(kind, self._session, at))
            for at in map(ctypes.c_size_t, range(library.number(count, self._session)))
        ]


class _Library:
    """The library, loaded: its functions by their places, its environment, and where tensors are kept."""

    def __init__(self) -> None:
        spec = find_spec("onnxruntime")
        folder = Path(spec.origin).parent / "capi" if spec is not None and spec.origin else Path()
        paths = [path for end in ("so.*", "*.dylib", "dll") for path in folder.glob(f"*onnxruntime.{end}")]
        if not paths:
            raise OSError(f"the library of onnxruntime is not in {folder}")
        get_base = ctypes.CDLL(str(paths[0])).OrtGetApiBase
        get_base.restype = ctypes.POINTER(ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32))
        self._table = ctypes.cast(get_base()[0](_API_VERSION), ctypes.POINTER(ctypes.c_void_p))
        self._functions: dict[int, Any] = {}
        self.environment = self.made(_CREATE_ENV, _FATAL, b"")
        self.memory = self.made(_CREATE_CPU_MEMORY, 0, 0)
        self._allocator = self.made(_GET_ALLOCATOR)

    def call(self, place: int, *arguments: Any) -> None:
        """Call a function that gives a status. Raises RuntimeError with its message."""
        status = self._function(place)(*arguments)
        if status:
            given = ctypes.c_void_p(status)
            said = ctypes.string_at(self._function(_GET_ERROR_MESSAGE)(given)).decode("utf-8", "replace")
            self.release(_RELEASE_STATUS, given)
            raise RuntimeError(said)

    def made(self, place: int, *arguments: Any) -> ctypes.c_void_p:
        """What a function gives by its last argument. Raises as ``call``."""
        result = ctypes.c_void_p()
        self.call(place, *arguments, ctypes.byref(result))
        return result

    def number(self, place: int, *arguments: Any) -> int:
        """As ``made``, of a number."""
        return self.made(place, *arguments).value or 0

    def release(self, place: int, what: Any) -> None:
        """Release what a function has made, or nothing."""
        self._function(place)(what if isinstance(what, ctypes.c_void_p) else ctypes.c_void_p(what))

    def name_of(self, place: int, *arguments: Any) -> str:
        """The name that a function gives."""
        name = self.made(place, *arguments, self._allocator)
        try:
            return ctypes.string_at(name).decode()
        finally:
            self.call(_FREE, self._allocator, name)

    def described(self, place: int, *arguments: Any) -> tuple[str, int]:
        """The type of the numbers and the rank of an input or an output, as ``Port`` has them."""
        kind = self.made(place, *arguments)
        try:
            tensor = self.made(_AS_TENSOR, kind)  # a part of the other one; null for what is no tensor
            return self._element_and_rank(tensor) if tensor else ("", 0)
        finally:
            self.release(_RELEASE_TYPE, kind)

    def copied(self, value: ctypes.c_void_p) -> NDArray[Any]:
        """The numbers of a tensor. Raises ValueError for one of texts."""
        kind = self.made(_GET_TENSOR_TYPE, value)
        try:
            element, rank = self._element_and_rank(kind)
            shape = _many(ctypes.c_int64, rank)()
            self.call(_GET_SHAPE, kind, shape, ctypes.c_size_t(rank))
        finally:
            self.release(_RELEASE_TENSOR_TYPE, kind)
        if not element:
            raise ValueError("an output of the graph has no numbers")
        result = np.empty(tuple(shape), element)
        if result.nbytes:
            ctypes.memmove(result.ctypes.data, self.made(_GET_DATA, value), result.nbytes)
        return result

    def _element_and_rank(self, tensor: ctypes.c_void_p) -> tuple[str, int]:
        element = self.number(_GET_ELEMENT_TYPE, tensor)
        return _ELEMENTS.get(element, ""), self.number(_GET_RANK, tensor)

    def _function(self, place: int) -> Any:
        found = self._functions.get(place)
        if found is None:
            make = ctypes.CFUNCTYPE if place in _SLOW else ctypes.PYFUNCTYPE  # only the first frees Python's lock
            found = self._functions[place] = make(ctypes.c_void_p)(self._table[place])
        return found


@cache
def _many(kind: type[Any], count: int) -> Any:
    """The type of an array, which takes longer to make than the rest of a call."""
    return kind * count


@cache
def _library() -> _Library:
    """The library, which stays until the process ends. Raises OSError, RuntimeError."""
    return _Library()
