"""Capturing one session: from its transcript to memories in the store, segment by segment.

A segment is one memory. A session that grew is read again; its segments that are the same stay, and a segment that
changed is a new memory that supersedes the former one.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from time import monotonic
from typing import TYPE_CHECKING

from ..capture import boundaries
from ..capture.kept_turns import COPIED, RUN, digest, opening_digests, run_digest, split_known, turn_digest
from ..capture.session import Embed, Findings, Segment, SegmentSummary, Transcript, Turn
from ..capture.summary import ARROW
from ..capture.title import COMMON, MOST_CHARACTERS
from ..memory import Content, Memory, Metadata, slug
from ..slices import SLICE_SECONDS
from ..store.values import Addition, CapturedSegment, CapturedSession, CaptureSource, StatusChange
from ..text.identity import content_id
from ..text.query_words import subject_words
from ..text.sections import normalise, one_line, shortened
from .captured_memories import Made, failures_met, note_superseded

if TYPE_CHECKING:
    from ..store.memories import Memories
    from ..store.store import Store

_WORD = re.compile(r"[^\W_]+")
_SLUG = re.compile(r"(?:\d{1,4}[-_])?\d{4}-\d\d-\d\d_[\d-]+Z?-(\w.*)")  # the name of a file that an export's title made
_SAME_SUBJECT = 3  # words that a note and a summary have in common
_STATED = 0.6  # of a decision's words that stand in a note, which states it then
_STORED_TOGETHER = 16  # at most so many memories in one transaction, and what is made in one slice

Summarise = Callable[[Segment], SegmentSummary]
Turns = Callable[["SessionCapture"], Iterator[Turn]]
"""The turns to keep of a session; sets its findings and redactions. Raises OSError if they cannot be read."""


@dataclass(slots=True)
class SessionCapture:
    """The capture of one session, in progress. ``made`` has its new memories; ``read_turns`` counts those kept.

    ``known_turns`` are digests of turns, each with the session that has it: those of others are left out. ``turns`` are
    the digests of its own. ``is_cut_off``: the transcript has lost its end since it was captured, so what was captured
    stays. ``superseded`` are the ids of former memories that the session does not have any more.
    """

    transcript: Transcript
    former: CapturedSession | None
    known_turns: dict[str, str]
    findings: Findings = field(default_factory=Findings)
    redactions: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0
    made: list[Made] = field(default_factory=list)
    read_turns: int = 0
    turns: list[str] = field(default_factory=list)
    new_turns: list[bool] = field(default_factory=list)  # of each turn with text, whether it was not there before
    is_cut_off: bool = False
    superseded: tuple[str, ...] = ()
    forgotten_segments: int = 0


@dataclass(frozen=True, slots=True)
class Tools:
    """What the capture of a session needs: its turns, how segments are summarised, the embedding of texts, what adds
    the anchors of a memory, the store, and what writes into it; without, it is a preview. ``pause`` is called between
    transactions."""

    turns: Turns
    summarise: Summarise
    embed: Embed
    anchored: Callable[[Memory], Memory]
    store: Memories
    writer: Store | None
    job_id: str
    now: str
    pause: Callable[[], None]


def _segments_of(
    capture: SessionCapture, tools: Tools, known: Sequence[CapturedSegment]
) -> Iterator[tuple[Segment, CapturedSegment]]:
    """The new and changed segments of the session, each with its record, whose memory is not known yet.

    What a fork has in common with another session is left out. Sets the counts of ``capture``. Raises OSError when the
    transcript cannot be read.
    """
    own = _own(tools.turns(capture), capture)
    unchanged, rest = split_known(own, [(each.turns, each.digest) for each in known])
    capture.unchanged = unchanged
    rest = _unless_cut_off(rest, known[unchanged:], capture)
    for segment in boundaries.segments(rest, tools.embed):
        yield segment, CapturedSegment(len(segment.turns), digest(segment.turns), None)


@dataclass(slots=True)
class _Heard:
    """A turn, what of it is kept, and whether another session has it."""

    turn: Turn
    kept: Turn
    is_copy: bool = False


def _own(turns: Iterator[Turn], capture: SessionCapture) -> Iterator[Turn]:
    """The turns that no other session has, counted: neither with the same time, nor in a row of the same words.

    Turns wait here until what follows them has told whether they belong to such a row.
    """
    session = capture.transcript.session_id
    waiting: deque[_Heard] = deque()
    row: deque[_Heard] = deque(maxlen=RUN)
    for turn in turns:
        heard = _Heard(turn, turn)
        known = [not _is_own(each, capture) for each in ([] if waiting or row else opening_digests(turn))]
        if any(known):  # a product's words; the question comes last, if it is another one
            before, _, question = turn.text.rstrip().rpartition("\n")
            heard.kept = replace(turn, text="" if before and all(known) else question)
        waiting.append(heard)
        known_as = turn_digest(turn)
        if turn.text:
            capture.new_turns.append(known_as is None or capture.known_turns.get(known_as) != session)
        if known_as is not None:
            heard.is_copy = not _is_own(known_as, capture)
        if turn.text and not turn.part:
            row.append(heard)
            run = run_digest([each.turn for each in row])
            if run is not None and not _is_own(run, capture):
                for each in row:
                    each.is_copy = True
        while len(waiting) >= RUN and len(row) == RUN and waiting[0] is not row[1] and waiting[0] is not row[2]:
            yield from _counted(waiting.popleft(), capture)
    for heard in waiting:
        yield from _counted(heard, capture)


def _is_own(digest: str, capture: SessionCapture) -> bool:
    """Whether no other session has what a digest stands for. Notes it as this session's then."""
    session = capture.transcript.session_id
    if capture.known_turns.setdefault(digest, session) != session:
        return False
    capture.turns.append(digest)
    return True


