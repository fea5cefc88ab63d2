"""ask: answers a question from the knowledge graph. It changes no memory.

With a language model the answer is prose; without one it is the context alone. A person waits for the answer, so a
failing model does not fail the job: the context is returned at once, with a warning that names the error.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from jobs.errors import JobError

from ..graph.open_stores import Stores
from ..memory import Memory
from ..privacy import redaction
from ..search import listing
from . import Progress, Task

if TYPE_CHECKING:
    from jobs.payloads import Ask

    from ..graph.cognee_search import Answer
    from ..interface.result_shapes import AskResult, RestsOn

_DEFAULT_TOP_K = 10


def run(task: Task[Ask], stores: Stores, now: datetime, progress: Progress) -> AskResult:
    """Answer the question.

    The payload has ``question`` and ``top_k`` (1 to 100, default 10). The result has the answer (None without a
    language model), the context, the memories that the answer rests on, and warnings. A job fails with
    GRAPH_NOT_INSTALLED, GRAPH_UNAVAILABLE, an error of the embedding provider, or a deletion that the graph rejects;
    errors of the language model become warnings. A second run asks again.
    """
    question, top_k = task.payload.question, task.payload.top_k or _DEFAULT_TOP_K
    stores.graph.deliver_all(progress)
    _deliver_deletions(stores)
    answer, warnings = _answer(task, question, top_k, stores)
    memories = list(_memories(answer, stores))
    if pending := stores.store.outbox.count():
        changes = "1 change" if pending == 1 else f"{pending} changes"
        warnings.append(f"The graph refused {changes}, which the answer leaves out: cognee-memory doctor.")
    if any(memory.metadata.status == "Superseded" for memory in memories):
        warnings.append("Some of the memories are superseded: see the status of each.")
    if raw := len(stores.store.extractions.unread()):
        warnings.append(
            f"Raw texts without links in the graph, which no answer rests on: {raw}. Retrieval finds them; cognify"
            " has cognee look into them."
        )

    def clean(text: str) -> str:
        """The text without secrets: a memory may be older than redaction."""
        return redaction.redact(text).text if stores.settings.redact_secrets else text

    return {
        "question": question,
        "answer": clean(answer.text) if answer.text is not None else None,
        "llm": answer.text is not None,
        "context": clean(answer.context),
        "memories": [_line(memory) for memory in memories],
        "warnings": warnings,
    }


def _deliver_deletions(stores: Stores) -> None:
    """Deliver the deletions that the graph refused before, since an answer must not rest on a forgotten or hidden
    memory. Raises JobError when the graph refuses one again.
    """
    outbox = stores.store.outbox
    entries = outbox.pending(outbox.count())
    for error in stores.graph.deliver([entry.memory_id for entry in entries if entry.action == "delete"]).values():
        raise error


def _answer(task: Task[Ask], question: str, top_k: int, stores: Stores) -> tuple[Answer, list[str]]:
    """The answer and its warnings. When the language model fails, the answer is the context alone."""
    try:
        return stores.graph.open().ask(question, top_k, stores.meter(task.job_id)), []
    except JobError as error:
        if error.code == "LLM_NOT_CONFIGURED":
            why = "No language model is configured: this is the context alone."
        elif error.code.startswith("LLM_") or error.code == "RATE_LIMITED":
            why = f"The language model gave no answer ({error.code}): {error.message} This is the context alone."
        else:
            raise
    return stores.graph.open().ask(question, top_k, None), [why]


def _memories(answer: Answer, stores: Stores) -> Iterator[Memory]:
    """The visible memories that the answer rests on, the most relevant first."""
    store = stores.store
    nodes = list(dict.fromkeys(node for link in answer.links for node in link))
    texts = store.extractions.memories_with(nodes)
    seen: set[str] = set()
    for one, other in answer.links:
        # Many texts may name one thing: a link between two things comes from the texts that name both.
        both = [memory_id for memory_id in texts.get(one, ()) if memory_id in texts.get(other, ())]
        for memory_id in (one, answer.decisions.get(one), other, answer.decisions.get(other), *both):
            if memory_id is None or memory_id in seen:
                continue
            seen.add(memory_id)
            memory = store.get(memory_id)
            if memory is not None and not store.is_hidden(memory_id):
                yield memory


def _line(memory: Memory) -> RestsOn:
    """A memory as an entry of the result's list."""
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "title": listing.title(memory),
        "status": memory.metadata.status,
    }
