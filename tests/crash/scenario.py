"""A bit of everything that a worker meets, and how it all has to look in the end."""

from harness import Place, until

from jobs import client, spool
from jobs.layout import SpoolPaths
from jobs.model import Record

# With what is taken for a secret: what is kept of it is another file.
BAD = b'{"schema_version": 1, "job_id": "bad", "kind": "no such kind", "payload": {"key": "AKIAQ3EGXYZ7ABCDWXYZ"}}'
GOOD = [f"good-{number}" for number in range(4)]


def drop_everything(place: Place) -> None:
    """Good jobs, one that fails after a retry, a bad file, and a request to run a failed job again."""
    for job_id in GOOD:
        place.submit("noop", {}, job_id=job_id)
    place.submit("noop", {"outcome": "retry"}, job_id="flaky", max_attempts=2)
    spool.drop(place.spool, "bad", BAD)
    again = place.record("again")
    assert again is not None
    client.retry(place.spool, again)


def assert_all_is_well(place: Place) -> None:
    """Every job has ended once; nothing is left over anywhere."""
    found: dict[str, Record] = {job_id: place.ended(job_id) for job_id in (*GOOD, "flaky", "bad")}
    until(lambda: not list(place.spool.control.iterdir()), "the request is obeyed")
    found["again"] = until(
        lambda: r if (r := place.record("again")) is not None and r.generation == 2 and r.ended else None,
        "it ran again",
    )
    assert {job_id: record.state for job_id, record in found.items()} == {
        **dict.fromkeys(GOOD, "succeeded"), "flaky": "failed", "bad": "rejected", "again": "failed",
    }  # fmt: skip
    assert {record.generation for job_id, record in found.items() if job_id in (*GOOD, "flaky")} == {1}
    assert found["flaky"].errors == 2
    assert found["again"].errors == 1
    until(lambda: not list(spool.job_ids(place.spool.active)), "the copies are put away")
    assert set(spool.job_ids(place.spool.ended)) >= {*GOOD, "flaky", "again"}
    until(lambda: spool.inbox(place.spool) == [], "the inbox is empty")
    until(lambda: not place.spool.record("old").exists() and not place.spool.ended_copy("old").exists(), "old is gone")
    assert rejected(place.spool) >= 1


def rejected(place: SpoolPaths) -> int:
    kept = {path.read_bytes() for path in place.rejected.iterdir() if not path.name.endswith(".reason.json")}
    assert len(kept) == 1  # it is one, however often it is kept, and however many reasons there are
    assert b"[REDACTED:aws-access-key]" in kept.pop()
    return len(list(place.rejected.glob("*.reason.json")))
