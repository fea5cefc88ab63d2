"""Tools that keep conversations in a database: OpenCode, whose files of before are read alike, and Cursor."""

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import sql
from transcript_shelf import WORKSPACE, home_in, lines_of, only_transcript, read

from bridge.capture.readers import cursor, foreign_database, opencode
from bridge.capture.readers.reader import Home

SESSION = "ses_01aaaaaaaaaa"
AT = 1785837600000
Record = dict[str, Any]


def session(**more: Any) -> Record:
    return {"id": SESSION, "projectID": "p1", "directory": str(WORKSPACE), "title": "The cache", "version": "1.18.33",
            "time": {"created": AT, "updated": AT + 90_000}, **more}  # fmt: skip


def asked(number: int, *parts: Record, **more: Any) -> tuple[Record, list[Record]]:
    message = {
        "id": f"msg_{number:02}",
        "role": "user",
        "time": {"created": AT + number * 1000},
        "agent": "build",
        **more,
    }
    return message, list(parts)


def answered(number: int, *parts: Record, **more: Any) -> tuple[Record, list[Record]]:
    path = {"cwd": str(WORKSPACE), "root": str(WORKSPACE)}
    return asked(number, *parts, **{"role": "assistant", "path": path, "finish": "stop", **more})


def text(said: str, **more: Any) -> Record:
    return {"type": "text", "text": said, **more}


def tool(name: str, called_with: Record) -> Record:
    return {"type": "tool", "tool": name, "callID": "c1",
            "state": {"status": "completed", "input": called_with, "output": "SECRET", "title": "x"}}  # fmt: skip


ALL_KINDS = [
    asked(1, text("Which cache do we use?"), text("FILE-CONTENT", synthetic=True), {"type": "file"}),
    answered(2, {"type": "step-start"}, {"type": "reasoning", "text": "THOUGHT"}, text("I look first."),
             tool("read", {"filePath": "/home/ana/shop/src/cache.py"}), {"type": "step-finish"}),
    answered(3, text("We use Redis, because it expires keys.")),
    asked(4, {"type": "compaction", "auto": True}),
    answered(5, text("SUMMARY"), summary=True, mode="compaction"),
    asked(6, text("Rename it.")),
    answered(7, tool("apply_patch", {"patchText": "*** Begin Patch\n*** Update File: src/store.py\n+FILE-CONTENT"}),
             text("Renamed."), {"type": "patch", "hash": "h", "files": ["/home/ana/shop/src/new.py"]}),
]  # fmt: skip


def database_in(
    home: Path, record: Record, messages: list[tuple[Record, list[Record]]], name: str = "opencode.db"
) -> Path:
    """The session in a database as version 1.18 writes it; columns that nobody reads are left out."""
    path = home / ".local" / "share" / "opencode" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("""
            PRAGMA journal_mode = WAL;
            CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT,
                title TEXT, version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
            CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
                time_updated INTEGER, data TEXT);
            CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,
                time_created INTEGER, time_updated INTEGER, data TEXT);
        """)
        revert = json.dumps(record["revert"]) if "revert" in record else None
        connection.execute("INSERT INTO session VALUES (?, 'p1', ?, ?, ?, ?, ?, ?, ?)", (
            record["id"], record.get("parentID"), record["directory"], record["title"], record["version"], revert, AT,
            record["time"]["updated"]))  # fmt: skip
        for message, parts in messages:
            data = {name: value for name, value in message.items() if name != "id"}
            message_id = message["id"]
            at = message["time"]["created"]
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)",
                               (message_id, record["id"], at, at, json.dumps(data)))  # fmt: skip
            for number, part in enumerate(parts):
                values = (f"prt_{message_id}_{number}", message_id, record["id"], at, at, json.dumps(part))
                connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)
    return path


def files_in(home: Path, record: Record, messages: list[tuple[Record, list[Record]]]) -> Path:
    """The session in files, as versions before 1.2 write it."""
    storage = home / ".local" / "share" / "opencode" / "storage"
    for message, parts in messages:
        message_id = message["id"]
        put(storage / "message" / record["id"] / f"{message_id}.json", {**message, "sessionID": record["id"]})
        for number, part in enumerate(parts):
            part_id = f"prt_{message_id}_{number}"
            put(storage / "part" / message_id / f"{part_id}.json", {**part, "id": part_id, "messageID": message_id})
    return put(storage / "session" / "p1" / f"{record['id']}.json", record)


def put(path: Path, record: Record) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2))
    return path


FORMS = pytest.mark.parametrize("put_session", [database_in, files_in])


SAID = [
    "user: Which cache do we use?",
    "assistant: I look first.\n\nWe use Redis, because it expires keys.",
    "user: Rename it.",
    "assistant: Renamed.",
]


