"""Drafts the decision record into which a topic's memories are merged. Pure; ``bridge/operations`` stores the draft.

The sources are the topic's active summaries and its earlier record, in chronological order. Decisions, rationale,
questions and next steps are united; duplicates appear once, in their latest wording. A decision bears the date and
number of the memory that stated it last (``text/decision_lines``). Of two that conflict both are kept, marked
``[Earlier] …``, below those that hold, and ``[Later] … supersedes …``; or unmarked, where somebody said that both hold.
Of a pair that the store knows, what is known there counts; the rules here judge the others. The same sources,
embeddings, known pairs and rejected conflicts give the same record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, Literal, NamedTuple, Protocol, cast

from jobs import clock

from ..embedding.embedder import Vectors
from ..memory import ITEM_SECTIONS, LISTS, Content, Memory, Metadata, References, TimeScope, plan_key
from ..store.values import KnownPair
from ..text import decision_lines
from ..text.decision_lines import EARLIER, DecisionLine
from ..text.passages import MAX_PASSAGES
from ..text.sections import normalise, shorten
from . import conflicts, duplicates
from .contradictions import Conflict, JudgedBy, Statement, conflict_id, date_of
from .narrative import Settled, narrative

NarrativeSource = Literal["template", "llm"]
Embed = Callable[[Sequence[str]], Vectors]
YieldControl = Callable[[], None]

_Pair = tuple[int, int]  # the indexes of two statements


class Judgement(Protocol):
    """Decides what the rules cannot: doubtful conflicts and the narrative. It raises no errors.

    Both methods also return warnings for the reader, which report failures.
    """

    def conflicts(
        self, statements: Sequence[Statement], found: Sequence[Conflict], vectors: Vectors
    ) -> tuple[Sequence[Conflict], Sequence[str]]:
        """The final conflicts, given those that the rules ``found``.

        ``statements`` are the decisions that still hold, in chronological order; ``vectors`` are their embeddings of
        length 1, shape (n, d). A conflict is between two of them, of different memories, the earlier one first.
        """

    def narrative(self, sources: Sequence[Memory], found: Sequence[Conflict]) -> tuple[str | None, Sequence[str]]:
        """Prose about the sources, which are in chronological order; None if the template is to be used."""


class Rules:
    """The judgement without a language model: the rules' conflicts unchanged, and the template's narrative."""

    def conflicts(
        self, statements: Sequence[Statement], found: Sequence[Conflict], vectors: Vectors
    ) -> tuple[Sequence[Conflict], Sequence[str]]:
        """The rules' conflicts, without warnings."""
        return found, ()

    def narrative(self, sources: Sequence[Memory], found: Sequence[Conflict]) -> tuple[str | None, Sequence[str]]:
        """None: the template is used."""
        return None, ()


_RULES = Rules()


class Draft(NamedTuple):
    """A decision record that is not stored yet. It has no dates; they are set when it is stored.

    ``kept_both`` are the rejected conflicts: both decisions hold. ``unknown`` are the rejected ids of no pair here.
    """

    sources: tuple[Memory, ...]
    content: Content
    metadata: Metadata
    conflicts: tuple[Conflict, ...]
    warnings: tuple[str, ...]
    narrative_source: NarrativeSource = "template"
    kept_both: tuple[Conflict, ...] = ()
    unknown: tuple[str, ...] = ()


def sources_of(memories: Iterable[Memory]) -> list[Memory]:
    """The memories that may be merged, the oldest first: no drafts, superseded memories or raw texts."""
    active = (memory for memory in memories if memory.can_be_merged)
    return sorted(active, key=lambda memory: (clock.parse(date_of(memory)), memory.number, memory.id))


