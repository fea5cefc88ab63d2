"""What a topic's memories become when they are merged into one decision record. Decides all, touches nothing.

Sources are the topic's active summaries and its former record, in order of time. Decisions, rationale, questions and
next steps are united: what says the same is there once, as it was said last. Where decisions conflict, both stay,
marked ``[Earlier] …`` and ``[Later] … supersedes …``. The same sources and embeddings give the same record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Protocol

from jobs import clock

from ..memory import Content, Memory, Metadata, References, TimeScope, plan_key
from ..store.vector_files import Vectors
from ..text.passages import MAX_PASSAGES
from ..text.sections import normalise
from . import conflicts, duplicates
from .conflicts import ConflictKind
from .narrative import narrative

NarrativeSource = Literal["template", "llm"]
JudgedBy = Literal["rules", "llm"]
Embed = Callable[[Sequence[str]], Vectors]
Pulse = Callable[[], None]

EARLIER, LATER, SUPERSEDES, AND = "[Earlier] ", "[Later] ", " supersedes ", "; "

_LISTS = ("decisions", "rationale", "open_questions", "next_steps")


@dataclass(frozen=True, slots=True)
class Statement:
    """One entry of a list of a source: its words without a marker, and what a former record's marker said."""

    text: str
    memory: Memory
    is_superseded: bool = False
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two decisions of different memories that cannot both hold, and nothing between them that replaced the first."""

    kind: ConflictKind
    confidence: float
    earlier: Statement
    later: Statement
    judged_by: JudgedBy = "rules"


class Judgement(Protocol):
    """Who is asked for what wording alone cannot tell. It raises nothing: what it cannot do, it leaves and says so.

    Both methods return what a reader should know besides: the warnings.
    """

    def conflicts(
        self, statements: Sequence[Statement], found: Sequence[Conflict], vectors: Vectors
    ) -> tuple[Sequence[Conflict], Sequence[str]]:
        """The conflicts that stand, given those that the rules found.

        ``statements`` are the decisions that hold still, in order of time; ``vectors`` their embeddings, of length 1,
        shape (n, d). A conflict is between two of them, of different memories, the earlier one first.
        """

    def narrative(self, sources: Sequence[Memory], found: Sequence[Conflict]) -> tuple[str | None, Sequence[str]]:
        """Prose about the sources, which are in order of time; None leaves it to the template."""


class Rules:
    """The judgement without a language model: the rules' word is the last one, and the narrative is the template's."""

    def conflicts(
        self, statements: Sequence[Statement], found: Sequence[Conflict], vectors: Vectors
    ) -> tuple[Sequence[Conflict], Sequence[str]]:
        return found, ()

    def narrative(self, sources: Sequence[Memory], found: Sequence[Conflict]) -> tuple[str | None, Sequence[str]]:
        return None, ()


_RULES = Rules()


@dataclass(frozen=True, slots=True)
class Draft:
    """A decision record that is not stored yet; when it is made is for who stores it to say."""

    sources: tuple[Memory, ...]
    content: Content
    metadata: Metadata
    conflicts: tuple[Conflict, ...]
    warnings: tuple[str, ...]
    narrative_source: NarrativeSource = "template"


def sources_of(memories: Iterable[Memory]) -> list[Memory]:
    """What may be merged, the oldest first: neither drafts nor what is superseded, nor raw texts."""
    found = (memory for memory in memories if memory.content and memory.metadata.status in ("Active", "DecisionRecord"))
    return sorted(found, key=lambda memory: (clock.parse(date_of(memory)), memory.number, memory.id))


def date_of(memory: Memory) -> str:
    """When what a memory says was said, as far as is known."""
    return memory.metadata.source_created_at or memory.metadata.created_at or memory.stored_at


def draft(sources: Sequence[Memory], embed: Embed, judgement: Judgement = _RULES, pulse: Pulse = lambda: None) -> Draft:
    """The record that the sources, which are in order of time, become. ``embed`` gives the vectors of texts.

    ``pulse`` is called again and again: hundreds of memories of one subject take seconds.
    """
    warnings: list[str] = []
    united = {name: _united(_statements(sources, name), embed, name, warnings, pulse) for name in _LISTS}
    found = _conflicts(united["decisions"], embed, judgement, warnings, pulse)
    losers = _losers(united["decisions"], found)
    found = [c for c in found if c.earlier.text in losers[c.later.text]]  # the others follow from these
    lists = {name: tuple(statement.text for statement in statements) for name, statements in united.items()}
    lists["decisions"] = _marked(united["decisions"], losers, found)
    newest = _content(sources[-1])
    metadata = _metadata(sources, warnings)
    given_up = [(date_of(c.later.memory), c.earlier.text, c.later.text) for c in found]
    prose, doubts = judgement.narrative(sources, found)
    told = narrative(sources, given_up, date_of, prose)
    warnings += doubts
    content = normalise(
        Content(
            topic=newest.topic,
            context=told.text,
            references=_references(sources, metadata.plan_id),
            time_scope=_time_scope(sources),
            **lists,
        )
    )
    warnings += told.warnings
    warnings += _about_size(sources, content)
    by: NarrativeSource = "template" if prose is None else "llm"
    return Draft(tuple(sources), content, metadata, tuple(found), tuple(warnings), by)


def _content(memory: Memory) -> Content:
    assert memory.content is not None
    return memory.content


# --- uniting lists ---


def _statements(sources: Sequence[Memory], name: str) -> list[Statement]:
    found = []
    for memory in sources:
        texts = getattr(_content(memory), name)
        former = (text.removeprefix(EARLIER) for text in texts if text.startswith(EARLIER))
        known = sorted(former, key=len, reverse=True)  # one may end like another
        found += [_unmarked(text, memory, known) for text in texts]
    return found


def compared(memory: Memory) -> list[str]:
    """What a compaction embeds of a memory: the entries of its lists without markers."""
    return [] if memory.content is None else [s.text for name in _LISTS for s in _statements([memory], name)]


def _unmarked(text: str, memory: Memory, known: Sequence[str]) -> Statement:
    """A statement without the marker that a former record gave it. ``known`` are that record's superseded ones."""
    if text.startswith(EARLIER) and text != EARLIER:
        return Statement(text.removeprefix(EARLIER), memory, is_superseded=True)
    if not text.startswith(LATER):
        return Statement(text, memory)
    body = text.removeprefix(LATER)
    superseded: list[str] = []
    while found := next((k for k in known if body.endswith((AND + k, SUPERSEDES + k))), None):
        superseded.insert(0, found)
        is_first = body.endswith(SUPERSEDES + found)
        body = body.removesuffix(found).removesuffix(SUPERSEDES if is_first else AND)
        if is_first:
            return Statement(body, memory, supersedes=tuple(superseded))
    return Statement(text.removeprefix(LATER).rpartition(SUPERSEDES)[0] or text.removeprefix(LATER), memory)


