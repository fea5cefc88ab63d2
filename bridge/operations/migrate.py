"""migrate: imports the memories of earlier versions from cognee's own store, previews that, or undoes it.

A migration reads the texts in the order of their age, in slices. It decides what becomes of each text right before
storing it, from the store's state at that time. So the next attempt continues one that was cut off and gives the same
result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from jobs import clock
from jobs.errors import JobError

from ..graph import earlier_stores, installed
from ..graph.earlier_stores import EarlierTexts, Text, UnreadableText
from ..graph.open_stores import Stores
from ..memory import Content, Memory
from ..search import listing
from ..slices import AdaptiveBatch, Slices
from ..store.values import Addition, data_id_of
from ..transfer.migration import Converted, Skipped, convert
from . import Progress, Task, attachments, receipts, redactions, without_secrets
from .rejected_texts import store_together

if TYPE_CHECKING:
    from jobs.payloads import Migrate

    from ..interface.result_shapes import KeptMemory, MigratedItem, Migration, UndoneMigration
    from ..store.memories import Memories
    from .attachments import Line

Outcome = Literal["migrated", "already_migrated", "forgotten", "failed", "skipped"]

MAX_ITEMS = 200  # in a result; the receipt has all

_FIRST, _MOST = 16, 50  # texts of one transaction; fewer would cost more in syncs than in embedding
_DROPPED_TOGETHER = 100
_SHOWN_LABELS = ("topic_id", "session_id", "plan_id", "status", "created_at", "importance")
_SHOWN_FIRST: tuple[Outcome, ...] = ("failed", "forgotten", "migrated", "already_migrated", "skipped")


@dataclass(slots=True)
class JudgedText:
    """A text, and what became of it. ``memory`` has its number once it is stored."""

    text: Text
    digest: str | None = None
    outcome: Outcome | None = None
    memory: Memory | None = None
    original_id: str | None = None
    reason: str | None = None
    error: JobError | None = None
    redactions: dict[str, int] = field(default_factory=dict)


def run(task: Task[Migrate], stores: Stores, now: datetime, progress: Progress) -> Migration | UndoneMigration:
    """Run the migration, preview or undo.

    The payload has ``dry_run``, to change nothing, and ``limit``, the most memories to store; or ``undo``, the id of a
    receipt. The result of a migration counts the texts by outcome, and has the first items, the receipt's id, the
    redactions and warnings. The result of an undo has the count of removed memories, and the kept ones with reasons.

    A text that cannot be read or embedded is an item with the outcome ``failed``, not a failed job. A job fails with
    GRAPH_NOT_INSTALLED unless it is an undo, RECEIPT_NOT_FOUND, or with an error of the stores. A second run counts
    what the first one stored as migrated and continues with the rest; a second undo removes nothing more.
    """
    if task.payload.undo:
        return _undo(task, task.payload.undo, stores, clock.iso(now), progress)
    if stores.host is None:
        installed.require()
    return (_shown if task.payload.dry_run else _migrate)(task, stores, clock.iso(now), progress)


# --- migrating ---


@dataclass(slots=True)
class MigrationRun:
    """A migration in progress: the memories that it has met (``seen``), how many more it may store (``left``; None: any
    number), and how many texts the limit left out (``remaining``). ``problems``: of the earlier stores. ``attached``:
    the texts of another machine.
    """

    task: Task[Migrate]
    now: str
    left: int | None
    stores: Stores
    problems: Sequence[str]
    attached: Mapping[Text, _AttachedText] | None = None
    seen: set[str] = field(default_factory=set)
    remaining: int = 0

    def judge(self, item: JudgedText, known: Memories) -> Converted | None:
        """Set the outcome of a text, whatever it was. Returns what to store for it, or None."""
        item.outcome = item.memory = item.original_id = item.reason = item.error = None
        try:
            words = self._read(item)
            item.digest = sha256(words.encode()).hexdigest()
            converted = self._converted(words, item, known)
        except Skipped as why:
            item.outcome, item.reason = "skipped", str(why)
            return None
        except UnreadableText as why:
            item.outcome, item.reason = "failed", str(why)
            return None
        except JobError as error:
            item.outcome, item.reason, item.error = "failed", error.message, error
            return None
        return self._judge(item, converted, known)

    def _read(self, item: JudgedText) -> str:
        """The words of a text, here or as they were attached. Raises UnreadableText."""
        if self.attached is None:
            return earlier_stores.read(item.text)
        found = self.attached[item.text]
        item.redactions = found.redactions
        if found.words is None:
            raise UnreadableText(found.unreadable)
        return found.words

    def _converted(self, words: str, item: JudgedText, known: Memories) -> Converted:
        """What the text becomes, with secrets replaced; without, where the store knows it from before redaction
        existed.
        """

        def become(words: str) -> Converted:
            """The conversion of these words."""
            return convert(words, item.text.added_at, self.task.asked_at, known.workspace_id, self.now)

        clean = without_secrets(self.stores, words)
        if clean.counts:
            before = become(words)
            both = [memory for memory in (before.memory, before.original) if memory is not None]
            if any(known.known(memory.id) or known.forgotten_at(memory.id) for memory in both):
                return before
        item.redactions = dict(Counter(item.redactions) + Counter(clean.counts))
        return become(clean.text)

    def _judge(self, item: JudgedText, found: Converted, known: Memories) -> Converted | None:
        """Set the outcome of a converted text, from what the store knows now. Returns what to store, or None."""
        memory, original = known.under_its_id(found.memory), found.original
        stored = known.known(memory.id)
        item.memory = memory if stored is None else memory._replace(number=stored.number)
        if memory.id in self.seen:
            item.outcome, item.reason = "already_migrated", "An older text says the same."
        elif stored is not None and stored.origin_job != self.task.job_id:
            item.outcome, item.reason = "already_migrated", "The memory is there already."
        elif stored is None and any(known.forgotten_at(each.id) for each in (memory, original) if each):
            item.outcome, item.reason = "forgotten", "The memory was forgotten, and stays so."
        elif self.left == 0:
            self.remaining += 1
            item.memory = None
            return None
        else:
            item.outcome = "migrated"
            item.original_id = None if original is None else original.id
            if self.left is not None:
                self.left -= 1
        self.seen.add(memory.id)
        return found if item.outcome == "migrated" and stored is None else None


def _shown(task: Task[Migrate], stores: Stores, now: str, progress: Progress) -> Migration:
    """The result of a dry run. It changes nothing, and creates no store."""
    with stores.open_for_reading() as store:
        earlier = earlier_stores.find(stores.workspace, _ours(store))
    migration = MigrationRun(task, now, task.payload.limit, stores, earlier.problems)
    items = [JudgedText(text) for text in earlier.texts]
    slices = Slices(progress, "looking at the texts of earlier versions", len(items))
    for start in range(0, len(items), _MOST):
        part = items[start : start + _MOST]
        with stores.open_for_reading() as store:
            for item in part:
                migration.judge(item, store)
                item.memory = _light(item.memory)
        slices.advance(len(part))
    return _result(items, migration, None)


def _ours(store: Memories) -> set[str]:
    """The ids under which cognee's documents hold the texts of our own memories."""
    ours = set(store.extractions.data_ids())  # cognee may still hold texts of memories that an undo removed
    for memory_id in store.all_ids():
        with suppress(ValueError):  # an imported id may be no UUID; cognee never received its text
            ours.add(data_id_of(memory_id))
    return ours


