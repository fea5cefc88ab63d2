"""Reads a conversation from a file that a person names: Markdown, plain text, JSON or JSON Lines.

The form is recognised by what the file holds, not by its name; a transcript that a tool wrote is read by the reader of
that tool. A file with several conversations is one transcript, in which each of them begins with the marker "cleared".

Of JSON, ChatGPT's ``conversations.json`` has a tree of messages, of which the branch that ends at ``current_node`` was
shown last. Claude.ai's has ``chat_messages`` with a sender each. Everything else that has a role and a content is a
list of messages as the programming interfaces of models take it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from ..session import OWN_TEXT, THINKING, TOOL_OUTPUT, Findings, Marker, Transcript, Turn
from . import export_markdown, json_records, transcript_file
from .export_labels import SPEAKERS, Labels, labels_of
from .json_records import at, items, objects, strings
from .reader import Home, reader_of
from .turn_builder import moment, turns_of

_OTHERS = frozenset({"system", "developer", "tool", "function"})
_LISTS = ("chat_messages", "messages", "conversation", "history", "turns", "items")

_PEEK = 64 * 1024
_BRACKET = re.compile(rb"\[[A-Za-z][A-Za-z ]{1,20}\]\s")  # a label of a speaker, no array
_BOM = b"\xef\xbb\xbf"
# What stands at the beginning of a tool's own transcript, and in no text that is quoted in JSON.
_TRANSCRIPTS = {
    "codex": re.compile(
        rb'"type": ?"session_meta"|\A\{"id": ?"[0-9a-f-]{1,40}", ?"timestamp": ?"[^"]{1,40}", ?"instructions"'
    ),
    "claude-code": re.compile(rb'"(?:parentUuid|isSidechain)": ?(?:"|null|true|false)'),
    "gemini-cli": re.compile(rb'"projectHash": ?"'),
    "vscode": re.compile(rb'"responderUsername": ?"'),
}


def is_conversation(value: Any) -> bool:
    """Whether a JSON value holds messages of its own."""
    return isinstance(value, dict) and (
        isinstance(value.get("mapping"), dict) or any(isinstance(value.get(name), list) for name in _LISTS)
    )


def said(messages: Iterable[Any], place: str, findings: Findings, first: int = 1) -> Iterator[Turn]:
    """What each message says, with its place, counted from ``first``."""
    for number, message in enumerate(messages, first):
        yield from said_in(message, f"{place}message {number}", findings)


def said_in(message: Any, place: str, findings: Findings) -> Iterator[Turn]:
    """What one message says; nothing if it is of neither speaker."""
    if not isinstance(message, dict):
        findings.damaged += 1
        return
    inner = message.get("message")
    if isinstance(inner, dict):
        message = {**message, **inner}
    role = _role(message)
    speaker = SPEAKERS.get(role)
    if speaker is None:
        if role in _OTHERS:
            findings.left_out[OWN_TEXT if role in ("system", "developer") else TOOL_OUTPUT] += 1
        else:
            findings.unknown[f"message of {role[:60]}" if role else "message without a role"] += 1
        return
    times = (message.get(name) for name in ("created_at", "create_time", "createdAt", "timestamp", "time", "date"))
    tools = Counter(_tools(message))
    text = "" if _is_hidden(message) else _text(message, findings.left_out)
    yield Turn(speaker, text, place, next(filter(None, map(moment, times)), None), tools=tools)


def _messages_of(conversation: Any) -> list[Any]:
    if isinstance(conversation, list):
        return conversation
    if not isinstance(conversation, dict):
        return []
    if isinstance(mapping := conversation.get("mapping"), dict):
        return _branch(mapping, conversation.get("current_node"))
    return next((value for name in _LISTS if isinstance(value := conversation.get(name), list)), [])


def _branch(mapping: dict[str, Any], leaf: Any) -> list[Any]:
    """The messages from the root of the tree to the leaf; without one, to the last message."""
    if not isinstance(leaf, str) or leaf not in mapping:
        leaf = next(reversed(mapping), None)
    found, seen = [], set[str]()
    while isinstance(leaf, str) and leaf not in seen and isinstance(node := mapping.get(leaf), dict):
        seen.add(leaf)
        if isinstance(node.get("message"), dict):
            found.append(node["message"])
        leaf = node.get("parent")
    return found[::-1]


def _role(message: dict[str, Any]) -> str:
    author = message.get("author")
    author = author.get("role") if isinstance(author, dict) else author
    roles = message.get("role"), message.get("sender"), author, message.get("from"), message.get("speaker")
    return next(iter(strings(roles)), "").strip().lower()


def _is_hidden(message: dict[str, Any]) -> bool:
    """Whether ChatGPT did not show it: a call of a tool, or what it knows of the user."""
    is_said_hidden = at(message, "metadata", "is_visually_hidden_from_conversation") is True
    return is_said_hidden or message.get("recipient") not in ("all", None)


def _text(message: dict[str, Any], left_out: Counter[str]) -> str:
    content = message.get("content", message.get("parts"))
    if isinstance(content, dict):
        if content.get("content_type", "text") not in ("text", "multimodal_text"):
            left_out[THINKING if content.get("content_type") in ("thoughts", "reasoning_recap") else TOOL_OUTPUT] += 1
            return ""
        content = content.get("parts", content.get("text"))
    texts = []
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict) and item.get("type", "text") in ("text", "input_text", "output_text"):
            texts += strings([item.get("text")])
        elif isinstance(item, dict):
            left_out[THINKING if item.get("type") == "thinking" else TOOL_OUTPUT] += 1
    said = "\n\n".join(filter(None, texts))
    return said or next(iter(strings([message.get("text"), message.get("value")])), "")


def _tools(message: dict[str, Any]) -> Iterator[str]:
    yield from strings(at(call, "function", "name") for call in items(message, "tool_calls"))
    yield from strings(item.get("name") for item in objects(message, "content") if item.get("type") == "tool_use")


def transcripts(home: Home, workspace: Path) -> Iterator[Transcript]:
    """None: a person names the file."""
    return iter(())


def turns(transcript: Transcript, findings: Findings) -> Iterator[Turn]:
    """The turns of all conversations in the file, in its order."""
    start = transcript_file.read_start(transcript.path, transcript.path.parent, _PEEK)
    tools = (tool for tool, found in _TRANSCRIPTS.items() if start[:1] == b"{" and found.search(start))
    if tool := next(tools, None):
        yield from reader_of(tool).turns(transcript, findings)
        return
    with transcript_file.opened(transcript.path, transcript.path.parent) as file:
        yield from turns_of(_said(file, findings))


def _said(file: BinaryIO, findings: Findings) -> Iterator[Turn | Marker]:
    for number, conversation in enumerate(_conversations(file, findings)):
        if number:
            yield "cleared"
        yield from conversation


def _conversations(file: BinaryIO, findings: Findings) -> Iterator[Iterator[Turn]]:
    start = file.read(_PEEK)
    skipped = len(_BOM) if start.startswith(_BOM) else 0
    start = start[skipped:]
    first = start.lstrip()[:1]
    offset = skipped + len(start) - len(start.lstrip())
    if first == b"[" and not _BRACKET.match(start.lstrip()):
        file.seek(offset + 1)
        yield from _of_elements(json_records.elements(file, findings), findings)
    elif first == b"{" and _is_json_lines(file, offset):
        file.seek(offset)
        yield _of_lines(file, findings)
    elif first == b"{":
        file.seek(offset)
        yield from _of_object(file, findings)
    else:
        file.seek(skipped)
        labels = labels_of(line for _, line in _texts(file, Findings()))
        findings.refused = labels.refused
        file.seek(skipped)
        yield _of_text(file, labels, findings)


def _of_text(file: BinaryIO, labels: Labels, findings: Findings) -> Iterator[Turn]:
    head = export_markdown.Head()
    for said in export_markdown.said(_texts(file, findings), labels, findings.left_out, head):
        findings.title = head.title
        yield said


def _of_elements(elements: Iterator[Any], findings: Findings) -> Iterator[Iterator[Turn]]:
    """An array of conversations, or one of messages."""
    for number, element in enumerate(elements, start=1):
        if is_conversation(element) or isinstance(element, list):
            yield said(_messages_of(element), f"conversation {number}, ", findings)
        else:
            yield said(chain([element], elements), "", findings, number)
            return


def _of_lines(file: BinaryIO, findings: Findings) -> Iterator[Turn]:
    for number, line in json_records.lines(file, findings, takes_all=True):
        record = None if line.isspace() else json_records.record(line, findings)
        if record is None:
            continue
        if is_conversation(record):
            yield from said(_messages_of(record), f"line {number}, ", findings)
        else:
            yield from said_in(record, f"line {number}", findings)


def _of_object(file: BinaryIO, findings: Findings) -> Iterator[Iterator[Turn]]:
    """One object: a conversation, or one that has a list of conversations."""
    data = file.read(json_records.ELEMENT_LIMIT + 1)
    findings.bytes_read += len(data)
    if len(data) > json_records.ELEMENT_LIMIT:
        findings.left_out[json_records.OVERSIZED] += 1
        return
    value = json_records.parsed(data, findings)
    if not isinstance(value, dict):
        findings.damaged += 1
        return
    inner = value.get("conversations")
    if isinstance(inner, list):
        yield from _of_elements(iter(inner), findings)
    else:
        yield said(_messages_of(value), "", findings)


def _is_json_lines(file: BinaryIO, offset: int) -> bool:
    """Whether the first line is an object of its own: one that more lines follow, or a message."""
    file.seek(offset)
    first = json_records.parsed(file.readline(json_records.LIMIT), Findings())
    if not isinstance(first, dict):
        return False
    return bool(file.read(_PEEK).strip()) or not (is_conversation(first) or "conversations" in first)


def _texts(file: BinaryIO, findings: Findings) -> Iterator[tuple[int, str]]:
    for number, line in json_records.lines(file, findings, takes_all=True):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            findings.left_out[json_records.NOT_UTF8] += 1
            text = line.decode("utf-8", "replace")
        yield number, text.rstrip("\r\n")
