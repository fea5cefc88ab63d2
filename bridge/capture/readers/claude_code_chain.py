"""Which records of a Claude Code transcript were rewound away, and to which side chain a record belongs.

Each record names the one before it. When a person rewinds, the next prompt names an earlier record, and what was said
in between stays in the file as a dead branch. Only branches at prompts count: tools that run at the same time make
branches as well, of which Claude Code names one only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from .claude_code_heads import Head, head_of

_Value = TypeVar("_Value")

# Links point a few records back. Remembering this many bounds the memory for a transcript of any size.
REMEMBERED = 50_000


class Chain:
    """Follows the records in order. A node is a prompt together with what was said until the next one."""

    def __init__(self) -> None:
        self._nodes: dict[bytes, int] = {}  # record -> its node
        self._before: list[int] = []  # node -> the node before it
        self._last = -1

    def add(self, head: Head) -> int:
        """The node of the next record of the conversation; -1 before the first prompt."""
        node = self._last if head.parent is None else self._nodes.get(head.parent, self._last)
        if head.kind == "user":
            self._before.append(node)
            node = len(self._before) - 1
        if head.uuid is not None:
            _remember(self._nodes, head.uuid, node)
        self._last = node
        return node

    def rewound(self) -> frozenset[int]:
        """The nodes that do not lead to the last record."""
        live, node = set[int](), self._last
        while node >= 0:
            live.add(node)
            node = self._before[node]
        return frozenset(range(len(self._before))) - live


def rewound_nodes(lines: Iterable[tuple[int, bytes]]) -> frozenset[int]:
    """The nodes of a conversation that were rewound away."""
    chain = Chain()
    for _, line in lines:
        head = head_of(line)
        if is_linked(head):
            chain.add(head)
    return chain.rewound()


def is_linked(head: Head) -> bool:
    """Whether the record is a link of the conversation's own chain."""
    return not head.is_side and head.kind not in ("other", "unclear")


class SideChains:
    """The side chains of a transcript: each record belongs to that of the record before it."""

    def __init__(self) -> None:
        self._names: dict[bytes, str] = {}

    def name_of(self, head: Head) -> str:
        """The name of the next record's side chain: the id of its first record."""
        name = self._names.get(head.parent) if head.parent else None
        if name is None:
            name = (head.uuid or b"side chain").strip(b'"').decode("utf-8", "replace")
        if head.uuid is not None:
            _remember(self._names, head.uuid, name)
        return name


def _remember(known: dict[bytes, _Value], key: bytes, value: _Value) -> None:
    """Keep the value, and forget the oldest one when there are too many."""
    if len(known) >= REMEMBERED:
        del known[next(iter(known))]
    known[key] = value
