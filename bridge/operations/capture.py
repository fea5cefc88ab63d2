"""capture: makes memories of the sessions that other tools keep as transcripts, previews that, or undoes it.

It reads the transcripts of the tools that the user has enabled for this workspace, the oldest first, and stores the
memories of one session after the other. So the next attempt continues one that was cut off. What was captured and did
not change is not read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, cast, get_args

from jobs import clock
from jobs.errors import JobError
from jobs.payloads import Capture

from ..capture import consent, model_summary, summary
from ..capture.session import Segment, SegmentSummary, Transcript
from ..graph import tool_model
from ..graph.open_stores import Stores
from ..slices import Slices
from ..store.values import CapturedSegment, CapturedSession, Spent, StatusChange
from ..text.failures import is_failure
from ..text.template import summary_text
from . import Progress, Task, captured_session, receipts, redactions
from .capture_sources import EXPORT, AttachedSources, FileSources, Sources, attached_lines
from .captured_memories import SessionMemory, remove_expired
from .captured_session import Outcome, SessionCapture, Tools, Turns

if TYPE_CHECKING:
    from ..interface.result_shapes import Captured, CapturedMemory, CapturedSessionItem, KeptMemory, UndoneCapture
    from ..store.memories import Memories
    from ..store.store import Store
    from .attachments import Line

MAX_ITEMS = 200  # sessions in a result; the receipt has all memories
MAX_TEXTS = 60_000  # characters of texts in the result of a dry run
_READING = "reading sessions"
_OF_ONE_TEXT = ("LLM_FAILED", "LLM_TEXT_REFUSED")  # another segment may be summarised


def run(task: Task[Capture], stores: Stores, now: datetime, progress: Progress) -> Captured | UndoneCapture:
    """Run the capture, preview or undo.

    The payload names ``tools`` (default: the enabled ones), one ``session`` or ``transcript`` of theirs, or a ``file``
    inside the workspace; and ``since``, ``include``, ``exclude``, ``limit`` (sessions), ``again`` (also what was
    undone), ``dry_run``; or ``undo``, the id of a receipt. The result counts the sessions by outcome, and has an item
    for each of the first ones, the receipt's id, redactions, usage of the language model, and warnings.

    A transcript that cannot be read is an item with the outcome ``failed``, not a failed job. A job fails with
    CAPTURE_OFF when a tool that it would read is not enabled, with RECEIPT_NOT_FOUND, or with an error of the stores.
    """
    if task.payload.undo:
        return _undo(task, task.payload.undo, stores, clock.iso(now), progress)
    return CaptureRun(task, stores, clock.iso(now), progress, _sources(task, stores, progress)).run()


def read_files(task: Task[Capture], stores: Stores, progress: Progress) -> Iterator[Line]:
    """The sessions that the job captures, or the receipt that it undoes. Raises JobError as ``FileSources``."""
    if task.payload.undo:
        return receipts.read_files(stores, task.payload.undo)
    return CaptureRun(task, stores, task.asked_at, progress, _sources(task, stores, progress)).attached()


def _sources(task: Task[Capture], stores: Stores, progress: Progress) -> Sources:
    """The sessions. Raises JobError as ``FileSources`` or ``AttachedSources``."""
    return AttachedSources(task, stores) if stores.host is not None else FileSources(task.payload, stores, progress)


@dataclass(slots=True)
class CaptureRun:
    """One capture in progress."""

    task: Task[Capture]
    stores: Stores
    now: str
    progress: Progress
    sources: Sources
    items: list[SessionCapture] = field(default_factory=list)
    noted_before: list[dict[str, Any]] = field(default_factory=list)
    warnings: dict[str, None] = field(default_factory=dict)
    known_turns: dict[str, dict[str, str]] = field(default_factory=dict)  # by tool: digest -> session
    remaining: int = 0
    estimated: Spent = Spent()  # what a language model would cost
    own_models: dict[str, str] = field(default_factory=dict)  # by tool whose own command line summarises: the model
    given_up: set[str | None] = field(default_factory=set)  # of them; None: the configured language model

    @property
    def is_preview(self) -> bool:
        """Whether nothing is to be changed."""
        return bool(self.task.payload.dry_run)

    def run(self) -> Captured:
        """Capture, or preview it. Returns the result."""
        self.own_models = self._own_models()
        if not self.is_preview:
            if self.task.job_id in receipts.ids(self.stores):
                self.noted_before = receipts.load(self.stores, self.task.job_id)["items"]
            self._write_receipt(None)
        limit = self.task.payload.limit
        slices = Slices(self.progress, _READING, self.sources.total)
        worked = 0
        for transcript, turns in self.sources.sessions():
            if limit is not None and worked >= limit:
                self.remaining += 1
                continue
            item = self._session(transcript, turns)
            worked += item.outcome not in ("unchanged", "withdrawn", "forgotten")
            slices.advance(1)
        if self.is_preview:
            self._tell_what_is_off()
            return cast("Captured", self._result(None))
        remove_expired(self.stores.store, self.now)
        self._write_receipt(self.now)
        self.task.note_applied(self.stores.store, self.now)
        return cast("Captured", self._result(self.task.job_id) | {"graph": "follows"})

    def _own_models(self) -> dict[str, str]:
        """The tools whose own command line summarises. In a team the service does, where no such tool runs."""
        found = consent.read(self.stores.workspace, self.stores.settings.config_folder).own_models
        if not found or not self.stores.is_in_team:
            return dict(found)
        self.warnings["In a team, the service writes the summaries: no tool of this machine is asked."] = None
        return {}

    def attached(self) -> Iterator[Line]:
        """What the service needs to capture: the sessions of this machine that it has not captured as they are."""
        left = self.task.payload.limit

        def needed(transcript: Transcript) -> SessionCapture | None:
            nonlocal left
            with self.stores.open_for_reading() as store:
                item = self._begun(transcript, store)
            if item.outcome != "captured":
                return None
            if left is not None:
                left -= 1
            return item if left is None or left >= 0 else None

        return attached_lines(self.sources, self.stores.workspace.root, needed)

    def _tell_what_is_off(self) -> None:
        """A warning for each tool that has something to keep and is not enabled."""
        enabled = consent.read(self.stores.workspace, self.stores.settings.config_folder).tools
        found = {item.transcript.tool for item in self.items if item.outcome == "captured"}
        for tool in sorted(found - enabled - {EXPORT}):
            self.warnings[f"Capture from {tool} is not enabled yet: cognee-memory capture enable {tool}"] = None

    # --- one session ---

    def _session(self, transcript: Transcript, turns: Turns) -> SessionCapture:
        if self.is_preview:
            with self.stores.open_for_reading() as store:
                return self._capture(transcript, turns, store, None)
        item = self._capture(transcript, turns, self.stores.store, self.stores.store)
        if item.superseded:
            self._write_receipt(None)
        return item

    def _begun(self, transcript: Transcript, store: Memories) -> SessionCapture:
        """The capture of a session, with its outcome if it need not be read."""
        former = store.captures.session(transcript.tool, transcript.session_id)
        item = SessionCapture(transcript, former)
        if former is not None and former.state == "forgotten":
            item.outcome, item.reason = "forgotten", "It was forgotten, and stays so."
        elif former is not None and former.state == "withdrawn" and not self.task.payload.again:
            item.outcome, item.reason = "withdrawn", "Its capture was undone. To capture it again: --again."
        elif former is not None and former.state == "kept" and former.version == transcript.version:
            item.outcome = "unchanged"
        else:
            if transcript.tool not in self.known_turns:
                self.known_turns[transcript.tool] = store.captures.turns(transcript.tool)
            item.known_turns = self.known_turns[transcript.tool]
        return item

    def _capture(self, transcript: Transcript, turns: Turns, store: Memories, writer: Store | None) -> SessionCapture:
        """What the capture makes of a session, stored if there is a writer."""
        item = self._begun(transcript, store)
        self.items.append(item)
        if item.outcome != "captured":
            return item
        embed, anchored = self.stores.embedder.embed, self.sources.anchored
        tools = Tools(turns, self._summarise, embed, anchored, store, writer, self.task.job_id, self.now, self._pause)
        try:
            captured_session.capture_session(item, tools)
            _set_outcome(item)
        except OSError as error:
            why = str(error.strerror or error).removeprefix("not read: ").rstrip(".")
            item.outcome, item.reason = "failed", f"The transcript was not read: {why}."
            for known_as in item.turns:  # another session may have the same turns, and be readable
                item.known_turns.pop(known_as, None)
        return item

    def _pause(self) -> None:
        """Let other jobs run in the middle of a session."""
        self.progress({"done": len(self.items) - 1, "total": self.sources.total, "message": _READING})

    # --- summaries ---

    def _summarise(self, segment: Segment) -> SegmentSummary:
        """By the rules; then by the tool's own model, if the user enabled that, or by the language model, if the
        settings name one and have it capture. After an error that would come again, no more calls are made."""
        by_rules = summary.summarise(segment)
        tool = self.items[-1].transcript.tool
        own = tool if tool in self.own_models else None
        if not (own or self.stores.settings.capture_with_llm) or not by_rules.content.topic or own in self.given_up:
            return by_rules
        if self.is_preview:
            asked = own or self.stores.settings.llm_tool
            overhead = tool_model.TOOLS[asked].overhead if asked else 0
            tokens = model_summary.estimated_tokens(segment) + overhead
            self.estimated = Spent(self.estimated.calls + 1, self.estimated.tokens + tokens)
            return by_rules
        try:
            ask = partial(self.stores.asker(self.task.job_id, own, self.own_models.get(tool)), pause=self._pause)
            return model_summary.summarise(segment, by_rules, ask)
        except JobError as error:
            rest = ""
            if error.code not in _OF_ONE_TEXT:
                self.given_up.add(own)
                rest = ", and do for the rest"
            why = f"The language model did not summarise: {error.message} ({error.code}) Rules did{rest}."
            self.warnings[f"{why} {error.remediation}" if own else why] = None
            return by_rules

    # --- the result and the receipt ---

    def _write_receipt(self, finished_at: str | None) -> None:
        """Before anything is stored, after each session that replaced memories, and at the end. It keeps what an
        earlier attempt has noted, so that an undo knows everything that was replaced."""
        receipt = {
            "receipt": self.task.job_id,
            "made_by": "capture",
            "job_sha256": self.task.sha256,
            "begun_at": self.task.accepted_at,
            "finished_at": finished_at,
            "items": [*self.noted_before, *(_noted(item) for item in self.items if item.made or item.superseded)],
            "undone": None,
        }
        receipts.write(self.stores, receipt)

    def _result(self, receipt: str | None) -> dict[str, Any]:
        counts = Counter(item.outcome for item in self.items)
        changed = [item for item in self.items if item.outcome not in ("unchanged", "withdrawn", "forgotten")]
        rest = [item for item in self.items if item not in changed]
        shown = [*changed, *rest][:MAX_ITEMS]
        left = [MAX_TEXTS if self.is_preview else 0]
        spent = self.estimated if self.is_preview else self.stores.store.llm_usage.of_job(self.task.job_id)
        return {
            "dry_run": self.is_preview,
            "sessions": len(self.items),
            **{name: counts[name] for name in get_args(Outcome)},
            "remaining": self.remaining,
            "memories": len({each.memory.id for item in self.items for each in item.made if each.is_new}),
            "superseded": sum(len(item.superseded) for item in self.items),
            "bytes_read": sum(item.findings.bytes_read for item in self.items),
            "model_calls": spent.calls,
            "model_tokens": spent.tokens,
            "model_cost_usd": spent.cost_usd,
            "items": [_line(item, left) for item in shown],
            "items_omitted": len(self.items) - len(shown),
            "receipt": receipt,
            "redactions": redactions(self.stores, *(item.redactions for item in self.items)),
            "warnings": list(self.warnings),
        }


def _set_outcome(item: SessionCapture) -> None:
    """Say what became of a session that was read, if nothing was captured of it."""
    if item.is_cut_off:
        item.outcome, item.reason = "unchanged", "The transcript has lost its end. What was captured of it stays."
    elif item.findings.refused:
        item.outcome, item.reason = "failed", f"Nothing was kept. {item.findings.refused}"
    elif item.superseded or any(made.is_new for made in item.made):
        return
    elif item.forgotten_segments:
        item.outcome, item.reason = "forgotten", "Its memories were forgotten, and stay so."
    elif item.made or item.unchanged or (item.former is not None and item.former.segments):
        item.outcome = "unchanged"
    elif not item.read_turns and item.findings.left_out:
        item.outcome, item.reason = "empty", "Nothing was said in this folder."
    else:
        item.outcome, item.reason = "empty", "Too little was said to be worth keeping."


def _line(item: SessionCapture, texts_left: list[int]) -> CapturedSessionItem:
    transcript, findings = item.transcript, item.findings
    return {
        "tool": transcript.tool,
        "session_id": transcript.session_id,
        "title": transcript.title,
        "path": transcript.shown_path,
        "modified_at": transcript.modified_at,
        "outcome": item.outcome,
        "reason": item.reason,
        "turns": item.read_turns,
        "memories": [_memory(made, texts_left) for made in item.made],
        "left_out": {name: count for name, count in findings.left_out.items() if count},
        "unknown": dict(findings.unknown),
        "damaged": findings.damaged,
        "unfinished": findings.unfinished,
        "newer": findings.newer,
    }


def _memory(made: SessionMemory, texts_left: list[int]) -> CapturedMemory:
    memory, content = made.memory, made.memory.content
    assert content is not None
    text = summary_text(memory)
    texts_left[0] -= len(text)
    return {
        "memory_id": memory.id,
        "memory_number": memory.number or None,
        "topic": content.topic,
        "topic_id": memory.metadata.topic_id or "",
        "created_at": memory.metadata.created_at,
        "decisions": len(content.decisions),
        "importance": memory.metadata.importance,
        "confidence": made.summary.confidence,
        "method": made.summary.method,
        "is_new": made.is_new,
        "first_place": made.first_place,
        "last_place": made.last_place,
        "supersedes": list(made.supersedes),
        "summary_text": text if texts_left[0] >= 0 else None,
    }


def _noted(item: SessionCapture) -> dict[str, Any]:
    """An item of the receipt. It holds no words of the session."""
    return {
        "tool": item.transcript.tool,
        "session_id": item.transcript.session_id,
        "outcome": item.outcome,
        "superseded": list(item.superseded),
        "memories": [
            {"memory_id": each.memory.id, "memory_number": each.memory.number or None, "supersedes": each.supersedes}
            for each in item.made
            if each.is_new
        ],
    }


# --- undoing ---


def _undo(task: Task[Capture], receipt_id: str, stores: Stores, now: str, progress: Progress) -> UndoneCapture:
    """Remove the memories that a capture added, except those that changed since, and give what they superseded its
    status back. Idempotent. The sessions are then captured again only on request.

    Raises JobError: RECEIPT_NOT_FOUND.
    """
    receipt, store = receipts.load_for(task, receipt_id, stores, "capture"), stores.store
    ids = store.brought_by(receipt_id, receipt["begun_at"])
    kept = {each: why for each in ids if (why := _reason_to_keep(each, store))}
    going = [each for each in ids if each not in kept]
    sessions = _sessions_of(going, store)
    supersedes = [
        each
        for item in receipt["items"]
        for part in ([memory["supersedes"] for memory in item["memories"]] + [item.get("superseded", [])])
        for each in part
    ]
    supersedes = list(dict.fromkeys(supersedes))
    revived = [each for each in supersedes if _was_superseded(each, store)]
    with store.change(now, [task.applied]) as change:
        change.dropped += going
        change.statuses += (StatusChange(each, "Active", now) for each in revived)
        for session in sessions:
            remaining = [
                each
                for each in store.captures.memories_of(session.tool, session.session_id)
                if each in kept or each not in ids
            ]
            left_over = tuple(CapturedSegment(0, "", each) for each in remaining)  # a later capture replaces these
            change.captured_sessions.append(session._replace(state="withdrawn", version="", segments=left_over))
    left: list[KeptMemory] = [{"memory_id": each, "reason": reason} for each, reason in kept.items()]
    earlier = receipt["undone"]["removed"] if receipt["undone"] else []
    removed = [*earlier, *going]
    receipts.write(stores, receipt | {"undone": {"at": now, "job_id": task.job_id, "removed": removed}})
    return {
        "receipt": receipt_id,
        "undone": len(removed),
        "kept": left[:MAX_ITEMS],
        "revived": revived,
        "graph": "follows",
    }


def _reason_to_keep(memory_id: str, store: Memories) -> str | None:
    known = store.known(memory_id)
    merged = store.compactions.merged_into(memory_id)
    if merged:
        return f"It was merged into the decision record #{merged[0][1]}: restore that first."
    if known is None or known.status_set_at is None or known.status == "Superseded":
        return None
    is_met_again = any(map(is_failure, store.select([memory_id]).values()))  # then its status is as it was
    return None if is_met_again else "Its status was changed since."


def _sessions_of(memory_ids: Sequence[str], store: Memories) -> list[CapturedSession]:
    sources = [source for each in memory_ids if (source := store.captures.source(each)) is not None]
    names = dict.fromkeys((source.tool, source.session_id) for source in sources)
    return [found for name in names if (found := store.captures.session(*name)) is not None]


def _was_superseded(memory_id: str, store: Memories) -> bool:
    known = store.known(memory_id)
    return known is not None and known.status == "Superseded" and not store.compactions.merged_into(memory_id)
