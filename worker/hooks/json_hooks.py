"""Entries of ours among the hooks of a JSON file, in the forms that tools share.

The file has an object ``hooks``: event -> list of entries. An entry is a command itself, or has a list of commands as
its ``hooks``.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

_MARK = re.compile(r"worker[/\\]+hooks[/\\]+hook\.py")


def shell_line(command: Sequence[str]) -> str:
    """The command for a shell. It succeeds even if the program was removed."""
    return shlex.join(command) + ("" if os.name == "nt" else " || true")


def added(text: str, entries: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> str:
    """The file's text with an entry of ours for each event, instead of earlier ones of ours.

    ``defaults`` are what the file must have besides, unless it has them. Raises ValueError, with a sentence.
    """
    settings = {**(defaults or {}), **(_parsed(removed(text)) if text.strip() else {})}
    hooks = settings.setdefault("hooks", {})
    for event, ours in entries.items():
        present = hooks.setdefault(event, [])
        if not isinstance(present, list):
            raise ValueError(f"its hooks for {event} are no list.")
        present.append(ours)
    return _written(settings, text)


def removed(text: str) -> str:
    """The file's text without our entries. Raises ValueError, with a sentence."""
    settings = _parsed(text) if text.strip() else {}
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return text
    for event in list(hooks):
        if not isinstance(hooks[event], list):
            continue
        kept = [left for entry in hooks[event] if (left := _without_ours(entry)) is not None]
        if kept == hooks[event]:
            continue
        hooks[event] = kept
        if not kept:
            del hooks[event]
    if not hooks:
        del settings["hooks"]
    return _written(settings, text)


def _without_ours(entry: Any) -> Any:
    """An entry without our commands; None if it held nothing else."""
    if not isinstance(entry, dict):
        return entry
    if _is_ours(entry):
        return None
    commands = entry.get("hooks")
    if not isinstance(commands, list):
        return entry
    kept = [one for one in commands if not _is_ours(one)]
    if len(kept) == len(commands):
        return entry
    return entry | {"hooks": kept} if kept else None


def _is_ours(command: Any) -> bool:
    return isinstance(command, dict) and _MARK.search(str(command.get("command"))) is not None


def _parsed(text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise ValueError(f"it is no JSON ({error}).") from error
    if not isinstance(settings, dict) or not isinstance(settings.get("hooks", {}), dict):
        raise ValueError("it has another form than expected.")
    return settings


def _written(settings: dict[str, Any], text: str) -> str:
    """The settings as text, indented as the file was."""
    found = re.search(r"\{\r?\n([ \t]+)\"", text)
    return json.dumps(settings, indent=found[1] if found else 2, ensure_ascii=False) + "\n"
