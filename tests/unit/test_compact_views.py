"""What a person and a script see of a compaction."""

import json
from pathlib import Path
from typing import Any

import pytest

from bridge import compact
from bridge.interface import submission
from bridge.interface.arguments import compact_arguments
from jobs.errors import JobError
from worker.cli import parser
from worker.documents import LISTS
from worker.terminal import output

SIDES = {
    "earlier": {"memory_id": "a", "memory_number": 1, "text": "Retry five times", "date": "2026-10-02T12:00:00Z"},
    "later": {"memory_id": "b", "memory_number": 2, "text": "Retry three times", "date": "2026-10-09T12:00:00Z"},
}
CONFLICT = {"conflict_id": "0123abcd", "kind": "value", "confidence": 0.9, "judged_by": "rules", **SIDES}
APPLIED = {
    "decision_record_id": "r", "memory_number": 9, "topic_id": "uploads", "superseded": list("abcdefg"),
    "superseded_numbers": {each: number for number, each in enumerate("abcdef", 1)},
    "conflicts": [CONFLICT], "kept_both": [], "narrative_source": "template", "warnings": ["Left out: 1 in draft."],
    "preview_digest": "0" * 64, "applied_at": "2026-11-20T12:00:00Z",
}  # fmt: skip


def view(capsys: pytest.CaptureFixture[str], command: str, **found: Any) -> str:
    needed = ["1"] if command == "restore" else []
    output.show(parser(command).parse_args([command, *needed]), {"success": True, **found})
    return capsys.readouterr().out


def test_what_was_compacted_is_shown_with_its_conflicts_and_how_to_undo_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = view(capsys, "compact", kind="compact", result=APPLIED, job_id="j", state="succeeded")
    assert "Compacted 7 memories of uploads into the record #9." in shown
    assert "superseded  #1, #2, #3, #4, #5, #6, g\n" in shown, "the last one was forgotten"
    sides = "#1 2026-10-02 Retry five times  #2 2026-10-09 Retry three times"
    assert f"0123abcd  {sides}  another amount, 90 % sure" in shown
    assert "Note: Left out: 1 in draft." in shown
    assert "Undo: cognee-memory restore 9" in shown
    assert view(capsys, "compact", job_id="j") == "submitted j\n"


def test_what_a_restoring_left_is_shown_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    skipped = [{"memory_id": "b", "reason": "forgotten"}, {"memory_id": "c", "reason": "status_changed"}]
    result = {"memory_number": None, "topic_id": "uploads", "restored": ["a"], "skipped": skipped, "numbers": {"a": 4}}
    shown = view(capsys, "restore", kind="restore", result=result)
    assert "The record of uploads is withdrawn; 1 memory is back.\n  back  #4\n" in shown
    assert "left  b: it was forgotten" in shown
    assert "left  c: its status was changed since" in shown


def test_a_preview_names_its_conflicts_and_how_to_reject_one(capsys: pytest.CaptureFixture[str]) -> None:
    record = {
        "topic_id": "uploads", "topic": "Uploads", "narrative_source": "template", "summary_text": "Merged.",
        **dict.fromkeys(LISTS, ()), "consolidated_decisions": ["Sign last (2026-10-02, #1)"],
    }  # fmt: skip
    kept = {**CONFLICT, "conflict_id": "89abcdef"}
    result = {
        "summaries": [], "decision_record": record, "conflicts": [CONFLICT], "kept_both": [kept], "warnings": [],
        "preview_digest": "0" * 64,
    }  # fmt: skip
    shown = view(capsys, "compact", kind="compact", result=result)
    assert "Decisions:\n  - Sign last (2026-10-02, #1)\n" in shown
    assert "Conflicts: the later one holds\nid        earlier " in shown
    assert "Conflicts that you rejected: both hold\nid        earlier " in shown
    assert "cognee-memory compact uploads --preview --keep-both 89abcdef --keep-both 0123abcd" in shown
    shown = view(capsys, "compact", kind="compact", result={**result, "conflicts": []})
    assert "Where both hold" not in shown


def test_the_history_names_memories_by_number(capsys: pytest.CaptureFixture[str]) -> None:
    digests = {side: {"memory_id": SIDES[side]["memory_id"], "text_sha256": "0"} for side in SIDES}
    made = {
        **APPLIED, "conflicts": [{**CONFLICT, **digests}], "restored_at": None,
    }  # fmt: skip
    shown = view(capsys, "history", compactions=[made])
    assert "uploads: value 0.90 by rules: #1 and #2\n" in shown


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
    monkeypatch.setattr(submission, "submit", submit)
    monkeypatch.setattr(submission.envelope, "claim_stdout", lambda: None)
    monkeypatch.setattr(submission.envelope, "send", answers.append)
    digest = "0" * 64
    arguments = ["--workspace-path", str(tmp_path), "--topic-id", "uploads", "--preview-digest", digest]
    assert compact.main(arguments) == 0
    assert asked == [("compact", {"topic_id": "uploads", "preview": False, "preview_digest": digest}, True)]
    log = f"Compacted 7 summaries for topic uploads into DecisionRecord. Conflicts detected: {word}.\n"
    assert capsys.readouterr().err == log
    assert json.loads(json.dumps(answers[0]))["result"]["superseded"] == list("abcdefg")


def test_the_scripts_option_may_be_repeated() -> None:
    given = compact_arguments(["--topic-id", "t", "--preview", "--keep-both", "0123abcd", "--keep-both", "89abcdef"])
    assert compact._payload(given) == {"topic_id": "t", "preview": True, "keep_both": ["0123abcd", "89abcdef"]}


def test_the_script_needs_a_topic() -> None:
    with pytest.raises(JobError, match="topic-id"):
        compact_arguments(["--preview"])
