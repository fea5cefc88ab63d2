"""Entries of ours among the hooks of a JSON file, in the forms that tools share.

The file has an object ``hooks``: event -> list of entries. An entry is a command itself, or has a list of commands as
its ``hooks``. Everything else in the file stays as it is, byte for byte.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from . import json_text
from .installation import PROGRAM
from .json_text import Node

_MARK = re.compile(PROGRAM)


def shell_line(command: Sequence[str]) -> str:
    """The command for a shell. It succeeds even if the program was removed."""
    return shlex.join(command) + ("" if os.name == "nt" else " || true")


def entries(
    ours: Mapping[str, Any],
    events: Iterable[str],
    of_moments: Mapping[str, tuple[str, str]],
    moments: Collection[str],
) -> dict[str, dict[str, Any]]:
    """Our entry for each event and, of ``of_moments`` (moment -> event and matcher), for each of the ``moments``.
    Moments of one event share its entry."""
    found: dict[str, dict[str, Any]] = {event: {"hooks": [ours]} for event in events}
    for event, matcher in (of_moments[moment] for moment in of_moments if moment in moments):
        tools = "|".join(filter(None, [found.get(event, {}).get("matcher"), matcher]))
        found[event] = {**({"matcher": tools} if tools else {}), "hooks": [ours]}
    return found


def added(
    text: str,
    entries: Mapping[str, Mapping[str, Any]],
    defaults: Mapping[str, Any] | None = None,
    *,
    comments: bool = False,
) -> str:
    """The file's text with an entry of ours for each event, instead of earlier ones of ours.

    ``defaults`` are what the file must have besides, unless it has them; ``comments`` is whether the tool reads a file
    with comments. Raises ValueError, with a sentence.
    """
    text = removed(text, comments=comments) if text.strip() else "{}\n"
    expected = _settings(text, comments).value
    for name, value in (defaults or {}).items():
        if name not in expected:
            text = json_text.with_child(text, _settings(text, comments), 1, value, name)
            expected[name] = value
    for event, entry in entries.items():
        root = _settings(text, comments)
        hooks = root.member("hooks")
        events = hooks and hooks.member(event)
        if hooks is None:
            text = json_text.with_child(text, root, 1, {event: [entry]}, "hooks")
        elif events is None:
            text = json_text.with_child(text, hooks, 2, [entry], event)
        elif isinstance(events.value, list):
            text = json_text.with_child(text, events, 3, entry)
        else:
            raise ValueError(f"its hooks for {event} are no list.")
        expected.setdefault("hooks", {}).setdefault(event, []).append(entry)
    if _settings(text, comments).value != expected:
        raise ValueError("it has a form that this command does not edit.")
    return text


def removed(text: str, *, comments: bool = False) -> str:
    """The file's text without our entries, and without what holds nothing else. Raises ValueError, with a sentence."""
    while text.strip() and (found := _ours(text, _settings(text, comments))):
        text = json_text.without_child(text, *found)
    return text


def _ours(text: str, root: Node) -> tuple[Node, Node] | None:
    """The outermost node that holds nothing but one of our commands, after the one that it is in."""
    hooks = root.member("hooks")
    if hooks is None:
        return None
    for events in hooks.children:
        above = [(root, hooks), (hooks, events)]
        for entry in events.children if isinstance(events.value, list) else ():
            if _is_command_of_ours(entry):
                return _outermost(text, [*above, (events, entry)])
            inner = entry.member("hooks") if isinstance(entry.value, dict) else None
            if inner is None or not isinstance(inner.value, list):
                continue
            for command in inner.children:
                if _is_command_of_ours(command):
                    return _outermost(text, [*above, (events, entry), (inner, command)])
    return None


def _is_command_of_ours(node: Node) -> bool:
    return isinstance(node.value, dict) and _MARK.search(str(node.value.get("command"))) is not None


def _outermost(text: str, pairs: Sequence[tuple[Node, Node]]) -> tuple[Node, Node]:
    """The last pair of a node and what is in it, or an earlier one if the nodes between hold nothing else."""
    for number in range(len(pairs) - 1, 0, -1):
        holder, inside = pairs[number]
        around = text[holder.content + 1 : inside.start] + text[inside.end : holder.end - 1]
        if around.strip():  # others, or a comment
            return pairs[number]
    return pairs[0]


def _settings(text: str, comments: bool) -> Node:
    root = json_text.parsed(text, comments)
    if not isinstance(root.value, dict) or not isinstance(root.value.get("hooks", {}), dict):
        raise ValueError("it has another form than expected.")
    return root
