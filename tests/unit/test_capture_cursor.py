"""Cursor's conversations, of the editor and of its agent in the terminal, are read as what was said."""

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import sql
from transcript_shelf import WORKSPACE, home_in, lines_of, only_transcript, read

from bridge.capture.readers import cursor_editor
from bridge.capture.readers.cursor import READER

COMPOSER = "c0000000-0000-4000-8000-000000000001"
STORAGE = "d1e2"
AT = 1785837600000
Record = dict[str, Any]


def bubble(kind: int, text: str = "", **more: Any) -> Record:
    return {"_v": 3, "type": kind, "text": text, "createdAt": "2026-08-04T10:00:01.000Z", **more}


def call(name: str, params: Record) -> Record:
    return {"name": name, "params": json.dumps(params), "rawArgs": "{}", "result": '"SECRET"', "status": "completed"}


BUBBLES = [
    bubble(1, "Which cache do we use?", attachedCodeChunks=["ATTACHED"]),
    bubble(2, thinking={"text": "THOUGHT"}, capabilityType=30),
    bubble(2, "I look first."),
    bubble(2, toolFormerData=call("read_file_v2", {"targetFile": "src/cache.py"}), capabilityType=15),
    bubble(2, "We use Redis, because it expires keys."),
    bubble(2, capabilityType=22),
    bubble(1, "Rename it."),
    bubble(2, "Renamed.", toolFormerData=call("edit_file_v2", {"relativeWorkspacePath": "src/store.py", "x": "FILE"})),
]  # fmt: skip


def user_folder(home: Path, folder: str = "file:///home/ana/shop") -> Path:
    user = home / ".config" / "Cursor" / "User"
    storage = user / "workspaceStorage" / STORAGE
    storage.mkdir(parents=True, exist_ok=True)
    (storage / "workspace.json").write_text(json.dumps({"folder": folder}))
    (user / "globalStorage").mkdir(exist_ok=True)
    return user


