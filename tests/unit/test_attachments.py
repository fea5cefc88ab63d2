"""What a job of a team needs of its machine's files: it is attached there, and the service does with it what the
machine alone would do. Over real stores, without a database and without cognee."""

import gzip
import json
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from fake_graph import WithFakeGraph
from job_copies import copy_of, done, refused
from old_workspace import OldWorkspace

from bridge import trust
from bridge.graph import installed
from bridge.graph.open_stores import Stores
from bridge.operations import attachments, run
from bridge.settings import load
from bridge.slices import ignore_progress
from bridge.store.team import shared_tables
from bridge.transfer import export, export_file
from jobs.layout import Workspace
from jobs.lifecycle import Failed, Succeeded

NOW, AT = datetime(2026, 11, 23, 12, tzinfo=UTC), "2026-11-23T12:00:00Z"
ID = "0b9a2f6e-5f5f-4f0e-9d53-0d6f3f1c9a11"
TOKEN = "ghp_" + "a1B2" * 9
TALK = f"""## User

The uploader gives up at the first 503 from the gateway. My key is {TOKEN}. How should we retry?

## Assistant

The gateway recovers within a minute, so a bounded exponential backoff fits: `retryUpload` in src/upload.py does it.

## User

Let's use five attempts with full jitter in `retryUpload`, because the gateway recovers within a minute.

## Assistant

Done: `retryUpload` now retries five times with full jitter, and all of the tests pass.
"""


class Service:
    """The team's database, as far as attachments and receipts go."""

    def __init__(self) -> None:
        self.sent: dict[str, dict[int, bytes]] = {}
        self.kept: dict[str, dict[str, Any]] = {}

    def attach(self, workspace_id: str, job_id: str, digest: str, part: int, parts: int, data: bytes) -> bool:
        self.sent.setdefault(job_id, {})[part] = data
        is_whole = len(self.sent[job_id]) == parts
        assert not is_whole or sha256(b"".join(self.attachment(workspace_id, job_id))).hexdigest() == digest
        return is_whole

    def attachment(self, workspace_id: str, job_id: str) -> Iterator[bytes]:
        return iter([data for _, data in sorted(self.sent[job_id].items())])

    def text(self, job_id: str) -> str:
        return gzip.decompress(b"".join(self.attachment("", job_id))).decode()

    def keep_receipt(self, workspace_id: str, receipt: dict[str, Any]) -> None:
        self.kept[receipt["receipt"]] = receipt

    def receipts(self, workspace_id: str) -> list[str]:
        return sorted(self.kept)

    def receipt(self, workspace_id: str, receipt_id: str) -> dict[str, Any] | None:
        return self.kept.get(receipt_id)


class Placed(WithFakeGraph):
    """The stores of a machine alone, of one in a team, or of the service."""

    host: Any = None
    team: Any = None


class Bench:
    """The same memories alone, on a machine of a team, and in the service."""

    def __init__(self, folder: Path) -> None:
        self.service = Service()
        self.alone, self.machine, self.there = (self._stores(folder / name) for name in ("alone", "machine", "there"))
        self.machine.team = (SimpleNamespace(workspace_id=ID), self.service)
        self.there.host = self.service

    def _stores(self, root: Path) -> Placed:
        root.mkdir(parents=True)
        settings = load(environment={"COGNEE_MEMORY_CONFIG_DIR": str(root.parent / "config")})
        trust.adopt(Workspace(root), settings.config_folder)
        stores = Placed(Workspace(root), settings, embedder=FakeEmbedder())
        with stores.store._connection as connection:
            connection.execute("UPDATE meta SET value = ? WHERE key = 'workspace_id'", (ID,))
        return stores

    @property
    def roots(self) -> list[Path]:
        """Of the machines that have files."""
        return [self.alone.workspace.root, self.machine.workspace.root]

    def attach(self, kind: str, job_id: str, **payload: Any) -> Succeeded | Failed:
        copy = copy_of(kind, payload, job_id, at=AT)
        return attachments.attach(kind, [copy], self.machine, ignore_progress)[job_id]

    def both(self, kind: str, job_id: str, **payload: Any) -> tuple[Succeeded | Failed, Succeeded | Failed]:
        """What the machine alone does with the job, and what the service does with what is attached to it."""
        copy = copy_of(kind, payload, job_id, at=AT)
        attached = self.attach(kind, job_id, **payload)
        there = attached if isinstance(attached, Failed) else outcome(kind, copy, self.there)
        return outcome(kind, copy, self.alone), there

    def same(self, kind: str, job_id: str, **payload: Any) -> dict[str, Any]:
        """The result, which is the same for both, as is what they have stored."""
        alone, there = self.both(kind, job_id, **payload)
        assert comparable(done(there), self.machine) == comparable(done(alone), self.alone)
        assert rows_of(self.there, self.machine) == rows_of(self.alone, self.alone)
        return done(there)


