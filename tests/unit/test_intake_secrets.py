"""Nothing that the worker keeps of what was dropped holds a likely secret, and a redacted job is still the same job."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import inbox_door
import pytest

from bridge.privacy import redaction
from jobs import files, parse, spool
from jobs.errors import JobError
from jobs.model import Job, Record, encode, job_digest
from jobs.payloads import Ingest
from worker.inbox import redaction as rejecting
from worker.scheduling.recovery import recover
from worker.scheduling.tasks import read_job

KEY = "AKIA" + "Q3EGXYZ7ABCDWXYZ"
MARK = "[REDACTED:aws-access-key]"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PAYLOAD = {"summaryText": f"We used {KEY}.", "topicId": "keys"}


class Door(inbox_door.Door):
    """One that takes large files, and looks at each that is dropped."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        super().__init__(folder, max_job_bytes=1024 * 1024, **settings)

    def drop(self, name: str, content: bytes | None = None, **fields: Any) -> Path:
        path = super().drop(name, content, **fields)
        self.look()
        return path

    def holding(self, secret: str = KEY) -> list[str]:
        """The files that hold the secret, or whose names do."""
        forms = [secret.encode(form) for form in ("utf-8", "utf-16-le", "utf-16-be")]
        there = [path for path in self.place.root.rglob("*") if path.is_file() and not path.is_symlink()]
        return [path.name for path in there if any(f in path.read_bytes() for f in forms) or secret in path.name]

    def job(self, record: Record) -> Job:
        return read_job(self.place, record.job_id)


def file_of(job_id: str, payload: dict[str, Any] = PAYLOAD, kind: str = "ingest") -> bytes:
    return inbox_door.file_of(job_id, kind=kind, payload=payload)


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path / "spool")


# --- accepted jobs ---


