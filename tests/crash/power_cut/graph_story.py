"""The knowledge graph with the real cognee, recorded; and that every memory is found in it again after a power cut.

LanceDB and Ladybug write as they like: what is synced is the bridge's business, and what is damaged all the same is
to be repaired or written anew.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cognee_forks import EndedByItself, Forks, forker, summary, task
from harness import Place

from jobs.lifecycle import CRASH_LIMITS

from .model import Disk, Mark
from .recording import Recording

# A damaged page of the graph may end who reads it. After this many ends the graph is written anew: before the job
# that met it, alone in the child, would be taken for poison.
MAY_END_ITS_READER = CRASH_LIMITS.crashes - 1


class GraphStory:
    """A process that holds cognee is recorded, and its forks recover afterwards what the cuts leave."""

    def __init__(self, library: Path, base: Path) -> None:
        self._recording = Recording(library, base / "place" / "workspace", base / "recording.log")
        self._forker = forker(self._recording.environment(os.environ, trap=True))
        self._forks = Forks(Place(base / "place"), self._forker)
        self.ended = 0  # how often reading a damaged graph ended a process
        self._recording.begin()
        self.root = self._forks.place.workspace.root

    def close(self) -> None:
        self._forker.close()

    def record(self) -> Disk:
        """Memories one by one and several at once, a clean end, a start on what is there, and no end at all."""
        with self._forks.start() as fork:
            self._ingest(fork, 0)
            self._ingest(fork, 1)
            self._ingest(fork, 2, 3, 4)
        self._recording.mark("closed")
        fork = self._forks.start()
        self._ingest(fork, 5)
        fork.ask("maintain")
        self._ingest(fork, 6, 7)
        with self._recording.between_operations():
            fork.kill()
        return self._recording.disk()

    def _ingest(self, fork: object, *numbers: int) -> None:
        tasks = [task(f"job-{n}", "ingest", {"summary": summary(f"Topic {n}", plan_id="014")}) for n in numbers]
        for outcome in fork.run("ingest", *tasks):  # type: ignore[attr-defined]
            self._recording.mark(f"memory {outcome['result']['memory_id']}")

    def check(self, name: str, promised: list[str]) -> None:
        """What lies in the workspace now is opened: every memory is found in graph and vectors, nothing is owed.

        Raises AssertionError.
        """
        before = len(self._forks.log())
        try:
            self._check(name, promised)
        except Exception as error:
            raise AssertionError(f"{error!r}; the log:\n{self._forks.log()[before:][-4000:]}") from error

    def _check(self, name: str, promised: list[str]) -> None:
        after = task(f"after-{name.lower()}", "ingest", {"summary": summary("What came after the cut")})
        for _ in range(MAY_END_ITS_READER):
            try:
                self._mend(after, promised)
                return
            except EndedByItself:
                self.ended += 1
        self._mend(after, promised)

    def _mend(self, after: dict[str, Any], promised: list[str]) -> None:
        with self._forks.start() as fork:
            (outcome,) = fork.run("ingest", after)
            if "error" in outcome:  # it came out at the write; the job's next attempt opens the graph anew
                assert outcome["error"]["code"] == "GRAPH_UNAVAILABLE", outcome
                (outcome,) = fork.run("ingest", after)
            assert "result" in outcome, outcome
            fork.ask("deliver_all")
            assert fork.ask("lag") == 0
            everything = [*promised, outcome["result"]["memory_id"]]
            assert fork.ask("count") >= len(everything), "memory.db itself has lost a memory"
            assert fork.ask("missing", everything) == []
            for memory_id in everything:
                assert fork.ask("node", memory_id) is not None, memory_id
            assert fork.ask("memory_count") == fork.ask("count")
        with self._forks.start() as fork:  # and it stays so
            assert fork.ask("missing", everything) == []
            assert fork.ask("lag") == 0


def _zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


HARMS: dict[str, Callable[[Path], None]] = {"zeroed": _zeroed, "halved": _halved, "gone": Path.unlink}

# Every kind of file that cognee's stores have after an end that was none, below its folder of databases.
KINDS = {
    "the graph": "cognee_graph_ladybug",
    "the graph's log": "cognee_graph_ladybug.wal",
    "versions of vectors": "cognee.lancedb/*/_versions/*.manifest",
    "transactions of vectors": "cognee.lancedb/*/_transactions/*.txn",
    "vectors": "cognee.lancedb/*/data/*.lance",
    "cognee's own database": "cognee_db",
}


def damage(root: Path, kind: str, harm: str) -> None:
    """Do harm to the newest file of a kind, in each folder that has one."""
    newest: dict[Path, Path] = {}
    for path in (root / ".cognee_system" / "databases").glob(KINDS[kind]):
        there = newest.get(path.parent)
        if there is None or path.stat().st_mtime_ns > there.stat().st_mtime_ns:
            newest[path.parent] = path
    assert newest, f"there is no file for {kind}"
    for path in newest.values():
        HARMS[harm](path)


def promised(disk: Disk, cut: int) -> list[str]:
    """The memories whose jobs had been answered before the cut."""
    marks = [step.label.split() for step in disk.steps[:cut] if isinstance(step, Mark)]
    return [words[1] for words in marks if words[0] == "memory"]
