"""Codex's transcripts: what was said is read, in every form that its versions write."""

from __future__ import annotations

from pathlib import Path

import pytest
from transcript_shelf import codex_file, lines_of, only_transcript, read

from bridge.capture.readers import codex_text
from bridge.capture.readers.codex import READER
from bridge.capture.readers.reader import Home


def test_what_was_rolled_back_is_left_out(tmp_path: Path) -> None:
    codex_file(tmp_path, "0.120.0-rolled-back.jsonl")
    turns, findings = read("codex", only_transcript("codex", tmp_path))
    assert lines_of(turns) == [
        "user: First question",
        "assistant: First answer",
        "user: Second question",
        "assistant: Second answer",
    ]
    assert findings.left_out["rewound turn"] == 2


def test_the_turns_of_a_sub_agent_have_its_id_as_their_part(tmp_path: Path) -> None:
    codex_file(tmp_path, "0.169.0-subagent.jsonl")
    turns, _ = read("codex", only_transcript("codex", tmp_path))
    assert {turn.part for turn in turns} == {"01a20000-0000-7000-8000-000000000002"}


def test_records_without_a_payload_as_before_version_0_32_are_read(tmp_path: Path) -> None:
    codex_file(tmp_path, "0.20.0-bare.jsonl")
    turns, findings = read("codex", only_transcript("codex", tmp_path))
    assert lines_of(turns) == ["user: What is the port?", "assistant: The port is 8080."]
    assert {turn.folder for turn in turns} == {"/home/ana/shop"}
    assert turns[1].files == ("old.py",)
    assert not findings.unknown


def test_archived_sessions_are_found_and_the_folder_can_be_moved(tmp_path: Path) -> None:
    present = codex_file(tmp_path, "0.169.0-all-kinds.jsonl")
    archive = tmp_path / ".codex" / "archived_sessions"
    archive.mkdir()
    present.rename(archive / present.name)
    turns, _ = read("codex", only_transcript("codex", tmp_path))
    assert len(turns) == 4
    moved = Home(tmp_path, {"CODEX_HOME": str(tmp_path / "moved")})
    assert [root.parent for root in READER.roots(moved)] == [tmp_path / "moved"] * 2


@pytest.mark.parametrize(
    ("text", "by_tool"),
    [
        ("<environment_context>\n<cwd>/a</cwd>\n</environment_context>", True),
        ("<user_instructions>\n\nBe brief.\n</user_instructions>", True),
        ("<turn_aborted>\nx\n</turn_aborted>", True),
        ("# AGENTS.md instructions for /a\n\nx", True),
        ("Why does <environment_context> appear?", False),
        ("<my-element>What is this?</my-element>", False),
        ("<b>bold</b>", False),
    ],
)
def test_only_a_text_that_is_wholly_in_a_tag_of_the_tool_is_no_word_of_the_person(text: str, by_tool: bool) -> None:
    assert codex_text.is_by_tool(text) == by_tool


ENVIRONMENT = "<environment_context>"


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("<environment_context>\n  <cwd>/a</cwd>\n</environment_context>", "/a"),
        ("<environment_context>\n  <shell>zsh</shell>\n  <cwd>/a</cwd>\n  <os>x</os>\n</environment_context>\n", "/a"),
        ("<environment_context>\nCurrent working directory: /a\nApproval policy: x\n</environment_context>", "/a"),
        ("# AGENTS.md instructions for /b\n\n<environment_context>\n<cwd>/a</cwd>\n</environment_context>", None),
        ("<environment_context><cwd>/a</cwd></environment_context> is what Codex sends", None),
        (
            "<environment_context></environment_context><x><cwd>/a</cwd></x><environment_context></environment_context>",
            None,
        ),
        ("<user_instructions><environment_context><cwd>/a</cwd></environment_context></user_instructions>", None),
    ],
)
def test_only_a_text_that_is_the_environment_names_the_folder(text: str, folder: str | None) -> None:
    other = {"type": "input_text", "text": "Hello"}
    content = [other, {"type": "input_text", "text": text}]
    assert codex_text.folder_of({"role": "user", "content": content}) == folder