def draft(
    sources: Sequence[Memory],
    embed: Embed,
    judgement: Judgement = _RULES,
    yield_control: YieldControl = lambda: None,
    keep_both: Collection[str] = (),
    known: Sequence[KnownPair] = (),
) -> Draft:
    """The draft of the record for the sources, which are in chronological order and not empty.

    ``keep_both`` are the ids of the conflicts that are rejected now, ``known`` as ``Memories.known_pairs``.
    ``embed`` returns the texts' embeddings of length 1, shape (n, d). ``yield_control`` is called repeatedly, since
    hundreds of memories about one subject take seconds; other jobs may run in it. Raises what ``embed`` and
    ``yield_control`` raise.
    """
    warnings: list[str] = []
    united = {name: _united(_statements(sources, name), embed, name, warnings, yield_control) for name in ITEM_SECTIONS}
    found, both = _conflicts(united["decisions"], embed, judgement, known, warnings, yield_control)
    kept_both = [c for c in found if c.id in keep_both]
    unknown = _unknown(set(keep_both).difference(c.id for c in kept_both), united["decisions"])
    found = [c for c in found if c.id not in keep_both]
    superseded = _superseded_texts(united["decisions"], found)
    found = [c for c in found if c.earlier.text in superseded[c.later.text]]  # drops indirect conflicts
    lists = {name: tuple(statement.text for statement in statements) for name, statements in united.items()}
    lists["decisions"] = _marked(united["decisions"], superseded, found)
    newest = _content(sources[-1])
    metadata = _metadata(sources, warnings)
    settled = [*(_settled(c, "replaced") for c in found), *(_settled(c, "both") for c in both if c.reason)]
    prose, judgement_warnings = judgement.narrative(sources, found)
    context, narrative_warnings = narrative(sources, settled, date_of, prose)
    warnings += judgement_warnings
    content = normalise(
        Content(
            topic=newest.topic,
            context=context,
            references=_references(sources, metadata.plan_id),
            time_scope=_time_scope(sources),
            **lists,
        )
    )
    warnings += narrative_warnings
    warnings += _size_warnings(sources, content)
    by: NarrativeSource = "template" if prose is None else "llm"
    return Draft(tuple(sources), content, metadata, tuple(found), tuple(warnings), by, tuple(kept_both), tuple(unknown))


def _settled(conflict: Conflict, how: Literal["replaced", "both"]) -> Settled:
    holds, other = conflict.later, conflict.earlier
    if how == "replaced" and holds.stated.day < other.stated.day:
        return Settled("kept", holds.text, holds.stated, other.text, other.stated, conflict.reason)
    return Settled(how, holds.text, holds.stated, other.text, other.stated, conflict.reason)


def _content(memory: Memory) -> Content:
    assert memory.content is not None
    return memory.content


# --- uniting lists ---


def _statements(sources: Sequence[Memory], name: str) -> list[Statement]:
    """All entries of the list ``name`` of the sources, by the day on which they were stated."""
    statements = []
    for memory in sources:
        is_record = memory.kind == "decision_record"
        texts = getattr(_content(memory), name)
        for line in decision_lines.read(texts) if name == "decisions" else map(DecisionLine, texts):
            stated = line.stated if is_record else None  # a summary that quotes a record states it anew
            held = frozenset(() if line.is_earlier else ((memory.id, decision_lines.digest(line.text)),))
            statements.append(Statement(line.text, memory, line.is_earlier, line.supersedes, stated, held))
    return sorted(statements, key=lambda statement: statement.stated.day)


def embedded_texts(memory: Memory) -> list[str]:
    """The texts of a memory that a compaction embeds: its list entries without marks."""
    return [] if memory.content is None else [s.text for name in ITEM_SECTIONS for s in _statements([memory], name)]


def _united(
    statements: Sequence[Statement], embed: Embed, name: str, warnings: list[str], yield_control: YieldControl
) -> list[Statement]:
    """The statements without duplicates, in the order of their last occurrence. Adds a warning for each merger by
    meaning."""
    if not statements:
        return []
    texts = [statement.text for statement in statements]
    unique = []
    for group in duplicates.group_duplicates(texts, embed(texts), yield_control):
        last = statements[group.members[-1]]
        kept = texts[group.kept]
        held = frozenset[tuple[str, str]]().union(*(statements[member].held for member in group.members))
        unique.append(last._replace(text=kept, held=held))
        if group.similarity is not None:
            others = {texts[member] for member in group.members} - {kept}
            quoted = ", ".join(f"“{shorten(text)}”" for text in sorted(others))
            warnings.append(
                f"Of the {name.replace('_', ' ')}, {quoted} was taken to say the same as “{shorten(kept)}”"
                f" (similarity {group.similarity:.2f})."
            )
    return unique


# --- conflicts ---


