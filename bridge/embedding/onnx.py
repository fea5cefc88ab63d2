"""Runs the models that are ONNX graphs, on onnxruntime, in this process."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from jobs.errors import JobError

from . import onnx_graph
from .embedder import Vector, normalised
from .local_embedder import LocalEmbedder
from .onnx_session import Session
from .tokens import model_tokenizer, word_piece_tokenizer


class OnnxEmbedder(LocalEmbedder):
    """A model whose row names a graph. A longer text than its limit of tokens is cut.

    With the full weights of all-MiniLM-L6-v2, the vectors are those of cognee's fastembed to 1e-6; with the 8-bit ones,
    to a cosine of 0.98 or more. Neither kind of threads changes the vectors of these two.
    """

    @cached_property
    def _tokens(self) -> Any:
        if self._model.quick_tokens:
            return word_piece_tokenizer(self._folder)
        return model_tokenizer(self._folder, self._model.token_limit)

    def _open(self) -> Session:
        graph = self._folder / self._model.graph
        try:
            return onnx_graph.open_session(
                graph, threads=self._intra_op_threads, optimised=self._model.optimised, prepacked=self._prepacked
            )
        except (RuntimeError, OSError) as error:
            message = f"The embedding model at {graph} cannot be loaded: {error}."
            raise JobError("MODEL_CORRUPT", message) from error

    def _vector(self, text: str, is_query: bool) -> Vector:
        import numpy as np

        prefix = self._model.query_prefix if is_query else self._model.text_prefix
        ids = np.array([self._tokens.ids(prefix + text)], np.int64)  # meanwhile the graph is opened
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        session: Session = self._loading.result()
        found = session.run({each.name: given[each.name] for each in session.inputs}, self._model.output)
        vector: Vector = normalised(_pooled(found, self._model.pooling))[0]
        return vector


def _pooled(found: Any, pooling: str) -> Any:
    """The vector of a text, shape (1, dimensions), from the graph's output."""
    match pooling:
        case "mean":
            return found[0].mean(axis=0, keepdims=True)
        case "first":
            return found[0][:1]
        case "last":
            return found[0][-1:]
        case _:
            return found
