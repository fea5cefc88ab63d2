"""Versions of tools, compared as far as a transcript's format may change with them."""

from __future__ import annotations

import re
from typing import Any

_NUMBERS = re.compile(r"(\d{1,6})\.(\d{1,6})")


def is_newer(version: Any, tested: str) -> bool:
    """Whether the first two numbers of a version are above those of the newest tested one."""
    found, known = _NUMBERS.match(version) if isinstance(version, str) else None, _NUMBERS.match(tested)
    return bool(found and known) and _numbers(found) > _numbers(known)


def _numbers(match: re.Match[str] | None) -> tuple[int, int]:
    assert match is not None
    return int(match[1]), int(match[2])
