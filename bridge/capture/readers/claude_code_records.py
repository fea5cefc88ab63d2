"""The records of a Claude Code transcript: what the beginning of one tells without parsing it, which were rewound away,
and to which side chain one belongs.

Most bytes of a transcript are tool outputs. Claude Code writes the keys of a record in a fixed order. Where a record
has another order, nothing is concluded from its beginning, and it is parsed.

Each record names the one before it. When a person rewinds, the next prompt names an earlier record, and what was said
in between stays in the file as a dead branch. Only branches at prompts count: tools that run at the same time make
branches as well, of which Claude Code names one only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeVar

Kind = Literal["user", "assistant", "attachment", "system", "tool output", "thinking", "other", "unclear"]

_ID = rb'"[^"\\]{1,64}"'
_SCALAR = rb'(?:"[^"\\]{0,200}"|true|false|null|-?[\d.]{1,20})'
_CHAIN = re.compile(
    rb'\0*\{"parentUuid":(?:null|(' + _ID + rb"))"
    rb'(?:,"logicalParentUuid":(?:null|(' + _ID + rb')))?,"isSidechain":(true|false)'
    rb'(?:,"(?!type"|message"|subtype")\w{1,40}":' + _SCALAR + rb")*"
    rb',(?:"type":"(?P<type>\w{1,40})"|"(?P<other>attachment|message)":)'
)
_OUTPUT = re.compile(
    rb',"message":\{"role":"user","content":\[\{(?:"tool_use_id":"[^"\\]{1,200}","type":"tool_result"|"type":"tool_result")'
)
_ATTACHMENT = re.compile(rb'\{"type":"(\w{1,60})"')
_UNCHAINED = re.compile(rb'\0*\{"type":"([\w-]{1,60})"')
_UUID = re.compile(rb'"uuid":(' + _ID + rb')(?:,"timestamp":"|,"level":|\}|,"isMeta":)')

_CONTENT = b'"content":['
_THOUGHT = (b'{"type":"thinking"', b'{"type":"redacted_thinking"')

# What a person said inside of a tool's result: why they rejected the call, or how they answered the assistant.
_REJECTION = b"the user said:"
_QUESTIONS = b'"toolUseResult":{"questions":'
_RESULT_START = 2_000

_Value = TypeVar("_Value")
# Links point a few records back. Remembering this many bounds the memory for a transcript of any size.
REMEMBERED = 50_000


class Head(NamedTuple):
    """The kind of a record, its id, that of the record before it, and whether it is of a side chain.

    ``name`` is the record's own name of its kind, or that of an attachment. Ids are in quotes.
    """

    kind: Kind
    uuid: bytes | None = None
    parent: bytes | None = None
    is_side: bool = False
    name: str = ""


def head_of(line: bytes) -> Head:
    """What the beginning of a record tells."""
    chain = _CHAIN.match(line)
    if chain is None:
        alone = _UNCHAINED.match(line)
        if alone is None or alone[1] in (b"user", b"assistant", b"attachment", b"system"):
            return Head("unclear")
        return Head("other", name=alone[1].decode())
    before, before_compaction, side, _, _ = chain.groups()
    uuid, end = _uuid(line)
    kind, name = _kind(line, chain, end)
    return Head(kind, uuid, before or before_compaction, side == b"true", name)


def _kind(line: bytes, chain: re.Match[bytes], uuid_end: int) -> tuple[Kind, str]:
    if chain["other"] == b"message":
        return ("thinking" if _is_thinking(line, chain.end()) else "assistant"), "assistant"
    if chain["other"] == b"attachment":
        attachment = _ATTACHMENT.match(line, chain.end())
        return ("attachment", attachment[1].decode()) if attachment else ("unclear", "")
    name = (chain["type"] or b"").decode()
    if name == "user":
        if _OUTPUT.match(line, chain.end()) and not _may_hold_words(line, uuid_end):
            return "tool output", name
        return "user", name
    if name == "assistant":
        return "assistant", name
    return ("system" if name == "system" else "other"), name


def _may_hold_words(line: bytes, uuid_end: int) -> bool:
    """Whether a tool's result may hold what a person said. The tool's own form of it follows the record's id."""
    if line.find(_REJECTION, 0, _RESULT_START) >= 0:
        return True
    return line.find(_QUESTIONS, uuid_end, uuid_end + 200) >= 0 or uuid_end < 0


def _is_thinking(line: bytes, start: int) -> bool:
    """Whether a message of the assistant holds thinking alone."""
    content = line.find(_CONTENT, start, start + 1_000)
    return line.startswith(_THOUGHT, content + len(_CONTENT)) and line.find(b'{"type":"t', content + 20) < 0


def _uuid(line: bytes) -> tuple[bytes | None, int]:
    """The record's own id and where it ends; None and -1 if it cannot be told without parsing."""
    position = line.find(b'"uuid":"')
    while position >= 0:  # not a regular expression: its search is slower over long outputs
        found = _UUID.match(line, position)
        if found:
            return found[1], found.end()
        position = line.find(b'"uuid":"', position + 8)
    return None, -1


def rewound_lines(lines: Iterable[tuple[int, bytes]]) -> frozenset[int]:
    """The numbers of the lines that were rewound away: those of prompts that do not lead to the last record, and of
    what was said until the next prompt."""
    nodes: dict[bytes, int] = {}  # record -> its node: a prompt together with what was said until the next one
    before: list[int] = []  # node -> the node before it; -1 before the first prompt
    node_of: dict[int, int] = {}  # line -> its node
    last = -1
    for number, line in lines:
        head = head_of(line)
        if head.is_side or head.kind in ("other", "unclear"):
            continue  # no link of the conversation's own chain
        node = last if head.parent is None else nodes.get(head.parent, last)
        if head.kind == "user":
            before.append(node)
            node = len(before) - 1
        if head.uuid is not None:
            _remember(nodes, head.uuid, node)
        last = node_of[number] = node
    live, node = {-1}, last
    while node >= 0:
        live.add(node)
        node = before[node]
    return frozenset(number for number, node in node_of.items() if node not in live)


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
