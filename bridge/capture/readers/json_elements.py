"""The elements of a JSON array read one after another, so that an export of any size fits into memory.

An element above the limit is skipped and counted. An array without its end gives the elements before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from ..session import Findings
from . import json_lines

LIMIT = 64 * 2**20  # bytes of an element, such as one conversation

_CHUNK = 2**20
_OUTSIDE = re.compile(rb'["{}\[\],]')
_INSIDE = re.compile(rb'["\\]')


def elements(file: BinaryIO, findings: Findings, limit: int = LIMIT) -> Iterator[Any]:
    """The elements of the array that begins at the file's position, right after its bracket."""
    for data in _texts(file, findings, limit):
        if data is None:
            findings.left_out[json_lines.OVERSIZED] += 1
            continue
        if not data.strip():
            continue
        value = json_lines.parsed(data, findings)
        if value is None:
            findings.damaged += 1
        else:
            yield value


def _texts(file: BinaryIO, findings: Findings, limit: int) -> Iterator[bytes | None]:
    """The text of each element; None for one above the limit."""
    depth, in_string, escaped = 0, False, False
    held: bytearray | None = bytearray()
    while chunk := file.read(_CHUNK):
        findings.bytes_read += len(chunk)
        start = position = 0
        while position < len(chunk):
            if escaped:
                escaped = False
                position += 1
                continue
            found = (_INSIDE if in_string else _OUTSIDE).search(chunk, position)
            if found is None:
                break
            position, sign = found.end(), found[0]
            if sign == b"\\":
                escaped = True
            elif sign == b'"':
                in_string = not in_string
            elif sign in b"{[":
                depth += 1
            elif sign in b"}]" and depth:
                depth -= 1
            elif sign != b"," or not depth:
                held = _held(held, chunk[start : position - 1], limit)
                yield None if held is None else bytes(held)
                if sign != b",":
                    return
                held, start = bytearray(), position
        held = _held(held, chunk[start:], limit)
    findings.unfinished = True


def _held(held: bytearray | None, more: bytes, limit: int) -> bytearray | None:
    if held is None or len(held) + len(more) > limit:
        return None
    held += more
    return held
