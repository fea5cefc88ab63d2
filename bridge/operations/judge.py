"""judge: asks the language model about decisions that may contradict each other, and keeps its verdicts.

Only pairs on which nobody was asked are sent, the most probable first, each once. Which of two is the newer is not
asked: their dates say so. Each answer is committed before the next is asked for, so a later attempt goes on behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from jobs import clock
from jobs.errors import JobError

from ..compaction.judgement import PAIRS_PER_CALL, AskModel, Side, Verdict, ask_verdicts
from ..graph import llm
from ..graph.open_stores import Stores
from ..memory import Memory
from ..search.standings import DISPUTED, REPLACED, is_doubtful, words
from ..slices import Slices
from ..standing import comparison
from ..store.values import PairVerdict
from ..text.decision_lines import digest
from . import Progress, Task

if TYPE_CHECKING:
    from jobs.payloads import EmptyPayload

    from ..interface.result_shapes import JudgeResult
    from ..store.store import Store

_MOST_CALLS = 25  # of a job, so that its budget lasts; the next job goes on


class _Pair(NamedTuple):
    """Two decisions, each a memory and the index of its passage. The dates say which is the newer."""

    older: tuple[Memory, int]
    newer: tuple[Memory, int]

    def shown(self) -> tuple[Side, Side]:
        """As the model is shown it."""
        older, newer = (Side((memory.dated_at or "")[:10], words(memory, at)) for memory, at in self)
        return older, newer

    def verdict(self, said: Verdict | None, model: str, task: Task[EmptyPayload]) -> PairVerdict:
        """What is kept of the model's answer; without one, that the pair is undecided."""
        (older, older_at), (newer, newer_at) = self
        holds: Literal["newer", "both", "undecided"] = "undecided"
        confidence = 0.0 if said is None else round(said.confidence, 2)
        if said is not None and said.stands != "earlier" and confidence >= DISPUTED:
            holds = "both" if said.stands == "both" else "newer"
        if holds == "newer" and older.dated_at == newer.dated_at:  # nobody knows which is the newer
            confidence = min(confidence, REPLACED - 0.01)
        digests = digest(words(older, older_at)), digest(words(newer, newer_at))
        return PairVerdict(
            older.id, digests[0], newer.id, digests[1], holds, None, model, task.accepted_at, task.job_id, confidence
        )


def run(task: Task[EmptyPayload], stores: Stores, now: datetime, progress: Progress) -> JudgeResult:
    """Ask about the doubtful pairs, at most 500.

    The payload is empty. The result counts the pairs by what is kept of the answers, and the calls, tokens and cost. A
    job fails with LLM_NOT_CONFIGURED, LLM_CONFIG, GRAPH_NOT_INSTALLED, a budget's error or the model's; what was
    answered before is kept. A second run asks about those pairs only that have no verdict.
    """
    store = stores.store
    llm.require(stores.settings)
    if not store.is_applied(task.applied):
        _ask_about_all(task, stores, now, progress)
        task.note_applied(store, clock.iso(now))
    kept = Counter(said.verdict for said in store.all_verdicts() if said.job_id == task.job_id)
    spent = store.llm_usage.of_job(task.job_id)
    return {
        "newer": kept["newer"],
        "both": kept["both"],
        "undecided": kept["undecided"],
        "calls": spent.calls,
        "tokens": spent.tokens,
        "cost_usd": spent.cost_usd,
    }


def _ask_about_all(task: Task[EmptyPayload], stores: Stores, now: datetime, progress: Progress) -> None:
    store, settings = stores.store, stores.settings
    comparing = Slices(progress, "comparing memories", store.count())
    while comparison.compare_some(store):  # mostly done in idle moments, which a pool has not
        comparing.advance()
    pairs = list(_doubtful(store))[: min(_MOST_CALLS, settings.llm_calls_per_job) * PAIRS_PER_CALL]
    slices = Slices(progress, "asking the language model which decisions hold", len(pairs))
    ask: AskModel | None = None
    for start in range(0, len(pairs), PAIRS_PER_CALL):
        batch = pairs[start : start + PAIRS_PER_CALL]
        ask = ask or partial(stores.asker(task.job_id), pause=slices.advance)
        try:
            said = _asked(ask, batch)
        except JobError as error:
            if error.code != "LLM_TEXT_REFUSED":
                raise
            said, ask = {}, None  # they stay as they are; after an error, only another asker asks on
        with store.change(clock.iso(now)) as change:
            model = llm.name_of(settings)
            change.verdicts += (pair.verdict(said.get(at), model, task) for at, pair in enumerate(batch))
        slices.advance(len(batch))


def _asked(ask: AskModel, pairs: Sequence[_Pair]) -> dict[int, Verdict]:
    """The verdicts by the index of the pair. What the answer leaves out is asked once more. Raises as ``ask``."""
    shown = [pair.shown() for pair in pairs]
    found = ask_verdicts(ask, shown)
    left = [at for at in range(len(pairs)) if at not in found]
    if found and left:
        more = ask_verdicts(ask, [shown[at] for at in left])
        found |= {left[at]: verdict for at, verdict in more.items()}
    return found


def _doubtful(store: Store) -> Iterator[_Pair]:
    """The pairs to ask about, the most probable first."""
    for pair in filter(is_doubtful, store.replacements.unsaid()):
        older, newer = (store.after(number - 1, 1)[0] for number in (pair.older, pair.newer))
        yield _Pair((older, pair.older_passage), (newer, pair.newer_passage))
