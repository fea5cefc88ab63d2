"""A transcript that is one JSON object: read as a whole, up to a limit."""

from __future__ import annotations

import errno
import os
from typing import Any, BinaryIO

from ..session import Findings
from . import json_lines

LIMIT = 64 * 2**20  # bytes of a file


def read_object(file: BinaryIO, findings: Findings, limit: int = LIMIT) -> dict[str, Any]:
    """The object in the file. Raises OSError if the file is larger than the limit, or is no such object: it may be
    half written, and must not look like a session in which nothing was said."""
    size = os.fstat(file.fileno()).st_size
    if size > limit:
        raise OSError(errno.EFBIG, f"not read: it has {size:,} bytes, and the limit is {limit:,}", file.name)
    data = file.read(limit + 1)
    findings.bytes_read += len(data)
    value = json_lines.parsed(data, findings)
    if not isinstance(value, dict):
        raise OSError(errno.EIO, "not read: it is damaged, or only half written", file.name)
    return value
