"""What a person and a script see of a compaction."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from bridge import compact
from bridge.interface import script
from bridge.interface.arguments import compact_arguments
from jobs.errors import JobError
from worker.terminal import display

SIDES = {
    "earlier": {"memory_id": "a", "memory_number": 1, "text": "Retry five times", "date": "2026-10-02T12:00:00Z"},
    "later": {"memory_id": "b", "memory_number": 2, "text": "Retry three times", "date": "2026-10-09T12:00:00Z"},
}
CONFLICT = {"conflict_id": "0123abcd", "kind": "value", "confidence": 0.9, "judged_by": "rules", **SIDES}
APPLIED = {
    "decision_record_id": "r", "memory_number": 9, "topic_id": "uploads", "superseded": list("abcdefg"),
    "conflicts": [CONFLICT], "kept_both": [], "narrative_source": "template", "warnings": ["Left out: 1 in draft."],
    "preview_digest": "0" * 64, "applied_at": "2026-11-20T12:00:00Z",
}  # fmt: skip


def view(capsys: pytest.CaptureFixture[str], command: str, **found: Any) -> str:
    display.show(argparse.Namespace(command=command), {"success": True, **found})
    return capsys.readouterr().out


def test_what_was_compacted_is_shown_with_its_conflicts_and_how_to_undo_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = view(capsys, "compact", kind="compact", result=APPLIED, job_id="j", state="succeeded")
    assert "Compacted 7 memories of uploads into the record #9." in shown
    assert "a, b, c, d, e and 2 more" in shown
    assert "0123abcd  value  0.90  #1 2026-10-02 Retry five times  #2 2026-10-09 Retry three times" in shown
    assert "Note: Left out: 1 in draft." in shown
    assert "Undo: cognee-memory restore r" in shown
    assert view(capsys, "compact", job_id="j") == "submitted j\n"


def test_what_a_restoring_left_is_shown_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    skipped = [{"memory_id": "b", "reason": "forgotten"}, {"memory_id": "c", "reason": "status_changed"}]
    result = {"memory_number": None, "topic_id": "uploads", "restored": ["a"], "skipped": skipped}
    shown = view(capsys, "restore", kind="restore", result=result)
    assert "The record of uploads is withdrawn; 1 memory is back." in shown
    assert "left  b: it was forgotten" in shown
    assert "left  c: its status was changed since" in shown


def test_an_empty_history_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert view(capsys, "history", compactions=[]) == "Nothing was compacted yet.\n"


@pytest.mark.parametrize(("conflicts", "word"), [([CONFLICT], "Y"), ([], "N")])
def test_the_script_says_what_it_did_in_a_line_and_answers_in_one_object(
    conflicts: list[Any], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    asked: list[Any] = []

    def submit(workspace: Any, settings: Any, kind: str, payload: dict[str, Any], **options: Any) -> dict[str, Any]:
        asked.append((kind, payload, options["wait"]))
        return {"success": True, "result": APPLIED | {"conflicts": conflicts}}

    answers: list[Any] = []
    monkeypatch.setattr(script, "submit", submit)
    monkeypatch.setattr(script.envelope, "claim_stdout", lambda: None)
    monkeypatch.setattr(script.envelope, "send", answers.append)
    digest = "0" * 64
    arguments = ["--workspace-path", str(tmp_path), "--topic-id", "uploads", "--preview-digest", digest]
    assert compact.main(arguments) == 0
    assert asked == [("compact", {"topic_id": "uploads", "preview": False, "preview_digest": digest}, True)]
    log = f"Compacted 7 summaries for topic uploads into DecisionRecord. Conflicts detected: {word}.\n"
    assert capsys.readouterr().err == log
    assert json.loads(json.dumps(answers[0]))["result"]["superseded"] == list("abcdefg")


def test_the_script_needs_a_topic() -> None:
    with pytest.raises(JobError, match="topic-id"):
        compact_arguments(["--preview"])
