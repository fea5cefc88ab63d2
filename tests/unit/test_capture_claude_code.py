"""Claude Code's transcripts: what was said is read, in every form that its versions write."""

from __future__ import annotations

from pathlib import Path

import pytest
from transcript_shelf import (
    SESSION,
    claude_file,
    lines_of,
    only_transcript,
    read,
)


def test_what_was_rewound_is_left_out(tmp_path: Path) -> None:
    claude_file(tmp_path, "2.1.330-rewound.jsonl")
    turns, findings = read("claude-code", only_transcript("claude-code", tmp_path))
    assert lines_of(turns) == [
        "user: Which queue do we use?",
        "assistant: We use Redis.",
        "user: Use Postgres as the queue.",
        "assistant: Postgres it is.",
    ]
    assert findings.left_out["rewound turn"] == 3


def test_a_compaction_and_a_cleared_context_are_markers_and_no_turns(tmp_path: Path) -> None:
    claude_file(tmp_path, "2.1.330-compacted-and-cleared.jsonl")
    turns, findings = read("claude-code", only_transcript("claude-code", tmp_path))
    assert [(turn.marker, line) for turn, line in zip(turns, lines_of(turns), strict=True)] == [
        (None, "user: How do we log?"),
        (None, "assistant: We log JSON lines."),
        ("compacted", "user: And the level?"),
        (None, "assistant: Info."),
        ("cleared", "user: /review the parser, please"),
        (None, "assistant: The parser is fine."),
    ]
    assert findings.left_out["summary by the tool"] == 1
    assert findings.left_out["command"] == 3


def test_a_turn_says_the_folder_in_which_it_was_said(tmp_path: Path) -> None:
    claude_file(tmp_path, "2.1.330-moved.jsonl")
    turns, _ = read("claude-code", only_transcript("claude-code", tmp_path))
    assert [(turn.folder, turn.branch) for turn in turns] == [
        ("/home/ana/shop", "main"),
        ("/home/ana/other", "main"),
        ("/home/ana/shop", "feature"),
    ]


@pytest.mark.parametrize("name", [f"{SESSION}/subagents/agent-abc123.jsonl", "agent-abc123.jsonl"])
def test_the_turns_of_a_sub_agent_are_a_part_of_its_session(tmp_path: Path, name: str) -> None:
    claude_file(tmp_path, "2.1.330-moved.jsonl")
    claude_file(tmp_path, "2.1.330-subagent.jsonl", name)
    turns, _ = read("claude-code", only_transcript("claude-code", tmp_path))
    assert lines_of(turns)[3:] == ["abc123 user: Search the tests.", "abc123 assistant: There are three tests."]
    assert turns[3].place == "agent-abc123.jsonl line 1"


def test_a_sub_agent_of_another_session_is_no_part_of_this_one(tmp_path: Path) -> None:
    claude_file(tmp_path, "1.0.60-side-chain.jsonl", "5e551005-0000-4000-8000-000000000005.jsonl")
    claude_file(tmp_path, "2.1.330-subagent.jsonl", "agent-abc123.jsonl")
    turns, _ = read("claude-code", only_transcript("claude-code", tmp_path))
    assert not any(turn.part == "abc123" for turn in turns)


def test_a_side_chain_within_a_session_is_a_part_of_its_own(tmp_path: Path) -> None:
    claude_file(tmp_path, "1.0.60-side-chain.jsonl")
    turns, _ = read("claude-code", only_transcript("claude-code", tmp_path))
    part = "00000003-0000-4000-8000-000000000000"
    assert sorted(lines_of(turns)) == sorted(
        [
            "user: Why is the build slow?",
            "assistant: The tests are slow; we run them in parallel.",
            f"{part} user: Look at the build.",
            f"{part} assistant: The tests are slow.",
        ]
    )


def test_a_newer_format_says_so_and_loses_nothing_that_is_known(tmp_path: Path) -> None:
    claude_file(tmp_path, "2.9.0-newer.jsonl")
    turns, findings = read("claude-code", only_transcript("claude-code", tmp_path))
    assert lines_of(turns) == ["user: Is it newer?", "assistant: Yes."]
    assert findings.newer == "2.9.0"
    assert findings.unknown == {"hologram": 1}
    assert findings.damaged == 2  # an array, and a line that is no JSON
    assert findings.unfinished


def test_keys_in_another_order_are_read_alike(tmp_path: Path) -> None:
    import json

    path = claude_file(tmp_path, "2.1.330-all-kinds.jsonl")
    before = lines_of(read("claude-code", path)[0])
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    path.write_text("".join(json.dumps(dict(sorted(record.items()))) + "\n" for record in records), "utf-8")
    assert lines_of(read("claude-code", path)[0]) == before


def test_the_title_is_the_one_that_the_tool_gave(tmp_path: Path) -> None:
    claude_file(tmp_path, "2.1.330-all-kinds.jsonl")
    assert only_transcript("claude-code", tmp_path).title == "The cart’s “database”".replace("“", '"').replace("”", '"')


def test_a_long_path_is_found_by_its_first_200_characters(tmp_path: Path) -> None:
    workspace = Path("/home/ana") / ("long" * 60)
    encoded = f"-home-ana-{'long' * 60}"[:200] + "-1x2y3z"
    claude_file(tmp_path, "2.1.330-moved.jsonl", project=encoded)
    assert only_transcript("claude-code", tmp_path, workspace)


def test_the_version_changes_when_the_session_or_a_sub_agent_grows(tmp_path: Path) -> None:
    path = claude_file(tmp_path, "2.1.330-moved.jsonl")
    agent = claude_file(tmp_path, "2.1.330-subagent.jsonl", f"{SESSION}/subagents/agent-abc123.jsonl")
    versions = [only_transcript("claude-code", tmp_path).version]
    for grown in (path, agent):
        with grown.open("ab") as file:
            file.write(b"{}\n")
        versions.append(only_transcript("claude-code", tmp_path).version)
    assert len(set(versions)) == 3
