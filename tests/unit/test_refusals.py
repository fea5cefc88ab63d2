"""A job for what is not in the store is not submitted; anything that the store cannot answer is left to the job."""

from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from shelf import NOW, Shelf, legacy, record, summary

from bridge import trust
from bridge.compaction import previews
from bridge.compaction.record_draft import draft
from bridge.operations.refusals import require_accepted
from bridge.settings import load
from bridge.store.store import Store
from jobs import client, clock
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.parse import payload_of
from worker.cli import main

NO_UUID = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Two memories of loans, one of mails, one without a topic, and a record of fees."""
    workspace = Workspace(tmp_path / "workspace")
    workspace.root.mkdir()
    Shelf(workspace.root).add(
        summary("a", "Two weeks.", topic_id="loan-periods", decisions=("A loan lasts 14 days.",)),
        summary("b", "Three weeks.", topic_id="loan-periods", decisions=("A loan lasts 21 days.",)),
        summary("c", "At night.", topic_id="reminder-mails"), legacy("d", "A text."),
        record("e", "Fees.", sources=("x", "y"), topic_id="fees"),
    )  # fmt: skip
    return workspace


def error_of(workspace: Workspace, kind: str, **payload: Any) -> JobError:
    with pytest.raises(JobError) as raised:
        require_accepted(workspace, payload_of(kind, payload))
    assert raised.value.message.endswith("No job was submitted.")
    return raised.value


TYPOS = [
    ("compact", {"topic_id": "loan-period"}, "TOPIC_NOT_FOUND", "'loan-periods'"),
    ("compact", {"topic_id": "reminder-mails"}, "NOTHING_TO_COMPACT", "one memory"),
    ("compact", {"topic_id": "loan-periods", "preview_digest": "0" * 64}, "PREVIEW_NOT_FOUND", "0" * 64),
    ("restore", {"decision_record_id": "a"}, "MEMORY_NOT_FOUND", "Memory #1 is no decision record."),
    ("restore", {"decision_record_id": NO_UUID}, "MEMORY_NOT_FOUND", NO_UUID),
    ("forget", {"topic_id": "loans-periods"}, "TOPIC_NOT_FOUND", "'loan-periods'"),
    ("forget", {"memory_ids": ["a", "loan-periods"]}, "MEMORY_NOT_FOUND", "'loan-periods'"),
    ("forget", {"memory_ids": ["a", NO_UUID]}, "MEMORY_NOT_FOUND", NO_UUID),
    ("forget", {"session": "codex/x"}, "SESSION_NOT_FOUND", "'codex/x'"),
    ("cognify", {"memory_ids": ["a", NO_UUID]}, "MEMORY_NOT_FOUND", NO_UUID),
    ("set_status", {"memory_id": NO_UUID, "status": "Draft"}, "MEMORY_NOT_FOUND", NO_UUID),
    ("set_status", {"memory_id": "d", "status": "Draft"}, "ARGUMENT_INVALID", "#4 has no status"),
    ("set_status", {"memory_id": "a", "status": "Superseded", "replaced_by": NO_UUID}, "MEMORY_NOT_FOUND", NO_UUID),
    ("feedback", {"memory_id": NO_UUID, "verdict": "wrong"}, "MEMORY_NOT_FOUND", NO_UUID),
    ("set_status", {"memory_id": "e", "status": "Draft"}, "ARGUMENT_INVALID", "#5 is a decision record"),
]


@pytest.mark.parametrize(("kind", "payload", "code", "says"), TYPOS)
def test_a_typo_is_refused(workspace: Workspace, kind: str, payload: dict[str, Any], code: str, says: str) -> None:
    error = error_of(workspace, kind, **payload)
    assert error.code == code
    assert says in error.message


IN_THE_STORE = [
    ("compact", {"topic_id": "loan-periods", "preview": True, "preview_digest": None}),
    ("restore", {"decision_record_id": "e"}),
    ("forget", {"topic_id": "loan-periods", "memory_ids": None}),
    ("forget", {"memory_ids": ["a", "b"]}),
    ("set_status", {"memory_id": "a", "status": "Draft"}),
    ("feedback", {"memory_id": "d", "verdict": "helpful"}),
    ("rebuild", {"what": "index"}),
]


@pytest.mark.parametrize(("kind", "payload"), IN_THE_STORE)
def test_what_the_store_has_is_submitted(workspace: Workspace, kind: str, payload: dict[str, Any]) -> None:
    require_accepted(workspace, payload_of(kind, payload))


TYPED = [
    ("compact loan-period --preview", "The nearest: 'loan-periods'."),
    (f"compact loan-periods --preview-digest {'0' * 64}", "There is no preview"),
    ("restore 1", "Memory #1 is no decision record."),
    ("restore 9", "There is no memory '9'"),
    ("forget loan-periods --yes", "There is no memory 'loan-periods'."),
    ("forget --topic-id loan-period --yes", "The nearest: 'loan-periods'."),
    ("memories set-status typo Draft", "There is no memory 'typo'."),
]


@pytest.mark.parametrize(("command", "says"), TYPED)
def test_a_typo_makes_no_job(workspace: Workspace, capsys: pytest.CaptureFixture[str], command: str, says: str) -> None:
    trust.adopt(workspace, load().config_folder, trusted=True)
    before = set(workspace.root.rglob("*.json"))
    assert main([*command.split(), "--no-start", "--no-wait", "--workspace", str(workspace.root)]) == 1
    assert says in capsys.readouterr().err
    assert set(workspace.root.rglob("*.json")) == before


def test_an_empty_store_has_no_topic(tmp_path: Path) -> None:
    assert error_of(Workspace(tmp_path), "compact", topic_id="loans").details == {"nearest": []}


def test_a_preview_is_of_one_topic(workspace: Workspace) -> None:
    store = Store(workspace, FakeEmbedder(dimensions=64))
    preview = previews.preview_of(draft(store.about("loan-periods"), store.embed), "loan-periods")
    store.close()
    digest = previews.store(workspace, preview, NOW)
    payload = {"topic_id": "loan-periods", "preview_digest": digest}
    require_accepted(workspace, payload_of("compact", payload))
    assert error_of(workspace, "compact", topic_id="reminder-mails", preview_digest=digest).code == "PREVIEW_NOT_FOUND"


def test_a_forgotten_memory_may_be_forgotten_again(workspace: Workspace) -> None:
    store = Store(workspace, FakeEmbedder(dimensions=64))
    with store.change(clock.iso(NOW)) as change:
        change.tombstones.append(NO_UUID)
    store.close()
    require_accepted(workspace, payload_of("forget", {"memory_ids": ["a", NO_UUID]}))


def test_a_job_that_waits_may_bring_what_is_missing(workspace: Workspace) -> None:
    workspace.spool.inbox.mkdir(exist_ok=True)
    client.submit(workspace.spool, "check", {})
    require_accepted(workspace, payload_of("compact", {"topic_id": "loan-period"}))


def test_a_store_that_cannot_be_read_leaves_it_to_the_job(workspace: Workspace) -> None:
    workspace.memory_db.write_bytes(b"no database" * 1000)
    require_accepted(workspace, payload_of("compact", {"topic_id": "loan-period"}))