def _migrate(task: Task[Migrate], stores: Stores, now: str, progress: Progress) -> Migration:
    """Store all texts that become memories, and write the receipt. Returns the result."""
    attached = None
    if stores.host is None:
        earlier = earlier_stores.find(stores.workspace, _ours(stores.store))
    else:
        earlier, attached = _attached(task, stores)
    items = [JudgedText(text) for text in earlier.texts]
    migration = MigrationRun(task, now, task.payload.limit, stores, earlier.problems, attached)
    receipt = {"receipt": task.job_id, "job_sha256": task.sha256, "begun_at": task.accepted_at}
    receipts.write(stores, receipt | {"finished_at": None, "items": [], "undone": None})
    slices = Slices(progress, "taking over the memories of earlier versions", len(items))
    portion, done = AdaptiveBatch(_FIRST, _MOST), 0
    while part := items[done : done + max(portion.size, _FIRST)]:
        with portion:
            _store_all(part, migration)
        done += len(part)
        slices.advance(len(part))
    result: Migration = {**_result(items, migration, task.job_id), "graph": "follows"}
    counted = ("found", *get_args(Outcome), "remaining")
    counts = {name: count for name, count in result.items() if name in counted}
    whole = receipt | counts | {"finished_at": now, "items": [_noted(item) for item in items], "undone": None}
    receipts.write(stores, whole)
    if result["migrated"]:
        task.note_applied(stores.store, now)
    return result


@dataclass(frozen=True, slots=True)
class _AttachedText:
    """A text of an earlier version as its machine read it: its words without secrets, and their number by kind; or why
    they are unreadable."""

    text: Text
    words: str | None
    redactions: dict[str, int]
    unreadable: str = ""