def outcome(kind: str, copy: Any, stores: Stores) -> Succeeded | Failed:
    return run(kind, [copy], stores, NOW, ignore_progress)[copy["job_id"]]


def comparable(value: Any, stores: Stores) -> Any:
    """Without the folder of the machine, and how long it took."""
    text = json.dumps(value, sort_keys=True, default=str).replace(str(stores.workspace.root), ".")
    found = json.loads(text)
    if isinstance(found, dict):
        found.pop("seconds", None)
    return found


def rows_of(stores: Stores, files: Stores) -> Any:
    connection = stores.store._connection
    found = {}
    for table in shared_tables.TABLES:
        columns = ", ".join(f'"{name}"' for name in table.columns(connection))
        found[table.name] = connection.execute(f"SELECT {columns} FROM {table.name} ORDER BY 1, 2").fetchall()
    return comparable(found, files)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def write(bench: Bench, name: str, text: str) -> None:
    for root in bench.roots:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
        subprocess.run(["touch", "-d", AT, str(root / name)], check=True)


def commit(bench: Bench) -> None:
    for root in bench.roots:
        write(bench, "src/upload.py", "def retryUpload():\n    pass\n")
        identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        dates = {"GIT_AUTHOR_DATE": AT, "GIT_COMMITTER_DATE": AT, "PATH": "/usr/bin:/bin"}
        for arguments in (["init", "-q", "-b", "main"], ["add", "src"], ["commit", "-qm", "one"]):
            subprocess.run(["git", *identity, *arguments], cwd=root, env=dates, check=True)


def test_a_captured_session_is_the_same_memories_and_anchors_and_its_secrets_are_not_sent(bench: Bench) -> None:
    write(bench, "talk.md", TALK)
    commit(bench)
    result = bench.same("capture", "captured", file="talk.md")
    assert result["captured"] == 1
    assert result["redactions"]
    assert TOKEN not in bench.service.text("captured")
    [memory] = bench.there.store.after(0, 9)
    assert any("retryUpload" in each for each in memory.metadata.anchors)
    assert bench.service.kept["captured"]["finished_at"]


def test_a_session_captured_as_it_is_is_not_sent_again_and_one_that_grew_replaces_its_memory(bench: Bench) -> None:
    write(bench, "talk.md", TALK)
    bench.same("capture", "first", file="talk.md")
    followed(bench)
    assert bench.same("capture", "second", file="talk.md")["unchanged"] == 1
    assert '"turn"' not in bench.service.text("second")
    write(bench, "talk.md", TALK + "\n## User\n\nWe also decided that a 429 respects the header Retry-After.\n")
    assert bench.same("capture", "third", file="talk.md")["superseded"] == 1
    write(bench, "copy.md", TALK)
    assert bench.same("capture", "copy", file="copy.md")["items"][0]["left_out"]["turn of another session"] == 4


def followed(bench: Bench) -> None:
    """Give the machine's copy what the service has stored."""
    ours, theirs = bench.machine.store._connection, bench.there.store._connection
    for table in shared_tables.TABLES:
        rows = theirs.execute(f"SELECT * FROM {table.name}").fetchall()
        ours.execute(f"DELETE FROM {table.name}")
        for row in rows:
            ours.execute(f"INSERT INTO {table.name} VALUES ({', '.join('?' * len(row))})", row)


def test_a_capture_is_undone_by_the_receipt_of_the_team_and_one_from_before_by_the_machines_own(bench: Bench) -> None:
    write(bench, "talk.md", TALK)
    bench.same("capture", "captured", file="talk.md")
    assert bench.same("capture", "undone", undo="captured")["undone"] == 1
    assert bench.service.kept["captured"]["undone"]["removed"]
    assert bench.service.text("undone") == "", "the machine has no such receipt"
    old = {"format": 1, "receipt": "old", "made_by": "capture", "job_sha256": "", "begun_at": AT, "finished_at": AT,
           "items": [], "undone": None}  # fmt: skip
    for stores in (bench.alone, bench.machine):
        stores.workspace.receipts.mkdir(exist_ok=True)
        stores.workspace.receipt("old").write_text(json.dumps(old))
    assert bench.same("capture", "undone-old", undo="old")["undone"] == 0
    for each in bench.both("capture", "unknown", undo="nothing"):
        assert refused(each).code == "RECEIPT_NOT_FOUND"


