"""JSON that may hold comments, edited as text: a member or an item is added or removed, and every other byte stays.

A tool's own settings are written by hand, so their comments, their order and their indentation are kept.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
_INDENT = re.compile(r"\{\r?\n([ \t]+)\"")
_DEEPEST = 100


@dataclass(slots=True)
class Node:
    """A value or a member of an object, and where it stands. ``children`` are the members or the items, by their
    order."""

    start: int
    end: int
    value: Any
    name: str | None = None  # of a member
    content: int = 0  # where the value begins
    children: list[Node] = field(default_factory=list)

    def member(self, name: str) -> Node | None:
        """The member of that name; the last one, as every parser reads it."""
        return next((child for child in reversed(self.children) if child.name == name), None)


class _Parser:
    def __init__(self, text: str, comments: bool) -> None:
        self._text = text
        self._space = _SPACE_AND_COMMENTS if comments else _SPACE

    def whole(self) -> Node:
        node = self._value(self._skip(int(self._text.startswith("\ufeff"))), 0)
        if self._skip(node.end) != len(self._text):
            raise self._wrong(node.end)
        return node

    def _skip(self, at: int) -> int:
        found = self._space.match(self._text, at)
        return found.end() if found else at

    def _wrong(self, at: int) -> ValueError:
        return ValueError(f"it is no JSON (line {self._text.count(chr(10), 0, at) + 1}).")

    def _value(self, at: int, depth: int) -> Node:
        first = self._text[at : at + 1]
        if depth > _DEEPEST:
            raise self._wrong(at)
        if first and first in "{[":
            return self._container(at, depth, first == "{")
        return self._scalar(at, _STRING if first == '"' else _PLAIN)

    def _scalar(self, at: int, form: re.Pattern[str]) -> Node:
        found = form.match(self._text, at)
        try:
            if found:
                return Node(at, found.end(), json.loads(found[0]), content=at)
        except ValueError:
            pass
        raise self._wrong(at)

    def _container(self, start: int, depth: int, is_object: bool) -> Node:
        children: list[Node] = []
        at, close = self._skip(start + 1), "}" if is_object else "]"
        while self._text[at : at + 1] != close:
            children.append(self._member(at, depth) if is_object else self._value(at, depth + 1))
            at = self._skip(children[-1].end)
            if self._text[at : at + 1] == ",":
                at = self._skip(at + 1)
                if self._text[at : at + 1] == close:
                    raise self._wrong(at)
            elif self._text[at : at + 1] != close:
                raise self._wrong(at)
        value = {child.name: child.value for child in children} if is_object else [child.value for child in children]
        return Node(start, at + 1, value, content=start, children=children)

    def _member(self, at: int, depth: int) -> Node:
        name = self._scalar(at, _STRING)
        colon = self._skip(name.end)
        if self._text[colon : colon + 1] != ":":
            raise self._wrong(colon)
        value = self._value(self._skip(colon + 1), depth + 1)
        return Node(at, value.end, value.value, name.value, value.content, value.children)


def parsed(text: str, comments: bool) -> Node:
    """The text's value. ``comments`` is whether comments are allowed. Raises ValueError, with a sentence."""
    return _Parser(text, comments).whole()


def with_child(text: str, parent: Node, depth: int, value: Any, name: str | None = None) -> str:
    """The text with a last child in the object or list ``parent``, whose children have that depth."""
    found = _INDENT.search(text)
    unit, line = found[1] if found else "  ", "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, indent=unit, ensure_ascii=False).splitlines()
    if name is not None:
        lines[0] = f"{json.dumps(name, ensure_ascii=False)}: {lines[0]}"
    written = "".join(f"{line}{unit * depth}{each}" for each in lines)
    if parent.children:
        at = parent.children[-1].end
        return f"{text[:at]},{written}{text[at:]}"
    at = parent.content + 1
    if text[at : parent.end - 1].strip():  # a comment, which stays after what is added
        return f"{text[:at]}{written}{text[at:]}"
    return f"{text[:at]}{written}{line}{unit * (depth - 1)}{text[parent.end - 1 :]}"


def without_child(text: str, parent: Node, child: Node) -> str:
    """The text without a child of ``parent``, and without the comma that parted it from the others. Comments stay."""
    number, commas = parent.children.index(child), 1
    if number:
        start, end = parent.children[number - 1].end, child.end
    elif len(parent.children) > 1:
        start, end = child.start, parent.children[1].start
    else:
        start, end, commas = parent.content + 1, parent.end - 1, 0
    left = text[start : child.start] + text[child.end : end]
    kept = left.replace(",", "", commas) if left.strip(" \t\r\n,") else ""
    return text[:start] + kept + text[end:]
