"""ask: answers a question from the knowledge graph. It changes no memory.

With a language model the answer is prose; without one it is the context alone. Both say which decisions do not hold
any more. A person waits for the answer, so a failing model does not fail the job: the context is returned at once, with
a warning that names the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

from jobs.errors import JobError

from ..argument_table import MAX_QUERY_CHARS
from ..graph.open_stores import Stores
from ..memory import Memory
from ..search import listing, retrieval, standing_effects
from ..search.question import parse_question
from ..search.snapshot import open_snapshot
from . import Progress, Task, without_secrets

if TYPE_CHECKING:
    from jobs.payloads import Ask

    from ..graph.cognee_search import Found
    from ..interface.answer_shapes import Standing
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
    found = stores.graph.open().ask(question, top_k)
    memories, standing = _with_standings(question, list(_memories(found, stores)), stores, now)
    context = without_secrets(stores, _marked(found.context, standing)).text  # a memory may be older than redaction
    answer, warnings = _in_prose(task, context, stores)
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
    return {
        "question": question,
        "answer": answer,
        "llm": answer is not None,
        "context": context,
        "memories": [_line(memory, standing.get(memory.number)) for memory in memories],
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


def _in_prose(task: Task[Ask], context: str, stores: Stores) -> tuple[str | None, list[str]]:
    """The language model's answer from the context, and warnings. When it fails, the context is the answer."""
    try:
        meter = stores.meter(task.job_id)
        if not context:
            return None, []
        answer = stores.graph.open().in_prose(task.payload.question, context, meter)
        return without_secrets(stores, answer).text, []
    except JobError as error:
        if error.code == "LLM_NOT_CONFIGURED":
            return None, ["No language model is configured: this is the context alone."]
        if not error.code.startswith("LLM_") and error.code != "RATE_LIMITED":
            raise
        why = f"The language model gave no answer ({error.code}): {error.message} This is the context alone."
        return None, [why]


def _with_standings(
    question: str, memories: list[Memory], stores: Stores, now: datetime
) -> tuple[list[Memory], dict[int, Standing]]:
    """The memories, with what holds before what it replaced or contradicts, as in every answer; and number -> what is
    said of its standing."""
    if not memories or (snapshot := open_snapshot(stores.workspace)) is None:
        return memories, {}
    with closing(snapshot):
        if snapshot.standings.is_empty:
            return memories, {}
        asked = parse_question({"query": question[:MAX_QUERY_CHARS], "include_superseded": True}, now)
        numbers = [memory.number for memory in memories]
        scored = retrieval.score(snapshot, asked, stores.embedder, numbers)
        after = {
            memory.number: factors.fall.by[0]
            for memory, factors in scored
            if factors.fall is not None and not asked.asks_past
        }
        if not after:
            return memories, standing_effects.described(snapshot, scored)
        numbers = list(dict.fromkeys(each for number in numbers for each in (after.get(number, number), number)))
        scored = retrieval.score(snapshot, asked, stores.embedder, numbers)
        return [memory for memory, _ in scored], standing_effects.described(snapshot, scored)


def _marked(context: str, standing: Mapping[int, Standing]) -> str:
    """The context, where each decision that does not hold any more says what became of it."""
    for each in standing.values():
        if (by := each["by"]) is not None:
            day = f", {by['dated_at'][:10]}" if by["dated_at"] else ""
            said = f"{each['state']} by #{by['memory_number']}{day}: {by['statement']}"
            lines = context.split("\n")  # whole ones: a longer decision may begin so
            context = "\n".join(f"{line} [{said}]" if line == each["statement"] else line for line in lines)
    return context


def _memories(found: Found, stores: Stores) -> Iterator[Memory]:
    """The visible memories that the answer rests on, the most relevant first."""
    store = stores.store
    nodes = list(dict.fromkeys(node for link in found.links for node in link))
    texts = store.extractions.memories_with(nodes)
    seen: set[str] = set()
    for one, other in found.links:
        # Many texts may name one thing: a link between two things comes from the texts that name both.
        both = [memory_id for memory_id in texts.get(one, ()) if memory_id in texts.get(other, ())]
        for memory_id in (one, found.decisions.get(one), other, found.decisions.get(other), *both):
            if memory_id is None or memory_id in seen:
                continue
            seen.add(memory_id)
            memory = store.get(memory_id)
            if memory is not None and not store.is_hidden(memory_id):
                yield memory


def _line(memory: Memory, standing: Standing | None) -> RestsOn:
    """A memory as an entry of the result's list."""
    line: RestsOn = {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "title": listing.title(memory),
        "status": memory.metadata.status,
    }
    if standing is not None:
        line["standing"] = standing
    return line
