"""Transcripts on the disk: read in bounded memory, and safely, whatever is in the folder."""

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies
from transcript_shelf import SESSION, claude_file, codex_file, home_in, lines_of, only_transcript, read

from bridge.capture.readers import claude_code, json_records, transcript_file
from bridge.capture.session import Findings, Transcript

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such files on Windows")


def file_of(folder: Path, data: bytes) -> Path:
    path = folder / "lines.jsonl"
    path.write_bytes(data)
    return path


# --- lines ---


@given(strategies.lists(strategies.binary(max_size=40)), strategies.binary(max_size=40), strategies.integers(1, 30))
def test_every_complete_line_is_read_counted_as_too_long_or_blank(
    tmp_path_factory: pytest.TempPathFactory, complete: list[bytes], last: bytes, limit: int
) -> None:
    lines = [line.replace(b"\n", b"") + b"\n" for line in complete]
    last = last.replace(b"\n", b"")
    path = file_of(tmp_path_factory.mktemp("lines"), b"".join(lines) + last)
    findings = Findings()
    with path.open("rb") as file:
        found = list(json_records.lines(file, findings, limit))
    fitting = [(number, line) for number, line in enumerate(lines, 1) if len(line) <= limit + 1]
    assert [(number, line) for number, line in found if len(line) <= limit] == [
        (number, line) for number, line in fitting if len(line) <= limit and not line.isspace()
    ]
    assert findings.left_out["record above the size limit"] == sum(len(line) > limit + 1 for line in lines)
    assert findings.unfinished == bool(last)
    assert findings.bytes_read == path.stat().st_size


@given(strategies.binary(max_size=200))
def test_a_line_of_any_bytes_is_an_object_or_counted_as_damaged(data: bytes) -> None:
    findings = Findings()
    assert (json_records.record(data, findings) is None) == (findings.damaged == 1)


def test_half_a_surrogate_pair_becomes_text_that_can_be_stored() -> None:
    record = json_records.record(b'{"text": "a \\ud83d b", "pair": "\\ud83d\\ude00"}', Findings())
    assert record == {"text": "a � b", "pair": "😀"}


def test_deep_nesting_is_damage_and_no_crash() -> None:
    findings = Findings()
    assert json_records.record(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", findings) is None
    assert findings.damaged == 1


class Counting(io.RawIOBase):
    """A file of zeros without a line's end that counts the most that was asked of it at once."""

    def __init__(self, path: Path, size: int) -> None:
        self.file = path.open("wb+")
        self.file.truncate(size)
        self.most = 0

    def fileno(self) -> int:
        return self.file.fileno()

    def tell(self) -> int:
        return self.file.tell()

    def readline(self, size: int | None = -1) -> bytes:
        assert size is not None
        assert size > 0
        self.most = max(self.most, size)
        return self.file.readline(size)


def test_a_line_of_a_gigabyte_is_never_held(tmp_path: Path) -> None:
    counting: Any = Counting(tmp_path / "sparse.jsonl", 2**30)
    findings = Findings()
    with counting.file:
        assert list(json_records.lines(counting, findings, limit=2**20)) == []
    assert counting.most <= 2**20 + 1
    assert findings.unfinished
    assert findings.bytes_read == 2**30


# --- faults ---


def test_text_with_bytes_that_are_not_utf_8_keeps_the_rest(tmp_path: Path) -> None:
    path = claude_file(tmp_path, "2.1.330-moved.jsonl")
    path.write_bytes(path.read_bytes().replace(b"Back again", b"Back \xff\xfe again"))
    turns, findings = read("claude-code", path)
    assert turns[-1].text == "Back �� again."
    assert findings.left_out[json_records.NOT_UTF8] == 1


def test_what_is_appended_while_it_is_read_waits_for_the_next_time(tmp_path: Path) -> None:
    path = claude_file(tmp_path, "2.1.330-rewound.jsonl")
    complete, more = path.read_bytes(), (path.read_bytes().splitlines(keepends=True)[-1]).replace(b"Postgres", b"Later")
    expected = lines_of(read("claude-code", path)[0])
    turns = claude_code.turns(Transcript("claude-code", SESSION, path, "1"), Findings())
    first = next(turns)
    with path.open("ab") as file:
        file.write(more + b'{"half')
    assert lines_of([first, *turns]) == expected
    path.write_bytes(complete + more + b'{"half')
    again, findings = read("claude-code", path)
    assert "Later it is." in again[-1].text
    assert findings.unfinished


def test_a_transcript_that_is_truncated_while_it_is_read_ends_there(tmp_path: Path) -> None:
    path = tmp_path / "projects" / "p" / "s.jsonl"
    path.parent.mkdir(parents=True)
    fixture = claude_file(tmp_path, "2.1.330-moved.jsonl").read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(fixture) + b'{"type":"mode"}\n' * 300_000 + b"".join(fixture))
    turns = claude_code.turns(Transcript("claude-code", SESSION, path, "1"), Findings())
    next(turns)
    os.truncate(path, len(b"".join(fixture)))
    assert 1 <= len(list(turns)) <= 5


