"""The passages of a memory: the texts that get a vector each.

The whole text has one, and so do its parts, since a single vector loses the details. Embedding is ``bridge/embedding``.
Of a summary, the whole text is labelled and without metadata, which is also the form of the first stored summaries:

    Topic: …
    Context: …
    Decisions:
    - …
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from ..memory import Content, Memory
from ..pattern import pattern
from .decision_lines import DecisionLine, read, searched
from .sections import content_of, normalise, one_line

_FIELDS = {
    "Context": "context",
    "Decisions": "decisions",
    "Rationale": "rationale",
    "OpenQuestions": "open_questions",
    "NextSteps": "next_steps",
    "References": "references",
    "TimeScope": "time_scope",
}
_LABEL = pattern(
    r"(Summary|Topic|Context|Decisions|Rationale|Open ?Questions|Next ?Steps|References|Time ?Scope)"
    r":(?:\s+(.*))?",
    re.DOTALL,
)

PassageKind = Literal["whole", "topic", "sentence", "decision", "detail"]
# A stop and a blank before a possible start of a sentence (beyond ASCII: any character but an arrow); or a CJK stop; or
# a newline.
_SENTENCE_END = pattern(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?(?:[A-Z0-9`]|[^\x00-\x7f→]))|(?<=[。！？])|\n+")
# An ordinary memory has a tenth of these. Only full-text search finds the text beyond them.
MAX_PASSAGES = 200


def render_plain(content: Content) -> str:
    """The labelled text of a memory, without metadata and time scope, so it does not change with the status.

    It is meant for reading and for search: a body line like ``Decisions:`` is not escaped.
    """
    content = normalise(content)
    lists = {
        "Decisions": content.decisions,
        "Rationale": content.rationale,
        "Open Questions": content.open_questions,
        "Next Steps": content.next_steps,
        "References": content.references.flat,
    }
    lines = [f"Topic: {content.topic}"]
    if content.context:
        lines.append(f"Context: {content.context}")
    for label, items in lists.items():
        if items:
            lines += [f"{label}:", *("- " + item.replace("\n", "\n  ") for item in items)]
    return "\n".join(lines)


def parse_plain(lines: list[str]) -> Content | None:
    """The content of labelled text, or None for a text of another form.

    The first line that is not blank must start with ``Summary:`` or ``Topic:``, one of the two must have a title, and
    at least one other label must follow. A label that occurs again is an ordinary line.
    """
    first = next((line for line in lines if line.strip()), "")
    if not first.startswith(("Summary:", "Topic:")):
        return None
    bodies: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        label = _LABEL.fullmatch(line)
        name = label[1].replace(" ", "") if label else ""
        if label and name not in bodies:
            current = bodies[name] = [label[2] or ""]
        else:
            current.append(line)
    topic, unassigned = "", []
    for name in ("Topic", "Summary"):
        title, *below = bodies.pop(name, None) or [""]
        topic = topic or one_line(title)
        unassigned += below
    if not topic or not bodies:
        return None
    fields = {_FIELDS[name]: body for name, body in bodies.items()}
    fields["context"] = [*fields.get("context", []), *unassigned]  # lines below a title are kept
    return content_of(topic, fields)


class Passage(NamedTuple):
    """One text to embed, and which part of the memory it is."""

    kind: PassageKind
    text: str
    shown: str = ""  # what a reader sees, where that is more than what is searched


def passages(memory: Memory) -> list[Passage]:
    """The passages of a memory, the whole text first, without duplicates, at most ``MAX_PASSAGES``."""
    candidates = [Passage("whole", whole_text(memory))]
    content = searched(memory)
    if content is None or memory.content is None:
        candidates += [Passage("sentence", text) for text in sentences(memory.text)]
    else:
        candidates.append(Passage("topic", content.topic))
        candidates += [Passage("sentence", text) for text in sentences(content.context)]
        lines = zip(content.decisions, memory.content.decisions, strict=True)
        candidates += [Passage("decision", text, "" if line == text else line) for text, line in lines]
        details = (*content.rationale, *content.open_questions, *content.next_steps)
        candidates += [Passage("detail", text) for text in details]
    unique: dict[str, Passage] = {}
    for passage in reversed(candidates):
        text = passage.text.strip()
        if text and not (text in unique and unique[text].kind == "decision"):  # also where topic or context say it
            unique[text] = passage
    return list(reversed(unique.values()))[:MAX_PASSAGES]


def decisions(memory: Memory) -> dict[int, DecisionLine]:
    """Index of the passage -> the decision, without its marks."""
    content = searched(memory)
    if content is None:
        return {}
    lines = {text.strip(): line for text, line in zip(content.decisions, read(content.decisions), strict=True)}
    found = enumerate(passages(memory))
    return {index: lines[each.text.strip()] for index, each in found if each.kind == "decision"}


def statements(memory: Memory) -> dict[int, str]:
    """Index of the passage -> the words of a decision; what a record says of earlier times is none."""
    return {index: line.text for index, line in decisions(memory).items() if not line.is_earlier}


def topic_passage(memory: Memory) -> int:
    """The index of the passage with the topic's words: mostly the one after the whole text, unless a later part of the
    memory repeats them."""
    content = searched(memory)
    topic = "" if content is None else content.topic.strip()
    return next((index for index, each in enumerate(passages(memory)) if index and each.text.strip() == topic), 0)


def whole_text(memory: Memory) -> str:
    """The memory's whole text without status and dates. cognee's graph indexes the same text."""
    content = searched(memory)
    return memory.text if content is None else render_plain(content)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, in order. The splitter is simple: an abbreviation may end a sentence."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]
