"""Job ids: their form, and new ones. The pattern in the schemas is in ``payloads``."""

from __future__ import annotations

import os
import re
import time
import uuid

JOB_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_DEVICES = frozenset(["con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))])


def is_job_id(text: str) -> bool:
    """Whether the text is a valid job id: 1 to 64 of a-z, 0-9, ``-`` and ``_``, first a letter or digit, and not a
    device name of Windows."""
    return JOB_ID.fullmatch(text) is not None and text not in _DEVICES


def new_job_id() -> str:
    """A new UUIDv7 (RFC 9562, with method 3 of section 6.2): later ids sort after earlier ones, to a quarter of a
    microsecond. The inbox is read by name, so jobs of one client run in the order of their drops."""
    millis, rest = divmod(time.time_ns(), 1_000_000)
    value = (millis & (2**48 - 1)) << 80 | 0x7 << 76 | (rest * 4096 // 1_000_000) << 64
    value |= 0x2 << 62 | int.from_bytes(os.urandom(8), "big") >> 2
    return str(uuid.UUID(int=value))