@FORMS
def test_a_session_is_read_as_what_the_person_and_the_assistant_said(tmp_path: Path, put_session: Any) -> None:
    put_session(tmp_path, session(), ALL_KINDS)
    transcript = only_transcript("opencode", tmp_path)
    turns, findings = read("opencode", transcript)
    assert (transcript.session_id, transcript.title) == (SESSION, "The cache")
    assert lines_of(turns) == SAID
    assert [turn.marker for turn in turns] == [None, None, "compacted", None]
    assert {turn.folder for turn in turns} == {str(WORKSPACE)}
    assert (turns[0].at, turns[0].place) == ("2026-08-04T10:00:01Z", "message 1")
    assert turns[1].tools == {"read": 1}
    assert turns[3].files == ("src/store.py", "/home/ana/shop/src/new.py")
    assert not findings.unknown


@FORMS
def test_outputs_thoughts_summaries_and_attachments_are_left_out_and_counted(tmp_path: Path, put_session: Any) -> None:
    put_session(tmp_path, session(), ALL_KINDS)
    turns, findings = read("opencode", only_transcript("opencode", tmp_path))
    for hidden in ("SECRET", "THOUGHT", "SUMMARY", "FILE-CONTENT"):
        assert hidden not in repr(turns)
    assert findings.left_out == {
        "tool output": 2,
        "thinking": 1,
        "text by the tool": 1,
        "image or document": 1,
        "summary by the tool": 1,
    }


@FORMS
def test_what_was_reverted_is_left_out(tmp_path: Path, put_session: Any) -> None:
    put_session(tmp_path, session(revert={"messageID": "msg_06"}), ALL_KINDS)
    turns, findings = read("opencode", only_transcript("opencode", tmp_path))
    assert len(turns) == 2
    assert findings.left_out["rewound turn"] == 2


def test_what_was_reverted_from_a_part_on_is_left_out(tmp_path: Path) -> None:
    database_in(tmp_path, session(revert={"messageID": "msg_07", "partID": "prt_msg_07_1"}), ALL_KINDS)
    turns, _ = read("opencode", only_transcript("opencode", tmp_path))
    assert (turns[-1].text, turns[-1].tools) == ("", {"apply_patch": 1})


@FORMS
def test_the_turns_of_a_sub_agent_have_its_id_as_their_part(tmp_path: Path, put_session: Any) -> None:
    put_session(tmp_path, session(parentID="ses_00"), ALL_KINDS)
    turns, _ = read("opencode", only_transcript("opencode", tmp_path))
    assert {turn.part for turn in turns} == {SESSION}


FOLDERS_ASKED = [("/home/ana/shop/web", True), ("/home/ana/shopping", False), ("/home/ana", False)]


@FORMS
@pytest.mark.parametrize(("folder", "is_found"), FOLDERS_ASKED)
def test_only_sessions_in_the_folder_are_found(tmp_path: Path, put_session: Any, folder: str, is_found: bool) -> None:
    put_session(tmp_path, session(directory=folder), ALL_KINDS)
    assert bool(list(opencode.transcripts(home_in(tmp_path), WORKSPACE))) is is_found


def test_a_session_that_was_migrated_is_read_from_the_database_only(tmp_path: Path) -> None:
    files_in(tmp_path, session(), ALL_KINDS[:2])
    path = database_in(tmp_path, session(), ALL_KINDS)
    assert only_transcript("opencode", tmp_path).path == path


@FORMS
def test_the_version_changes_when_the_session_grows(tmp_path: Path, put_session: Any) -> None:
    put_session(tmp_path, session(), ALL_KINDS[:2])
    before = only_transcript("opencode", tmp_path).version
    if put_session is database_in:
        with closing(sqlite3.connect(only_transcript("opencode", tmp_path).path)) as connection, connection:
            connection.execute("INSERT INTO part VALUES ('prt_z', 'msg_02', ?, 0, 0, '{}')", (SESSION,))
    else:
        put_session(tmp_path, session(), ALL_KINDS[:3])
    assert only_transcript("opencode", tmp_path).version != before


@FORMS
def test_unknown_kinds_are_counted_and_a_newer_version_is_reported(tmp_path: Path, put_session: Any) -> None:
    odd = [
        asked(1, text("A question"), {"type": "hologram"}),
        asked(2, text("x"), role="oracle"),
        answered(3, text("An answer")),
    ]
    put_session(tmp_path, session(version="1.30.0"), odd)
    turns, findings = read("opencode", only_transcript("opencode", tmp_path))
    assert lines_of(turns) == ["user: A question", "assistant: An answer"]
    assert findings.unknown == {"hologram": 1, "message by oracle": 1}
    assert findings.newer == "1.30.0"


def test_damaged_and_too_large_values_are_counted_and_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_database, "MAX_VALUE", 2000)
    path = database_in(
        tmp_path, session(), [asked(1, text("A question"), text("x" * 3000)), answered(2, text("An answer"))]
    )
    sql(path, "INSERT INTO part VALUES ('prt_z', 'msg_02', ?, 0, 0, '{broken')", SESSION)
    turns, findings = read("opencode", only_transcript("opencode", tmp_path))
    assert lines_of(turns) == ["user: A question", "assistant: An answer"]
    assert findings.damaged == 1
    assert findings.left_out == {"record above the size limit": 1}