def _united(
    statements: Sequence[Statement], embed: Embed, name: str, warnings: list[str], pulse: Pulse
) -> list[Statement]:
    """The statements, each once, in order of when it was last said; what was merged by meaning is told."""
    if not statements:
        return []
    texts = [statement.text for statement in statements]
    found = []
    for group in duplicates.group(texts, embed(texts), pulse):
        last = statements[group.members[-1]]
        kept = texts[group.kept]
        found.append(replace(last, text=kept))
        if group.similarity is not None:
            others = {texts[member] for member in group.members} - {kept}
            told = ", ".join(f"“{_short(text)}”" for text in sorted(others))
            warnings.append(
                f"Of the {name.replace('_', ' ')}, {told} was taken to say the same as “{_short(kept)}”"
                f" (similarity {group.similarity:.2f})."
            )
    return found


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"


# --- conflicts ---


def _conflicts(
    statements: Sequence[Statement], embed: Embed, judgement: Judgement, warnings: list[str], pulse: Pulse
) -> list[Conflict]:
    """Conflicts among what holds still; what a former record calls superseded is settled."""
    live = [statement for statement in statements if not statement.is_superseded]
    if not live:
        return []
    texts = [statement.text for statement in live]
    vectors = embed(texts)
    pairs = conflicts.find(texts, [s.memory.id for s in live], vectors, pulse)
    by_rules = [Conflict(p.found.kind, p.found.confidence, live[p.earlier], live[p.later]) for p in pairs]
    found, doubts = judgement.conflicts(live, by_rules, vectors)
    warnings += doubts
    places = {text: place for place, text in enumerate(texts)}
    sound = (c for c in found if c.earlier.memory.id != c.later.memory.id)
    placed = [(places.get(c.earlier.text, -1), places.get(c.later.text, -1), c) for c in sound]
    return [c for a, b, c in sorted(placed, key=lambda each: each[:2]) if -1 < a < b]


