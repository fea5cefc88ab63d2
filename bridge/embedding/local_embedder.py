"""The embedders that run on this machine: all-MiniLM-L6-v2 on onnxruntime, other models on fastembed.

The files of the default model are in the package; ``provision`` brings the full weights. The heavy imports happen when
an embedder is created.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jobs.errors import JobError

from ..background import Background
from . import model_files
from .config import EmbeddingConfig
from .embedder import Vector, Vectors, embed_non_blank, normalised, wrong_dimensions
from .tokens import WordPieceTokenizer, word_piece_tokenizer


class OnnxEmbedder:
    """all-MiniLM-L6-v2: 384 dimensions, texts cut at 512 tokens.

    With the full weights, the vectors are those of cognee's fastembed to 1e-6; with the 8-bit ones, to a cosine of 0.98
    or more. Each text is a run of its own, without padding, so its vector does not depend on other texts. ``threads``
    is the number of texts in parallel, for bulk work. ``intra_op_threads`` is the number of threads inside one run, for
    the latency of a single query; such threads synchronise after every operator. Neither changes the vectors.
    """

    dimensions = model_files.DIMENSIONS
    tokenizer_name = WordPieceTokenizer.name

    def __init__(
        self,
        folder: Path,
        threads: int = 1,
        intra_op_threads: int = 1,
        *,
        full_weights: bool = False,
        prepacked: bool = False,
        verified: bool = False,
    ) -> None:
        """Loads the model in ``folder`` in the background. While it cannot be loaded, each use raises JobError:
        MODEL_CORRUPT.

        ``prepacked``: arrange the 8-bit weights for this processor, for a process of many texts. The sums of integers
        are exact, so the vectors are the same. With the full weights it has no effect: it would change the last bits.
        ``verified``: verify the checksums of the files first, for a process whose vectors are kept; else their sizes.
        """
        self._threads = threads
        self._intra_op_threads = intra_op_threads
        self._tokens = word_piece_tokenizer(folder)
        model = model_files.FULL_WEIGHTS if full_weights else model_files.NAME
        self.identity = EmbeddingConfig(cache_dir=folder, model=model).identity
        self._folder = folder
        self._graph = model_files.GRAPH if full_weights else model_files.INT8_GRAPH
        self._prepacked = prepacked and not full_weights
        self._verified = verified
        self._loading = self._load()

    def _load(self) -> Background[Any]:
        return Background(self._session)

    def _session(self) -> Any:
        if self._verified:
            self._verify()
        return _session(self._folder / self._graph.name, self._intra_op_threads, self._prepacked)

    def _verify(self) -> None:
        if self._graph is model_files.INT8_GRAPH:
            model_files.verify_default(self._folder)
        else:
            model_files.verify(self._folder)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The texts' vectors of length 1, shape (n, 384). Raises JobError: MODEL_CORRUPT."""
        return embed_non_blank(texts, self.dimensions, self._embed)

    def count_tokens(self, text: str) -> int:
        """The number of the model's tokens in a text, not cut at its limit."""
        return self._tokens.count(text)

    def _embed(self, texts: list[str]) -> Vectors:
        if self._loading.has_failed:  # the model's files may be repaired by now
            self._loading = self._load()
        if self._threads == 1 or len(texts) == 1:
            return np.stack([self._run(text) for text in texts])
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._threads) as pool:
            return np.stack(list(pool.map(self._run, texts)))

    def _run(self, text: str) -> Vector:
        """One text through the model: the mean of its tokens' vectors, scaled to length 1."""
        ids = np.array([self._tokens.ids(text)], np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._loading.result().run(None, feeds)
        vector: Vector = normalised(hidden[0].mean(axis=0, keepdims=True))[0]
        return vector


def _session(graph: Path, threads: int, prepacked: bool) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # its warnings go to stderr and do not help a user
    # A query may run in a new process, where prepacking and optimising cost more than they save. With the full weights
    # they would also change the last bits. The arena would keep the memory of the longest text.
    options.add_session_config_entry("session.disable_prepacking", "0" if prepacked else "1")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # spinning would waste processor time
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions share no narrower base
        message = f"The embedding model at {graph} cannot be loaded: {error}."
        raise JobError("MODEL_CORRUPT", message) from error


class FastembedEmbedder:
    """Another model of the fastembed package, in the same cache as cognee's. Slow to create."""

    tokenizer_name = WordPieceTokenizer.name

    def __init__(self, config: EmbeddingConfig, threads: int = 1) -> None:
        """Raises JobError: EMBEDDING_CONFIG for a model unknown to fastembed, MODEL_MISSING if it cannot be loaded."""
        from fastembed import TextEmbedding
        from huggingface_hub import constants

        self.identity, self.dimensions = config.identity, config.dimensions
        self._config = config
        self._tokens = word_piece_tokenizer(model_files.DEFAULT_FOLDER)
        known = {entry["model"].lower() for entry in TextEmbedding.list_supported_models()}
        if config.model.lower() not in known:
            raise JobError("EMBEDDING_CONFIG", f"fastembed has no model {config.model} (EMBEDDING_MODEL).")
        try:
            self._model = TextEmbedding(config.model, cache_dir=constants.HF_HUB_CACHE, threads=threads)
        except ValueError as error:
            raise JobError(
                "MODEL_MISSING",
                f"fastembed could not load {config.model}: {error}.",
                remediation="Connect to a network for the first use of this model, or set EMBEDDING_MODEL"
                f" to {model_files.NAME}, which is in the program.",
            ) from error
        tokenizer: Any = getattr(self._model.model, "tokenizer", None)
        if tokenizer is not None and tokenizer.padding is not None:
            # With a model's fixed padding length, a batch of shorter and longer texts would have unequal rows.
            tokenizer.enable_padding(**tokenizer.padding | {"length": None})

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The texts' vectors of length 1, shape (n, dimensions). Raises JobError: EMBEDDING_CONFIG."""
        return embed_non_blank(texts, self.dimensions, self._embed)

    def count_tokens(self, text: str) -> int:
        """The number of tokens in a text, by the local tokenizer; an estimate for other models."""
        return self._tokens.count(text)

    def _embed(self, texts: list[str]) -> Vectors:
        vectors = np.array(list(self._model.embed(texts, batch_size=16)), np.float64)
        if vectors.shape[1] != self.dimensions:
            raise wrong_dimensions(self._config, vectors.shape[1])
        return normalised(vectors)
