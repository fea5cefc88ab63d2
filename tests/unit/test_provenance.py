"""A repository does not act by being cloned or pulled: what came with it is kept and not run."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from harness import git
from inbox_door import LIMITS

from bridge import trust
from jobs import client, rejected_files
from jobs.errors import JobError
from jobs.ids import is_job_id
from jobs.layout import Workspace
from worker.inbox.control import Control
from worker.inbox.intake import Intake
from worker.scheduling.ledger import Ledger


class Clone:
    """A repository of somebody else, and this user's clone of it with an inbox that is scanned."""

    def __init__(self, base: Path) -> None:
        self.theirs = base / "theirs"
        self.theirs.mkdir()
        self.config = base / "config"
        git(self.theirs, "init", "-q", ".")
        (self.theirs / "main.py").write_text("x = 1\n")
        self.workspace = Workspace(base / "clone")

    def commit(self, name: str, content: dict[str, Any]) -> None:
        path = self.theirs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        git(self.theirs, "add", "-A")
        git(self.theirs, "commit", "-qm", name)

    def pull(self) -> None:
        git(self.workspace.root, "pull", "-q")

    def begin(self) -> None:
        """Clone it, and begin to work there."""
        git(self.theirs.parent, "clone", "-q", str(self.theirs), str(self.workspace.root))
        trust.adopt(self.workspace, self.config)
        self.ledger = Ledger(self.workspace.spool, [])
        self.intake = Intake(self.workspace.spool, self.ledger, LIMITS)
        self.asked: list[str] = []
        verbs = {"pause": lambda: self.asked.append("pause")}
        self.control = Control(self.workspace.spool, self.ledger, self.ledger.cancel, verbs)

    def scan(self) -> None:
        self.intake.scan()
        self.control.scan()

    def code(self, job_id: str) -> str | None:
        record = client.status(self.workspace.spool, job_id)
        return None if record is None or record.error is None else record.error["code"]


def job(job_id: str) -> dict[str, Any]:
    return {"schema_version": 1, "job_id": job_id, "kind": "noop", "payload": {}}


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    made = Clone(tmp_path)
    made.commit("main.json", {})
    return made


def test_a_job_that_a_clone_brings_is_kept_and_not_run_until_somebody_says_so(clone: Clone) -> None:
    clone.commit(".cognee_jobs/evil-1.json", job("evil-1"))
    clone.begin()
    mine = client.submit(clone.workspace.spool, "noop", {}).job_id
    clone.scan()
    assert clone.code("evil-1") == "FILE_NOT_TRUSTED"
    assert clone.ledger.get(mine) is not None
    [rejection], _ = rejected_files.rejections(clone.workspace.spool, 10)
    assert (rejection["file"], rejection["error"]["code"]) == ("evil-1.json", "FILE_NOT_TRUSTED")


def test_a_job_that_a_pull_brings_is_kept_and_runs_under_a_new_id_when_somebody_says_so(clone: Clone) -> None:
    clone.begin()
    clone.commit(".cognee_jobs/evil-2.json", job("evil-2"))
    clone.pull()
    clone.scan()
    assert clone.code("evil-2") == "FILE_TRACKED"
    assert clone.ledger.count() == 0
    [rejection], _ = rejected_files.rejections(clone.workspace.spool, 10)
    job_id = rejected_files.drop_again(clone.workspace.spool, rejection["kept_as"])
    assert is_job_id(job_id)
    assert job_id != "evil-2"
    clone.scan()
    assert clone.ledger.get(job_id) is not None


def test_requests_that_a_clone_or_a_pull_brings_are_removed_and_not_obeyed(clone: Clone) -> None:
    clone.commit(".cognee_jobs/control/pause.json", {})
    clone.begin()
    clone.scan()
    clone.commit(".cognee_jobs/control/pause.json", {"again": True})
    git(clone.workspace.root, "checkout", "-q", ".")
    clone.pull()
    assert clone.workspace.spool.request("pause").exists()
    clone.scan()
    assert clone.asked == []
    assert not clone.workspace.spool.request("pause").exists()
    client.request(clone.workspace.spool, "pause")
    git(clone.workspace.root, "rm", "-rq", "--cached", ".cognee_jobs")
    clone.scan()
    assert clone.asked == ["pause"]


def test_while_git_writes_files_the_inbox_waits_for_the_index_but_for_no_dead_git(clone: Clone) -> None:
    clone.begin()
    lock = clone.workspace.root / ".git" / "index.lock"
    lock.touch()
    job_id = client.submit(clone.workspace.spool, "noop", {}).job_id
    clone.scan()
    assert clone.ledger.get(job_id) is None
    assert clone.intake.waits_for_growing_files  # so that the next scan comes soon
    os.utime(lock, (time.time() - 3600,) * 2)
    clone.scan()
    assert clone.ledger.get(job_id) is not None


def test_a_rejected_job_that_is_no_job_cannot_get_a_new_id(clone: Clone) -> None:
    clone.begin()
    (clone.theirs / ".cognee_jobs").mkdir()
    (clone.theirs / ".cognee_jobs" / "evil-3.json").write_text("{")
    clone.commit("other.json", {})
    clone.pull()
    clone.scan()
    [rejection], _ = rejected_files.rejections(clone.workspace.spool, 10)
    with pytest.raises(JobError, match="JOB_INVALID"):
        rejected_files.drop_again(clone.workspace.spool, rejection["kept_as"])
    assert len(rejected_files.rejections(clone.workspace.spool, 10)[0]) == 1