def read_files(task: Task[Migrate], stores: Stores, progress: Progress) -> Iterator[Line]:
    """The texts of this machine's earlier stores, or the receipt that the job undoes. Raises JobError:
    GRAPH_NOT_INSTALLED."""
    if task.payload.undo:
        yield from receipts.read_files(stores, task.payload.undo)
        return
    installed.require()
    with stores.open_for_reading() as store:
        earlier = earlier_stores.find(stores.workspace, _ours(store))
    yield {"problems": earlier.problems}
    slices = Slices(progress, "looking at the texts of earlier versions", len(earlier.texts))
    for text in earlier.texts:
        try:
            clean = without_secrets(stores, earlier_stores.read(text))
            yield {"text": _AttachedText(text, clean.text, dict(clean.counts))}
        except UnreadableText as why:
            yield {"text": _AttachedText(text, None, {}, str(why))}
        slices.advance(1)


def _attached(task: Task[Migrate], stores: Stores) -> tuple[EarlierTexts, dict[Text, _AttachedText]]:
    lines = attachments.lines(task, stores)
    problems = attachments.checked(list[str], next(lines, {}).get("problems"))
    found = [attachments.checked(_AttachedText, line.get("text")) for line in lines]
    return EarlierTexts([each.text for each in found], problems), {each.text: each for each in found}


def _store_all(part: Sequence[JudgedText], migration: MigrationRun) -> None:
    """Judge texts and store them in one transaction; one at a time where the embedding provider rejects a text."""
    known = migration.stores.store

    def store(items: Sequence[JudgedText]) -> None:
        # On a copy: a text that is not stored uses up nothing of the limit, and an equal one is judged by itself.
        trial = replace(migration, seen=set(migration.seen))
        new = [(item, found) for item in items if (found := trial.judge(item, known)) is not None]
        _add(new, trial)
        migration.left, migration.seen, migration.remaining = trial.left, trial.seen, trial.remaining

    def reject(item: JudgedText, error: JobError) -> None:
        item.outcome, item.reason, item.error = "failed", error.message, error
        item.original_id = None

    store_together(part, store, reject)
    for item in part:
        if item.memory is not None and item.memory.number == 0 and (there := known.known(item.memory.id)):
            item.memory = item.memory._replace(number=there.number)  # the same text occurred twice in this part
        item.memory = _light(item.memory)


def _light(memory: Memory | None) -> Memory | None:
    """The memory with its title as its only text, since there may be many."""
    if memory is None:
        return None
    title = listing.title(memory)
    return memory._replace(text=title) if memory.content is None else memory._replace(content=Content(title, ""))


def _add(new: Sequence[tuple[JudgedText, Converted]], migration: MigrationRun) -> None:
    """Add the memories, the originals first, so that the numbers follow the order of creation."""
    job_id, store = migration.task.job_id, migration.stores.store
    originals = {found.original.id: found.original for _, found in new if found.original is not None}
    additions = [
        Addition(original, job_id, hidden=True) for original in originals.values() if store.known(original.id) is None
    ]
    for _, found in new:
        migrated_from = None if found.original is None else found.original.id
        additions.append(Addition(found.memory, job_id, migrated_from=migrated_from))
    if not additions:
        return
    with store.change(migration.now) as change:
        change.additions += additions
    numbers = {memory.id: memory for memory in change.added}
    for item, found in new:
        item.memory = numbers[found.memory.id]


# --- the result and the receipt ---


def _result(items: Sequence[JudgedText], migration: MigrationRun, receipt: str | None) -> Migration:
    """The job's result; ``receipt`` is None for a dry run."""
    counts = Counter(item.outcome for item in items)
    judged = [item for item in items if item.outcome is not None]
    brought = [item.redactions for item in items if item.outcome == "migrated"]
    shown = sorted(judged, key=lambda item: _SHOWN_FIRST.index(item.outcome or "skipped"))[:MAX_ITEMS]
    result: dict[str, Any] = {
        "dry_run": receipt is None,
        "found": len(items) - counts["skipped"],
        **{name: counts[name] for name in get_args(Outcome)},
        "remaining": migration.remaining,
        "items": [_line(item) for item in shown],
        "items_omitted": len(judged) - len(shown),
        "receipt": receipt,
        "redactions": redactions(migration.stores, *brought),
        "warnings": list(migration.problems),
    }
    return cast("Migration", result)


def _line(item: JudgedText) -> MigratedItem:
    """An item of the result: a text, and what it became or would become."""
    memory = item.memory
    known = memory.metadata if memory is not None else None
    is_new = memory is None or memory.number == 0
    line: dict[str, Any] = {
        "outcome": item.outcome,
        "reason": item.reason,
        "error_code": item.error.code if item.error else None,
        "line": item.error.details.get("line") if item.error else None,
        "source": {"store": item.text.store, "data_id": item.text.data_id, "file": item.text.file},
        "memory_id": None if memory is None or is_new else memory.id,
        "memory_number": None if memory is None or is_new else memory.number,
        "memory_type": memory.kind if memory else None,
        "title": listing.title(memory) if memory else None,
        **{name: getattr(known, name, None) for name in _SHOWN_LABELS},
    }
    return cast("MigratedItem", line)