def _losers(statements: Sequence[Statement], found: Sequence[Conflict]) -> dict[str, list[str]]:
    """What each text directly supersedes, in order of time; not what that superseded before."""
    loses_to: dict[str, set[str]] = {}
    beats: dict[str, set[str]] = {}
    for conflict in found:
        loses_to.setdefault(conflict.earlier.text, set()).add(conflict.later.text)
        beats.setdefault(conflict.later.text, set()).add(conflict.earlier.text)
    places = {statement.text: place for place, statement in enumerate(statements)}
    return {
        text: sorted((loser for loser in beaten if loses_to[loser].isdisjoint(beaten)), key=places.__getitem__)
        for text, beaten in beats.items()
    }


def _marked(
    statements: Sequence[Statement], losers: dict[str, list[str]], found: Sequence[Conflict]
) -> tuple[str, ...]:
    """The texts with their markers."""
    earlier = {c.earlier.text for c in found} | {s.text for s in statements if s.is_superseded}
    marked = []
    for statement in statements:
        text = statement.text
        if text in earlier:
            marked.append(EARLIER + text)
            continue
        direct = losers.get(text, [])
        kept = [old for old in statement.supersedes if old in earlier and old not in direct]
        superseded = AND.join([*kept, *direct])
        marked.append(f"{LATER}{text}{SUPERSEDES}{superseded}" if superseded else text)
    return tuple(marked)


# --- the rest of the record ---


def _references(sources: Sequence[Memory], plan_id: str | None) -> References:
    """All references, each once, and the plans that only a memory's metadata names, but for the record's own."""
    kinds = {kind: _once(sources, kind) for kind in ("files", "branches", "issues")}
    plans: dict[str | None, str] = {}
    for memory in sources:
        own = memory.metadata.plan_id
        for plan in (*_content(memory).references.plans, *([own] if own else [])):
            plans.setdefault(plan_key(plan), plan)
    named = {plan_key(plan) for memory in sources for plan in _content(memory).references.plans}
    own_key = plan_key(plan_id)
    kept = tuple(plan for key, plan in plans.items() if key in named or key != own_key)
    return References(plans=kept, **kinds)


def _once(sources: Sequence[Memory], kind: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for memory in sources for value in getattr(_content(memory).references, kind)))


def _time_scope(sources: Sequence[Memory]) -> TimeScope:
    """From the first beginning to the last end; a source without bounds stands for its date."""
    scopes = [(_content(memory).time_scope, date_of(memory)) for memory in sources]
    starts = [scope.start or scope.end or date for scope, date in scopes]
    ends = [scope.end or scope.start or date for scope, date in scopes]
    turns = [scope.turn_count for scope, _ in scopes if scope.turn_count is not None]
    return TimeScope(start=_first(starts), end=_last(ends), turn_count=sum(turns) if turns else None)


def _first(times: Sequence[str]) -> str:
    return clock.iso(min(map(clock.parse, times)))


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
        source_created_at=_newest_date(sources),
        importance=max(importances, default=None),
    )


def _newest_date(sources: Sequence[Memory]) -> str:
    newest: datetime = max(clock.parse(date_of(memory)) for memory in sources)
    return clock.iso(newest)


def _about_size(sources: Sequence[Memory], content: Content) -> list[str]:
    found = []
    bare = sum(not _content(memory).decisions for memory in sources)
    if bare:
        found.append(f"{bare} of {len(sources)} memories hold no decision: what they say is in the narrative.")
    parts = sum(len(getattr(content, name)) for name in _LISTS)
    if parts > MAX_PASSAGES:
        found.append(f"The record has {parts} entries; those beyond the first {MAX_PASSAGES} are found by words alone.")
    return found
