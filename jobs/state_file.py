"""The small JSON files that a process leaves for another one or for itself, read by one rule.

Whatever stands in the place of such a file is damage and no exception: a link, a folder, too many bytes, no JSON,
``NaN``, a nesting without end, a field that is missing or of another type.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from . import plain_files
from .errors import JobError

LIMIT = 1024 * 1024

_T = TypeVar("_T")
_A = TypeVar("_A")
_D = TypeVar("_D")


def read(path: Path, shape: Callable[[Any], _T], *, absent: _A, damaged: _D, limit: int = LIMIT) -> _T | _A | _D:
    """What ``shape`` makes of the content; ``absent`` without a file, ``damaged`` if it cannot be read or has another
    shape. A second hard link is allowed: backups make them.

    ``shape`` raises ValueError, LookupError, TypeError or AttributeError for what it does not take. ``limit``: bytes.
    """
    try:
        return shape(json.loads(plain_files.read_own(path, limit), parse_constant=_refuse))
    except FileNotFoundError:
        return absent
    except (OSError, JobError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return damaged


def an_object(content: Any) -> dict[str, Any]:
    """A shape: any JSON object."""
    if not isinstance(content, dict):
        raise TypeError("not an object")
    return content


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
