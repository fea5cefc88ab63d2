"""JSON records of another program, read in constant memory: one on each line, one that is the whole file, or the
elements of an array one after another, so that an export of any size fits into memory; and their fields, each of which
may be missing, or of any type.

A record above the limit is skipped and counted, and so is a line that is no JSON object. A last line without its end is
left: its writer is still at it; an array without its end gives the elements before. What is appended after the reading
began is left for the next time, too.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from ..session import Findings

LIMIT = 16 * 2**20  # bytes of a line; the largest ones are images and outputs of tools
WHOLE_LIMIT = 64 * 2**20  # bytes of a file that is one object

OVERSIZED = "record above the size limit"
NOT_UTF8 = "record with bytes that are not UTF-8, which were replaced"

ELEMENT_LIMIT = 64 * 2**20  # bytes of an element, such as one conversation
_CHUNK = 2**20
_OUTSIDE = re.compile(rb'["{}\[\],]')
_INSIDE = re.compile(rb'["\\]')


def lines(
    file: BinaryIO, findings: Findings, limit: int = LIMIT, *, takes_all: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Each line with its number, counted from 1, from the file's position to where it ends now.

    ``takes_all``: also blank lines, and a last line without its end, as people's own files have it.
    """
    remaining = os.fstat(file.fileno()).st_size - file.tell()
    number, goes_on = 0, False  # whether the line goes on after what was read of it, so that it is left out
    while remaining > 0 and (piece := file.readline(min(limit + 1, remaining))):
        remaining -= len(piece)
        findings.bytes_read += len(piece)
        number += not goes_on
        has_end = piece.endswith(b"\n")
        if goes_on or not (has_end or (takes_all and len(piece) <= limit)):
            goes_on = not has_end
            if has_end:
                findings.left_out[OVERSIZED] += 1
        elif takes_all or not piece.isspace():
            yield number, piece
    findings.unfinished = findings.unfinished or goes_on


def record(line: bytes, findings: Findings) -> dict[str, Any] | None:
    """The JSON object of a line; None if there is none, which is counted as damaged."""
    value = parsed(line, findings)
    if isinstance(value, dict):
        return value
    findings.damaged += 1
    return None


def parsed(data: bytes, findings: Findings) -> Any:
    """JSON as a value; None if it is none. Bytes that are not UTF-8 are replaced."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        findings.left_out[NOT_UTF8] += 1
        text = data.decode("utf-8", "replace")
    try:
        value = json.loads(text.strip("\0\ufeff \t\r\n"))  # a torn write can leave zero bytes before a line
    except (ValueError, RecursionError):
        return None
    # JavaScript strings can hold half of a surrogate pair, which no UTF-8 text can.
    return _whole(value) if b"\\ud" in data or b"\\uD" in data else value


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value


def read_object(file: BinaryIO, findings: Findings, limit: int = WHOLE_LIMIT) -> dict[str, Any]:
    """The object in the file. Raises OSError if the file is larger than the limit, or is no such object: it may be
    half written, and must not look like a session in which nothing was said."""
    size = os.fstat(file.fileno()).st_size
    if size > limit:
        raise OSError(errno.EFBIG, f"not read: it has {size:,} bytes, and the limit is {limit:,}", file.name)
    data = file.read(limit + 1)
    findings.bytes_read += len(data)
    value = parsed(data, findings)
    if not isinstance(value, dict):
        raise OSError(errno.EIO, "not read: it is damaged, or only half written", file.name)
    return value


def elements(file: BinaryIO, findings: Findings, limit: int = ELEMENT_LIMIT) -> Iterator[Any]:
    """The elements of the array that begins at the file's position, right after its bracket."""
    for data in _texts(file, findings, limit):
        if data is None:
            findings.left_out[OVERSIZED] += 1
            continue
        if not data.strip():
            continue
        value = parsed(data, findings)
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


def at(record: Any, *names: str) -> Any:
    """The value at a path of names; None if there is none."""
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def text(record: Any, *names: str) -> str | None:
    """The text at the path, if there is one with something in it."""
    value = at(record, *names)
    return value if isinstance(value, str) and value else None


def items(record: Any, *names: str) -> list[Any]:
    """The list at the path; empty if there is none."""
    value = at(record, *names)
    return value if isinstance(value, list) else []


def objects(record: Any, *names: str) -> list[dict[str, Any]]:
    """The objects in the list at the path."""
    return [each for each in items(record, *names) if isinstance(each, dict)]


def strings(values: Iterable[Any]) -> tuple[str, ...]:
    """Those of the values that are texts with something in them."""
    return tuple(value for value in values if isinstance(value, str) and value)


def first_text(record: Any, names: Iterable[str]) -> str | None:
    """The first of these fields that is a text."""
    return next((value for name in names if isinstance(value := at(record, name), str)), None)
