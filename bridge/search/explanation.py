"""Explanations of scores: the parts of each memory's score, by question or by number.

The numbers are those of ``retrieval``; the entries about the prompt block are those of ``context``. Read-only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

from ..embedding.embedder import Embedder
from ..interface import envelope
from ..memory import Memory
from ..store.catalogue import Votes
from ..text.terms import Term
from . import context, standing_effects
from .explain_request import ExplainRequest, listed, problem, problem_of, wanted_ids
from .listing import title
from .question import Question
from .ranking import COMPONENT_WEIGHTS, RERANKED_WEIGHTS, Factors, Ranking, components
from .retrieval import rank, ranking_used, score
from .snapshot import Snapshot

if TYPE_CHECKING:
    from ..interface.answer_shapes import (
        ExplainFailure,
        ExplainItem,
        ExplainProblem,
        ExplainSuccess,
        PackContext,
    )
    from .second_stage import SecondStage


class _Subject(NamedTuple):
    """A memory to explain. ``rank`` is its position among the hits, from 1; None if it is no hit. ``scored`` is None
    without a query."""

    memory: Memory
    rank: int | None
    scored: Factors | None
    votes: Votes


class _Findings(NamedTuple):
    """The hits in their order, then the other requested ids in theirs; and the block for a prompt, if requested.

    ``floor``: the relevance floor that was used. ``question``: as it was ranked.
    """

    subjects: list[_Subject]
    floor: float
    question: Question
    block: context.Block = context.NOTHING
    warnings: Sequence[str] = ()


def explain(
    snapshot: Snapshot | None, asked: ExplainRequest, embedder: Embedder | None, second: SecondStage | None = None
) -> ExplainSuccess:
    """The answer in the explain contract's shape.

    Without a query no embedder is needed. Without a snapshot, or with a query and no embedder, the store is empty.
    """
    problems = list(asked.problems)
    found = _Findings([], asked.question.relevance_floor, asked.question)
    if not asked.is_of_its_workspace:
        message = f"project {asked.project!r} is not this workspace, which is {asked.workspace.root}"
        problems.append(problem("project", message, "PROJECT_MISMATCH"))
        return _answer(asked, [], asked.ids, problems, [], found, second)
    items: list[ExplainItem] = []
    warnings: list[str] = []
    if snapshot is not None:
        found = _find(snapshot, asked, embedder, second)
        if second is not None and second.has_failed:
            found = _find(snapshot, asked, embedder)  # a part may have been judged before
        numbers = [subject.memory.number for subject in found.subjects]
        terms = snapshot.matched(found.question.query, numbers) if asked.query and numbers else {}
        warnings = [*snapshot.warnings, *(second.warnings if second is not None else []), *found.warnings]
        items = [_item(asked, found.question.ranking, subject, terms, found.block) for subject in found.subjects]
        scored = [(each.memory, each.scored) for each in found.subjects if each.scored is not None]
        standing = standing_effects.described(snapshot, scored)
        code = snapshot.in_code([each.memory for each in found.subjects])
        for item in items:
            if item["id"] in standing:
                item["standing"] = standing[item["id"]]
            if item["id"] in code:
                item["in_code"] = code[item["id"]]
    known = {item["id"] for item in items}
    missing = [number for number in asked.ids if number not in known]
    if missing:
        problems.append(problem("ids", f"there is no memory {listed(missing)}", "NOT_FOUND"))
    return _answer(asked, items, missing, problems, warnings, found, second)


def failed(error: JobError, arguments: Mapping[str, Any], workspace: Workspace | None = None) -> ExplainFailure:
    """The answer after an error: the request is invalid, or the store cannot be read."""
    query, project = arguments.get("query"), arguments.get("project")
    wrong = problem_of(error, arguments)
    return {
        **envelope.failure(error),
        "items": [],
        "missing_ids": [],
        "errors": [] if wrong is None else [wrong],
        "metadata": {
            "query": query if isinstance(query, str) else None,
            "project": project if isinstance(project, str) else None,
            "requested_ids_count": len(wanted_ids(arguments.get("ids"), [])),
            "returned_items_count": 0,
            "include_pack_context": arguments.get("include_pack_context") is True,
            "ranking": None,
            "workspace": None if workspace is None else str(workspace.root),
            "warnings": [],
        },
    }


def _find(
    snapshot: Snapshot, asked: ExplainRequest, embedder: Embedder | None, second: SecondStage | None = None
) -> _Findings:
    if asked.query is None or embedder is None:
        shown = snapshot.catalogue.of(asked.ids)
        votes = {number: shown.votes_at(at) for at, number in enumerate(shown.number.tolist())}
        memories = {memory.number: memory for memory in snapshot.memories(list(votes))}
        subjects = [_Subject(memories[number], None, None, votes[number]) for number in asked.ids if number in memories]
        return _Findings(subjects, asked.question.relevance_floor, asked.question)
    question = asked.question
    choice = context.choice(question) if asked.include_pack_context else 0
    # With a second stage, the first hits of a longer list may be others: more memories are judged for it.
    lengths = [max(asked.limit, choice)] if second is None else [asked.limit, *([choice] if choice else [])]
    ranked, *more = [rank(snapshot, question._replace(max_results=length), embedder, second) for length in lengths]
    question = ranked.question._replace(max_results=question.max_results)
    best = ranked.hits
    noted = [ranked, *more][-1]
    noted = noted._replace(hits=noted.hits[:choice])
    block = context.pack(snapshot, question, noted, embedder.count_tokens) if choice else context.NOTHING
    hits = [
        _Subject(memory, position, scored, scored.votes)
        for position, (memory, scored) in enumerate(best[: asked.limit], 1)
    ]
    numbers = {hit.memory.number for hit in hits}
    others = [number for number in asked.ids if number not in numbers]
    rest = score(snapshot, question, embedder, others, second) if others else []
    return _Findings(
        hits + [_Subject(memory, None, scored, scored.votes) for memory, scored in rest],
        ranked.floor,
        question,
        block,
        context.too_small(question, noted.hits, block),
    )


def _item(
    asked: ExplainRequest, ranking: Ranking, subject: _Subject, terms: Mapping[int, list[Term]], block: context.Block
) -> ExplainItem:
    memory, scored = subject.memory, subject.scored
    source: Literal["query", "id_lookup", "query+id_lookup"] = "id_lookup"
    if subject.rank is not None:
        source = "query+id_lookup" if memory.number in asked.ids else "query"
    item: ExplainItem = {
        "id": memory.number,
        "kind": "decision" if memory.kind == "decision_record" else memory.kind,
        "title": title(memory),
        "created_at": memory.metadata.created_at or (memory.stored_at if memory.kind == "legacy" else None),
        "project": str(asked.workspace.root),
        "retrieval": {"source": source, "rank": subject.rank},
        "score": {
            "total": None if scored is None else scored.score,
            "components": components(memory, scored, ranking, subject.votes),
        },
        # Every memory of the workspace belongs to the project; requests for other projects were rejected.
        "matches": {"query_terms": [term.text for term in terms.get(memory.number, [])], "project_match": True},
        "pack_context": _pack_context(asked.question, memory, block) if asked.include_pack_context else None,
    }
    if scored is not None and scored.is_weak:
        item["fit"] = "weak"
    if any(subject.votes):
        item["feedback"] = {"helpful": subject.votes.helpful, "wrong": subject.votes.wrong}
    return item


def _pack_context(question: Question, memory: Memory, block: context.Block) -> PackContext:
    at = next((at for at, note in enumerate(block.notes) if note.memory.number == memory.number), None)
    return {
        "included": at is not None,
        "position": None if at is None else at + 1,
        "tokens": None if at is None else block.notes[at].tokens,
        "truncated": at is not None and block.notes[at].truncated,
        "budget": question.max_tokens,
    }


def _answer(
    asked: ExplainRequest,
    items: list[ExplainItem],
    missing: Sequence[int],
    problems: list[ExplainProblem],
    warnings: Sequence[str],
    found: _Findings,
    second: SecondStage | None = None,
) -> ExplainSuccess:
    question = found.question
    used = ranking_used(question, found.floor, second)
    return {
        **envelope.SUCCESS,
        "items": items,
        "missing_ids": list(missing),
        "errors": problems,
        "metadata": {
            "query": asked.query,
            "project": asked.project,
            "requested_ids_count": len(asked.ids),
            "returned_items_count": len(items),
            "include_pack_context": asked.include_pack_context,
            "ranking": {
                **used,
                "as_of": clock.iso(question.ranking.as_of),
                "weights": RERANKED_WEIGHTS if "reranker" in used else COMPONENT_WEIGHTS,
            },
            "workspace": str(asked.workspace.root),
            "warnings": [*question.warnings, *warnings],
        },
    }