def test_damaged_files_are_counted_and_skipped(tmp_path: Path) -> None:
    path = files_in(tmp_path, session(), ALL_KINDS)
    (path.parents[2] / "part" / "msg_06" / "prt_msg_06_0.json").write_text('{"type": "te')
    turns, findings = read("opencode", only_transcript("opencode", tmp_path))
    assert "Rename it." not in {turn.text for turn in turns}
    assert findings.damaged == 1


@pytest.mark.parametrize("make", [lambda path: path.write_bytes(b"no database"), lambda path: path.write_bytes(b"")])
def test_a_damaged_database_has_no_sessions_and_the_files_are_still_read(tmp_path: Path, make: Any) -> None:
    path = tmp_path / ".local" / "share" / "opencode" / "opencode.db"
    files_in(tmp_path, session(), ALL_KINDS)
    make(path)
    assert only_transcript("opencode", tmp_path).path.suffix == ".json"


def test_a_database_in_an_unknown_form_has_no_sessions(tmp_path: Path) -> None:
    sql(database_in(tmp_path, session(), ALL_KINDS), "ALTER TABLE part RENAME TO piece")
    assert list(opencode.transcripts(home_in(tmp_path), WORKSPACE)) == []


def test_a_session_that_was_deleted_is_an_error(tmp_path: Path) -> None:
    path = database_in(tmp_path, session(), ALL_KINDS)
    transcript = only_transcript("opencode", tmp_path)
    sql(path, "DELETE FROM session")
    with pytest.raises(FileNotFoundError):
        read("opencode", transcript)


def test_the_environment_moves_the_folder(tmp_path: Path) -> None:
    files_in(tmp_path / "moved", session(), ALL_KINDS)
    home = Home(tmp_path, {"XDG_DATA_HOME": str(tmp_path / "moved" / ".local" / "share")})
    assert len(list(opencode.transcripts(home, WORKSPACE))) == 1


# --- the editor Cursor ---


COMPOSER = "c0000000-0000-4000-8000-000000000001"
STORAGE = "d1e2"


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
    assert lines_of(turns) == SAID
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
    assert list(cursor.transcripts(home_in(tmp_path), WORKSPACE)) == []


@pytest.mark.parametrize("folder", ["file:///home/ana/other", "vscode-remote://ssh-remote%2Bbox/home/ana/shop"])
def test_a_conversation_of_another_folder_or_machine_is_not_found(tmp_path: Path, folder: str) -> None:
    composer(tmp_path, BUBBLES)
    user_folder(tmp_path, folder)
    assert list(cursor.transcripts(home_in(tmp_path), WORKSPACE)) == []


def test_messages_inside_of_the_record_are_read_as_older_versions_keep_them(tmp_path: Path) -> None:
    said = [bubble(1, "Hello"), bubble(2, "Good day")]
    composer(tmp_path, [], list_in_workspace, fullConversationHeadersOnly=[], conversation=said)
    turns, _ = read("cursor", only_transcript("cursor", tmp_path))
    assert lines_of(turns) == ["user: Hello", "assistant: Good day"]


def test_gone_damaged_unknown_and_large_messages_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_database, "MAX_VALUE", 2000)
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
    assert list(cursor.transcripts(home_in(tmp_path), WORKSPACE)) == []


# --- Cursor's agent in the terminal ---

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


AGENTS_FOLDERS = [
    ("/home/ana/shop/web", "/home/ana/shop/web", True),
    ("/home/ana/other", "/home/ana/shop/web", False),
    ("/home/ana/other", "/home/ana/other", False),
    ("/home/ana/shop/web", None, False),
]


@pytest.mark.parametrize(("folder", "cwd", "is_found"), AGENTS_FOLDERS)
def test_a_folder_below_needs_its_name_and_record(tmp_path: Path, folder: str, cwd: str | None, is_found: bool) -> None:
    """It is found if they agree."""
    store(tmp_path, MESSAGES, folder, cwd)
    assert bool(list(cursor.transcripts(home_in(tmp_path), WORKSPACE))) is is_found


NO_ROOTS = [None, b"", b"\x0a", b"\x0a\x20short", b"\xff" * 30, b"\x0b\x0a\x20" + bytes(32), b"\x09\x0d\x01"]


@pytest.mark.parametrize("root", NO_ROOTS)
def test_no_root_or_no_messages_is_an_error_and_no_empty_conversation(tmp_path: Path, root: bytes | None) -> None:
    path = store(tmp_path, MESSAGES)
    sql(path, "DELETE FROM blobs WHERE id = 'root' AND ?1 IS NULL", root)
    sql(path, "UPDATE blobs SET data = ? WHERE id = 'root'", root)
    with pytest.raises(OSError, match="unknown form"):
        read("cursor", only_transcript("cursor", tmp_path))