def _conflicts(
    statements: Sequence[Statement],
    embed: Embed,
    judgement: Judgement,
    known: Sequence[KnownPair],
    warnings: list[str],
    yield_control: YieldControl,
) -> tuple[list[Conflict], list[Conflict]]:
    """The conflicts among statements that still hold, and the pairs of which somebody said that both hold. Statements
    that an earlier record superseded are left out."""
    holding = [statement for statement in statements if not statement.is_superseded]
    if not holding:
        return [], []
    texts = [statement.text for statement in holding]
    vectors = embed(texts)
    pairs = conflicts.find_conflicts(texts, [s.held_in for s in holding], yield_control)
    offered = {
        (p.earlier, p.later): Conflict(p.found.kind, p.found.confidence, holding[p.earlier], holding[p.later])
        for p in pairs
    }
    said: dict[_Pair, Conflict] = {}
    for (fell, holds), pair in _of_statements(holding, known).items():
        ordered = min(fell, holds), max(fell, holds)
        by_rules = offered.get(ordered)
        kind = "replacement" if by_rules is None else by_rules.kind
        by: JudgedBy = "said" if pair.is_said else "judge"
        conflict = Conflict(kind, pair.probability, holding[fell], holding[holds], by, pair.reason)
        if pair.is_said:
            said[fell, holds] = conflict
            conflict = conflict._replace(confidence=1.0, earlier=holding[ordered[0]], later=holding[ordered[1]])
        elif holding[fell].is_beside(holding[holds]) or fell > holds:
            continue
        offered[ordered] = conflict  # of what was said, so that the judgement leaves it alone
    found, judgement_warnings = judgement.conflicts(holding, [offered[each] for each in sorted(offered)], vectors)
    warnings += judgement_warnings
    index_of = {text: index for index, text in enumerate(texts)}
    valid = [c for c in found if c.judged_by != "said" and not c.earlier.is_beside(c.later)]
    indexed = {(index_of.get(c.earlier.text, -1), index_of.get(c.later.text, -1)): c for c in valid}
    kept = _without_circles(
        {(a, b): conflict for (a, b), conflict in indexed.items() if -1 < a < b},
        {pair: conflict for pair, conflict in said.items() if conflict.confidence},
    )
    return [kept[pair] for pair in sorted(kept)], [c for c in said.values() if not c.confidence]


def _of_statements(statements: Sequence[Statement], known: Sequence[KnownPair]) -> dict[_Pair, KnownPair]:
    """What is known of each pair of statements, as the indexes of the one that fell and the one that holds."""
    index_of = {place: index for index, statement in enumerate(statements) for place in statement.held}
    found: dict[_Pair, KnownPair] = {}
    for pair in known:
        fell, holds = index_of.get(pair.fell), index_of.get(pair.holds)
        if fell is not None and holds is not None and fell != holds:
            found.pop((holds, fell), None)
            found[fell, holds] = pair
    return found


def _without_circles(found: Mapping[_Pair, Conflict], said: Mapping[_Pair, Conflict]) -> dict[_Pair, Conflict]:
    """What was said, and what was found as long as it leads to no circle, in which nothing would hold."""
    kept, by = dict(said), dict[int, set[int]]()
    for fell, holds in said:
        by.setdefault(fell, set()).add(holds)
    for (fell, holds), conflict in sorted(found.items(), key=lambda each: each[0]):
        waiting, seen = [holds], {holds}
        while said and waiting:
            further = by.get(waiting.pop(), set()) - seen
            waiting += further
            seen |= further
        if fell not in seen:
            kept[fell, holds] = conflict
            by.setdefault(fell, set()).add(holds)
    return kept


def _unknown(ids: Collection[str], statements: Sequence[Statement]) -> list[str]:
    """The ids that are of no pair of statements. A pair whose conflict is judged to be none today has its id still."""
    if not ids:
        return []
    return sorted(set(ids).difference(conflict_id(a.text, b.text) for a, b in combinations(statements, 2)))


def _superseded_texts(statements: Sequence[Statement], found: Sequence[Conflict]) -> dict[str, list[str]]:
    """Text -> the texts that it supersedes directly, in chronological order."""
    superseded_by: dict[str, set[str]] = {}
    supersedes: dict[str, set[str]] = {}
    for conflict in found:
        superseded_by.setdefault(conflict.earlier.text, set()).add(conflict.later.text)
        supersedes.setdefault(conflict.later.text, set()).add(conflict.earlier.text)
    index_of = {statement.text: index for index, statement in enumerate(statements)}
    return {
        later: sorted((text for text in earlier if superseded_by[text].isdisjoint(earlier)), key=index_of.__getitem__)
        for later, earlier in supersedes.items()
    }


