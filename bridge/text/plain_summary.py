"""A summary as labelled text without metadata: the text that is embedded, and the form of the first stored summaries.

Topic: …
Context: …
Decisions:
- …
"""

from __future__ import annotations

import re

from ..memory import Content
from ..pattern import pattern
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
