"""The notification of Codex, in ``config.toml``: it calls one program after each answer.

There is room for one program, so with one of somebody else the file stays as it is. It is edited as text, since it may
hold comments.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from .installation import PROGRAM

TOOL = "codex"
MOMENTS: dict[str, str] = {}  # they are hooks: ``codex_hooks``
_OURS = re.compile(rf"^notify = \[[^\n]*{PROGRAM}[^\n]*\]\r?\n?", re.MULTILINE)


def file(home: Path, environment: Mapping[str, str]) -> Path:
    """The configuration file."""
    moved = environment.get("CODEX_HOME")
    return (Path(moved) if moved else home / ".codex") / "config.toml"


def added(text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
    """The file's text with our notification at its beginning, before any table, unless another program is notified.
    Raises ValueError, with a sentence."""
    rest = removed(text)
    before = _parsed(rest)
    if "notify" in before:
        return rest
    line = f"notify = {json.dumps(list(command), ensure_ascii=False)}\n"
    changed = line + rest
    if _parsed(changed) != before | {"notify": list(command)}:
        raise ValueError("it has a form that this command does not edit.")
    return changed


def removed(text: str) -> str:
    """The file's text without our notification. Raises ValueError, with a sentence."""
    _parsed(text)
    return _OURS.sub("", text, count=1)


def _parsed(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"it is no TOML ({error}).") from error
