"""What every reader of transcripts promises, with a row for each tool; then what one tool alone has."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from transcript_shelf import (
    FIXTURES,
    PROJECT,
    SESSION,
    WORKSPACE,
    claude_file,
    codex_file,
    gemini_file,
    home_in,
    lines_of,
    only_transcript,
    read,
    vscode_file,
)

from bridge.capture.readers import codex, gemini_cli, vscode_chat
from bridge.capture.readers.json_records import read_object
from bridge.capture.readers.reader import Home, reader_of
from bridge.capture.readers.vscode_folders import local_path, workspace_id
from bridge.capture.session import Findings, Turn

Put = Callable[..., Path]


def put_vscode(home: Path, fixture: str, folder: str = "file:///home/ana/shop") -> Path:
    return vscode_file(home / ".config" / "Code" / "User", fixture, folder)


def put_codex(home: Path, fixture: str, folder: str = "/home/ana/shop") -> Path:
    path = codex_file(home, fixture)
    path.write_text(path.read_text().replace("/home/ana/shop", folder))
    return path


def put_claude(home: Path, fixture: str, project: str = PROJECT) -> Path:
    return claude_file(home, fixture, project=project)


TOOLS = {claude_file: "claude-code", codex_file: "codex", gemini_file: "gemini-cli"}


def read_only(put: Put, home: Path, fixture: str, *name: str) -> tuple[list[Turn], Findings]:
    """What is read of the one session, when this is it."""
    put(home, fixture, *name)
    return read(TOOLS[put], only_transcript(TOOLS[put], home))


@dataclass(frozen=True)
class Row:
    """A tool, a fixture with records of all kinds, and what is to be read of it."""

    tool: str
    put: Put
    fixture: str
    said: list[str]
    turns: Mapping[int, Mapping[str, Any]]
    hidden: str
    left_out: Mapping[str, int]
    newer: tuple[str, list[str], str | None, dict[str, int]]
    folders: Mapping[str, bool]
    moved: tuple[str, str]
    markers: list[str | None] = field(default_factory=list)


ROWS = [
    Row(
        "claude-code", put_claude, "2.1.330-all-kinds.jsonl",
        ["user: Which database for the cart?",
         "assistant: I look at the code first.\n\nWe use SQLite, because the cart is one file.",
         "user: Keep the table names in English.", "assistant: English names it is.", "user: Also index the date.",
         "assistant: Indexed.", "user: Which port? → 8080", "assistant: Port 8080."],
        {0: {"at": "2026-08-03T09:01:00Z", "folder": "/home/ana/shop", "branch": "main", "place": "line 3"},
         1: {"tools": {"Read": 1, "Edit": 1}, "files": ("/home/ana/shop/cart.py",)}},
        "SECRET FILE-CONTENT ATTACHED API-BLOB NOTIFIED Monday",
        {"tool output": 3, "thinking": 1, "text by the tool": 4},
        ("2.9.0-newer.jsonl", ["user: Is it newer?", "assistant: Yes."], "2.9.0", {"hologram": 1}),
        # A folder below, or one beside: its turns say which. A session that began above may have moved here.
        {PROJECT: True, f"{PROJECT}-web": True, "-home-ana": True, "-home-ana-shopping": False,
         "-home-ben-shop": False},
        ("CLAUDE_CONFIG_DIR", ".claude"),
    ),
    Row(
        "codex", put_codex, "0.169.0-all-kinds.jsonl",
        ["user: Which cache do we use?", "assistant: We use Redis, because it expires keys.", "user: Rename it.",
         "assistant: Renamed."],
        {0: {"branch": "main", "at": "2026-08-04T10:06:00Z", "place": "line 7", "folder": "/home/ana/shop"},
         1: {"tools": {"exec_command": 1, "apply_patch": 1}, "files": ("src/cache.py", "src/new.py")},
         2: {"folder": "/home/ana/other"}},
        "SECRET FILE-CONTENT NOTE SUMMARY environment AGENTS IDE",
        {"tool output": 2, "thinking": 1, "text by the tool": 3, "summary by the tool": 1},
        ("1.4.0-newer.jsonl", ["user: Newer?", "assistant: Yes."], "1.4.0", {"telepathy": 1, "hologram": 1}),
        {"/home/ana/shop": True, "/home/ana/shop/web": True, "/home/ana": True, "/home/ana/else": False},
        ("CODEX_HOME", ".codex"),
        [None, None, "compacted", None],
    ),
    Row(
        "gemini-cli", gemini_file, "0.61.0-all-kinds.jsonl",
        ["user: Which cache do we use? @src/cache.py",
         "assistant: I look first.\n\nWe use Redis, because it expires keys.", "user: Rename it to store.py.",
         "assistant: Renamed."],
        {1: {"at": "2026-08-04T10:02:30Z", "place": "line 5", "tools": {"read_file": 1}, "files": ("src/cache.py",),
             "folder": "/home/ana/shop"},
         3: {"files": ("src/store.py",)}},
        "SECRET FILE-CONTENT THOUGHT NOTICE session_context Wrong",
        {"text by the tool": 1, "notice": 1, "rewound turn": 2, "tool output": 2, "thinking": 1},
        ("0.70.0-unknown.jsonl", ["user: A question", "assistant: An answer"], None,
         {"hologram": 1, "record with $merge": 1}),
        {"/home/ana/shop/web": True, "/home/ana/shopping": False, "/home/ana": False},
        ("GEMINI_CLI_HOME", ""),
    ),
    Row(
        "vscode", put_vscode, "1.139.1-log.jsonl",
        ["user: Which cache do we use?",
         "assistant: I look first.\n\nWe use `cache.py`, because it expires keys.", "user: Rename it.",
         "assistant: Renamed."],
        {0: {"at": "2026-08-04T10:01:00Z", "place": "request 1", "folder": "/home/ana/shop"},
         1: {"at": "2026-08-04T10:01:30Z", "tools": {"copilot_readFile": 1}},
         3: {"files": ("/home/ana/shop/src/store.py", "/home/ana/shop/src/new.py")}},
        "SECRET THOUGHT ATTACHED FILE-CONTENT Wrong Undone",
        {"tool output": 1, "thinking": 1, "rewound turn": 1},
        ("1.160.0-newer.jsonl", ["user: A question", "assistant: An answer"], "format 4", {"hologram": 1}),
        {"file:///home/ana/shop/web": True, "file:///home/ana/other": False, "file:///home/ana": False,
         "vscode-remote://wsl%2Bu/home/ana/shop": False},
        ("XDG_CONFIG_HOME", ".config"),
    ),
]  # fmt: skip
ALL = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.tool)


@ALL
def test_a_session_is_read_as_what_the_person_and_the_assistant_said(tmp_path: Path, row: Row) -> None:
    row.put(tmp_path, row.fixture)
    turns, findings = read(row.tool, found := only_transcript(row.tool, tmp_path))
    assert lines_of(turns) == lines_of(read("export", found.path.rename(tmp_path / "talk.jsonl"))[0]) == row.said
    assert [turn.marker for turn in turns] == (row.markers or [None] * len(turns))
    for number, told in row.turns.items():
        assert {name: getattr(turns[number], name) for name in told} == told
    assert (dict(findings.unknown), findings.damaged, findings.newer) == ({}, 0, None)


@ALL
def test_what_nobody_said_is_left_out_and_counted(tmp_path: Path, row: Row) -> None:
    row.put(tmp_path, row.fixture)
    turns, findings = read(row.tool, only_transcript(row.tool, tmp_path))
    assert [word for word in row.hidden.split() if word in repr(turns)] == []
    assert {name: findings.left_out[name] for name in row.left_out} == row.left_out


@ALL
def test_a_newer_format_says_so_and_loses_nothing_that_is_known(tmp_path: Path, row: Row) -> None:
    fixture, said, newer, unknown = row.newer
    row.put(tmp_path, fixture)
    turns, findings = read(row.tool, only_transcript(row.tool, tmp_path))
    assert (lines_of(turns), findings.newer, dict(findings.unknown)) == (said, newer, unknown)


@ALL
def test_sessions_are_found_by_the_folder_in_which_they_ran(tmp_path: Path, row: Row) -> None:
    found = {}
    for number, folder in enumerate(row.folders):
        home = tmp_path / str(number)
        row.put(home, row.fixture, folder)
        found[folder] = bool(list(reader_of(row.tool).transcripts(home_in(home), WORKSPACE)))
    assert found == row.folders


@ALL
def test_the_environment_moves_the_folder(tmp_path: Path, row: Row) -> None:
    variable, folder = row.moved
    path = row.put(tmp_path / "moved", row.fixture)
    home = Home(tmp_path, {variable: str(tmp_path / "moved" / folder)}, "linux")
    assert [found.path for found in reader_of(row.tool).transcripts(home, WORKSPACE)] == [path]


@ALL
def test_every_fixture_is_read_without_an_unknown_record_but_the_newer_ones(tmp_path: Path, row: Row) -> None:
    for number, path in enumerate((FIXTURES / row.tool).glob("*.json*")):
        home = tmp_path / str(number)
        row.put(home, path.name)
        turns, findings = read(row.tool, only_transcript(row.tool, home))
        assert turns
        assert bool(findings.unknown) == (path.name == row.newer[0])


# --- Claude Code ---


REWOUND = [
    (claude_file, "2.1.330-rewound.jsonl",
     ["user: Which queue do we use?", "assistant: We use Redis.", "user: Use Postgres as the queue.",
      "assistant: Postgres it is."], 3),
    (codex_file, "0.120.0-rolled-back.jsonl",
     ["user: First question", "assistant: First answer", "user: Second question", "assistant: Second answer"], 2),
]  # fmt: skip


@pytest.mark.parametrize(("put", "fixture", "said", "rewound"), REWOUND)
def test_what_was_rewound_is_left_out(tmp_path: Path, put: Put, fixture: str, said: list[str], rewound: int) -> None:
    turns, findings = read_only(put, tmp_path, fixture)
    assert (lines_of(turns), findings.left_out["rewound turn"]) == (said, rewound)


def test_a_compaction_and_a_cleared_context_are_markers_and_no_turns(tmp_path: Path) -> None:
    turns, findings = read_only(claude_file, tmp_path, "2.1.330-compacted-and-cleared.jsonl")
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
    turns, _ = read_only(claude_file, tmp_path, "2.1.330-moved.jsonl")
    expected = [("/home/ana/shop", "main"), ("/home/ana/other", "main"), ("/home/ana/shop", "feature")]
    assert [(turn.folder, turn.branch) for turn in turns] == expected


@pytest.mark.parametrize("name", [f"{SESSION}/subagents/agent-abc123.jsonl", "agent-abc123.jsonl"])
def test_the_turns_of_a_sub_agent_are_a_part_of_its_session(tmp_path: Path, name: str) -> None:
    claude_file(tmp_path, "2.1.330-moved.jsonl")
    claude_file(tmp_path, "2.1.330-subagent.jsonl", name)
    turns, _ = read("claude-code", only_transcript("claude-code", tmp_path))
    assert lines_of(turns)[3:] == ["abc123 user: Search the tests.", "abc123 assistant: There are three tests."]
    assert turns[3].place == "agent-abc123.jsonl line 1"


def test_a_sub_agent_of_another_session_is_no_part_of_this_one(tmp_path: Path) -> None:
    claude_file(tmp_path, "1.0.60-side-chain.jsonl", "5e551005-0000-4000-8000-000000000005.jsonl")
    turns, _ = read_only(claude_file, tmp_path, "2.1.330-subagent.jsonl", "agent-abc123.jsonl")
    assert not any(turn.part == "abc123" for turn in turns)


def test_a_side_chain_within_a_session_is_a_part_of_its_own(tmp_path: Path) -> None:
    turns, _ = read_only(claude_file, tmp_path, "1.0.60-side-chain.jsonl")
    part = "00000003-0000-4000-8000-000000000000"
    own = [f"{part} assistant: The tests are slow.", f"{part} user: Look at the build."]
    whole = ["assistant: The tests are slow; we run them in parallel.", "user: Why is the build slow?"]
    assert sorted(lines_of(turns)) == [*own, *whole]


def test_an_array_a_line_that_is_no_json_and_a_half_line_are_counted(tmp_path: Path) -> None:
    _, findings = read_only(claude_file, tmp_path, "2.9.0-newer.jsonl")
    assert (findings.damaged, findings.unfinished) == (2, True)


def test_keys_in_another_order_are_read_alike(tmp_path: Path) -> None:
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


# --- Codex ---


def test_the_turns_of_a_sub_agent_have_its_id_as_their_part(tmp_path: Path) -> None:
    turns, _ = read_only(codex_file, tmp_path, "0.169.0-subagent.jsonl")
    assert {turn.part for turn in turns} == {"01a20000-0000-7000-8000-000000000002"}


def test_records_without_a_payload_as_before_version_0_32_are_read(tmp_path: Path) -> None:
    turns, findings = read_only(codex_file, tmp_path, "0.20.0-bare.jsonl")
    assert lines_of(turns) == ["user: What is the port?", "assistant: The port is 8080."]
    assert {turn.folder for turn in turns} == {"/home/ana/shop"}
    assert turns[1].files == ("old.py",)
    assert not findings.unknown


def test_archived_sessions_are_found(tmp_path: Path) -> None:
    present = codex_file(tmp_path, "0.169.0-all-kinds.jsonl")
    archive = tmp_path / ".codex" / "archived_sessions"
    archive.mkdir()
    present.rename(archive / present.name)
    turns, _ = read("codex", only_transcript("codex", tmp_path))
    assert len(turns) == 4


TAGGED = [
    ("<environment_context>\n<cwd>/a</cwd>\n</environment_context>", True),
    ("<user_instructions>\n\nBe brief.\n</user_instructions>", True),
    ("<turn_aborted>\nx\n</turn_aborted>", True),
    ("# AGENTS.md instructions for /a\n\nx", True),
    ("Why does <environment_context> appear?", False),
    ("<my-element>What is this?</my-element>", False),
    ("<b>bold</b>", False),
]


@pytest.mark.parametrize(("text", "by_tool"), TAGGED)
def test_only_a_text_that_is_wholly_in_a_tag_of_the_tool_is_no_word_of_the_person(text: str, by_tool: bool) -> None:
    assert codex.is_by_tool(text) == by_tool


ENVIRONMENT = "<environment_context>"


ENVIRONMENTS = [
    ("<environment_context>\n  <cwd>/a</cwd>\n</environment_context>", "/a"),
    ("<environment_context>\n  <shell>zsh</shell>\n  <cwd>/a</cwd>\n  <os>x</os>\n</environment_context>\n", "/a"),
    ("<environment_context>\nCurrent working directory: /a\nApproval policy: x\n</environment_context>", "/a"),
    ("# AGENTS.md instructions for /b\n\n<environment_context>\n<cwd>/a</cwd>\n</environment_context>", None),
    ("<environment_context><cwd>/a</cwd></environment_context> is what Codex sends", None),
    (f"{ENVIRONMENT}</environment_context><x><cwd>/a</cwd></x>{ENVIRONMENT}</environment_context>", None),
    ("<user_instructions><environment_context><cwd>/a</cwd></environment_context></user_instructions>", None),
]


@pytest.mark.parametrize(("text", "folder"), ENVIRONMENTS)
def test_only_a_text_that_is_the_environment_names_the_folder(text: str, folder: str | None) -> None:
    content = [{"type": "input_text", "text": each} for each in ("Hello", text)]
    assert codex.folder_of({"role": "user", "content": content}) == folder


# --- Gemini CLI ---


def test_a_prompt_is_read_without_what_hooks_gave_to_the_model(tmp_path: Path) -> None:
    turns, findings = read_only(gemini_file, tmp_path, "0.61.0-hooks.jsonl")
    assert lines_of(turns) == ["user: Where are the tokens?", "assistant: In the keyring.", "user: And on a server?"]
    assert findings.left_out == {"text by the tool": 4}


def test_what_was_said_before_a_compression_stays_and_the_summary_is_left_out(tmp_path: Path) -> None:
    turns, findings = read_only(gemini_file, tmp_path, "0.61.0-compressed.jsonl")
    assert [turn.text for turn in turns][::2] == ["First question", "Second question", "Third question"]
    assert [turn.marker for turn in turns] == [None, None, None, None, "compacted", None]
    assert findings.left_out == {"summary by the tool": 1}


def test_a_file_that_is_one_object_is_read(tmp_path: Path) -> None:
    turns, findings = read_only(gemini_file, tmp_path, "0.20.0-whole.json")
    assert lines_of(turns) == ["user: What is the port?", "assistant: The port is 8080."]
    assert turns[1].files == ("/home/ana/shop/old.py",)
    assert findings.left_out == {"tool output": 1}


def test_a_session_that_a_newer_version_continued_in_another_form_is_given_once(tmp_path: Path) -> None:
    gemini_file(tmp_path, "0.20.0-whole.json")
    name = hashlib.sha256(str(WORKSPACE).encode()).hexdigest()
    gemini_file(tmp_path, "0.20.0-whole.json", folder="", project=name)
    newer = gemini_file(tmp_path, "0.61.0-all-kinds.jsonl")
    assert only_transcript("gemini-cli", tmp_path).path == newer


def test_a_project_is_found_by_the_hash_of_its_path_as_older_versions_name_it(tmp_path: Path) -> None:
    name = hashlib.sha256(str(WORKSPACE).encode()).hexdigest()
    gemini_file(tmp_path, "0.20.0-whole.json", folder="", project=name)
    turns, _ = read("gemini-cli", only_transcript("gemini-cli", tmp_path))
    assert {turn.folder for turn in turns} == {str(WORKSPACE)}


def test_a_sub_agent_of_gemini_is_a_session_whose_part_is_its_id(tmp_path: Path) -> None:
    path = gemini_file(tmp_path, "0.61.0-compressed.jsonl")
    inner = path.parent / SESSION / "helper-1.jsonl"
    inner.parent.mkdir()
    inner.write_text(path.read_text().replace(SESSION, "helper-1"))
    parts = {each.session_id: {turn.part for turn in read("gemini-cli", each)[0]}
             for each in gemini_cli.transcripts(home_in(tmp_path), WORKSPACE)}  # fmt: skip
    assert parts == {SESSION: {""}, "helper-1": {"helper-1"}}


def test_unknown_and_damaged_records_are_counted_and_skipped(tmp_path: Path) -> None:
    path = gemini_file(tmp_path, "0.70.0-unknown.jsonl")
    path.write_bytes(path.read_bytes() + b'{"id": "m3", "type": "user", "content": "half')
    turns, findings = read("gemini-cli", only_transcript("gemini-cli", tmp_path))
    assert lines_of(turns) == ["user: A question", "assistant: An answer"]
    assert findings.unknown == {"hologram": 1, "record with $merge": 1}
    assert (findings.damaged, findings.unfinished) == (1, True)


def test_an_object_that_is_half_written_or_too_large_is_an_error_and_not_an_empty_session(tmp_path: Path) -> None:
    path = gemini_file(tmp_path, "0.20.0-whole.json")
    transcript = only_transcript("gemini-cli", tmp_path)
    with path.open("rb") as file, pytest.raises(OSError, match="the limit is 10"):
        read_object(file, Findings(), 10)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(OSError, match="half written"):
        read("gemini-cli", transcript)


def test_links_are_not_followed(tmp_path: Path) -> None:
    elsewhere = gemini_file(tmp_path / "other", "0.61.0-all-kinds.jsonl")
    path = gemini_file(tmp_path, "0.61.0-compressed.jsonl")
    path.unlink()
    path.symlink_to(elsewhere)
    assert list(gemini_cli.transcripts(home_in(tmp_path), WORKSPACE)) == []


# --- VS Code's chat ---


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return tmp_path / ".config" / "Code" / "User"


def test_a_flat_file_of_an_older_version_is_read(tmp_path: Path, user: Path) -> None:
    vscode_file(user, "1.95.0-flat.json")
    transcript = only_transcript("vscode", tmp_path)
    turns, findings = read("vscode", transcript)
    assert transcript.title == "The port"
    said = ["user: What is the port?", "assistant: The port is 8080.", "user: Change it.", "assistant: Changed."]
    assert lines_of(turns) == said
    assert turns[3].files == ("/home/ana/shop/old.py",)
    assert not findings.unknown


def test_after_a_damaged_change_the_log_continues_at_its_next_beginning(tmp_path: Path, user: Path) -> None:
    vscode_file(user, "1.139.1-compacted.jsonl")
    turns, findings = read("vscode", only_transcript("vscode", tmp_path))
    assert [turn.text for turn in turns] == ["Old question", "Old answer", "New question", "New answer"]
    assert findings.damaged == 2


def test_without_a_next_beginning_what_was_before_the_damage_stays(tmp_path: Path, user: Path) -> None:
    path = vscode_file(user, "1.139.1-compacted.jsonl")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    turns, _ = read("vscode", only_transcript("vscode", tmp_path))
    assert [turn.text for turn in turns] == ["Old question", "Old answer"]


UNFITTING = [
    {"kind": 1, "k": ["requests", 7, "message"], "v": "x"},
    {"kind": 1, "k": ["requests", "x", "message"], "v": "x"},
    {"kind": 1, "k": ["requests", -1, "response"], "v": []},
    {"kind": 2, "k": ["requests", 0, "timestamp"], "v": [1]},
    {"kind": 2, "k": ["requests"], "i": 99},
    {"kind": 2, "k": ["requests"], "v": "x"},
    {"kind": 1, "k": []},
    {"kind": 1},
    {"kind": 9, "k": ["requests"], "v": []},
]


@pytest.mark.parametrize("change", UNFITTING)
def test_an_unfitting_change_is_counted_and_ends_the_replay(tmp_path: Path, user: Path, change: dict[str, Any]) -> None:
    path = vscode_file(user, "1.139.1-compacted.jsonl")
    later = {"kind": 1, "k": ["requests", 0, "message"], "v": "WRONG"}
    path.write_bytes(path.read_bytes() + "".join(json.dumps(each) + "\n" for each in (change, later)).encode())
    turns, findings = read("vscode", only_transcript("vscode", tmp_path))
    assert [turn.text for turn in turns] == ["Old question", "Old answer", "New question", "New answer"]
    assert findings.damaged == 4


def test_a_log_whose_beginning_is_half_written_is_an_error_and_not_an_empty_session(tmp_path: Path, user: Path) -> None:
    path = vscode_file(user, "1.160.0-newer.jsonl")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(OSError, match="half written"):
        read("vscode", only_transcript("vscode", tmp_path))


def test_a_half_written_last_change_is_left_for_the_next_time(tmp_path: Path, user: Path) -> None:
    path = vscode_file(user, "1.139.1-log.jsonl")
    path.write_bytes(path.read_bytes() + b'{"kind":2,"k":["requests"],"i":0')
    turns, findings = read("vscode", only_transcript("vscode", tmp_path))
    assert len(turns) == 4
    assert findings.unfinished


PRODUCTS = [
    ("linux", {}, ".config/Code/User"),
    ("linux", {}, ".config/Code - Insiders/User"),
    ("linux", {}, ".config/VSCodium/User"),
    ("linux", {"XDG_CONFIG_HOME": "{home}/conf"}, "conf/Code/User"),
    ("linux", {}, ".var/app/com.visualstudio.code/config/Code/User"),
    ("darwin", {}, "Library/Application Support/Code/User"),
    ("win32", {}, "AppData/Roaming/Code/User"),
    ("win32", {"APPDATA": "{home}/roaming"}, "roaming/VSCodium/User"),
    ("linux", {"VSCODE_PORTABLE": "{home}/data"}, "data/user-data/User"),
    ("linux", {}, ".local/share/code-server/User"),
    ("linux", {}, ".vscode-server/data/User"),
]


@pytest.mark.parametrize(("platform", "environment", "user"), PRODUCTS)
def test_each_product_has_its_own_folder(tmp_path: Path, platform: str, environment: dict[str, str], user: str) -> None:
    """On each platform."""
    vscode_file(tmp_path / user, "1.139.1-log.jsonl")
    moved = {name: value.format(home=tmp_path) for name, value in environment.items()}
    (found,) = vscode_chat.transcripts(Home(tmp_path, moved, platform), WORKSPACE)
    assert found.path.is_relative_to(tmp_path / user)


URIS = [
    ("file:///home/ana/shop", False, "/home/ana/shop"),
    ("file:///home/ana/my%20shop", False, "/home/ana/my shop"),
    ("file:///c%3A/Users/ana/shop", False, "c:/Users/ana/shop"),
    ("vscode-remote://localhost:8080/home/ana/shop", True, "/home/ana/shop"),
    ("vscode-remote://ssh-remote%2Bbox/home/ana/shop", False, None),
    ("vscode-remote://wsl%2Bubuntu/home/ana/shop", False, None),
    ("file://server/share/shop", False, None),
    ("untitled:Untitled-1", False, None),
    ("file://[bad", False, None),
    ({"scheme": "file", "path": "/home/ana/a.py"}, False, "/home/ana/a.py"),
    (None, False, None),
]


@pytest.mark.parametrize(("uri", "is_server", "path"), URIS)
def test_only_a_uri_of_this_machine_has_a_path(uri: Any, is_server: bool, path: str | None) -> None:
    assert local_path(uri, is_server) == path


def test_the_id_of_a_folder_opened_in_the_browser_is_the_one_that_vs_code_gives() -> None:
    assert workspace_id("vscode-remote://127.0.0.1:42761/tmp/kr2%20ws/shop") == "3dc0b847"  # seen in code-server 4.139


def test_a_folder_opened_in_the_browser_is_found_by_an_address_that_a_session_mentions(tmp_path: Path) -> None:
    user = tmp_path / ".local" / "share" / "code-server" / "User"
    known = workspace_id("vscode-remote://box.example:9000/home/ana/shop")
    path = vscode_file(user, "1.139.1-log.jsonl", folder="", storage=known)
    vscode_file(user, "1.139.1-log.jsonl", folder="", storage="3dc0b847")
    assert list(vscode_chat.transcripts(home_in(tmp_path), WORKSPACE)) == []
    remote = '"scheme":"vscode-remote","authority":"box.example:9000"'
    path.write_text(path.read_text().replace('"scheme":"file"', remote))
    (found,) = vscode_chat.transcripts(home_in(tmp_path), WORKSPACE)
    assert (found.path, found.folder) == (path, "/home/ana/shop")


def test_sessions_without_a_folder_are_not_read(tmp_path: Path, user: Path) -> None:
    vscode_file(user, "1.139.1-log.jsonl").rename(user / "moved.jsonl")
    empty = user / "globalStorage" / "emptyWindowChatSessions"
    empty.mkdir(parents=True)
    (user / "moved.jsonl").rename(empty / "a.jsonl")
    assert list(vscode_chat.transcripts(home_in(tmp_path), WORKSPACE)) == []
