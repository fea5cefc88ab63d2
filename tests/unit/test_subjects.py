"""What a job is about and which memories it made, for a row of a list."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bridge.memory import Content, Metadata
from bridge.text.template import render
from jobs import lifecycle, spool
from jobs.kinds import KINDS
from jobs.layout import SpoolPaths, Workspace
from jobs.model import Job, job_digest
from jobs.payloads import PAYLOADS
from jobs.record_cache import RecordCache
from jobs.subjects import MOST_CHARACTERS, memory_numbers, subject_of
from worker.admin import job_details
from worker.admin.job_details import JobSubjects

SUBJECTS = [
    ("ingest", {"summary": {"topic": "Lamps", "context": "Blue."}}, "Lamps"),
    ("ingest", {"summaryText": "The lamp\nburns blue."}, "The lamp burns blue."),
    ("ingest", {"conversation": {"userMessage": "Which port?", "assistantMessage": "9100"}}, "Which port?"),
    ("ingest", {"summary_text": "x" * 500}, "x" * (MOST_CHARACTERS - 1) + "…"),
    ("ask", {"question": "Who owns it?"}, "Who owns it?"),
    ("compact", {"topic_id": "lamps"}, "lamps"),
    ("compact", {"topicId": "lamps", "preview": True}, "lamps, preview"),
    ("forget", {"topic_id": "lamps"}, "lamps"),
    ("forget", {"memory_ids": ["a"]}, "1 memory"),
    ("forget", {"memoryIds": ["a", "b"]}, "2 memories"),
    ("cognify", {"texts": ["One.", "Two.", "Three."]}, "One. and 2 more"),
    ("set_status", {"memory_id": "a", "status": "Draft"}, "Draft"),
    ("feedback", {"memory_id": "a", "verdict": "wrong"}, "wrong"),
    ("rebuild", {"what": "index"}, "index"),
    ("import", {"path": "export.jsonl"}, "export.jsonl"),
    ("migrate", {"dry_run": True}, "dry run"),
    ("capture", {"tools": ["codex"], "dryRun": True}, "codex, dry run"),
    ("check", {}, ""),
    ("of another version", {"text": "x"}, ""),
    (None, {}, ""),
]


@pytest.mark.parametrize(("kind", "payload", "subject"), SUBJECTS)
def test_the_subject_is_what_the_payload_names(kind: str | None, payload: dict[str, Any], subject: str) -> None:
    assert subject_of(kind, payload) == subject


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_is_about_fields_that_its_payload_has(kind: Any) -> None:
    for path in kind.about:
        assert path.split(".")[0] in PAYLOADS[kind.name].model_fields


MADE_OR_CHANGED = [
    ("ingest", {"memory_number": 7}, [7]),
    ("compact", {"summaries": [{"memory_number": 1}]}, []),
    ("cognify", {"memories": [{"memory_number": n} for n in (1, 2, 2, 3, 4, 5)]}, [1, 2, 3, 4]),
    ("migrate", {"items": [{"memory_number": None}, {"memory_number": 9}]}, [9]),
    ("migrate", {"dry_run": True, "items": [{"memory_number": 9}]}, []),
    ("capture", {"items": [{"memories": [{"memory_number": 3}]}, {"memories": []}]}, [3]),
    ("ask", {"memories": [{"memory_number": 3}]}, []),
    ("restore", {"memory_number": None}, []),
    ("ingest", None, []),
    ("ingest", {"memory_number": True}, []),
    (None, {"memory_number": 1}, []),
]


@pytest.mark.parametrize(("kind", "result", "numbers"), MADE_OR_CHANGED)
def test_those_made_or_changed_are_named(kind: str | None, result: dict[str, Any] | None, numbers: list[int]) -> None:
    """The memories that the job made or changed, and no others."""
    assert memory_numbers(kind, result) == numbers


# --- a page of jobs ---


@pytest.fixture
def paths(workspace: Workspace) -> SpoolPaths:
    return workspace.spool


def accepted(paths: SpoolPaths, job_id: str, payload: dict[str, Any]) -> None:
    job = Job(job_id, "ingest", payload, payload, job_digest("ingest", payload))
    spool.accept(paths, [(job, lifecycle.accept(job, datetime(2026, 11, 20, tzinfo=UTC)))])


def listed(paths: SpoolPaths, subjects: JobSubjects) -> dict[str, str | None]:
    cache = RecordCache(paths)
    cache.refresh()
    return {row["job_id"]: row["subject"] for row in subjects.listed(cache.rows())}


def test_a_page_shows_the_topic_of_a_summary_in_any_form(paths: SpoolPaths) -> None:
    text = render(Content("Lamps of the hall", "They burn."), Metadata(topic_id="lamps"))
    accepted(paths, "template", {"summary_text": text})
    accepted(paths, "plain", {"summary_text": "They burn blue."})
    accepted(paths, "fields", {"summary": {"topic": "Lamps", "context": "They burn."}})
    subjects = JobSubjects(paths)
    assert listed(paths, subjects) == {"template": "Lamps of the hall", "plain": "They burn blue.", "fields": "Lamps"}


def test_a_copy_is_read_once_also_after_its_job_has_ended(paths: SpoolPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    accepted(paths, "a", {"summary_text": "They burn blue."})
    subjects = JobSubjects(paths)
    listed(paths, subjects)
    spool.retire_copy(paths, "a")
    monkeypatch.setattr(job_details, "kept_copy", pytest.fail)
    assert listed(paths, subjects) == {"a": "They burn blue."}


def test_nothing_is_said_of_a_job_whose_texts_were_removed(paths: SpoolPaths) -> None:
    accepted(paths, "a", {"summary_text": "They burn blue."})
    subjects = JobSubjects(paths)
    assert listed(paths, subjects) == {"a": "They burn blue."}
    spool.retire_copy(paths, "a", keep=False)
    assert listed(paths, subjects) == {"a": None}