def _counted(heard: _Heard, capture: SessionCapture) -> Iterator[Turn]:
    if heard.is_copy:
        capture.findings.left_out[COPIED] += 1
        return
    capture.read_turns += 1
    yield heard.kept


def _unless_cut_off(turns: Iterator[Turn], known: Sequence[CapturedSegment], capture: SessionCapture) -> Iterator[Turn]:
    """The turns after the unchanged segments; none if there are fewer than before, and nothing was said since.

    A tool that cleans up, a full disk or a crash can cut a transcript off. Only the last turn may differ then, since it
    may have been cut itself. At most the turns of one segment are held in memory.
    """
    if not known:
        return turns
    first = list(islice(turns, known[0].turns))
    is_answer = bool(first) and first[-1].speaker != "user"
    if len(first) < known[0].turns and not any(capture.new_turns[:-1] if is_answer else capture.new_turns):
        capture.is_cut_off = True
        return iter(())
    return chain(first, turns)


def _spoken(segment: Segment) -> Sequence[Turn]:
    """The turns of the conversation itself: those of sub-agents come after it, whenever they ran."""
    return [turn for turn in segment.turns if not turn.part] or segment.turns


def memory_of(segment: Segment, summary: SegmentSummary, transcript: Transcript, store: Memories, now: str) -> Memory:
    """The memory of a segment, without a number. Its age begins with the segment's last turn; it is unknown where
    neither the turns nor the transcript tell a time."""
    content = normalise(summary.content)
    times = [turn.at for turn in _spoken(segment) if turn.at]
    created = times[-1] if times else transcript.modified_at
    plans = content.references.plans
    known = Metadata(
        session_id=f"{transcript.tool}/{transcript.session_id}"[:256],
        plan_id=plans[0][:256] if len(plans) == 1 else None,
        status="Active",
        created_at=created,
        updated_at=created,
        importance=summary.importance,
    )
    known = known._replace(topic_id=_topic_id(content, known, store))
    memory = Memory("", 0, "summary", known, now, content)
    return memory._replace(id=content_id(store.workspace_id, memory))


def _titled(summary: SegmentSummary, capture: SessionCapture, segment: Segment) -> SegmentSummary:
    """The summary of a session's beginning under the title that the tool gave the session, if it is about that."""
    slug_of, own = _SLUG.fullmatch(capture.transcript.title or ""), capture.transcript.title
    own = None if capture.transcript.tool == "export" else own
    given = capture.findings.title or (slug_of[1].replace("-", " ").capitalize() if slug_of else own)
    if not given or capture.unchanged + segment.index:
        return summary
    said = one_line(" ".join(turn.text for turn in segment.turns))
    asked = " ".join(turn.text for turn in segment.turns if turn.speaker == "user")
    named, spoken = (_WORD.findall(text.casefold()) for text in (given, asked))
    is_beginning = slug_of is not None and given != capture.findings.title and spoken[: len(named)] == named
    if is_beginning or subject_words(given).isdisjoint(subject_words(asked)):
        return summary
    whole = said if said.startswith(given.rstrip("….")) else one_line(given)  # the tool had cut the request
    return replace(summary, content=summary.content._replace(topic=shortened(whole, MOST_CHARACTERS)))