def _marked(
    statements: Sequence[Statement], superseded_texts: dict[str, list[str]], found: Sequence[Conflict]
) -> tuple[str, ...]:
    """The lines of the record: first the decisions that hold, then the earlier ones."""
    lines = {s.text: decision_lines.with_source(s.text, s.stated) for s in statements}
    earlier = {c.earlier.text for c in found} | {s.text for s in statements if s.is_superseded}
    marked = []
    for statement in statements:
        if statement.text in earlier:
            continue
        line, direct = lines[statement.text], superseded_texts.get(statement.text, [])
        superseded = [old for old in statement.supersedes if old in earlier and old not in direct] + direct
        marked.append(decision_lines.mark_later(line, [lines[old] for old in superseded]) if superseded else line)
    return (*marked, *(EARLIER + lines[s.text] for s in statements if s.text in earlier))


# --- the rest of the record ---


def _references(sources: Sequence[Memory], plan_id: str | None) -> References:
    """All references without duplicates, with the plans of the memories' metadata except the record's own plan."""
    stated = [_content(memory).references for memory in sources]
    kinds = {kind: _all_of(getattr(each, kind) for each in stated) for kind in ("files", "branches", "issues")}
    plans: dict[str | None, str] = {}
    for memory in sources:
        own = memory.metadata.plan_id
        for plan in (*_content(memory).references.plans, *([own] if own else [])):
            plans.setdefault(plan_key(plan), plan)
    named = {plan_key(plan) for each in stated for plan in each.plans}
    own_key = plan_key(plan_id)
    kept = tuple(plan for key, plan in plans.items() if key in named or key != own_key)
    return References(plans=kept, **kinds)


def _time_scope(sources: Sequence[Memory]) -> TimeScope:
    """The period from the earliest start to the latest end; a source without bounds counts with its date."""
    scopes = [(_content(memory).time_scope, date_of(memory)) for memory in sources]
    starts = [scope.start or scope.end or date for scope, date in scopes]
    ends = [scope.end or scope.start or date for scope, date in scopes]
    turns = [scope.turn_count for scope, _ in scopes if scope.turn_count is not None]
    first = clock.iso(min(map(clock.parse, starts)))
    return TimeScope(start=first, end=_last(ends), turn_count=sum(turns) if turns else None)


def _last(times: Sequence[str]) -> str:
    return clock.iso(max(map(clock.parse, times)))


def _metadata(sources: Sequence[Memory], warnings: list[str]) -> Metadata:
    plans = {plan_key(m.metadata.plan_id): m.metadata.plan_id for m in sources if m.metadata.plan_id}
    sessions = {m.metadata.session_id for m in sources}
    importances = [m.metadata.importance for m in sources if m.metadata.importance is not None]
    plan_id = list(plans.values())[-1] if plans else None
    if len(plans) > 1:
        others = ", ".join(str(plan) for plan in plans.values() if plan != plan_id)
        warnings.append(f"The memories are of several plans. The record bears {plan_id}; its references name {others}.")
    return Metadata(
        topic_id=sources[-1].metadata.topic_id,
        session_id=sessions.pop() if len(sessions) == 1 else None,
        plan_id=plan_id,
        status="DecisionRecord",
        source_created_at=_last([date_of(memory) for memory in sources]),
        importance=max(importances, default=None),
        **cast("Any", {name: _all_of(getattr(memory.metadata, name) for memory in sources) for name in LISTS}),
    )


def _all_of(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


def _size_warnings(sources: Sequence[Memory], content: Content) -> list[str]:
    found = []
    bare = sum(not _content(memory).decisions for memory in sources)
    if bare:
        found.append(f"{bare} of {len(sources)} memories hold no decision: what they say is in the narrative.")
    parts = sum(len(getattr(content, name)) for name in ITEM_SECTIONS)
    if parts > MAX_PASSAGES:
        found.append(f"The record has {parts} entries; those beyond the first {MAX_PASSAGES} are found by words alone.")
    return found
