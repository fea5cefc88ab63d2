"""A session as values: a conversation of a person and an assistant in one tool, as its transcript tells it; and its
segments, parts about one subject, each with its summary.

A turn holds what was said, and of tool calls only counts, the paths of touched files, commands, and the line of an
error: no other tool output and no file contents. Times are ISO 8601 text in UTC with ``Z``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jobs.spelling import encodable

from ..memory import Content

if TYPE_CHECKING:
    from ..embedding.embedder import Vectors

Speaker = Literal["user", "assistant"]

# Why a subject certainly ends before a turn: the person cleared the context, or the tool replaced the conversation so
# far by a summary of its own (which is not a turn, since nobody said it).
Marker = Literal["cleared", "compacted"]

# Why something of a transcript is left out, for all tools.
TOOL_OUTPUT = "tool output"
THINKING = "thinking"
OWN_TEXT = "text by the tool"
IMAGE = "image or document"
SUMMARY = "summary by the tool"
REWOUND = "rewound turn"

# Between a question that a tool put to the person and the answer, on a line of the person's turn.
ANSWERED = " → "


@dataclass(frozen=True, slots=True)
class Transcript:
    """Where a session is kept: a file, or a row of a tool's database.

    ``version`` changes whenever the session may have changed, such as size and time of the file. ``title`` is the
    tool's own name of the session, if it keeps one. ``folder`` is where the session ran, for a tool whose transcripts
    do not say it. ``source`` is the file of which ``path`` is a copy.
    """

    tool: str
    session_id: str
    path: Path
    version: str
    modified_at: str | None = None
    title: str | None = None
    folder: str | None = None
    source: str | None = None

    @property
    def shown_path(self) -> str:
        """Where a person finds it."""
        return encodable(self.source or str(self.path))


@dataclass(frozen=True, slots=True)
class Call:
    """A call that ran a ``command``, or changed ``files``.

    ``exit_code`` is 0 for one that succeeded, None where the tool says only that it failed. ``error`` is the line of
    its output that says what went wrong, if any does. ``said`` is what the assistant said right before the call.
    ``place`` is empty where it is that of its turn.
    """

    command: str
    exit_code: int | None = 0
    error: str = ""
    said: str = ""
    files: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said before the other spoke again; of a record, what it adds to that.

    ``place`` is where the turn begins in the transcript, such as ``line 12``. ``folder`` and ``branch`` are those in
    which it was said, if the tool records them. ``part`` is empty for the conversation itself, and the id of a side
    chain or sub-agent otherwise. ``files`` are the paths that tool calls touched, as the tool wrote them; ``tools``
    counts the calls by the tool's name. ``marker`` says that something ended right before this turn. ``calls`` are
    those that ran a command or changed a file, in order, where the reader knows what became of them. ``report`` is how
    many of the last paragraphs of ``text`` were said after all calls; 0 where nothing was.
    """

    speaker: Speaker
    text: str
    place: str
    at: str | None = None
    folder: str | None = None
    branch: str | None = None
    part: str = ""
    files: tuple[str, ...] = ()
    tools: Mapping[str, int] = field(default_factory=dict)
    marker: Marker | None = None
    calls: tuple[Call, ...] = ()
    report: int = 0


@dataclass(slots=True)
class Findings:
    """What a reader met besides turns. It fills this while it reads.

    ``unknown`` counts records of a kind that the reader does not know, by kind. ``damaged`` counts records that cannot
    be read at all. ``unfinished`` is whether the last record is only half written: it is read the next time.
    ``left_out`` counts what was left out on purpose, by reason, such as ``tool output``. ``newer`` is the transcript's
    format version, if it is newer than those the reader was tested with. ``title`` is the conversation's own, where it
    stands in the transcript. ``refused`` says why nothing can be read of it.
    """

    bytes_read: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    damaged: int = 0
    unfinished: bool = False
    left_out: Counter[str] = field(default_factory=Counter)
    newer: str | None = None
    title: str | None = None
    refused: str | None = None


# Vectors of the texts, shape (n, dimensions), each of length 1.
Embed = Callable[[Sequence[str]], "Vectors"]

Section = Literal["topic", "context", "decisions", "rationale", "open_questions", "next_steps"]

# Why a segment begins where it does.
Cut = Literal["start", "silence", "subject", "marker", "size"]


@dataclass(frozen=True, slots=True)
class Segment:
    """Turns that belong together, in order, and why the segment begins there. ``index`` counts from 0 in its
    session."""

    index: int
    turns: tuple[Turn, ...]
    cut: Cut = "start"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of a summary, and the place in the transcript where it stands."""

    section: Section
    text: str
    place: str


@dataclass(frozen=True, slots=True)
class SegmentSummary:
    """A segment's summary in the fields of the template.

    ``importance`` and ``confidence`` are 0 to 1: how much the segment holds that is worth recalling, and how sure the
    choice of its sentences is. ``method`` is how it was made. ``evidence`` has each sentence with its place; a sentence
    that a model wrote has the place of the turn that supports it.
    """

    content: Content
    importance: float
    confidence: float
    method: Literal["rules", "model"]
    evidence: tuple[Evidence, ...] = ()
