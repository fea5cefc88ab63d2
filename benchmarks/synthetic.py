"""Large stores in little time: a thousand memories embedded by the model, and variations of them beyond.

A variation has other numbers, identifiers and parts in its texts; its vectors are those of its original, turned as far
as the model itself turns them for such a change. Everything goes through the real store, in batches.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import Embedder, Vectors, normalised
from bridge.embedding.factory import create
from bridge.memory import Memory
from bridge.operations import Task
from bridge.operations.ingest import prepare
from bridge.settings import load
from bridge.store.store import Store
from bridge.text.passages import passages
from jobs import clock
from jobs.layout import Workspace
from jobs.payloads import Ingest

from . import corpus

ORIGINALS = 1000
PASSAGES = 17  # of each memory
# How far the model turns a text for such changes: the tangents' median and spread. Of 600 texts that it did embed, the
# cosines to their originals were 0.17 to 0.94 (5th and 95th percentile), 0.71 in the median. The texts of a memory turn
# together, and with them the whole.
_TURN, _TURN_SPREAD, _TEXT_SPREAD = 0.95, 0.2, 0.6

# What other projects are made of: without them, each word of a question would be in a tenth of all memories.
_KINDS = (
    "billing calendar camera catalogue chat checkout compass courier customs dashboard diary elevator export forecast"
    " freight garden greenhouse hotel inventory kitchen ledger library lighting loyalty mailbox map museum orchard"
    " parking payroll pharmacy planner playlist radar recipe reservation roster seating sensor shelf ticket tracker"
    " translation turbine vault vessel voucher warehouse weather workshop"
).split()
_THINGS = (
    "adapter archive board broker builder bundle client console daemon digest driver editor exporter feed gateway"
    " graph guide importer journal kernel layer loader matcher mirror monitor panel parser planner player portal"
    " printer profile proxy reader recorder relay resolver router sampler scheduler scorer sender shaper sorter"
    " splitter stream viewer watcher wizard"
).split()
_PART = re.compile("|".join(part.removeprefix("the ") for part in corpus.PARTS), re.IGNORECASE)
_PARTS = [part.removeprefix("the ") for part in corpus.PARTS]
_NUMBER = re.compile(r"\d+")
_IDENTIFIER = re.compile(rf"\b({'|'.join(corpus.VERBS)})_({'|'.join(corpus.NOUNS)})")


def payloads() -> list[dict[str, Any]]:
    """The originals: summaries of the corpus, with as many decisions more as make seventeen passages."""
    found = corpus.summaries(ORIGINALS)
    for number, payload in enumerate(found):
        summary = payload["summary"]
        dice = random.Random(number)
        more = PASSAGES - 12
        ident = f"{dice.choice(corpus.VERBS)}_{dice.choice(corpus.NOUNS)}"
        summary["decisions"] += [f"{choice} from build {number} on." for choice in corpus.choices(dice, more, ident)]
    return found


def variation(payload: dict[str, Any], turn: int) -> dict[str, Any]:
    """The payload with other numbers, identifiers and parts, which ``turn`` chooses; for 0 as it is."""
    if not turn:
        return payload
    kept = ("created_at", "session_id", "plan_id")

    def number(match: re.Match[str]) -> str:
        value = int(match[0])
        return str(value + turn if value < 100 else value + 1000 * turn)

    def identifier(match: re.Match[str]) -> str:
        verb = corpus.VERBS[(corpus.VERBS.index(match[1]) + turn) % len(corpus.VERBS)]
        return f"{verb}_{match[2]}_of_{corpus.NOUNS[turn % len(corpus.NOUNS)]}"

    def part(match: re.Match[str]) -> str:
        place = _PARTS.index(match[0].lower())
        kind = _KINDS[(7 * turn + place) % len(_KINDS)]
        thing = _THINGS[(11 * turn + 3 * place + turn // len(_KINDS)) % len(_THINGS)]
        return f"{kind.capitalize() if match[0][0].isupper() else kind} {thing}"

    def changed(text: str) -> str:
        return _PART.sub(part, _IDENTIFIER.sub(identifier, _NUMBER.sub(number, text)))

    summary = {
        name: value if name in kept else changed(value) if isinstance(value, str) else [changed(item) for item in value]
        for name, value in payload["summary"].items()
    }
    return {"summary": summary}


class Turned:
    """An embedder of the model's own identity that knows the vectors of the originals and turns them for variations.

    Texts that are neither are embedded by the model.
    """

    def __init__(self, config: EmbeddingConfig) -> None:
        self._config = config
        self._model: Embedder | None = None
        self._dice = np.random.default_rng(1)
        self.identity, self.dimensions, self.tokenizer_name = config.identity, config.dimensions, config.model
        texts = [texts_of(memory) for memory in _memories(0)]
        self._originals = self._embedded(sorted({text for found in texts for text in found}))
        self._vectors = np.array([self._originals[text] for found in texts for text in found])
        self._known = dict(self._originals)

    def _embedded(self, texts: list[str]) -> dict[str, Vectors]:
        """The model's vectors of the originals: a minute's work, so they are kept for the next run."""
        digest = sha256("\n".join([self.identity, *texts]).encode()).hexdigest()[:16]
        kept = Path(tempfile.gettempdir()) / f"cognee-memory-bench-vectors-{digest}.npy"
        if not kept.exists():
            made = kept.with_suffix(".part.npy")
            np.save(made, self.model.embed(texts))
            made.replace(kept)
        return dict(zip(texts, np.load(kept), strict=True))

    @property
    def model(self) -> Embedder:
        if self._model is None:
            self._model = create(self._config, bulk=True)
        return self._model

    def expect(self, memories: Sequence[Memory]) -> None:
        """What is embedded next: a variation of each original. Each turns towards another memory, text for text."""
        others = self._vectors.reshape(ORIGINALS, PASSAGES, -1)[self._dice.permutation(ORIGINALS)]
        others = others.reshape(self._vectors.shape)
        away = normalised(others - (others * self._vectors).sum(axis=1, keepdims=True) * self._vectors)
        turn = np.repeat(self._dice.lognormal(np.log(_TURN), _TURN_SPREAD, ORIGINALS), PASSAGES)
        turn *= self._dice.lognormal(0, _TEXT_SPREAD, len(turn))
        turned = normalised(self._vectors + turn[:, np.newaxis].astype(np.float32) * away)
        texts = [text for memory in memories for text in texts_of(memory)]
        self._known = dict(zip(texts, turned, strict=True)) | self._originals

    def embed(self, texts: Sequence[str]) -> Vectors:
        missing = [text for text in texts if text not in self._known]
        if missing:
            self._known |= dict(zip(missing, self.model.embed(missing), strict=True))
        return np.array([self._known[text] for text in texts], np.float32).reshape(len(texts), self.dimensions)

    def count_tokens(self, text: str) -> int:
        return self.model.count_tokens(text)


def texts_of(memory: Memory) -> list[str]:
    return [passage.text for passage in passages(memory)]


def prepared(payloads: Iterable[dict[str, Any]], workspace_id: str) -> list[Memory]:
    """The memories that the ingest operation makes of payloads."""
    now = clock.iso(clock.now())
    return [
        prepare(Task("made", "", Ingest.model_validate(payload), None, now), workspace_id, now).memory
        for payload in payloads
    ]


def _memories(turn: int, workspace_id: str = "0" * 32) -> list[Memory]:
    return prepared((variation(payload, turn) for payload in payloads()), workspace_id)


def batches(embedder: Turned, workspace_id: str, start: int, end: int) -> Iterator[list[Memory]]:
    """Memories number ``start`` to ``end``, a transaction's worth each; the embedder expects the one at hand."""
    for first in range(start - start % ORIGINALS, end, ORIGINALS):
        memories = _memories(first // ORIGINALS, workspace_id)
        embedder.expect(memories)
        yield memories[max(0, start - first) : end - first]


def fill(workspace: Workspace, count: int) -> None:
    """Bring the store to ``count`` memories; what it has stays."""
    embedder = Turned(load().embedding)
    store = Store(workspace, embedder)
    try:
        for memories in batches(embedder, store.workspace_id, store.count(), count):
            store.add([(memory, None) for memory in memories], clock.iso(clock.now()))
    finally:
        store.close()
