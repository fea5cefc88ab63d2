"""Exported conversations are read whatever their form, which is told by what the file holds."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given, strategies
from transcript_shelf import FIXTURES, lines_of, read

from bridge.capture.readers import export_markdown, json_elements
from bridge.capture.session import Findings


def turns_of(name: str) -> list[str]:
    turns, findings = read("export", FIXTURES / "export" / name)
    assert "SECRET" not in repr(turns)
    assert not findings.unknown
    assert not findings.damaged
    return lines_of(turns)


def test_of_a_chatgpt_export_the_branch_that_was_shown_last_is_read() -> None:
    turns, findings = read("export", FIXTURES / "export" / "chatgpt-2025-conversations.json")
    one = ["user: Which port?", "assistant: Port 8080.", "user: Thanks."]
    assert lines_of(turns) == one * 2
    assert [turn.marker for turn in turns] == [None, None, None, "cleared", None, None]
    assert turns[0].at == "2025-07-31T22:13:21.500Z"
    assert turns[3].place == "conversation 2, message 2"
    assert findings.left_out["tool output"] == 2


def test_a_claude_ai_export_is_read() -> None:
    assert turns_of("claude-ai-2025-conversations.json") == [
        "user: Which colour?",
        "assistant: Blue, because it is calm.",
    ]


@pytest.mark.parametrize("name", ["messages.json", "messages.jsonl"])
def test_a_list_of_messages_is_read(name: str) -> None:
    assert turns_of(name) == ["user: Which font?", "assistant: A serif font."]


def test_markdown_with_a_heading_for_each_message_is_read() -> None:
    turns, _ = read("export", FIXTURES / "export" / "headings.md")
    assert turns[0].text == "Which editor?\n\n> a quote of mine"
    assert turns[0].at == "2025-08-01T10:00:00Z"
    assert turns[1].text.startswith("We use Vim.")
    assert "## User\nnot a message" in turns[1].text  # in a fenced block
    assert turns[1].text.endswith("### Reasons\n\nIt is there.")
    assert len(turns) == 2
    assert "SECRET" not in repr(turns)


def test_markdown_with_names_in_bold_or_before_a_colon_is_read() -> None:
    assert turns_of("bold.md") == [
        "user: Which shell?",
        "assistant: We use Bash.",
        "user: and on Windows?",
        "assistant: PowerShell.",
    ]


def test_the_terminal_of_claude_code_is_read_without_outputs() -> None:
    turns, _ = read("export", FIXTURES / "export" / "claude-code-2.1-terminal.txt")
    assert lines_of(turns) == [
        "user: Which test runner?\nAnd why?",
        "assistant: We use pytest, because\neverybody knows it.",
        "user: Good.",
    ]
    assert turns[1].tools == {"Read": 1}
    assert "SECRET" not in repr(turns)


@pytest.mark.parametrize(
    "text", ["", "   \n", "no name at all\n", "{", "[", "[1,2", "[]", "{}", "null", '{"a": 1}\n{"b": 2}\n']
)
def test_a_file_without_a_conversation_gives_no_turn_and_no_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "export"
    path.write_text(text, "utf-8")
    assert read("export", path)[0] == []


JSON = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers(-9, 9) | strategies.text(),
    lambda inner: strategies.lists(inner, max_size=3) | strategies.dictionaries(strategies.text(), inner, max_size=3),
    max_leaves=8,
)


@given(strategies.lists(JSON, max_size=6), strategies.booleans(), strategies.integers(1, 9))
def test_the_elements_of_an_array_are_those_that_json_gives(values: list[object], ascii_only: bool, chunk: int) -> None:
    data = json.dumps(values, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    file = io.BytesIO(data[1:])
    before = json_elements._CHUNK
    json_elements._CHUNK = chunk  # strings and brackets across pieces
    try:
        found = list(json_elements.elements(file, Findings()))
    finally:
        json_elements._CHUNK = before
    assert found == [value for value in values if value is not None]


def test_an_element_above_the_limit_is_skipped_and_counted() -> None:
    findings = Findings()
    data = json.dumps([1, "x" * 100, 2]).encode()[1:]
    assert list(json_elements.elements(io.BytesIO(data), findings, limit=50)) == [1, 2]
    assert findings.left_out["record above the size limit"] == 1


@given(strategies.text(max_size=200))
def test_markdown_of_any_form_raises_nothing(text: str) -> None:
    from collections import Counter

    list(export_markdown.said(enumerate(text.split("\n"), start=1), Counter(), is_terminal=True))
