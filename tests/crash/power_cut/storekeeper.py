"""A program that uses the memory store and notes in the recording what is begun and what is done. Run, not imported:
``storekeeper.py <workspace>``."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from fake_embedder import FakeEmbedder

from bridge.store.store import Store
from jobs import files
from jobs.layout import Workspace
from power_cut.recording import mark
from power_cut.store_story import NOW, STORY, memory


def main() -> None:
    workspace = Workspace(Path(sys.argv[1]))
    files.make_folder(workspace.memory)
    store: Store | None = None
    for number, (what, *names) in enumerate(STORY):
        mark(f"begin {number}")
        if what == "open":
            store = Store(workspace, FakeEmbedder())
            mark(f"done {number} {store.workspace_id}")
            continue
        match what:
            case "graph":
                store.outbox.note_opened(FakeEmbedder().identity)
            case "add":
                store.add([(memory(name), f"job-{name}") for name in names], NOW)
            case "status":
                store.set_status(names[0], "Superseded", NOW, NOW)
            case "pay":
                store.outbox.delivered(store.outbox.pending(100, names or None))
            case "checkpoint":
                store.checkpoint()
            case "maintain":
                store.maintain(datetime.now(UTC))
            case "rebuild vectors":
                store.rebuild_vectors()
            case "rebuild words":
                store.rebuild_words()
            case "close":
                store.close()
        mark(f"done {number}")


if __name__ == "__main__":
    main()
