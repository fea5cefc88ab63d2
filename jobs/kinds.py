"""The kinds of jobs: one row of ``KINDS`` each. All other code derives what it knows about kinds from these rows.

The payload models are in ``payloads``, the operations in ``bridge/operations``, one module for each kind. How to add a
kind: docs/recipes.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from keyword import iskeyword
from typing import TYPE_CHECKING, Literal

_SOON, _SLOW = 20, -10  # priorities: a person waits for the answer; work on the whole store waits for all other jobs
_FOLLOWS = "follows"  # the graph
_STATUSES = ("Draft", "Active", "Superseded", "DecisionRecord")
VERDICTS = ("helpful", "wrong", "withdrawn")
PAIR_VERDICTS = ("newer", "older", "both", "undecided")
_MEMORY_TYPES = ("legacy", "summary", "decision_record")


@dataclass(frozen=True, slots=True)
class KindSpec:
    """A kind of job. ``payload`` is the name of its model in ``payloads``, which is imported only where it is used."""

    name: str
    payload: str
    priority: int = _SLOW
    """The default, -100 to 100. Higher runs first."""
    preview_priority: int | None = None
    """The default of a job whose payload asks for a preview; None for the same."""
    batched: bool = False
    """Whether many jobs cost little more than one, so that they run together."""
    length: Literal["short", "mixed", "long"] = "short"
    """Long jobs pause at safe points and let short jobs run. Mixed jobs are mostly short: they pause too, and may run
    in the pause of a long job. A job that must not run in a pause, since it changes what others have read, is long."""
    holds_text: bool = False
    """Whether the payload holds texts, from which secrets are removed once more before the operation runs."""
    about: tuple[str, ...] = ()
    """Fields of the payload that tell in a list what a job is about, the best first; a stop leads into a field."""
    memories: str = "memory_number"
    """Where its result has the numbers of the memories that it made or changed."""
    words: tuple[str, ...] = ()
    """Fixed words that the result may hold. They are kept when the texts of a result are removed."""
    zero_counters: bool = True
    """Whether the counters of ended jobs start at 0 in the metrics, before the first job has ended."""
    stays: bool | tuple[str, ...] = False
    """Whether it changes no memory, and only reads or makes again what each machine has of its own: in a team, it runs
    where it was dropped, and is not posted. A tuple: where one of these fields of its payload is set."""
    attaches: bool | tuple[str, ...] = False
    """Whether it needs files of the machine on which it was dropped: in a team, what they hold is attached to it, and
    the service reads that. A tuple: where one of these fields of its payload is set."""
    stores: bool = False
    """Whether it stores memories: until it has, answers say that something is not found yet."""
    stores_nothing_with: tuple[str, ...] = ()
    """Fields of the payload with which it stores none, such as that of a preview."""
    needs_graph: bool = False
    """Whether it uses the knowledge graph: in a team, the service runs it, which has the graph."""
    test_only: bool = False
    """Whether jobs are accepted only where the setting for test jobs is on."""

    @property
    def module(self) -> str:
        """The name of the modules of this kind; a keyword gets an underscore, as in ``import_``."""
        return f"{self.name}_" if iskeyword(self.name) else self.name

    @property
    def title(self) -> str:
        """The name in CamelCase, as the types of this kind have it: ``SetStatus``."""
        return "".join(part.capitalize() for part in self.name.split("_"))


# The tools whose transcripts can be captured, and whose hooks can be installed, as the command line names them.
CAPTURE_TOOLS = ("claude-code", "codex", "cursor", "gemini-cli", "opencode", "vscode")

KINDS: tuple[KindSpec, ...] = (
    KindSpec(
        "ingest", "Ingest", priority=0, batched=True, holds_text=True, stores=True,
        about=("summary.topic", "summary_text", "conversation.user_message"),
        words=(*_STATUSES, *_MEMORY_TYPES, _FOLLOWS),
    ),
    KindSpec(
        "cognify", "Cognify", length="long", holds_text=True, stores=True, stores_nothing_with=("memory_ids",),
        needs_graph=True, attaches=("paths",), about=("texts", "paths", "memory_ids"),
        memories="memories.memory_number",
    ),
    KindSpec(
        "migrate", "Migrate", length="long", stays=("dry_run",), attaches=True,
        stores=True, stores_nothing_with=("dry_run", "undo"),
        memories="items.memory_number",
        words=(*_STATUSES, *_MEMORY_TYPES,
               "migrated", "already_migrated", "forgotten", "failed", "skipped", "remaining", _FOLLOWS),
    ),
    KindSpec(
        "compact", "Compact", preview_priority=_SOON, length="mixed", about=("topic_id",),
        stays=("preview",), attaches=("preview_digest",),
        words=(*_STATUSES, *_MEMORY_TYPES, "template", "llm", "rules",
               "negation", "choice", "value", "toggle", "reversal", "replacement",
               "judge", "said", _FOLLOWS),
    ),
    KindSpec("restore", "Restore", priority=10, words=("forgotten", "status_changed", "merged", _FOLLOWS)),
    KindSpec("forget", "Forget", priority=10, length="long", about=("topic_id", "session", "memory_ids")),
    KindSpec("set_status", "SetStatus", priority=10, about=("status",), words=(*_STATUSES, _FOLLOWS)),
    KindSpec("feedback", "Feedback", priority=10, holds_text=True, about=("verdict",), words=VERDICTS),
    KindSpec(
        "resolve", "Resolve", priority=10, holds_text=True, about=("verdict", "newer.statement"),
        memories="memory_numbers", words=PAIR_VERDICTS,
    ),
    KindSpec("judge", "EmptyPayload", length="long", zero_counters=False),
    KindSpec(
        "ask", "Ask", priority=_SOON, length="mixed", holds_text=True, needs_graph=True, about=("question",),
        words=(*_STATUSES, *_MEMORY_TYPES, "holds", "replaced", "disputed", "judge", "said"),
    ),
    KindSpec(
        "import", "Import", length="long", attaches=True, stores=True, about=("path",),
        words=("renumbered", "kept", "duplicate", "conflict", "forgotten", "failed", _FOLLOWS),
    ),
    KindSpec(
        "capture", "Capture", length="long", stays=("dry_run",), attaches=True,
        stores=True, stores_nothing_with=("dry_run", "undo"),
        about=("session", "transcript", "file", "tools"), memories="items.memories.memory_number",
        words=(*CAPTURE_TOOLS, "export", "captured", "unchanged", "withdrawn", "forgotten", "empty", "failed", "rules",
               "model", _FOLLOWS),
    ),
    KindSpec("rebuild", "Rebuild", length="long", stays=True, about=("what",), words=("index", "graph", "both")),
    KindSpec("graph", "EmptyPayload", length="long", stays=True),
    KindSpec("check", "EmptyPayload", length="long", stays=True, zero_counters=False),
    KindSpec("noop", "Noop", priority=0, batched=True, length="long", zero_counters=False, test_only=True),
)  # fmt: skip

BY_NAME = {kind.name: kind for kind in KINDS}
KIND_NAMES: tuple[str, ...] = tuple(BY_NAME)
BATCHED = frozenset(kind.name for kind in KINDS if kind.batched)
PREEMPTIBLE = frozenset(kind.name for kind in KINDS if kind.length == "long")
YIELDS = frozenset(kind.name for kind in KINDS if kind.length != "short")
NEEDS_GRAPH = frozenset(kind.name for kind in KINDS if kind.needs_graph)
TEST_ONLY = frozenset(kind.name for kind in KINDS if kind.test_only)

if TYPE_CHECKING:
    Kind = str
else:
    Kind = Literal[KIND_NAMES]  # the JSON Schemas list the names


def stays(kind: Kind, payload: object) -> bool:
    """Whether a job of a team runs on the machine on which it was dropped. ``payload`` is the kind's model."""
    return _holds(BY_NAME[kind].stays, payload)


def attaches(kind: Kind, payload: object) -> bool:
    """Whether a job of a team needs what its machine attaches. ``payload`` is the kind's model."""
    return _holds(BY_NAME[kind].attaches, payload) and not stays(kind, payload)


def _holds(rule: bool | tuple[str, ...], payload: object) -> bool:
    return rule if isinstance(rule, bool) else any(getattr(payload, name) for name in rule)