def test_a_secret_at_a_long_names_100th_character_is_nowhere(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    """Of a name that is cut first, half of the secret would stay."""
    door.drop(f"{'x' * 85}-{KEY}.json", b"{}")
    texts = [path.read_text() for path in door.place.rejected.iterdir()] + [
        caplog.text,
        *(path.name for path in door.place.rejected.iterdir()),
    ]
    assert len(texts) == 5
    assert not any(KEY[:10] in text for text in texts)


def test_the_copy_of_a_job_holds_no_secret_and_has_the_digest_of_what_was_sent(door: Door) -> None:
    door.drop("a.json", file_of("a"))
    assert door.holding() == []
    record = door.ledger.get("a")
    assert record.job_sha256 == job_digest("ingest", PAYLOAD)
    job = door.job(record)
    assert (job.sha256, job.redactions) == (record.job_sha256, {"aws-access-key": 1})
    assert job.payload == Ingest(summary_text=f"We used {MARK}.", topic_id="keys")


def test_a_job_without_secrets_has_the_copy_that_it_always_had(door: Door) -> None:
    door.drop("a.json", file_of("a", {"summary_text": "No secret."}))
    copy = json.loads(door.place.copy("a").read_bytes())
    assert "job_sha256" not in copy
    assert "redactions" not in copy


def test_the_same_job_again_is_a_duplicate_and_another_secret_a_conflict(door: Door) -> None:
    door.drop("a.json", file_of("a"))
    door.drop("a.json", file_of("a"))
    assert list(door.place.rejected.iterdir()) == []
    door.drop("a.json", file_of("a", {**PAYLOAD, "summaryText": f"We used {KEY[:-1]}Q."}))
    assert door.reason("a")["error"]["code"] == "JOB_ID_CONFLICT"
    assert door.holding(KEY[:-1]) == []


def test_a_path_and_an_id_stay_though_they_look_like_a_secret(door: Door) -> None:
    payload = {"paths": [f"notes/{KEY}.md"]}
    door.drop("a.json", file_of("a", payload, "cognify"))
    assert door.job(door.ledger.get("a")).sent == payload


def test_a_job_that_no_longer_fits_is_rejected_and_not_lost_later(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "redact_value", lambda value: ({"summaryText": " "}, {"aws-access-key": 1}))
    with pytest.raises(JobError, match="JOB_INVALID"):
        redaction.without_secrets(parse.parse_job("a", file_of("a")))


def test_a_job_whose_record_was_lost_is_accepted_from_its_copy_with_its_digest(door: Door) -> None:
    door.drop("a.json", file_of("a"))
    door.place.record("a").unlink()
    (record,) = recover(door.place, NOW)
    assert record.job_sha256 == job_digest("ingest", PAYLOAD)
    assert door.job(record).redactions == {"aws-access-key": 1}


def test_a_drop_cannot_say_what_a_copy_says(door: Door) -> None:
    job = json.loads(file_of("a")) | {"job_sha256": "0" * 64, "redactions": {"x": 1}}
    door.drop("a.json", encode(job))
    assert door.reason("a")["error"]["code"] == "JOB_INVALID"


@pytest.mark.parametrize(
    "told", [{"job_sha256": "0" * 64}, {"redactions": {"x": 1}}, {"job_sha256": 1, "redactions": {}},
             {"job_sha256": "0" * 64, "redactions": {"x": "1"}}],
)  # fmt: skip
def test_a_copy_that_tells_half_is_damaged(told: dict[str, Any]) -> None:
    with pytest.raises(JobError):
        parse.parse_copy("a", encode(json.loads(file_of("a")) | told))


def test_where_it_is_switched_off_everything_is_kept_as_it_came(tmp_path: Path) -> None:
    door = Door(tmp_path / "spool", redact_secrets=False)
    door.drop("a.json", file_of("a"))
    door.drop("b.json", file_of("b", {"nonsense": KEY}))
    assert sorted(door.holding()) == ["a.json", "b.1.json"]
    assert door.reason("b")["redactions"] is None


# --- rejected files ---

BAD = {
    "json": file_of("bad", {"nonsense": KEY}),
    "key.json": file_of("bad", {KEY: 1}),
    "escaped": file_of("bad", {"nonsense": KEY}).replace(b"AKIA", b"\\u0041K\\u0049A"),
    "broken": b'{"a": "' + KEY.encode(),
    "text": f"the key is {KEY}\n".encode(),
    "utf-16": f"the key is {KEY}\n".encode("utf-16"),
    "binary": b"\xff\x80 " + KEY.encode() + b" \xc3",
    "kind": file_of("bad", kind=f"ingest {KEY}"),
    "value": file_of("bad", {"summary": {"topic": "a", "context": "b", "created_at": KEY}}),
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_what_is_kept_of_a_rejected_file_holds_no_secret_nor_does_the_reason(door: Door, data: bytes) -> None:
    door.drop("bad.json", data)
    assert door.holding() == []
    assert spool.inbox(door.place) == []
    assert MARK.encode() in (door.place.rejected / "bad.1.json").read_bytes().replace(b"\0", b"")
    assert door.reason("bad")["redactions"]["kinds"] == {"aws-access-key": door.reason("bad")["redactions"]["total"]}
    assert spool.read_record(door.place, "bad").state == "rejected"


def test_a_rejected_file_without_a_secret_is_moved_as_it_is(door: Door) -> None:
    data = b'{"a":  1, broken'
    door.drop("bad.json", data)
    assert (door.place.rejected / "bad.1.json").read_bytes() == data
    assert (door.reason("bad")["redactions"], door.reason("bad")["cut_from"]) == (None, None)


def test_a_secret_in_a_files_name_is_not_kept(door: Door) -> None:
    door.drop(f"{KEY}.txt", b"hello")
    assert door.holding() == []
    (kept,) = [path for path in door.place.rejected.iterdir() if "reason" not in path.name]
    assert kept.name == "[REDACTED-aws-access-key].txt.1.json"
    assert kept.read_bytes() == b"hello"


def test_of_a_file_too_large_the_beginning_is_kept_and_that_said(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejecting, "MAX_BYTES", 64 * 1024)
    data = (f"the key is {KEY}\n" * 150_000).encode()
    assert len(data) > rejecting.MAX_BYTES
    door.drop("bad.json", data)
    assert door.holding() == []
    assert door.holding(KEY[:12]) == [], "nor half of one at the end"
    reason = door.reason("bad")
    assert reason["cut_from"] == len(data)
    assert reason["error"]["code"] == "FILE_TOO_LARGE"
    assert 0 < (door.place.rejected / "bad.1.json").stat().st_size < len(data)


def test_what_is_no_plain_file_is_moved_unread(door: Door, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text(KEY)
    (door.place.inbox / "link.json").symlink_to(outside)
    os.mkfifo(door.place.inbox / "pipe.json")
    door.intake.scan()
    assert (door.place.rejected / "link.1.json").is_symlink()
    assert (door.place.rejected / "pipe.1.json").is_fifo()
    assert outside.read_text() == KEY


def test_a_file_that_came_under_the_name_meanwhile_stays(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was not looked at: the next look does."""
    path = door.place.inbox / "bad.json"
    path.write_bytes(BAD["text"])
    good = file_of("bad", {"summary_text": "Good."})
    replace = files.replace

    def slowly(target: Path, data: bytes) -> None:
        replace(target, data)
        if target.parent == door.place.rejected and "reason" not in target.name:
            path.with_suffix(".new").write_bytes(good)
            path.with_suffix(".new").rename(path)

    monkeypatch.setattr(files, "replace", slowly)
    for _ in range(2):
        door.intake.scan()
    monkeypatch.undo()
    door.intake.scan()
    assert door.holding() == []
    assert door.ledger.get("bad").state == "queued"
