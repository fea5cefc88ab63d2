"""Classifies references into files, plans, branches and issues, and turns them back into a flat list.

The rules; the first match wins, and a reference that matches none is a file:

- a label: ``file: x``, ``plan: x``, ``branch: x``, ``issue: x``; it is not part of the value;
- plan: ``plan-014``, ``Plan 014 documentation``, ``014-some-title``, unless it is a path or ends like a file;
- issue: ``#12``, ``issue 12``, ``PR #12``, ``GH-12``, ``ABC-123``, ``owner/repo#12``, a URL with
  ``/issues/``, ``/pull/`` or ``/merge_requests/`` and a number;
- branch: ``refs/heads/…``, or one word that starts with ``feature/``, ``feat/``, ``fix/``, ``bugfix/``,
  ``hotfix/``, ``release/`` or ``chore/`` and does not end like a file (``fix/thing.py``) or a folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from ..memory import References, plan_key
from ..pattern import pattern

Kind = Literal["files", "plans", "branches", "issues"]

_LABELS: dict[str, Kind] = {"file": "files", "plan": "plans", "branch": "branches", "issue": "issues"}
_WORDS = {kind: label for label, kind in _LABELS.items()}

# "file:" needs a blank behind it, so that file:///home/… stays one value.
_LABEL = pattern(r"(?:(file):\s+|(plan|branch|issue):\s*)(\S.*)", re.IGNORECASE | re.DOTALL)
_PATH = pattern(r"(?=\S+\Z)(?:\S*[/\\]|\S+\.[A-Za-z]\w{0,7}\Z)")
_PLAN = pattern(r"(?i:plan)[\s_-]*\d+(?!\w|[./\\]\w)|\d{3}-[A-Za-z][\w-]*\Z")
_ISSUE = pattern(
    r"#\d+\b"
    r"|(?i:issue|pr|pull request|bug)\s+#?\d+\b"
    r"|[A-Z][A-Z0-9]+-\d+\Z"
    r"|[\w.-]+/[\w.-]+#\d+\b"
    r"|https?://\S+/(?:issues|pull|merge_requests)/\d+"
)
_BRANCH = pattern(
    r"refs/heads/\S+"
    r"|(?:feature|feat|fix|bugfix|hotfix|release|chore)/(?!\S*\.[A-Za-z]\w{0,7}\Z)\S*[^\s/]"
)


def classify(text: str) -> tuple[Kind, str]:
    """The kind of one reference, and its value: the stripped text without its label."""
    text = text.strip()
    labelled = _LABEL.fullmatch(text)
    if labelled:
        return _LABELS[(labelled[1] or labelled[2]).lower()], labelled[3]
    if _PLAN.match(text) and not _PATH.match(text):
        return "plans", text
    if _ISSUE.match(text):
        return "issues", text
    return ("branches" if _BRANCH.fullmatch(text) else "files"), text


def split(references: Iterable[str]) -> References:
    """A flat list of references by kind, in the order of the list; blank entries are dropped."""
    by_kind: dict[Kind, list[str]] = {"files": [], "plans": [], "branches": [], "issues": []}
    for text in references:
        kind, value = classify(text)
        if value:
            by_kind[kind].append(value)
    return References(**{kind: tuple(values) for kind, values in by_kind.items()})


def flatten(references: References) -> tuple[str, ...]:
    """The flat list from which ``split`` makes the same references again.

    A value that the rules would assign to another kind gets a label: the branch ``main`` becomes ``branch: main``.
    """
    return tuple(
        value if classify(value) == (kind, value) else f"{word}: {value}"
        for kind, word in _WORDS.items()
        for value in getattr(references, kind)
    )


def plan_of(references: References) -> str | None:
    """The key of the first plan in the references, such as ``014`` for ``Plan 014 documentation``; None without one."""
    return plan_key(references.plans[0]) if references.plans else None