def test_a_transcript_that_is_deleted_while_it_is_read_is_read_to_its_end(tmp_path: Path) -> None:
    path = claude_file(tmp_path, "2.1.330-moved.jsonl")
    turns = claude_code.turns(Transcript("claude-code", SESSION, path, "1"), Findings())
    first = next(turns)
    path.unlink()
    assert len([first, *turns]) == 3


def test_a_transcript_that_is_gone_is_an_os_error(tmp_path: Path) -> None:
    path = claude_file(tmp_path, "2.1.330-moved.jsonl")
    transcript = only_transcript("claude-code", tmp_path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        read("claude-code", transcript)


# --- other files in place of a transcript ---


def test_a_project_that_is_a_link_is_not_entered(tmp_path: Path) -> None:
    path = claude_file(tmp_path, "2.1.330-moved.jsonl")
    path.parent.rename(tmp_path / "elsewhere")
    path.parent.symlink_to(tmp_path / "elsewhere")
    assert list(claude_code.transcripts(home_in(tmp_path), Path("/home/ana/shop"))) == []


def test_a_tools_folder_that_is_itself_a_link_is_read(tmp_path: Path) -> None:
    claude_file(tmp_path, "2.1.330-moved.jsonl")
    (tmp_path / ".claude").rename(tmp_path / "dotfiles")
    (tmp_path / ".claude").symlink_to(tmp_path / "dotfiles")
    assert len(read("claude-code", only_transcript("claude-code", tmp_path))[0]) == 3


def test_a_folder_that_does_not_exist_has_no_transcripts(tmp_path: Path) -> None:
    assert list(claude_code.transcripts(home_in(tmp_path / "none"), tmp_path)) == []
    assert list(transcript_file.described("codex", "x", [tmp_path / "none"])) == []


def test_a_session_with_more_links_than_remembered_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.capture.readers.claude_code_records.REMEMBERED", 2)
    assert len(read("claude-code", claude_file(tmp_path, "2.1.330-all-kinds.jsonl"))[0]) == 8


def test_records_of_any_shape_raise_nothing(tmp_path: Path) -> None:
    """Each value of each record is replaced by one of another type."""
    odd: tuple[object, ...] = (None, 7, "x", [], ["x"], {}, {"type": "text"}, [{"type": "text", "text": 5}], True)
    for place, fixture, tool in (
        (claude_file, "2.1.330-all-kinds.jsonl", "claude-code"),
        (codex_file, "0.169.0-all-kinds.jsonl", "codex"),
    ):
        path = place(tmp_path, fixture)
        records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        changed = [json.dumps({**record, key: value}) + "\n" for record in records for key in record for value in odd]
        changed += [
            json.dumps({**record, inner: {**record[inner], key: value}}) + "\n"
            for record in records
            for inner in ("message", "payload", "attachment")
            if isinstance(record.get(inner), dict)
            for key in record[inner]
            for value in odd
        ]
        path.write_text("".join(changed), "utf-8")
        assert read(tool, path)[0]
