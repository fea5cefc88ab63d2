"""VS Code's chat: sessions are found by the folder that was open, and read in every form that its versions write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transcript_shelf import WORKSPACE, home_in, lines_of, only_transcript, read, vscode_file

from bridge.capture.readers.reader import Home
from bridge.capture.readers.vscode_chat import READER
from bridge.capture.readers.vscode_folders import local_path, workspace_id


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return tmp_path / ".config" / "Code" / "User"


def test_a_flat_file_of_an_older_version_is_read(tmp_path: Path, user: Path) -> None:
    vscode_file(user, "1.95.0-flat.json")
    transcript = only_transcript("vscode", tmp_path)
    turns, findings = read("vscode", transcript)
    assert transcript.title == "The port"
    assert lines_of(turns) == [
        "user: What is the port?",
        "assistant: The port is 8080.",
        "user: Change it.",
        "assistant: Changed.",
    ]
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


@pytest.mark.parametrize(
    "change",
    [
        {"kind": 1, "k": ["requests", 7, "message"], "v": "x"},
        {"kind": 1, "k": ["requests", "x", "message"], "v": "x"},
        {"kind": 1, "k": ["requests", -1, "response"], "v": []},
        {"kind": 2, "k": ["requests", 0, "timestamp"], "v": [1]},
        {"kind": 2, "k": ["requests"], "i": 99},
        {"kind": 2, "k": ["requests"], "v": "x"},
        {"kind": 1, "k": []},
        {"kind": 1},
        {"kind": 9, "k": ["requests"], "v": []},
    ],
)
def test_a_change_that_does_not_fit_is_counted_and_ends_the_replay(
    tmp_path: Path, user: Path, change: dict[str, Any]
) -> None:
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


@pytest.mark.parametrize(
    ("platform", "environment", "user"),
    [
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
    ],
)
def test_every_product_and_platform_has_its_folder(
    tmp_path: Path, platform: str, environment: dict[str, str], user: str
) -> None:
    vscode_file(tmp_path / user, "1.139.1-log.jsonl")
    moved = {name: value.format(home=tmp_path) for name, value in environment.items()}
    (found,) = READER.transcripts(Home(tmp_path, moved, platform), WORKSPACE)
    assert any(root in found.path.parents for root in READER.roots(Home(tmp_path, moved, platform)))


@pytest.mark.parametrize(
    ("uri", "is_server", "path"),
    [
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
    ],
)
def test_only_a_uri_of_this_machine_has_a_path(uri: Any, is_server: bool, path: str | None) -> None:
    assert local_path(uri, is_server) == path


def test_the_id_of_a_folder_opened_in_the_browser_is_the_one_that_vs_code_gives() -> None:
    assert workspace_id("vscode-remote://127.0.0.1:42761/tmp/kr2%20ws/shop") == "3dc0b847"  # seen in code-server 4.139


def test_a_folder_opened_in_the_browser_is_found_by_an_address_that_a_session_mentions(tmp_path: Path) -> None:
    user = tmp_path / ".local" / "share" / "code-server" / "User"
    known = workspace_id("vscode-remote://box.example:9000/home/ana/shop")
    path = vscode_file(user, "1.139.1-log.jsonl", folder="", storage=known)
    vscode_file(user, "1.139.1-log.jsonl", folder="", storage="3dc0b847")
    assert list(READER.transcripts(home_in(tmp_path), WORKSPACE)) == []
    path.write_text(
        path.read_text().replace('"scheme":"file"', '"scheme":"vscode-remote","authority":"box.example:9000"')
    )
    (found,) = READER.transcripts(home_in(tmp_path), WORKSPACE)
    assert (found.path, found.folder) == (path, "/home/ana/shop")


def test_sessions_without_a_folder_are_not_read(tmp_path: Path, user: Path) -> None:
    vscode_file(user, "1.139.1-log.jsonl").rename(user / "moved.jsonl")
    empty = user / "globalStorage" / "emptyWindowChatSessions"
    empty.mkdir(parents=True)
    (user / "moved.jsonl").rename(empty / "a.jsonl")
    assert list(READER.transcripts(home_in(tmp_path), WORKSPACE)) == []
