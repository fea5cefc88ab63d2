"""The cross-encoder in the package: reads two statements together, and says how likely the later one replaces the
earlier one. 8 bits, on onnxruntime.

Its products of integers are exact, so a pair gets about the same probability everywhere; another version of onnxruntime
changes the third digit.
``tools.judge`` makes its weights from the project's pairs; the embeddings and the lowest layers are those of the
embedding model, in its file.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from jobs.errors import JobError

from ..embedding import model_files
from ..embedding.onnx_graph import open_session
from ..embedding.onnx_session import Session
from ..embedding.tokens import WordPieceTokenizer, word_piece_tokenizer

GRAPH = "judge-int8.onnx"
WEIGHTS = "judge-int8.bin"
SHA256 = {
    GRAPH: "313dd93d04937ca9694f70402fab0c1efd3369f0bda1b30f9e89b8fe20e769de",
    WEIGHTS: "7c4c9c032774cda41e8ee72f2d6eb8040865be1fb914253c6c0a24e5c8d37b31",
}
"""What ``tools.judge`` printed. ``judge.IDENTITY`` changes with it."""
MOST_TOKENS = 96
_BETWEEN = 3  # the special tokens: at the start, between the two, at the end


def probability(earlier: str, later: str) -> float:
    """That the later statement replaces the earlier one (0..1). Raises JobError: MODEL_CORRUPT."""
    ids, types = pair_tokens(word_piece_tokenizer(model_files.DEFAULT_FOLDER), earlier, later)
    given = {"input_ids": [ids], "token_type_ids": [types], "attention_mask": [[1] * len(ids)]}
    logit = _session().run({name: np.array(value, np.int64) for name, value in given.items()})
    return 1 / (1 + math.exp(-float(logit.reshape(-1)[0])))


def pair_tokens(tokenizer: WordPieceTokenizer, earlier: str, later: str) -> tuple[list[int], list[int]]:
    """The ids and types (0 for the earlier, 1 for the later statement), at most MOST_TOKENS each. The longer statement
    loses its end first."""
    first, second = tokenizer.ids(earlier), tokenizer.ids(later)
    start, end = first[0], first[-1]
    first, second = first[1:-1], second[1:-1]
    room = MOST_TOKENS - _BETWEEN
    most = max(room // 2, room - min(len(first), len(second)))
    first, second = first[:most], second[:most]
    return [start, *first, end, *second, end], [0] * (len(first) + 2) + [1] * (len(second) + 1)


@cache
def _session() -> Session:
    folder = model_files.DEFAULT_FOLDER
    try:
        for name, digest in SHA256.items():
            if model_files.digest(folder / name) != digest:
                raise ValueError(f"{name} is not the file of this version")
        return open_session(folder / GRAPH, optimised=False, prepacked=False)
    except Exception as error:  # onnxruntime's exceptions share no narrower base
        raise JobError(
            "MODEL_CORRUPT",
            f"The judge of what newer decisions replace cannot be loaded from {folder}: {error}. Memories are stored"
            " and found as ever; they are compared once it can be.",
            remediation="Install the program again, which brings the model with it.",
        ) from error
