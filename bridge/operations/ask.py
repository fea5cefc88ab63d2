"""ask: a question to the knowledge graph. Nothing is changed by it.

With a language model the answer is in prose; without, the context alone. Somebody waits for it: so where the model
fails, the context is the answer at once, and a warning says what the matter was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

from ..graph.open_stores import Stores
from ..memory import Memory
from ..privacy import redaction
from ..search import listing
from . import Outcomes, Progress, Task

if TYPE_CHECKING:
    from ..graph.cognee_search import Answer
    from ..interface.result_shapes import AskResult, RestsOn

_DEFAULT_TOP_K = 10


def run(tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    return {task.job_id: _one(task, stores) for task in tasks}


def _one(task: Task, stores: Stores) -> Succeeded | Failed:
    question, top_k = task.payload["question"], task.payload.get("top_k") or _DEFAULT_TOP_K
    try:
        _bring_up_to_date(stores)
        answer, warnings = _answer(task, question, top_k, stores)
        memories = list(_memories(answer, stores))
    except JobError as error:
        return Failed(error)
    if owed := stores.store.outbox.count():
        warnings.append(f"The graph is still to be told of {owed} changes: ask again later for the rest.")
    if any(memory.metadata.status == "Superseded" for memory in memories):
        warnings.append("Some of the memories are superseded: see the status of each.")
    if raw := len(stores.store.extractions.unread()):
        warnings.append(
            f"Raw texts without links in the graph, which no answer rests on: {raw}. Retrieval finds them; cognify"
            " has cognee look into them."
        )

    def clean(text: str) -> str:
        """What was stored before secrets were looked for may hold some."""
        return redaction.redact(text).text if stores.settings.redact_secrets else text

    result: AskResult = {
        "question": question,
        "answer": clean(answer.text) if answer.text is not None else None,
        "llm": answer.text is not None,
        "context": clean(answer.context),
        "memories": [_line(memory) for memory in memories],
        "warnings": warnings,
    }
    return Succeeded(result)


def _bring_up_to_date(stores: Stores) -> None:
    """What was forgotten or hidden is told the graph first: an answer must not rest on it. Raises what refuses that."""
    stores.graph  # noqa: B018 - opening it may put everything into the outbox, so it comes first
    outbox = stores.store.outbox
    entries = outbox.pending(outbox.count())
    for error in stores.deliver([entry.memory_id for entry in entries if entry.action == "delete"]).values():
        raise error


def _answer(task: Task, question: str, top_k: int, stores: Stores) -> tuple[Answer, list[str]]:
    try:
        return stores.graph.ask(question, top_k, stores.meter(task.job_id)), []
    except JobError as error:
        if error.code == "LLM_NOT_CONFIGURED":
            why = "No language model is configured: this is the context alone."
        elif error.code.startswith("LLM_") or error.code == "RATE_LIMITED":
            why = f"The language model gave no answer ({error.code}): {error.message} This is the context alone."
        else:
            raise
    return stores.graph.ask(question, top_k, None), [why]


def _memories(answer: Answer, stores: Stores) -> Iterator[Memory]:
    """The visible memories that the answer rests on, the most telling first."""
    store = stores.store
    nodes = list(dict.fromkeys(node for link in answer.links for node in link))
    texts = store.extractions.memories_with(nodes)
    seen: set[str] = set()
    for one, other in answer.links:
        # Many texts may name a thing: a link between two is in those that name both.
        both = [memory_id for memory_id in texts.get(one, ()) if memory_id in texts.get(other, ())]
        for memory_id in (one, answer.decisions.get(one), other, answer.decisions.get(other), *both):
            if memory_id is None or memory_id in seen:
                continue
            seen.add(memory_id)
            memory = store.get(memory_id)
            if memory is not None and not store.is_hidden(memory_id):
                yield memory


def _line(memory: Memory) -> RestsOn:
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "title": listing.title(memory),
        "status": memory.metadata.status,
    }
