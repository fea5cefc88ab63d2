"""What a capture does with transcripts that are damaged, change while they are read, or are no files of this user."""

import errno
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from job_copies import task
from test_capture_operation import MORE, TALK, Bench, bench as bench_of_captures

from bridge.capture.readers import json_lines
from bridge.operations import capture
from bridge.store.store import Store
from jobs.errors import JobError

bench = bench_of_captures  # the fixture

LONG = tuple(
    (speaker, f"Subject {number}: {text} It concerns the part {number} of the uploader.")
    for number in range(50)
    for speaker, text in TALK
)


def pipe(path: Path, _: Path) -> None:
    os.mkfifo(path)


def link_to_elsewhere(path: Path, elsewhere: Path) -> None:
    path.symlink_to(elsewhere)


def file_of_another_user(path: Path, elsewhere: Path) -> None:
    path.write_bytes(elsewhere.read_bytes())
    os.chown(path, 12345, -1)


def file_that_may_not_be_read(path: Path, elsewhere: Path) -> None:
    path.write_bytes(elsewhere.read_bytes())
    path.chmod(0)


REFUSED = [
    (pipe, "pipe"),
    (link_to_elsewhere, "outside"),
    (file_of_another_user, "another user"),
    (file_that_may_not_be_read, "Permission denied"),
]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes, links and owners of POSIX")
@pytest.mark.parametrize(("make", "said"), REFUSED)
def test_what_is_no_file_of_ours_has_a_reason(bench: Bench, tmp_path: Path, make: Any, said: str) -> None:
    if os.geteuid() and make is file_of_another_user:
        pytest.skip("only root can give a file away")
    if not os.geteuid() and make is file_that_may_not_be_read:
        pytest.skip("root reads everything")
    elsewhere = bench.write(session="aaaa").rename(tmp_path / "elsewhere.jsonl")
    bench.write(session="good")
    make(bench.transcript("bad"), elsewhere)
    for dry_run in (True, False):
        result = bench.run(f"a-{dry_run}".lower(), dry_run=dry_run)
        assert (result["captured"], result["failed"], result["memories"]) == (1, 1, 1)
        (bad,) = [item for item in result["items"] if item["session_id"] == "bad"]
        assert re.match(f"The transcript was not read: .*{said}", bad["reason"])


@pytest.mark.parametrize("share", [0.0, 0.5, 0.97])
def test_a_transcript_that_lost_its_end_takes_no_memory_away(bench: Bench, share: float) -> None:
    path = bench.write(LONG)
    assert bench.run("a")["memories"] > 3
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    result = bench.run("b")
    assert (result["memories"], result["superseded"]) == (0, 0)
    assert {status for _, status in bench.memories()} == {"Active"}
    assert "lost its end" in result["items"][0]["reason"]
    bench.write([*LONG, *MORE])
    again = bench.run("c")
    assert (again["memories"], again["superseded"]) == (1, 1)


def test_a_session_that_was_rewritten_to_nothing_is_superseded_and_an_undo_revives_it(bench: Bench) -> None:
    bench.write()
    bench.run("a")
    bench.write([("user", "```\nx = 1\n```")])
    assert bench.run("preview", dry_run=True)["superseded"] == 1
    assert bench.run("b")["superseded"] == 1
    assert bench.memories() == [(1, "Superseded")]
    assert len(bench.run("c", undo="b")["revived"]) == 1
    assert bench.memories() == [(1, "Active")]


def test_bytes_that_are_not_utf8_are_replaced_and_counted(bench: Bench) -> None:
    path = bench.write()
    path.write_bytes(path.read_bytes().replace(b"gateway recovers", b"gateway \xff\xfe recovers"))
    result = bench.run("a")
    assert result["memories"] == 1
    assert result["items"][0]["left_out"][json_lines.NOT_UTF8] == 2


def test_a_disk_that_fills_in_between_loses_and_doubles_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        bench.write([(who, f"{text} Number {number}.") for who, text in TALK], session=f"s{number}")
    change, writes = Store.change, [0]

    def full(store: Store, *rest: Any) -> Any:
        writes[0] += 1
        if writes[0] > 3:
            raise JobError("DISK_FULL", os.strerror(errno.ENOSPC))
        return change(store, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "change", full)
        assert bench.fails("a").code == "DISK_FULL"
    assert len(bench.memories()) == 3
    result = bench.run("a")
    assert (result["unchanged"], result["captured"]) == (3, 3)
    assert len(bench.memories()) == 6
    assert bench.run("b", undo="a")["undone"] == 6, "the receipt has what both attempts stored"


def test_pauses_lie_between_transactions_and_tell_the_progress(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.operations.captured_session.SLICE_SECONDS", 0.0)
    bench.write(session="short")
    bench.write(LONG, session="long")
    seen: list[tuple[int, int, int]] = []

    def progress(said: dict[str, Any]) -> None:
        seen.append((said["done"], said["total"], len(bench.memories())))

    now = capture.clock.now()
    result: Any = capture.run(task("capture", {}, "a", at="2026-11-23T12:00:00Z"), bench.stores, now, progress)
    memories = [stored for _, _, stored in seen]
    assert memories == sorted(memories)
    assert len(set(memories)) == result["memories"], "each was stored before the next pause"
    assert {total for _, total, _ in seen} == {2}
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


def test_a_cancellation_in_the_middle_keeps_what_is_stored_and_the_next_capture_completes_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cancelled(Exception):
        pass

    monkeypatch.setattr("bridge.operations.captured_session.SLICE_SECONDS", 0.0)
    bench.write(LONG)

    def cancel(_: Any) -> None:
        if bench.memories():
            raise Cancelled

    with pytest.raises(Cancelled):
        capture.run(task("capture", {}, "a", at="2026-11-23T12:00:00Z"), bench.stores, capture.clock.now(), cancel)
    stored = len(bench.memories())
    assert stored > 0
    bench.run("b")
    whole = bench.memories()
    assert len(whole) > stored
    assert {status for _, status in whole} == {"Active"}
    assert bench.run("c")["unchanged"] == 1
