"""JSON objects of a transcript: one on each line, read in constant memory, or one that is the whole file.

A line above the limit is skipped and counted, and so is one that is no JSON object. A last line without its end is
left: its writer is still at it. What is appended after the reading began is left for the next time, too.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

from ..session import Findings

LIMIT = 16 * 2**20  # bytes of a line; the largest ones are images and outputs of tools
WHOLE_LIMIT = 64 * 2**20  # bytes of a file that is one object

OVERSIZED = "record above the size limit"
NOT_UTF8 = "record with bytes that are not UTF-8, which were replaced"


def lines(
    file: BinaryIO, findings: Findings, limit: int = LIMIT, *, takes_all: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Each line with its number, counted from 1, from the file's position to where it ends now.

    ``takes_all``: also blank lines, and a last line without its end, as people's own files have it.
    """
    remaining = os.fstat(file.fileno()).st_size - file.tell()
    number = 0
    while remaining > 0 and (line := file.readline(min(limit + 1, remaining))):
        number += 1
        remaining -= len(line)
        findings.bytes_read += len(line)
        if line.endswith(b"\n") or (takes_all and len(line) <= limit):
            if takes_all or not line.isspace():
                yield number, line
            continue
        skipped, is_complete = _skip_line(file, remaining) if len(line) > limit else (0, False)
        remaining -= skipped
        findings.bytes_read += skipped
        if is_complete:
            findings.left_out[OVERSIZED] += 1
        else:
            findings.unfinished = True


def _skip_line(file: BinaryIO, remaining: int) -> tuple[int, bool]:
    """Read to the end of the line. Returns the number of bytes, and whether the line has an end."""
    skipped = 0
    while remaining > skipped and (piece := file.readline(min(2**20, remaining - skipped))):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            return skipped, True
    return skipped, False


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
