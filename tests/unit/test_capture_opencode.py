"""OpenCode's transcripts: both forms, the database and the files before it, are read alike."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import sql
from transcript_shelf import WORKSPACE, home_in, lines_of, only_transcript, read

from bridge.capture.readers import opencode
from bridge.capture.readers.opencode import READER
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


@FORMS
def test_a_session_is_read_as_what_the_person_and_the_assistant_said(tmp_path: Path, put_session: Any) -> None:
    put_session(tmp_path, session(), ALL_KINDS)
    transcript = only_transcript("opencode", tmp_path)
    turns, findings = read("opencode", transcript)
    assert (transcript.session_id, transcript.title) == (SESSION, "The cache")
    assert lines_of(turns) == [
        "user: Which cache do we use?",
        "assistant: I look first.\n\nWe use Redis, because it expires keys.",
        "user: Rename it.",
        "assistant: Renamed.",
    ]
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
    assert bool(list(READER.transcripts(home_in(tmp_path), WORKSPACE))) is is_found


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
    monkeypatch.setattr(opencode, "MAX_VALUE", 2000)
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
    path = database_in(tmp_path, session(), ALL_KINDS)
    sql(path, "ALTER TABLE part RENAME TO piece")
    assert list(READER.transcripts(home_in(tmp_path), WORKSPACE)) == []


def test_a_session_that_was_deleted_is_an_error(tmp_path: Path) -> None:
    path = database_in(tmp_path, session(), ALL_KINDS)
    transcript = only_transcript("opencode", tmp_path)
    sql(path, "DELETE FROM session")
    with pytest.raises(FileNotFoundError):
        read("opencode", transcript)


def test_the_environment_moves_the_folder(tmp_path: Path) -> None:
    assert READER.roots(Home(tmp_path, {"XDG_DATA_HOME": "/data"})) == [Path("/data/opencode")]