def _beside_notes(summary: SegmentSummary, notes: Sequence[Memory]) -> SegmentSummary:
    """The summary beside what somebody stored during the session on the same subject: under its title, of less
    importance, and without the decisions that it states already."""
    content = summary.content
    said = subject_words(" ".join([content.topic, content.context, *content.decisions]))
    for note in notes:
        if note.content is None or len(said & _about(note.content)) < _SAME_SUBJECT:
            continue
        stated = _about(note.content) | subject_words(note.content.topic)
        new = [text for text in content.decisions if not _is_stated(text, stated)]
        content = content._replace(topic=note.content.topic, decisions=tuple(new))
        importance = min(summary.importance, (note.metadata.importance or 0.5) / 2)
        evidence = tuple(each for each in summary.evidence if each.section != "decisions" or each.text in new)
        summary = replace(summary, content=content, importance=importance, evidence=evidence)
    return summary


def _is_stated(decision: str, stated: frozenset[str]) -> bool:
    """Whether most of a decision's words are among those of a note: of the request, or of what came of it."""
    return any(len(about & stated) >= _STATED * len(about) > 0 for about in map(subject_words, decision.split(ARROW)))


def _topic_id(content: Content, known: Metadata, store: Memories) -> str:
    """The title's topic id; with the session's beginning where a session about something else has the same title."""
    topic_id, mine = slug(content.topic), _about(content) - subject_words(content.topic) - COMMON
    for other in store.about(topic_id):
        if other.metadata.session_id != known.session_id and other.content and not mine & _about(other.content):
            return f"{topic_id[:100]}-{slug((known.session_id or '').rpartition('/')[2])[:12].rstrip('-')}"
    return topic_id


def _about(content: Content) -> frozenset[str]:
    """The words and files that tell what a memory is about."""
    return subject_words(" ".join([content.context, *content.decisions])) | set(content.references.files)


def _made_of(
    segment: Segment, record: CapturedSegment, capture: SessionCapture, former: CapturedSegment | None, tools: Tools
) -> Made | None:
    """What becomes of a segment; None if it holds nothing to keep, or its memory was forgotten.

    ``former`` is the segment that stood in its place before, if there was one.
    """
    store = tools.store
    if _is_forgotten(former, store):
        capture.forgotten_segments += 1
        return None
    summary = tools.summarise(segment)
    if _is_forgotten(former, store):  # by another job, while a model was waited for
        capture.forgotten_segments += 1
        return None
    if not summary.content.topic or not (summary.content.context or summary.content.decisions):
        return None
    notes = store.select(store.captures.notes_of(capture.transcript.tool, capture.transcript.session_id)).values()
    summary = _beside_notes(_titled(summary, capture, segment), list(notes))
    memory = store.under_its_id(memory_of(segment, summary, capture.transcript, store, tools.now))
    known = store.known(memory.id)
    if known is None and store.forgotten_at(memory.id) is not None:
        capture.forgotten_segments += 1
        return None
    memory = tools.anchored(memory) if known is None else memory._replace(number=known.number)
    record = record._replace(memory_id=memory.id)
    spoken = _spoken(segment)
    places = spoken[0].place, spoken[-1].place
    return Made(memory, summary, record, *places, is_new=known is None)


def _is_forgotten(segment: CapturedSegment | None, store: Memories) -> bool:
    return segment is not None and segment.memory_id is not None and store.forgotten_at(segment.memory_id) is not None


