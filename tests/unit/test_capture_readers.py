"""What every reader of transcripts promises, with a row for each tool. What one tool alone has is in its own file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from transcript_shelf import (
    FIXTURES,
    PROJECT,
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

from bridge.capture.readers.reader import Home
from bridge.capture.readers.registry import reader_of

Put = Callable[..., Path]


def put_vscode(home: Path, fixture: str, folder: str = "file:///home/ana/shop") -> Path:
    return vscode_file(home / ".config" / "Code" / "User", fixture, folder)


def put_codex(home: Path, fixture: str, folder: str = "/home/ana/shop") -> Path:
    path = codex_file(home, fixture)
    path.write_text(path.read_text().replace("/home/ana/shop", folder))
    return path


def put_claude(home: Path, fixture: str, project: str = PROJECT) -> Path:
    return claude_file(home, fixture, project=project)


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
    moved: tuple[dict[str, str], list[str]]
    markers: list[str | None] = field(default_factory=list)


ROWS = [
    Row(
        "claude-code", put_claude, "2.1.330-all-kinds.jsonl",
        ["user: Which database for the cart?",
         "assistant: I look at the code first.\n\nWe use SQLite, because the cart is one file.",
         "user: Keep the table names in English.", "assistant: English names it is.", "user: Also index the date.",
         "assistant: Indexed.", "user: Which port? 8080", "assistant: Port 8080."],
        {0: {"at": "2026-08-03T09:01:00Z", "folder": "/home/ana/shop", "branch": "main", "place": "line 3"},
         1: {"tools": {"Read": 1, "Edit": 1}, "files": ("/home/ana/shop/cart.py",)}},
        "SECRET FILE-CONTENT ATTACHED API-BLOB NOTIFIED Monday",
        {"tool output": 3, "thinking": 1, "text by the tool": 4},
        ("2.9.0-newer.jsonl", ["user: Is it newer?", "assistant: Yes."], "2.9.0", {"hologram": 1}),
        # A folder below, or one beside: its turns say which. A session that began above may have moved here.
        {PROJECT: True, f"{PROJECT}-web": True, "-home-ana": True, "-home-ana-shopping": False,
         "-home-ben-shop": False},
        ({"CLAUDE_CONFIG_DIR": "/data"}, ["/data/projects"]),
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
        ({"CODEX_HOME": "/data"}, ["/data/sessions", "/data/archived_sessions"]),
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
        ({"GEMINI_CLI_HOME": "/data"}, ["/data/.gemini/tmp"]),
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
        ({"VSCODE_PORTABLE": "/data"}, ["/data/user-data/User/workspaceStorage"]),
    ),
]  # fmt: skip
ALL = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.tool)


@ALL
def test_a_session_is_read_as_what_the_person_and_the_assistant_said(tmp_path: Path, row: Row) -> None:
    row.put(tmp_path, row.fixture)
    turns, findings = read(row.tool, only_transcript(row.tool, tmp_path))
    assert lines_of(turns) == row.said
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
    environment, roots = row.moved
    found = [root.as_posix() for root in reader_of(row.tool).roots(Home(tmp_path, environment, "linux"))]
    assert [root for root in found if root.startswith("/data")] == roots


@ALL
def test_every_fixture_is_read_without_an_unknown_record_but_the_newer_ones(tmp_path: Path, row: Row) -> None:
    for number, path in enumerate((FIXTURES / row.tool).glob("*.json*")):
        home = tmp_path / str(number)
        row.put(home, path.name)
        turns, findings = read(row.tool, only_transcript(row.tool, home))
        assert turns
        assert bool(findings.unknown) == (path.name == row.newer[0])
