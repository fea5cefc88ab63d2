"""Askers and workers at one spool, recorded."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from harness import PATIENCE, PROJECT, Place, until

from jobs.layout import Workspace

from .model import Disk
from .recording import Recording
from .spool_promises import SPOOL, Promises

# How each job has to end, once a worker has had the time; of the last generation that was asked for.
ENDS = {
    "early-1": {"succeeded"}, "early-2": {"succeeded", "cancelled"}, "good-1": {"succeeded"}, "good-2": {"succeeded"},
    "good-3": {"succeeded"}, "fails-1": {"failed"}, "again-1": {"succeeded", "failed", "retrying"},
    "slow-1": {"succeeded"}, "behind-1": {"succeeded"}, "behind-2": {"succeeded", "cancelled"},
    "before-1": {"succeeded"}, "after-1": {"succeeded"},
}  # fmt: skip


class TornPlace(Place):
    """A place whose heartbeat may be torn: it is the one file that is not meant to survive a power cut."""

    def heartbeat(self) -> dict[str, Any]:
        try:
            return super().heartbeat()
        except ValueError:
            return {}


class _Recorded:
    """A workspace whose processes are all recorded."""

    def __init__(self, recording: Recording, place: Place) -> None:
        self.place = place
        place.environment = recording.environment(place.environment)
        tests = Path(__file__).resolve().parents[2]
        place.environment["PYTHONPATH"] = f"{PROJECT}:{tests}:{tests / 'crash'}"

    def ask(self, *calls: list[Any]) -> None:
        program = Path(__file__).with_name("asker.py")
        command = [sys.executable, str(program), str(self.place.workspace.root), json.dumps(calls)]
        subprocess.run(command, env=self.place.environment, check=True, timeout=PATIENCE)


def record_story(library: Path, base: Path) -> Disk:
    """A spool's life: dropped before there is a worker, accepted, run, failed, cancelled, refused, replayed; the
    worker killed in the middle of a job, and another one after it."""
    place = Place(base / "disk", adopted=False)
    recording = Recording(library, base / "disk", base / "recording.log")
    recorded = _Recorded(recording, place)
    recorded.ask(["adopt"], ["submit", "early-1", {}], ["submit", "early-2", {}], ["cancel", "early-2"])
    with place.worker() as first:
        place.ended("early-1")
        place.ended("early-2")
        recorded.ask(
            *(["submit", f"good-{n}", {}] for n in (1, 2, 3)),
            ["submit", "fails-1", {"outcome": "fail"}],
            ["junk", "junk-1.json"],
            ["submit", "again-1", {"outcome": "retry"}],
            ["submit", "slow-1", {"sleep_ms": 600}],
        )
        place.ended("good-1")
        place.ended("fails-1")
        recorded.ask(
            ["submit", "good-1", {"sleep_ms": 1}],  # another job under the same id
            ["submit", "good-2", {}],  # the same once more
            ["submit", "behind-1", {}],
            ["submit", "behind-2", {}],
            ["cancel", "behind-2"],
        )
        until(lambda: not place.spool.dropped("good-1").exists(), "the conflict is refused")
        place.in_state("slow-1", "running", "succeeded")
        with recording.between_operations():
            first.kill()
    recorded.ask(["submit", "before-1", {}], ["submit", "after-1", {}], ["retry", "fails-1", 1])
    with place.worker() as second:
        for job_id in ("slow-1", "behind-1", "behind-2", "after-1"):
            place.ended(job_id)
        recorded.ask(["prune", "after-1"])
        until(lambda: _generation(place, "fails-1") == 2, "the replay")
        recorded.ask(["retry", "early-2", 1])
        until(lambda: _generation(place, "early-2") == 2, "the replay of what was cancelled")
        place.ended("early-2")
        place.ended("fails-1")
        second.stop()
    return recording.disk()


def _generation(place: Place, job_id: str) -> int:
    record = place.record(job_id)
    return record.generation if record else 0


def matters(label: str) -> bool:
    """The worker's own folder is derived: it counts, but not operation by operation."""
    return f"{SPOOL}/worker/" not in label


def record_recovery(library: Path, base: Path, place: Place, cut: int, promises: Promises) -> Disk:
    """A worker over what is left, recorded, so that the power can be cut once more."""
    recording = Recording(library, base, base.with_name(f"{base.name}.log"))
    _move(place, base)
    _Recorded(recording, place)
    with place.worker() as worker:
        for at, job_id, _ in promises.dropped:
            if at < cut and not promises.may_be_gone(job_id, cut):
                place.in_state(job_id, *ENDS[job_id])
        worker.stop()
    return recording.disk()


def _move(place: Place, base: Path) -> None:
    """Make the place be what a cut left below ``base``."""
    place.workspace, place.config = Workspace(base / "workspace"), base / "config"
    place.environment["COGNEE_MEMORY_CONFIG_DIR"] = str(place.config)
