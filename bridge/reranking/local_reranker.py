"""The reranker on this machine: a cross-encoder in ONNX, such as an export of ms-marco-MiniLM-L-6-v2.

Query and text are one input, cut at 512 tokens; the model's only output is a logit. The heavy imports happen when a
model is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from jobs import plain_files

from ..background import Background
from ..embedding import onnx_graph
from ..embedding.onnx_graph import first_line
from ..embedding.onnx_session import Session
from .config import RerankConfig
from .reranker import RerankError, Scores, probabilities

TOKEN_LIMIT = 512
QUERY_TOKENS = 256  # a longer query is cut, so that there is room for the text
# A longer text is cut before it is tokenised: 512 tokens of a text have far fewer characters.
_MOST_CHARACTERS = 16_384

_REMEDY = (
    "COGNEE_MEMORY_RERANK_MODEL must name a folder with a cross-encoder's tokenizer.json and model.onnx (or"
    " onnx/model.onnx); docs/settings.md says how to get one."
)
_Stamp = tuple[tuple[int, int] | None, ...]


class LocalReranker:
    """The cross-encoder in a folder. It is loaded in the background, and again when its files have changed.

    Each pair is a run of its own, without padding, so its score does not depend on other texts. ``threads`` is the
    number of pairs in parallel; it does not change the scores.
    """

    def __init__(self, config: RerankConfig, threads: int = 1) -> None:
        self.identity = config.identity
        self._folder = Path(config.model)
        self._threads = threads
        self._lock = Lock()
        self._loading: Background[_Model] | None = None
        self._stamp: _Stamp = ()
        self._current()

    def relevance(self, query: str, texts: Sequence[str]) -> Scores:
        """How well each text answers the query, 0..1, shape (n,). Raises RerankError."""
        if not texts:
            return np.empty(0)
        model = self._current().result()
        asked = model.encoded_query(query)

        def logit(text: str) -> float:
            return model.logit(asked, text[:_MOST_CHARACTERS])

        if self._threads == 1 or len(texts) == 1:
            return probabilities(np.array([logit(text) for text in texts]))
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._threads) as pool:
            return probabilities(np.array(list(pool.map(logit, texts))))

    def _current(self) -> Background[_Model]:
        """The model of the files as they are now."""
        with self._lock:
            stamp = tuple(map(plain_files.stamp, (_graph(self._folder), _tokenizer(self._folder))))
            if self._loading is None or stamp != self._stamp:
                self._stamp, self._loading = stamp, Background(lambda: _load(self._folder))
            return self._loading


class _Model(NamedTuple):
    session: Session
    tokenizer: Any
    special_tokens: int

    def encoded_query(self, query: str) -> Any:
        """The query's tokens, at most QUERY_TOKENS."""
        encoding = self.tokenizer.encode(query, add_special_tokens=False)
        encoding.truncate(QUERY_TOKENS)
        return encoding

    def logit(self, query: Any, text: str) -> float:
        """The model's judgement of a pair. Raises RerankError."""
        encoding = self.tokenizer.encode(text, add_special_tokens=False)
        encoding.truncate(TOKEN_LIMIT - len(query.ids) - self.special_tokens)
        pair = self.tokenizer.post_process(query, encoding, True)
        known = {"input_ids": pair.ids, "attention_mask": [1] * len(pair.ids), "token_type_ids": pair.type_ids}
        feeds = {each.name: np.array([known[each.name]], np.int64) for each in self.session.inputs}
        try:
            found = np.asarray(self.session.run(feeds), np.float64)
        except Exception as error:  # onnxruntime's exceptions share no narrower base
            raise RerankError(f"The reranking model failed: {first_line(error)}.", _REMEDY) from None
        if found.size != 1 or not np.isfinite(found).all():
            what = f"{found.size} numbers for a pair, not one" if found.size != 1 else "no finite number"
            raise RerankError(f"The reranking model gave {what}.", _REMEDY)
        return float(found.reshape(()))


def _load(folder: Path) -> _Model:
    """Raises RerankError."""
    graph, tokens = _graph(folder), _tokenizer(folder)
    if not folder.is_absolute():
        message = f"COGNEE_MEMORY_RERANK_MODEL is {folder}: no absolute path, and there is no endpoint."
        raise RerankError(message, _REMEDY)
    for path in (graph, tokens):
        if not path.is_file():
            raise RerankError(f"There is no {path.name} of the reranking model in {path.parent}.", _REMEDY)
    try:
        session = onnx_graph.open_session(graph)  # the pairs are in parallel
    except Exception as error:  # as above
        raise RerankError(f"The reranking model {graph} cannot be loaded: {first_line(error)}.", _REMEDY) from None
    try:
        onnx_graph.require_encoder(session)
    except ValueError as error:
        raise RerankError(f"The reranking model {graph} cannot be used: {error}.", _REMEDY) from None
    try:
        tokenizer = onnx_graph.open_tokenizer(tokens)
    except Exception as error:  # the library raises nothing narrower
        raise RerankError(f"{tokens} cannot be read: {first_line(error)}.", _REMEDY) from None
    return _Model(session, tokenizer, tokenizer.num_special_tokens_to_add(True))


def _graph(folder: Path) -> Path:
    """The model's file, as a model is published or exported."""
    plain = folder / "model.onnx"
    published = folder / "onnx" / "model.onnx"
    return published if not plain.exists() and published.exists() else plain


def _tokenizer(folder: Path) -> Path:
    return folder / "tokenizer.json"
