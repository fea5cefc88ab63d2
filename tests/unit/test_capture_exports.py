"""Exported conversations are read whatever their form, which is told by what the file holds."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies
from transcript_shelf import FIXTURES, lines_of, read

from bridge.capture.readers import export_markdown, json_records
from bridge.capture.readers.export_labels import Labels, labels_of
from bridge.capture.session import Findings


def parsed(folder: Path, *paragraphs: str) -> tuple[Any, Findings]:
    """The turns of a file of these paragraphs, and what was found in it."""
    path = folder / "talk.md"
    path.write_text("\n\n".join(paragraphs), "utf-8")
    return read("export", path)


def turns_of(name: str) -> list[str]:
    turns, findings = read("export", FIXTURES / "export" / name)
    assert "SECRET" not in repr(turns)
    assert not findings.unknown
    assert not findings.damaged
    return lines_of(turns)


def test_of_a_chatgpt_export_the_branch_that_was_shown_last_is_read() -> None:
    turns, findings = read("export", FIXTURES / "export" / "chatgpt-2025-conversations.json")
    assert lines_of(turns) == ["user: Which port?", "assistant: Port 8080.", "user: Thanks."] * 2
    assert [turn.marker for turn in turns] == [None, None, None, "cleared", None, None]
    assert turns[0].at == "2025-07-31T22:13:21.500Z"
    assert turns[3].place == "conversation 2, message 2"
    assert findings.left_out["tool output"] == 2


def test_a_claude_ai_export_is_read() -> None:
    expected = ["user: Which colour?", "assistant: Blue, because it is calm."]
    assert turns_of("claude-ai-2025-conversations.json") == expected


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


def labelled(person: str, assistant: str, *, inline: bool = False) -> str:
    """The same four turns, with these labels; each on a line of its own, or before the text."""
    end = " " if inline else "\n\n"
    return "\n\n".join(f"{label}{end}{text}" for label, text in zip((person, assistant) * 2, FOUR, strict=True))


FOUR = ("Which shell?", "We use Bash.", "We never use a pager.", "Then there is none.")
READ = [f"{speaker}: {text}" for speaker, text in zip(("user", "assistant") * 2, FOUR, strict=True)]


LABELS = [
    labelled("## User", "## Assistant"),
    labelled("### 👤 User", "### 🤖 Assistant"),
    labelled("## Prompt:", "## Response:"),
    labelled("### User Input", "### Planner Response"),
    labelled("##### **You said:**", "###### **ChatGPT said:**"),
    labelled("## Dean", "## Claude"),
    labelled("**User:**", "**Assistant:**", inline=True),
    labelled("**User**", "**Cursor**"),
    labelled("**You said:**", "**ChatGPT said:**"),
    labelled("***You said:***", "***ChatGPT said:***"),
    labelled("_**User**_", "_**Assistant**_"),
    labelled("_**User (2026-01-29 16:21:35Z)**_", "_**Agent (claude-opus-4-8 2026-01-29 16:21:40Z)**_"),
    labelled("[USER]", "[ASSISTANT]"),
    labelled("User:", "Assistant:", inline=True),
    labelled("Human:", "Assistant:", inline=True),
    labelled("ana-berg:", "GitHub Copilot:", inline=True),
    "# aider chat started at 2025-07-15 14:53:34\n\n> aider v0.85\n\n#### /add a.py\n#### /ask Which shell?\n\n"
    "<thinking-content-7b>\n\nHm.\n\n</thinking-content-7b>\n\nWe use Bash.\n\n"
    "> Tokens: 2k\n\n#### We never use a pager.\n\nThen there is none.\n",
]  # fmt: skip


@pytest.mark.parametrize("text", LABELS)
def test_a_form_of_labels_is_read(tmp_path: Path, text: str) -> None:
    turns, findings = parsed(tmp_path, text)
    assert lines_of(turns) == READ
    assert findings.refused is None


NO_LABELS = [
    ("Which shell?\n\nWe use Bash.", "No labels of speakers were found. These forms are read: **User:**"),
    ("## User\n\nWhich shell?\n\nWe use Bash.", "Labels of the person alone were found"),
    ("## Notes\n\n## Claude\n\nWe use Bash.\n\n## Claude\n\nOr not.\n\n## Claude\n\nWell.", "the assistant alone"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), NO_LABELS)
def test_a_file_without_labels_of_both_is_refused_with_the_forms_read(tmp_path: Path, text: str, said: str) -> None:
    turns, findings = parsed(tmp_path, text)
    assert turns == []
    assert said in str(findings.refused)


HEADS = [
    ("# Ports and hosts (2025-02-11 12:43:50)", "2025-02-11T12:43:50Z", "Ports and hosts"),
    ("## SpecStory\n\n## Ports and hosts (25/02/2025, 04:05:56)", "2025-02-25T04:05:56Z", "Ports and hosts"),
    ("# Ports\n\n**Created:** 8/13/2026, 4:51:45 PM", "2026-08-13T16:51:45Z", "Ports"),
    ("_Exported on 2026/3/15 at GMT+8 16:50:31 from Cursor (2.6.19)_", "2026-03-15T00:00:00Z", None),
    ("# 2026-01-23 17:24:15Z", "2026-01-23T17:24:15Z", None),
    ("_Exported on 7/8/2025 from Cursor_", None, None),  # July or August
]


@pytest.mark.parametrize(("head", "at", "title"), HEADS)
def test_the_head_tells_title_and_plain_date(tmp_path: Path, head: str, at: str | None, title: str | None) -> None:
    """Unless the date may be two."""
    turns, findings = parsed(tmp_path, head, labelled("## User", "## Assistant"))
    assert {turn.at for turn in turns} == {at}
    assert findings.title == title


def test_a_line_with_nothing_but_a_time_is_the_time_of_its_message(tmp_path: Path) -> None:
    turns, _ = parsed(tmp_path, "## Prompt:\n8/13/2026, 4:51:45 PM", "Which port?", "## Response:\n8080.\n")
    assert (turns[0].at, turns[0].text) == ("2026-08-13T16:51:45Z", "Which port?")


def test_a_heading_of_an_answer_is_nobodys_request_in_aiders_log(tmp_path: Path) -> None:
    said = ["#### Which port?  ", "#### In the tests.  ", "#### 1. The port", "It is 8080.\n"]
    turns, _ = parsed(tmp_path, "# aider chat started at 2025-07-15 14:53:34", "\n".join(said))
    assert [(turn.speaker, turn.text) for turn in turns] == [
        ("user", "Which port?  \nIn the tests."), ("assistant", "#### 1. The port\nIt is 8080."),
    ]  # fmt: skip


def test_a_plan_that_aider_repeats_as_a_request_is_the_assistants(tmp_path: Path) -> None:
    plan = ["1) Read the settings from one file.", "2) Delete the second reader.", "3) Test both platforms."]
    turns, _ = parsed(
        tmp_path, "# aider chat started at 2025-07-15 14:53:34", "#### One settings file, please", "\n".join(plan),
        "\n".join(f"#### {line}" for line in plan), "All three are done.\n",
    )  # fmt: skip
    assert [turn.speaker for turn in turns] == ["user", "assistant"]


def test_what_is_said_after_the_last_folded_block_of_a_tool_is_the_report(tmp_path: Path) -> None:
    path = tmp_path / "talk.md"
    blocks = "Let me look.\n\n<details>\n<summary>Edit: x</summary>\nSECRET\n</details>\n\n---\n\nThe port is 80 now."
    path.write_text(f"_**User**_\n\nWhich port?\n\n_**Assistant**_\n\n{blocks}\n", "utf-8")
    turns, _ = read("export", path)
    assert turns[1].text.rsplit("\n\n", turns[1].report)[-1] == "The port is 80 now."
    assert turns[1].tools, "something was called"


def test_blocks_of_tools_and_thinking_are_left_out_of_markdown(tmp_path: Path) -> None:
    tool = '<tool-use data-tool-name="Bash"><details>\n<summary>x</summary>\nSECRET\n</details></tool-use>'
    turns, _ = parsed(tmp_path, "_**User**_", "Which port?", f"_**Agent**_\n\n<think>SECRET</think>\n{tool}\n8080.\n")
    assert lines_of(turns) == ["user: Which port?", "assistant: 8080."]
    assert turns[1].tools == {"Bash": 1}, "what was called is known"


def test_a_message_with_many_lines_between_is_read_in_time_and_loses_those_at_its_end(tmp_path: Path) -> None:
    rules = "---\n\n\n" * 60
    turns, _ = parsed(tmp_path, f"_**User**_\n\nKeep\n{rules}it.\n\n{rules}_**Agent**_\n\nDone.\n")
    assert [turns[0].text.split("\n")[0], turns[0].text[-4:], turns[1].text] == ["Keep", "\nit.", "Done."]


def test_the_terminal_of_claude_code_is_read_without_outputs() -> None:
    turns, _ = read("export", FIXTURES / "export" / "claude-code-2.1-terminal.txt")
    assert lines_of(turns) == [
        "user: Which test runner?\nAnd why?",
        "assistant: We use pytest, because\neverybody knows it.",
        "user: Good.",
    ]
    assert turns[1].tools == {"Read": 1}
    assert "SECRET" not in repr(turns)


NO_CONVERSATIONS = ["", "   \n", "no name at all\n", "{", "[", "[1,2", "[]", "{}", "null", '{"a": 1}\n{"b": 2}\n']


@pytest.mark.parametrize("text", NO_CONVERSATIONS)
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
    before = json_records._CHUNK
    json_records._CHUNK = chunk  # strings and brackets across pieces
    try:
        found = list(json_records.elements(file, Findings()))
    finally:
        json_records._CHUNK = before
    assert found == [value for value in values if value is not None]


def test_an_element_above_the_limit_is_skipped_and_counted() -> None:
    findings = Findings()
    data = json.dumps([1, "x" * 100, 2]).encode()[1:]
    assert list(json_records.elements(io.BytesIO(data), findings, limit=50)) == [1, 2]
    assert findings.left_out["record above the size limit"] == 1


@given(strategies.text(max_size=200))
def test_markdown_of_any_form_raises_nothing(text: str) -> None:
    from collections import Counter

    lines = text.split("\n")
    for labels in (labels_of(lines), Labels("terminal"), Labels("aider")):
        list(export_markdown.said(enumerate(lines, start=1), labels, Counter()))


def test_a_message_without_a_time_has_that_of_the_one_before(tmp_path: Path) -> None:
    said = ["# Ports (2026-01-30 09:00Z)", "_**User (2026-01-29 16:21Z)**_", "Which port?", "_**Assistant**_", "8080."]
    turns, _ = parsed(tmp_path, *said)
    assert [turn.at for turn in turns] == ["2026-01-29T16:21:00Z"] * 2


def test_a_message_begins_behind_a_block_that_nobody_closed_and_another_programs_marks(tmp_path: Path) -> None:
    said = ["_**User**_", "Which port?", "---", "_**Assistant**_", "```", "  ⎿ 8080", "---", "_**User**_", "Thanks."]
    turns, _ = parsed(tmp_path, *said, "---", "_**Assistant**_", "Welcome.")
    assert [turn.speaker for turn in turns] == ["user", "assistant"] * 2


def test_of_a_call_written_as_a_line_the_tool_is_known_and_its_output_left_out(tmp_path: Path) -> None:
    said = ["_**User**_", "Add it.", "_**Assistant**_", "I look.", "Tool use: **edit**", "SECRET", "---", "Added."]
    turns, _ = parsed(tmp_path, *said)
    assert (turns[1].tools, turns[1].report) == ({"edit": 1}, 2)
    assert "SECRET" not in turns[1].text
