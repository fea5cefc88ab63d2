"""Gemini CLI's transcripts: what was said is read, in every form that its versions write."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from transcript_shelf import SESSION, WORKSPACE, gemini_file, home_in, lines_of, only_transcript, read

from bridge.capture.readers.gemini_cli import READER
from bridge.capture.readers.json_lines import read_object
from bridge.capture.session import Findings


def test_a_prompt_is_read_without_what_hooks_gave_to_the_model(tmp_path: Path) -> None:
    gemini_file(tmp_path, "0.61.0-hooks.jsonl")
    turns, findings = read("gemini-cli", only_transcript("gemini-cli", tmp_path))
    assert lines_of(turns) == ["user: Where are the tokens?", "assistant: In the keyring.", "user: And on a server?"]
    assert findings.left_out == {"text by the tool": 4}


def test_what_was_said_before_a_compression_stays_and_the_summary_is_left_out(tmp_path: Path) -> None:
    gemini_file(tmp_path, "0.61.0-compressed.jsonl")
    turns, findings = read("gemini-cli", only_transcript("gemini-cli", tmp_path))
    assert [turn.text for turn in turns][::2] == ["First question", "Second question", "Third question"]
    assert [turn.marker for turn in turns] == [None, None, None, None, "compacted", None]
    assert findings.left_out == {"summary by the tool": 1}


def test_a_file_that_is_one_object_is_read(tmp_path: Path) -> None:
    gemini_file(tmp_path, "0.20.0-whole.json")
    turns, findings = read("gemini-cli", only_transcript("gemini-cli", tmp_path))
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


def test_the_turns_of_a_sub_agent_have_its_id_as_their_part(tmp_path: Path) -> None:
    path = gemini_file(tmp_path, "0.61.0-compressed.jsonl")
    inner = path.parent / SESSION / "helper-1.jsonl"
    inner.parent.mkdir()
    inner.write_text(path.read_text().replace(SESSION, "helper-1"))
    parts = {each.session_id: {turn.part for turn in read("gemini-cli", each)[0]}
             for each in READER.transcripts(home_in(tmp_path), WORKSPACE)}  # fmt: skip
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
    assert list(READER.transcripts(home_in(tmp_path), WORKSPACE)) == []
