"""The judge: a cross-encoder in 8 bits, on onnxruntime, in the package.

Its products of integers are exact, so a pair gets the same probability on every machine, up to the last rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from jobs.errors import JobError

from ..embedding import model_files
from ..embedding.tokens import word_piece_tokenizer
from .pair_tokens import pair_tokens

IDENTITY = "judge-1"
"""Changes with the weights and with what is compared: then all memories are compared again."""

GRAPH = "judge-int8.onnx"
WEIGHTS = "judge-int8.bin"
# The model is too sure of itself: its logits are divided by this (temperature scaling; docs/what-holds.md).
TEMPERATURE = 1.0


def replaces(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """For each pair of an earlier and a later statement, the probability (0..1) that the later one replaces it.

    Each is the mean of both orders. Raises JobError: MODEL_CORRUPT.
    """
    return [round((_probability(*pair) + _probability(*reversed(pair))) / 2, 2) for pair in pairs]


def _probability(earlier: str, later: str) -> float:
    ids, types = pair_tokens(word_piece_tokenizer(model_files.DEFAULT_FOLDER), earlier, later)
    given = {"input_ids": [ids], "token_type_ids": [types], "attention_mask": [[1] * len(ids)]}
    (logit,) = _session().run(None, {name: np.array(value, np.int64) for name, value in given.items()})
    return 1 / (1 + math.exp(-float(logit.reshape(-1)[0]) / TEMPERATURE))


@cache
def _session() -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(
            str(model_files.DEFAULT_FOLDER / GRAPH), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's exceptions share no narrower base
        message = f"The judge in {model_files.DEFAULT_FOLDER} cannot be loaded: {error}."
        raise JobError("MODEL_CORRUPT", message) from error
