"""What is promised to whoever drops jobs, and that it holds after a power cut."""

import json
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bridge import trust
from jobs import spool
from jobs.layout import SpoolPaths, Workspace
from jobs.model import Record, job_digest
from worker.scheduling import recovery

from .model import Disk, Names, Sync, Tree, tree_of

SPOOL = "workspace/.cognee_jobs"
NOW = datetime(2036, 1, 1, tzinfo=UTC)  # after everything that was recorded


@dataclass
class Promises:
    """What was promised to somebody, by the index of the step after which it was."""

    dropped: list[tuple[int, str, str]] = field(default_factory=list)
    junk: list[tuple[int, str]] = field(default_factory=list)
    records: dict[str, list[tuple[int, Record]]] = field(default_factory=lambda: defaultdict(list))
    synced: list[int] = field(default_factory=list)  # when results/ was
    accepted: list[tuple[int, str]] = field(default_factory=list)
    put_away: list[tuple[int, str]] = field(default_factory=list)
    pruned: list[tuple[int, str]] = field(default_factory=list)

    def again(self, cut: int, left: list[Record], then: "Promises") -> "Promises":
        """Those before a cut, and those of what was recorded over what it left: steps are counted on from the cut.

        Records that the cut has left are on the medium; what it took of those that were not synced is gone.
        """
        both = Promises()
        for name in ("dropped", "junk", "accepted", "put_away", "pruned"):
            before = [entry for entry in getattr(self, name) if entry[0] < cut]
            setattr(both, name, before + [(at + cut, *rest) for at, *rest in getattr(then, name)])
        for record in left:
            both.records[record.job_id].append((cut - 1, record))
        for job_id, versions in then.records.items():
            both.records[job_id] += [(at + cut, record) for at, record in versions]
        both.synced = [cut, *(at + cut for at in then.synced)]
        return both

    def may_be_gone(self, job_id: str, cut: int) -> bool:
        return any(at < cut and job_id == gone for at, gone in self.pruned)

    def seen(self, job_id: str, cut: int) -> list[Record]:
        """Every version of a record that was in place before the cut."""
        return [record for at, record in self.records.get(job_id, ()) if at < cut]

    def kept(self, job_id: str, cut: int) -> int:
        """The index of the version that no cut may take back, or -1: it was synced, or the worker went on from it."""
        last = bisect_right(self.synced, cut - 1)
        sync = self.synced[last - 1] if last else -1
        return sum(1 for at, _ in self.records.get(job_id, ()) if at < sync) - 1


def promises_of(disk: Disk) -> Promises:
    found = Promises()
    for index, step in enumerate(disk.steps):
        words = step.label.split()
        match words:
            case ["dropped", job_id, sha256]:
                found.dropped.append((index, job_id, sha256))
            case ["junk", name]:
                found.junk.append((index, name))
        if isinstance(step, Sync) and step.label == f"sync {SPOOL}/results":
            found.synced.append(index)
        if isinstance(step, Names):
            target = Path(step.target)
            if step.what == "rename" and str(target.parent) == f"{SPOOL}/results" and target.suffix == ".json":
                found.records[target.stem].append((index, Record.from_dict(json.loads(step.content))))
            if step.what == "rename" and str(target.parent) == f"{SPOOL}/ended":
                found.put_away.append((index, target.stem))
            gone = Path(step.path)
            if step.what == "unlink" and str(gone.parent) == SPOOL and gone.suffix == ".json":
                found.accepted.append((index, gone.stem))
            if step.what == "unlink" and str(gone.parent) == f"{SPOOL}/results" and gone.suffix == ".json":
                found.pruned.append((index, gone.stem))
    return found


def check(base: Path, cut: int, promises: Promises) -> None:
    """Recover what lies below ``base`` and see that every promise made before the cut is kept.

    Raises AssertionError.
    """
    workspace = Workspace(base / "workspace")
    place = workspace.spool
    standing = trust.inspect_trust(workspace, base / "config")
    assert standing.foreign is None, f"the user's own workspace is a stranger's: {standing.foreign}"
    _check_raw(place, cut, promises)
    for folder in place.folders:
        folder.mkdir(mode=0o700, exist_ok=True)  # as every start does
    live = {record.job_id: record for record in recovery.recover(place, NOW)}
    once = tree_of(place.root)
    again = {record.job_id: record for record in recovery.recover(place, NOW + timedelta(hours=1))}
    _same(once, tree_of(place.root))
    assert live == again
    _check_records(place, cut, promises, live)
    _look_at_the_inbox(place, live)
    _check_drops(place, cut, promises)


def _same(once: Tree, twice: Tree) -> None:
    changed = {path for path in {*once, *twice} if once.get(path, b"absent") != twice.get(path, b"absent")}
    assert not changed, f"the second recovery changed {sorted(changed)}"