def capture_session(capture: SessionCapture, tools: Tools) -> None:
    """Store the memories of a session, a transaction for each few segments. Raises OSError, and JobError of the store.

    A capture that is cut off continues with the segments that are not stored: they are recorded with each transaction,
    and the transcript's version only with the last one.
    """
    former = capture.former.segments if capture.former else ()
    found = _segments_of(capture, tools, former)
    done: list[CapturedSegment] | None = None
    made: list[Made] = []
    began = monotonic()
    for segment, record in found:
        if done is None:  # only now, since the first segment tells how many are unchanged
            done = list(former[: capture.unchanged])
        elif len(made) >= _STORED_TOGETHER or monotonic() - began >= SLICE_SECONDS:
            _keep(capture, tools, made, done, is_last=False)
            made, began = [], monotonic()
        place = _at(former, len(done))
        each = _made_of(segment, record, capture, place, tools)
        done.append(each.segment if each else record._replace(memory_id=_forgotten_id(place, tools.store)))
        if each is not None:
            before = [*capture.made, *made]
            made += [each, *failures_met(segment, each, before, capture.transcript, tools.store, tools.now)]
    if done is None:
        done = list(former if capture.is_cut_off else former[: capture.unchanged])
    _keep(capture, tools, made, done, is_last=True)


def _at(segments: Sequence[CapturedSegment], index: int) -> CapturedSegment | None:
    return segments[index] if index < len(segments) else None


def _forgotten_id(former: CapturedSegment | None, store: Memories) -> str | None:
    """The id of the forgotten memory of a segment's place: kept, so that it stays forgotten when it grows."""
    if former is None or former.memory_id is None or store.forgotten_at(former.memory_id) is None:
        return None
    return former.memory_id


def _keep(
    capture: SessionCapture, tools: Tools, made: Sequence[Made], done: Sequence[CapturedSegment], *, is_last: bool
) -> None:
    former = capture.former.segments if capture.former else ()
    replaced = _superseded(former, done, tools.store) if is_last else []
    if tools.writer is not None:
        segments = tuple(done) if is_last else (*done, *former[len(done) :])
        made = _stored(capture, tools, tools.writer, made, segments, replaced, is_last=is_last)
    capture.made += made
    capture.superseded = tuple(replaced)
    note_superseded(capture.made, replaced)
    tools.pause()


def _stored(
    capture: SessionCapture,
    tools: Tools,
    writer: Store,
    made: Sequence[Made],
    segments: tuple[CapturedSegment, ...],
    replaced: Sequence[str],
    *,
    is_last: bool,
) -> list[Made]:
    transcript, now = capture.transcript, tools.now
    unique = {each.memory.id: each for each in made if each.is_new}
    session = CapturedSession(
        transcript.tool, transcript.session_id, transcript.shown_path, transcript.version if is_last else "",
        "kept", now, segments,
    )  # fmt: skip
    with writer.change(now) as change:
        change.statuses += (StatusChange(each, "Superseded", now) for each in replaced)
        change.statuses += (StatusChange(each.memory.id, "Draft", now, each.met_at) for each in made if each.met_at)
        change.captured_sessions.append(session)
        if not capture.is_cut_off:
            change.captured_turns.append((transcript.tool, transcript.session_id, capture.turns))
        for each in made:
            change.capture_sources.append(_source(each, transcript, tools.job_id, now))
        change.additions += (Addition(each.memory, tools.job_id) for each in unique.values())
    numbers = {memory.id: memory for memory in change.added}
    return [replace(each, memory=numbers.get(each.memory.id, each.memory)) for each in made]


def _superseded(former: Sequence[CapturedSegment], present: Sequence[CapturedSegment], store: Memories) -> list[str]:
    """The ids of the session's former memories that it does not have any more and that are still Active."""
    still = {each.memory_id for each in present}
    gone = dict.fromkeys(each.memory_id for each in former if each.memory_id and each.memory_id not in still)
    return [each for each in gone if (known := store.known(each)) and not known.hidden and known.status == "Active"]


def _source(made: Made, transcript: Transcript, job_id: str, now: str) -> CaptureSource:
    counts: Counter[str] = Counter()
    evidence = []
    for each in made.summary.evidence:
        evidence.append((each.section, counts[each.section], each.place))
        counts[each.section] += 1
    return CaptureSource(
        made.memory.id, transcript.tool, transcript.session_id, transcript.shown_path, made.first_place,
        made.last_place, made.summary.method, made.summary.confidence, tuple(evidence), now, job_id,
    )  # fmt: skip
