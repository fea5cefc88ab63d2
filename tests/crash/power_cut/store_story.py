"""The memory store in use, recorded; and what has to hold of it after a power cut: what was done is there, what was
under way is there whole or not at all."""

import copy
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from fake_embedder import FakeEmbedder
from harness import PATIENCE, PROJECT

from bridge.memory import Content, Memory, Metadata
from bridge.search.catalogue import Filters
from bridge.search.snapshot import open_snapshot
from bridge.store.store import Store
from bridge.text.passages import passages
from jobs.layout import Workspace

from .model import Disk, Mark
from .recording import Recording

NOW = "2026-11-20T12:00:00Z"

STORY: list[tuple[str, ...]] = [
    ("open",),
    ("graph",),  # from now on something is owed to it
    ("add", "a"),
    ("add", "b", "c", "d"),
    ("status", "b"),
    ("pay", "a"),
    ("checkpoint",),  # the next write begins the log anew
    ("add", "e"),
    ("pay",),
    ("rebuild vectors",),
    ("add", "f", "g"),
    ("rebuild words",),
    ("checkpoint",),
    ("status", "g"),
    ("maintain",),  # empties the log
    ("add", "h"),
    ("close",),  # removes the log
    ("open",),
    ("add", "i"),
    ("rebuild vectors",),
    ("pay", "h"),
    ("add", *(f"many-{n}" for n in range(40))),
    ("checkpoint",),
    ("add", "last"),
]


def _word(name: str) -> str:
    """A word of letters that no other name has, and that no stemming shortens."""
    return "x" + name.replace("-", "").translate(str.maketrans("0123456789", "bcdfghklmn")) + "q"


def memory(name: str) -> Memory:
    """One of the story's memories, as it is handed to the store."""
    word = _word(name)
    content = Content(f"Topic of {word}", f"What was said of {word}.", decisions=(f"Decide {word}", f"Keep {word}"))
    metadata = Metadata(topic_id="topic", status="Active", created_at=NOW, updated_at=NOW)
    return Memory(name, 0, "summary", metadata, NOW, content)


@dataclass
class Expected:
    """What the store holds: each memory's number and status, and what is owed to the graph, once there is one."""

    memories: dict[str, tuple[int, str]] = field(default_factory=dict)
    owed: list[tuple[str, str]] = field(default_factory=list)
    has_graph: bool = False

    def after(self, what: str, *names: str) -> "Expected":
        then = copy.deepcopy(self)
        match what:
            case "graph":
                then.has_graph = True
            case "add":
                for name in names:
                    then.memories[name] = (len(then.memories) + 1, "Active")
                    then.owed += [(name, "write")] * self.has_graph
            case "status":
                then.memories[names[0]] = (then.memories[names[0]][0], "Superseded")
                if self.has_graph and names[0] not in {
                    name for name, _ in then.owed
                }:  # what waits delivers the present status too
                    then.owed.append((names[0], "status"))
            case "pay":
                then.owed = [entry for entry in then.owed if names and entry[0] not in names]
        return then


@dataclass
class Promises:
    begun: list[int] = field(default_factory=list)  # for each call of the story the step at which it was begun
    done: list[int] = field(default_factory=list)
    workspace_id: str = ""

    def at(self, cut: int) -> tuple[Expected, Expected]:
        """What has to be there: with and without the call that was under way."""
        expected = Expected()
        finished = sum(1 for at in self.done if at < cut)
        for call in STORY[:finished]:
            expected = expected.after(*call)
        under_way = finished < len(self.begun) and self.begun[finished] < cut
        return expected, expected.after(*STORY[finished]) if under_way else expected


def record_story(library: Path, base: Path) -> Disk:
    """Run the story under the recorder."""
    root = base / "disk"
    (root / "workspace").mkdir(parents=True)
    recording = Recording(library, root, base / "recording.log")
    tests = Path(__file__).resolve().parents[2]
    environment = recording.environment({**os.environ, "PYTHONPATH": f"{PROJECT}:{tests}:{tests / 'crash'}"})
    program = Path(__file__).with_name("storekeeper.py")
    subprocess.run(
        [sys.executable, str(program), str(root / "workspace")], env=environment, check=True, timeout=PATIENCE
    )
    return recording.disk()


def promises_of(disk: Disk) -> Promises:
    found = Promises()
    for index, step in enumerate(disk.steps):
        if isinstance(step, Mark):
            what, _, *rest = step.label.split()
            (found.begun if what == "begin" else found.done).append(index)
            found.workspace_id = found.workspace_id or "".join(rest)
    assert len(found.done) == len(STORY)
    return found


def matters(label: str) -> bool:
    """Every operation of the store counts."""
    return True


def check(base: Path, cut: int, promises: Promises) -> None:
    """Open the store below ``base`` and see that every promise made before the cut is kept. Raises AssertionError."""
    workspace = Workspace(base / "workspace")
    if not workspace.memory.exists():
        assert promises.done[0] >= cut, "the store's folder is gone"
        return
    embedder = FakeEmbedder()
    with closing(Store(workspace, embedder)) as store:
        if promises.done[0] < cut:
            assert store.workspace_id == promises.workspace_id
        found = _found(workspace)
        assert found in promises.at(cut), f"{found} is none of {promises.at(cut)}"
        _check_memories(store, workspace, found)
        store.add([(memory("afterwards"), None)], NOW)
    with closing(Store(workspace, embedder)) as store:
        found = found.after("add", "afterwards")
        assert _found(workspace) == found, "the first write after the cut"
        _check_memories(store, workspace, found)


def _found(workspace: Workspace) -> Expected:
    with closing(sqlite3.connect(workspace.memory_db)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        memories = connection.execute("SELECT id, number, status FROM memories").fetchall()
        owed = connection.execute("SELECT memory_id, action FROM outbox ORDER BY seq").fetchall()
        graph = connection.execute("SELECT 1 FROM meta WHERE key = 'graph_embedder'").fetchone()
    return Expected({name: (number, status) for name, number, status in memories}, owed, graph is not None)


def _check_memories(store: Store, workspace: Workspace, found: Expected) -> None:
    """Each memory's text, vectors and words."""
    if not found.memories:
        return
    snapshot = open_snapshot(workspace)
    with closing(snapshot):
        candidates = snapshot.candidates(Filters(include_superseded=True))
        for name, (number, status) in found.memories.items():
            given = memory(name)
            metadata = given.metadata._replace(status=status)  # type: ignore[arg-type]
            assert store.get(name) == given._replace(number=number, metadata=metadata)
            vectors = FakeEmbedder().embed([passage.text for passage in passages(given)])
            place = candidates.take(candidates.indexes(np.array([number])))
            assert place.passage_count.tolist() == [len(vectors)]
            for offset, vector in enumerate(vectors):
                passage = place.take([0])
                passage.passage_row, passage.passage_count = place.passage_row + offset, np.array([1])
                (found_there,) = snapshot.relevance(vector, passage, np.zeros(1))
                assert abs(found_there.vector_score - 1.0) < 1e-5, f"{name}: not its vector"
            assert np.abs(snapshot.whole_text_vectors([number]) - vectors[0]).max() < 1e-6, f"{name}: not its whole"
            assert snapshot.lexical(_word(name)).numbers.tolist() == [number], f"{name}: not found by its word"
