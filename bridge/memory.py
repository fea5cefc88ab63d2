"""A memory as immutable values, shared by the store, the template, ranking and cognee's graph.

It knows no storage and no text format. All times are ISO 8601 text in UTC with ``Z``. These are named tuples, which a
question makes in a fraction of the time of dataclasses; so do all modules that a question loads.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from .pattern import pattern

MemoryKind = Literal["summary", "decision_record", "legacy"]
Status = Literal["Draft", "Active", "Superseded", "DecisionRecord"]
AnchorKind = Literal["path", "name", "command", "value"]
AnchorState = Literal["verified", "changed", "gone", "not_found"]

MAX_KEPT = 1_000_000_000  # imported numbers above are replaced, since they would leave little room for later ones

FAILURE = "failure"  # the tag of a failure and its fix: ``bridge/text/failures``
BY_STATUS = "status"  # the giver of the feedback that says which memory replaced another
STATUS_WORDS: dict[str, Status] = {
    "Draft": "Draft",
    "Active": "Active",
    "Final": "Active",  # every input accepts this synonym
    "Superseded": "Superseded",
    "DecisionRecord": "DecisionRecord",
}


class References(NamedTuple):
    """The references of a summary, by kind."""

    files: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()

    @property
    def flat(self) -> tuple[str, ...]:
        """All references in one list, as the contract shows them: files, plans, branches, issues."""
        return self.files + self.plans + self.branches + self.issues


class TimeScope(NamedTuple):
    """The period that a conversation covered: free text, or its bounds and number of turns."""

    text: str = ""
    start: str | None = None
    end: str | None = None
    turn_count: int | None = None


class Content(NamedTuple):
    """The text of a structured memory, by section."""

    topic: str
    context: str
    decisions: tuple[str, ...] = ()
    rationale: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    references: References = References()
    time_scope: TimeScope = TimeScope()

    def as_dict(self) -> dict[str, Any]:
        """The fields, as JSON has them."""
        within = {"references": self.references._asdict(), "time_scope": self.time_scope._asdict()}
        return self._asdict() | within


ITEM_SECTIONS = ("decisions", "rationale", "open_questions", "next_steps")
"""The sections of a content that are lists, in their order."""

TOPIC_ID = pattern(r"[a-z0-9][a-z0-9._-]{0,127}")
_PLAN = pattern(r"(?:plan[\s_-]*)?(\d+)(?![0-9])", re.IGNORECASE)


def plan_key(plan_id: str | None) -> str | None:
    """The key by which plan ids are compared: ``014``, ``plan-014`` and ``014-some-title`` give ``014``."""
    if plan_id is None:
        return None
    match = _PLAN.match(plan_id.strip())
    return match.group(1) if match else plan_id.strip().lower()


class Label(NamedTuple):
    """What is known of a property of a memory besides its value.

    ``option`` and ``filter`` are the metavariable and the help of the option that gives it, and of the one that asks
    for memories with it. ``kind`` is the kind of the filter in ``argument_table``. ``shown`` is the word before it
    where a memory is shown. ``is_time``: the value is a time. ``key``: the column that is compared for the filter, and
    what gives its value.
    """

    option: tuple[str, str] | None = None
    filter: tuple[str, str] | None = None
    kind: Literal["text", "topic", "texts"] = "text"
    shown: str = ""
    is_time: bool = False
    key: tuple[str, Callable[[str | None], str | None]] | None = None


class Metadata(NamedTuple):
    """The properties of a memory besides its text. ``None`` means unknown. ``importance`` is 0 to 1."""

    topic_id: str | None = None
    session_id: str | None = None
    plan_id: str | None = None
    status: Status | None = None
    created_at: str | None = None
    updated_at: str | None = None
    source_created_at: str | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()


LABELS = dict.fromkeys(Metadata._fields, Label()) | {
    "topic_id": Label(
        ("ID", "the topic's id (default: from the text or its title)"), ("ID", "only this topic"), "topic", "topic"
    ),
    "session_id": Label(("ID", "the chat session"), shown="session"),
    "plan_id": Label(
        ("ID", "the plan"),
        ("ID", "only this plan; 014, plan-014 and 014-some-title are the same"),
        shown="plan",
        key=("plan_key", plan_key),
    ),
    "status": Label(("WORD", "Active (or Final), Draft, Superseded")),
    **dict.fromkeys(("created_at", "updated_at", "source_created_at"), Label(is_time=True)),
    "tags": Label(
        ("TAG", "a tag; repeat it for each"),
        ("TAG", "only with this tag; repeat it to ask for several at once"),
        "texts",
        "tags",
    ),
    "anchors": Label(shown="anchors"),
}
"""The label of each property: the stored columns, filters, options, answers, exports and displays are made from it."""
GIVEN = tuple(name for name, label in LABELS.items() if label.option)
"""The properties that a job gives beside a summary's text."""
FILTERS = tuple(name for name, label in LABELS.items() if label.filter)
"""The properties by which a question may choose memories, besides status and date."""