def table(path: Path, name: str, values: dict[str, Any]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {name} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        for key, value in values.items():
            connection.execute(f"INSERT INTO {name} VALUES (?, ?)", (key, json.dumps(value)))


def composer(home: Path, bubbles: list[Record], put_list: Any = None, workspace_id: str = STORAGE, **more: Any) -> Path:
    """A conversation whose messages are values of their own, in a list."""
    user = user_folder(home)
    path = user / "globalStorage" / "state.vscdb"
    headers = [{"bubbleId": f"b{number}", "type": each.get("type")} for number, each in enumerate(bubbles)]
    record = {"_v": 16, "composerId": COMPOSER, "fullConversationHeadersOnly": headers, "name": "The cache", **more}
    values = {f"bubbleId:{COMPOSER}:b{number}": each for number, each in enumerate(bubbles)}
    table(path, "cursorDiskKV", {f"composerData:{COMPOSER}": record, **values})
    (put_list or list_in_table)(user, workspace_id)
    return path


def list_in_table(user: Path, workspace_id: str = STORAGE) -> None:
    with closing(sqlite3.connect(user / "globalStorage" / "state.vscdb")) as connection, connection:
        connection.execute(
            "CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER,"
            " lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, value TEXT)"
        )
        value = json.dumps({"type": "head", "name": "The cache"})
        connection.execute(
            "INSERT INTO composerHeaders VALUES (?, ?, ?, ?, 0, 0, ?)", (COMPOSER, workspace_id, AT, AT, value)
        )


def list_in_value(user: Path, workspace_id: str = STORAGE) -> None:
    entry = {
        "composerId": COMPOSER,
        "name": "The cache",
        "lastUpdatedAt": AT,
        "workspaceIdentifier": {"id": workspace_id},
    }
    table(user / "globalStorage" / "state.vscdb", "ItemTable", {"composer.composerHeaders": {"allComposers": [entry]}})


def list_in_workspace(user: Path, workspace_id: str = STORAGE) -> None:
    (user / "workspaceStorage" / workspace_id).mkdir(exist_ok=True)
    entry = {"composerId": COMPOSER, "name": "The cache", "lastUpdatedAt": AT}
    path = user / "workspaceStorage" / workspace_id / "state.vscdb"
    table(path, "ItemTable", {"composer.composerData": {"allComposers": [entry]}})


LISTS = pytest.mark.parametrize("put_list", [list_in_table, list_in_value, list_in_workspace])


@LISTS
def test_a_conversation_of_the_editor_is_found_in_every_list_and_read(tmp_path: Path, put_list: Any) -> None:
    composer(tmp_path, BUBBLES, put_list)
    transcript = only_transcript("cursor", tmp_path)
    turns, findings = read("cursor", transcript)
    assert (transcript.session_id, transcript.title) == (COMPOSER, "The cache")
    assert lines_of(turns) == [
        "user: Which cache do we use?",
        "assistant: I look first.\n\nWe use Redis, because it expires keys.",
        "user: Rename it.",
        "assistant: Renamed.",
    ]
    assert [turn.marker for turn in turns] == [None, None, "compacted", None]
    assert {turn.folder for turn in turns} == {"/home/ana/shop"}
    assert (turns[1].tools, turns[1].files) == ({"read_file_v2": 1}, ("src/cache.py",))
    assert turns[3].files == ("src/store.py",)
    assert findings.left_out == {"tool output": 2, "thinking": 1}
    for hidden in ("SECRET", "THOUGHT", "ATTACHED", "FILE"):
        assert hidden not in repr(turns)


@LISTS
def test_a_conversation_of_another_workspace_is_not_found(tmp_path: Path, put_list: Any) -> None:
    composer(tmp_path, BUBBLES, put_list, "other")
    assert list(READER.transcripts(home_in(tmp_path), WORKSPACE)) == []


@pytest.mark.parametrize("folder", ["file:///home/ana/other", "vscode-remote://ssh-remote%2Bbox/home/ana/shop"])
def test_a_conversation_of_another_folder_or_machine_is_not_found(tmp_path: Path, folder: str) -> None:
    composer(tmp_path, BUBBLES)
    user_folder(tmp_path, folder)
    assert list(READER.transcripts(home_in(tmp_path), WORKSPACE)) == []


def test_messages_inside_of_the_record_are_read_as_older_versions_keep_them(tmp_path: Path) -> None:
    said = [bubble(1, "Hello"), bubble(2, "Good day")]
    composer(tmp_path, [], list_in_workspace, fullConversationHeadersOnly=[], conversation=said)
    turns, _ = read("cursor", only_transcript("cursor", tmp_path))
    assert lines_of(turns) == ["user: Hello", "assistant: Good day"]


def test_gone_damaged_unknown_and_large_messages_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cursor_editor, "MAX_VALUE", 2000)
    said = [bubble(1, "A question"), bubble(2, "x" * 3000), bubble(7, "odd"), *[bubble(2)] * 2, bubble(2, "An answer")]
    path = composer(tmp_path, said)
    sql(path, "DELETE FROM cursorDiskKV WHERE key LIKE '%:b3'")
    sql(path, "UPDATE cursorDiskKV SET value = '{broken' WHERE key LIKE '%:b4'")
    turns, findings = read("cursor", only_transcript("cursor", tmp_path))
    assert lines_of(turns) == ["user: A question", "assistant: An answer"]
    assert findings.left_out == {"record above the size limit": 1}
    assert findings.unknown == {"message of type 7": 1}
    assert findings.damaged == 1


def test_a_newer_record_is_reported_and_the_part_of_a_sub_agent_is_its_id(tmp_path: Path) -> None:
    composer(tmp_path, [bubble(1, "A question")], _v=18, subagentInfo={"parentComposerId": "p"})
    turns, findings = read("cursor", only_transcript("cursor", tmp_path))
    assert findings.newer == "composer 18"
    assert [turn.part for turn in turns] == [COMPOSER]


def test_a_conversation_that_is_gone_is_an_error(tmp_path: Path) -> None:
    path = composer(tmp_path, BUBBLES)
    transcript = only_transcript("cursor", tmp_path)
    sql(path, "DELETE FROM cursorDiskKV")
    with pytest.raises(OSError, match="gone"):
        read("cursor", transcript)


def test_a_damaged_database_has_no_conversations(tmp_path: Path) -> None:
    user = user_folder(tmp_path)
    (user / "globalStorage" / "state.vscdb").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert list(READER.transcripts(home_in(tmp_path), WORKSPACE)) == []


