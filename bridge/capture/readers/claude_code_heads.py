"""What the beginning of a Claude Code record tells without parsing it: most bytes of a transcript are tool outputs.

Claude Code writes the keys of a record in a fixed order. Where a record has another order, nothing is concluded from
its beginning, and it is parsed.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Kind = Literal["user", "assistant", "attachment", "system", "tool output", "other", "unclear"]

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

# What a person said inside of a tool's result: why they rejected the call, or how they answered the assistant.
_SAID_IN_RESULT = (b"the user said:", b'"answers":{')
_RESULT_START = 2_000


class Head(NamedTuple):
    """The kind of a record, the record before it, and whether it is of a side chain.

    ``name`` is the record's own name of its kind, or that of an attachment.
    """

    kind: Kind
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
    parent, is_side = chain[1] or chain[2], chain[3] == b"true"
    kind, name = _kind(line, chain)
    return Head(kind, parent, is_side, name)


def _kind(line: bytes, chain: re.Match[bytes]) -> tuple[Kind, str]:
    if chain["other"] == b"message":
        return "assistant", "assistant"
    if chain["other"] == b"attachment":
        attachment = _ATTACHMENT.match(line, chain.end())
        return ("attachment", attachment[1].decode()) if attachment else ("unclear", "")
    name = (chain["type"] or b"").decode()
    if name == "user":
        if _OUTPUT.match(line, chain.end()) and not _may_hold_words(line):
            return "tool output", name
        return "user", name
    if name == "assistant":
        return "assistant", name
    return ("system" if name == "system" else "other"), name


def _may_hold_words(line: bytes) -> bool:
    """Whether a tool's result may hold what a person said."""
    start = line[:_RESULT_START]
    return _SAID_IN_RESULT[0] in start or (b'"toolUseResult":{"questions":' in line and _SAID_IN_RESULT[1] in line)


def uuid_of(line: bytes) -> bytes | None:
    """The record's own id, in quotes; None if it cannot be told without parsing."""
    found = _UUID.search(line)
    return found[1] if found else None