def values_of(given: str | Iterable[str] | None) -> list[str]:
    """The values of a filter by a property with several values, as they are stored; a text has commas between them."""
    parts = given.split(",") if isinstance(given, str) else given or ()
    return [part.strip().lower() for part in parts if part.strip()]


LISTS = tuple(name for name, value in Metadata()._asdict().items() if value == ())
"""The properties with several values, stored as JSON; a filter asks for memories that have all of its values."""
LIST_FILTERS = tuple(name for name in LISTS if name in FILTERS)
TIMES = tuple(name for name, label in LABELS.items() if label.is_time)


class Memory(NamedTuple):
    """A stored memory. ``content`` is set for structured kinds, ``text`` for legacy ones.

    ``sources`` are the ids of the memories that a decision record merged.
    """

    id: str
    number: int
    kind: MemoryKind
    metadata: Metadata
    stored_at: str
    content: Content | None = None
    text: str = ""
    sources: tuple[str, ...] = ()

    @property
    def can_be_merged(self) -> bool:
        """Whether a compaction may merge it: no draft, superseded memory or raw text."""
        return self.content is not None and self.metadata.status in ("Active", "DecisionRecord")

    @property
    def status_before_merge(self) -> Status:
        """The status that a merged memory had: only records and active summaries can be merged."""
        return "DecisionRecord" if self.kind == "decision_record" else "Active"

    @property
    def dated_at(self) -> str | None:
        """When its age begins, as ``dated_at`` says."""
        return dated_at(self.kind, self.metadata.created_at, self.metadata.source_created_at, self.stored_at)


def dated_at(kind: str, created_at: str | None, source_created_at: str | None, stored_at: str) -> str | None:
    """When a memory's age begins: ``source_created_at``, else ``created_at``; None where neither is known.

    A legacy memory has at least the time when it was stored.
    """
    return source_created_at or created_at or (stored_at if kind == "legacy" else None)


def is_topic_id(text: str) -> bool:
    """Whether the text is a topic id: a slug of at most 128 characters. A UUID in lower case is a slug too."""
    return TOPIC_ID.fullmatch(text) is not None


def slug(topic: str) -> str:
    """The topic id for a topic's title: ``Plan 014 – Summaries`` gives ``plan-014-summaries``.

    A title without ASCII letters or digits gives ``topic-`` and eight hex digits of its SHA-256.
    """
    ascii_title = unicodedata.normalize("NFKD", topic).encode("ascii", "ignore").decode().lower()
    topic_id = re.sub(r"[^a-z0-9]+", "-", ascii_title).strip("-")[:128].rstrip("-")
    if not topic_id:
        from hashlib import sha256  # not at the top: each import slows the query path

        topic_id = f"topic-{sha256(topic.encode()).hexdigest()[:8]}"
    return topic_id