# --- the agent in the terminal ---

MESSAGES: list[Record] = [
    {"role": "system", "content": "OWN"},
    {"role": "user", "content": "<user_info>\nOWN\n</user_info>"},
    {"role": "user", "content": [{"type": "text", "text": "<user_query>\nWhich port?\n</user_query>"}]},
    {"role": "assistant", "content": [
        {"type": "reasoning", "text": "THOUGHT"},
        {"type": "text", "text": "I look first."},
        {"type": "tool-call", "toolCallId": "t1", "toolName": "Read", "args": {"path": "/home/ana/shop/conf.py"}},
    ]},
    {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "t1", "toolName": "Read", "result": "SECRET"}]},
    {"role": "assistant", "content": "The port is 8080."},
]  # fmt: skip


def store(home: Path, messages: list[Record], folder: str = str(WORKSPACE), cwd: str | None = None) -> Path:
    """A conversation of the agent in the terminal."""
    name = hashlib.md5(folder.encode(), usedforsecurity=False).hexdigest()
    path = home / ".cursor" / "chats" / name / COMPOSER / "store.db"
    path.parent.mkdir(parents=True)
    if cwd is not None:
        (path.parent / "meta.json").write_text(json.dumps({"schemaVersion": 1, "cwd": cwd}))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)"
        )
        root = bytes([0x10, 0x96, 0x01])  # another field: the number 150
        for message in messages:
            data = json.dumps(message).encode()
            digest = hashlib.sha256(data).digest()
            connection.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (digest.hex(), data))
            root += bytes([0x0A, 32]) + digest
        root += bytes([0x4A, 5]) + b"other"
        connection.execute("INSERT INTO blobs VALUES ('root', ?)", (root,))
        meta = {"agentId": COMPOSER, "latestRootBlobId": "root", "name": "New Agent", "createdAt": AT}
        connection.execute("INSERT INTO meta VALUES ('0', ?)", (json.dumps(meta).encode().hex(),))
    return path


def test_a_conversation_of_the_agent_is_read_as_what_was_said(tmp_path: Path) -> None:
    store(tmp_path, MESSAGES)
    turns, findings = read("cursor", only_transcript("cursor", tmp_path))
    assert lines_of(turns) == ["user: Which port?", "assistant: I look first.\n\nThe port is 8080."]
    assert (turns[1].tools, turns[1].files) == ({"Read": 1}, ("/home/ana/shop/conf.py",))
    assert {turn.folder for turn in turns} == {str(WORKSPACE)}
    assert findings.left_out == {"text by the tool": 2, "thinking": 1, "tool output": 1}
    assert not findings.unknown


FOLDERS = [
    ("/home/ana/shop/web", "/home/ana/shop/web", True),
    ("/home/ana/other", "/home/ana/shop/web", False),
    ("/home/ana/other", "/home/ana/other", False),
    ("/home/ana/shop/web", None, False),
]


@pytest.mark.parametrize(("folder", "cwd", "is_found"), FOLDERS)
def test_a_folder_below_needs_its_name_and_record(tmp_path: Path, folder: str, cwd: str | None, is_found: bool) -> None:
    """It is found if they agree."""
    store(tmp_path, MESSAGES, folder, cwd)
    assert bool(list(READER.transcripts(home_in(tmp_path), WORKSPACE))) is is_found


NO_ROOTS = [None, b"", b"\x0a", b"\x0a\x20short", b"\xff" * 30, b"\x0b\x0a\x20" + bytes(32), b"\x09\x0d\x01"]


@pytest.mark.parametrize("root", NO_ROOTS)
def test_no_root_or_no_messages_is_an_error_and_no_empty_conversation(tmp_path: Path, root: bytes | None) -> None:
    path = store(tmp_path, MESSAGES)
    sql(path, "DELETE FROM blobs WHERE id = 'root' AND ?1 IS NULL", root)
    sql(path, "UPDATE blobs SET data = ? WHERE id = 'root'", root)
    with pytest.raises(OSError, match="unknown form"):
        read("cursor", only_transcript("cursor", tmp_path))