def test_a_capture_that_the_machine_refuses_is_refused_there(bench: Bench) -> None:
    for payload, code in (({}, "CAPTURE_OFF"), ({"file": "absent.md"}, "ARGUMENT_INVALID")):
        assert refused(bench.attach("capture", "a", **payload)).code == code
    assert bench.service.sent == {}


def test_an_import_is_the_same_and_its_secrets_are_not_sent(bench: Bench, tmp_path: Path) -> None:
    donor = bench._stores(tmp_path / "donor")
    for words in ("Tokens live an hour", "Invoices are rounded up"):
        payload = {"summary": {"topic": words, "context": f"{words}.", "decisions": [f"{words}."]}}
        done(outcome("ingest", copy_of("ingest", payload, "i", at=AT), donor))
    parts: list[bytes] = []
    export.write(donor.workspace, None, AT, parts.append)
    whole = b"".join(parts).decode()
    write(bench, "all.jsonl", whole)
    assert bench.same("import", "whole", path="all.jsonl")["added"] == 2
    *lines, _ = whole.replace("an hour", f"an hour, as {TOKEN}").splitlines()
    write(bench, "edited.jsonl", "\n".join([*lines, export_file.EDITED, ""]))
    result = bench.same("import", "edited", path="edited.jsonl")
    assert (result["conflicts"], result["unchanged"]) == (1, 1)
    assert any("was edited" in each for each in result["warnings"])
    assert TOKEN not in bench.service.text("edited")
    write(bench, "damaged.jsonl", whole.replace("rounded up", "rounded down"))
    alone, attached = bench.both("import", "damaged", path="damaged.jsonl")
    assert (refused(attached).code, refused(attached).message) == ("IMPORT_INVALID", refused(alone).message)
    assert "damaged" not in bench.service.sent


def test_a_migration_is_the_same_and_its_undoing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "require", lambda: None)
    first, second = bench.roots
    OldWorkspace(first, "0.3.4").add("gone").unlink()
    for folder in (".cognee_system", ".cognee_data"):
        shutil.copytree(first / folder, second / folder, dirs_exist_ok=True)
    result = bench.same("migrate", "migrated")
    assert (result["migrated"], result["failed"]) == (3, 1)
    assert bench.same("migrate", "undone", undo="migrated")["undone"] == 3


def test_texts_of_files_are_cognified_with_their_names_and_a_file_that_cannot_be_read_fails_alone(bench: Bench) -> None:
    write(bench, "notes.md", f"The key is {TOKEN}.")
    for each in bench.both("cognify", "cognified", paths=["notes.md", "absent.md"]):
        failures = refused(each).details["failures"]  # there is no language model
        assert [(failed["source"], failed["code"]) for failed in failures] == [("absent.md", "ARGUMENT_INVALID")]
    assert TOKEN not in bench.service.text("cognified")
    assert rows_of(bench.there, bench.machine) == rows_of(bench.alone, bench.alone)


STRANGE = {
    "nothing": b"",
    "no gzip": b"no gzip",
    "no line": gzip.compress(b""),
    "cut off": gzip.compress(b"{")[:-3],
    "no object": gzip.compress(b"[]\n"),
    "no count": gzip.compress(b"{}\n"),
    "no session": gzip.compress(b'{"sessions": 1}\n{"session": {"tool": 7}}\n'),
    "no tool": gzip.compress(
        b'{"sessions": 1}\n{"session": {"tool": "x", "session_id": "s", "path": "/", "version": "1"}}\n'
    ),
}


@pytest.mark.parametrize("content", STRANGE.values(), ids=STRANGE)
def test_what_no_machine_of_ours_has_attached_ends_the_job_with_the_reason(bench: Bench, content: bytes) -> None:
    bench.service.sent["a"] = {0: content}
    found = outcome("capture", copy_of("capture", {"file": "talk.md"}, "a", at=AT), bench.there)
    assert refused(found).code == "ARGUMENT_INVALID"
    assert not bench.there.store.count()


def test_more_than_a_team_takes_is_not_sent(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    write(bench, "talk.md", TALK)
    monkeypatch.setattr(attachments, "MOST_BYTES", 100)
    assert refused(bench.attach("capture", "a", file="talk.md")).code == "FILE_TOO_LARGE"