def _noted(item: JudgedText) -> dict[str, Any]:
    """An item of the receipt. It holds no words of the text."""
    failed_at = item.error.details.get("line") if item.error else None
    return {
        "store": item.text.store,
        "data_id": item.text.data_id,
        "file": item.text.file,
        "sha256": item.digest,
        "outcome": item.outcome or "remaining",
        "memory_id": item.memory.id if item.memory else None,
        "memory_number": item.memory.number or None if item.memory else None,
        "memory_type": item.memory.kind if item.memory else None,
        "status": item.memory.metadata.status if item.memory else None,
        "original_id": item.original_id,
        "error_code": item.error.code if item.error else None,
        "line": failed_at,
        # An error's message may quote a line of the text.
        "reason": f"Line {failed_at} cannot be read." if failed_at else None if item.error else item.reason,
    }


# --- undoing ---


def _undo(task: Task[Migrate], receipt_id: str, stores: Stores, now: str, progress: Progress) -> UndoneMigration:
    """Remove the memories that a migration added, except those that changed since. Idempotent.

    Raises JobError: RECEIPT_NOT_FOUND.
    """
    receipt = receipts.load_for(task, receipt_id, stores, "migrate")
    statuses = _brought(receipt, stores.store)
    ids, kept = list(statuses), dict[str, str]()
    slices = Slices(progress, "taking the migration back", len(ids))
    for start in range(0, len(ids), _DROPPED_TOGETHER):
        part = ids[start : start + _DROPPED_TOGETHER]
        store = stores.store
        kept |= _reasons_to_keep({i: statuses[i] for i in part}, receipt_id, store)
        with store.change(now) as change:
            change.dropped += _with_originals([i for i in part if i not in kept], receipt_id, store)
        slices.advance(len(part))
    removed = [i for i in ids if i not in kept and stores.store.forgotten_at(i) is None]
    left: list[KeptMemory] = [{"memory_id": memory_id, "reason": reason} for memory_id, reason in kept.items()]
    undone = {"at": now, "job_id": task.job_id, "removed": removed, "kept": left}
    receipts.write(stores, receipt | {"undone": undone})
    task.note_applied(stores.store, now)
    if removed and stores.store.outbox.stores_are_ours():
        stores.graph.forget_extractions(removed)  # else a later migration would read our own texts as earlier ones
    return {"receipt": receipt_id, "undone": len(removed), "kept": left[:MAX_ITEMS], "graph": "follows"}


def _brought(receipt: dict[str, Any], store: Memories) -> dict[str, str | None]:
    """The ids of the memories that the migration added, originals not included, with the status that it gave each.

    For a migration that was cut off, the store is read instead; a status that was set since is then left out.
    """
    if receipt["finished_at"] is not None:
        return {item["memory_id"]: item["status"] for item in receipt["items"] if item["outcome"] == "migrated"}
    stored = {each: store.known(each) for each in store.brought_by(receipt["receipt"], receipt["begun_at"])}
    return {each: known.status if known and known.status_set_at is None else None for each, known in stored.items()}


def _reasons_to_keep(statuses: Mapping[str, str | None], job_id: str, store: Memories) -> dict[str, str]:
    """The memories that changed since the migration, with the reason to keep each."""
    kept: dict[str, str] = {}
    for memory_id, status in statuses.items():
        known = store.known(memory_id)
        if known is None:
            continue
        merged = store.compactions.merged_into(memory_id)
        if known.origin_job != job_id:
            kept[memory_id] = "Another job has stored it again since."
        elif merged:
            kept[memory_id] = f"It was merged into the decision record #{merged[0][1]}: restore that first."
        elif known.status != status:
            kept[memory_id] = "Its status was changed since."
    return kept


def _with_originals(memory_ids: Sequence[str], job_id: str, store: Memories) -> list[str]:
    """The memories that still exist, each followed by its original unless another memory comes from that too."""
    removable: dict[str, None] = {}
    for memory_id in memory_ids:
        known = store.known(memory_id)
        if known is None:
            continue
        removable[memory_id] = None
        original = known.migrated_from
        if original is None or not removable.keys() >= set(store.conversions_of(original)):
            continue
        known_original = store.known(original)
        if known_original is not None and known_original.hidden and known_original.origin_job == job_id:
            removable[original] = None
    return list(removable)
