"""Reads a conversation from a file that a person names: Markdown, plain text, JSON or JSON Lines.

The form is recognised by what the file holds, not by its name; a transcript that a tool wrote is read by the reader of
that tool. A file with several conversations is one transcript, in which each of them begins with the marker "cleared".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..session import Findings, Marker, Transcript, Turn
from . import export_json, export_markdown, json_elements, json_lines, registry, transcript_file
from .export_labels import Labels, labels_of
from .reader import Home
from .turn_builder import Utterance, turns_of

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


class Exports:
    """Reads exported conversations."""

    tool = "export"

    def roots(self, home: Home) -> list[Path]:
        """None: a person names the file."""
        return []

    def transcripts(self, home: Home, workspace: Path) -> Iterator[Transcript]:
        """None: a person names the file."""
        return iter(())

    def turns(self, transcript: Transcript, findings: Findings) -> Iterator[Turn]:
        """The turns of all conversations in the file, in its order."""
        start = transcript_file.read_start(transcript.path, transcript.path.parent, _PEEK)
        tools = (tool for tool, found in _TRANSCRIPTS.items() if start[:1] == b"{" and found.search(start))
        if tool := next(tools, None):
            yield from registry.reader_of(tool).turns(transcript, findings)
            return
        with transcript_file.opened(transcript.path, transcript.path.parent) as file:
            yield from turns_of(_said(file, findings))


READER = Exports()


def _said(file: BinaryIO, findings: Findings) -> Iterator[Utterance | Marker]:
    for number, conversation in enumerate(_conversations(file, findings)):
        if number:
            yield "cleared"
        yield from conversation


def _conversations(file: BinaryIO, findings: Findings) -> Iterator[Iterator[Utterance]]:
    start = file.read(_PEEK)
    skipped = len(_BOM) if start.startswith(_BOM) else 0
    start = start[skipped:]
    first = start.lstrip()[:1]
    offset = skipped + len(start) - len(start.lstrip())
    if first == b"[" and not _BRACKET.match(start.lstrip()):
        file.seek(offset + 1)
        yield from _of_elements(json_elements.elements(file, findings), findings)
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


def _of_text(file: BinaryIO, labels: Labels, findings: Findings) -> Iterator[Utterance]:
    head = export_markdown.Head()
    for said in export_markdown.said(_texts(file, findings), labels, findings.left_out, head):
        findings.title = head.title
        yield said


def _of_elements(elements: Iterator[Any], findings: Findings) -> Iterator[Iterator[Utterance]]:
    """An array of conversations, or one of messages."""
    for number, element in enumerate(elements, start=1):
        if export_json.is_conversation(element) or isinstance(element, list):
            yield export_json.said(element, f"conversation {number}, ", findings)
        else:
            yield _messages(element, number, elements, findings)
            return


def _messages(first: Any, number: int, others: Iterator[Any], findings: Findings) -> Iterator[Utterance]:
    yield from export_json.said_in(first, f"message {number}", findings)
    for place, message in enumerate(others, start=number + 1):
        yield from export_json.said_in(message, f"message {place}", findings)


def _of_lines(file: BinaryIO, findings: Findings) -> Iterator[Utterance]:
    for number, line in json_lines.lines(file, findings, takes_all=True):
        record = None if line.isspace() else json_lines.record(line, findings)
        if record is None:
            continue
        if export_json.is_conversation(record):
            yield from export_json.said(record, f"line {number}, ", findings)
        else:
            yield from export_json.said_in(record, f"line {number}", findings)


def _of_object(file: BinaryIO, findings: Findings) -> Iterator[Iterator[Utterance]]:
    """One object: a conversation, or one that has a list of conversations."""
    data = file.read(json_elements.LIMIT + 1)
    findings.bytes_read += len(data)
    if len(data) > json_elements.LIMIT:
        findings.left_out[json_lines.OVERSIZED] += 1
        return
    value = json_lines.parsed(data, findings)
    if not isinstance(value, dict):
        findings.damaged += 1
        return
    inner = value.get("conversations")
    if isinstance(inner, list):
        yield from _of_elements(iter(inner), findings)
    else:
        yield export_json.said(value, "", findings)


def _is_json_lines(file: BinaryIO, offset: int) -> bool:
    """Whether the first line is an object of its own: one that more lines follow, or a message."""
    file.seek(offset)
    first = json_lines.parsed(file.readline(json_lines.LIMIT), Findings())
    if not isinstance(first, dict):
        return False
    return bool(file.read(_PEEK).strip()) or not (export_json.is_conversation(first) or "conversations" in first)


def _texts(file: BinaryIO, findings: Findings) -> Iterator[tuple[int, str]]:
    for number, line in json_lines.lines(file, findings, takes_all=True):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            findings.left_out[json_lines.NOT_UTF8] += 1
            text = line.decode("utf-8", "replace")
        yield number, text.rstrip("\r\n")