def _check_raw(place: SpoolPaths, cut: int, promises: Promises) -> None:
    """Before anything is mended: each record is one of those that were written, whole, and none too old."""
    for job_id in set(spool.job_ids(place.results)) | set(promises.records):
        seen, kept = promises.seen(job_id, cut), promises.kept(job_id, cut)
        found = spool.read_record(place, job_id)
        if found is None:
            may_be_gone = kept < 0 or promises.may_be_gone(job_id, cut)
            assert may_be_gone, f"{job_id}: the record is gone; it was {seen[kept].state}"
        else:
            assert found in seen[max(0, kept) :], f"{job_id}: the record is {found}; promised was one of {seen[kept:]}"


def _check_records(place: SpoolPaths, cut: int, promises: Promises, live: dict[str, Record]) -> None:
    """After mending: what waits has its copy, what has ended is as it ended, nothing is given up."""
    for job_id in set(spool.job_ids(place.results)) | set(promises.records):
        seen, kept = promises.seen(job_id, cut), promises.kept(job_id, cut)
        found = spool.read_record(place, job_id)
        if found is None:
            assert kept < 0 or promises.may_be_gone(job_id, cut), f"{job_id}: recovery lost the record"
            continue
        assert found.state != "running", job_id
        assert (job_id in live) == (not found.ended), job_id
        assert place.copy(job_id).exists() == (job_id in live), f"{job_id} is {found.state}"
        if found.ended:
            assert found in seen[max(0, kept) :], f"{job_id} ended by recovery: {found}"
        else:
            assert live[job_id] == found
            last = seen[kept] if kept >= 0 else found
            assert not last.ended or found.generation > last.generation, f"{job_id}: had ended, and runs again"
            assert (found.generation, found.attempt) >= (last.generation, last.attempt), f"{job_id}: went back in time"
    for at, job_id in promises.put_away:
        if at < cut and not promises.may_be_gone(job_id, cut):
            found = spool.read_record(place, job_id)
            assert found is not None, job_id
            assert found.ended or found.generation > 1, f"{job_id}: was put away, and is {found.state}"
    for at, job_id in promises.accepted:
        if at < cut and not promises.may_be_gone(job_id, cut):
            assert spool.read_record(place, job_id) is not None, f"{job_id}: was accepted, and has no record"


def _look_at_the_inbox(place: SpoolPaths, live: dict[str, Record]) -> None:
    """What the worker's first looks do. They take away only what is safe in a record."""
    from bridge.settings import Settings
    from worker.inbox.intake import Intake
    from worker.scheduling.ledger import Ledger

    limits = Settings(
        max_job_bytes=1 << 20,
        max_active_jobs=1000,
        min_free_bytes=0,
        max_attempts=4,
        partial_write_grace=0,
        test_jobs=True,
    )
    intake = Intake(place, Ledger(place, live.values()), limits, lambda *_: None)
    intake.scan()
    intake.scan()  # what does not parse is looked at twice before it is refused


def _check_drops(place: SpoolPaths, cut: int, promises: Promises) -> None:
    """Each job that was dropped is there once: in a record, or refused for its reason."""
    refused = [_digest(path) for path in place.rejected.glob("*.json") if not path.name.endswith(".reason.json")]
    for at, job_id, sha256 in promises.dropped:
        if at >= cut:
            continue
        record = spool.read_record(place, job_id)
        if promises.may_be_gone(job_id, cut):
            assert record is None or record.ended, f"{job_id}: had ended and was pruned, and runs again"
            continue
        assert record is not None, f"{job_id}: was dropped, and there is no trace of it"
        if record.job_sha256 != sha256:
            assert sha256 in refused, f"{job_id}: another job has its id, and it was not refused"
        else:
            assert sha256 not in refused, f"{job_id}: accepted and refused"
    for at, name in promises.junk:
        if at < cut:
            stem = name.removesuffix(".json")
            assert list(place.rejected.glob(f"{stem}.*.reason.json")), f"{name}: there is no answer"
            found = spool.read_record(place, stem)
            assert found is not None, name
            assert found.state == "rejected", found
    for job_id in spool.job_ids(place.active):
        record = spool.read_record(place, job_id)
        assert record is not None, f"{job_id}: a copy without a record"
        assert not record.ended, f"{job_id}: {record.state}, and still among the active"
    left = [path.name for path in spool.inbox(place)]
    assert not left, f"nobody has dealt with {left}"


def _digest(path: Path) -> str | None:
    try:
        data = json.loads(path.read_bytes())
        return job_digest(data["kind"], data["payload"])
    except (ValueError, KeyError):
        return None
