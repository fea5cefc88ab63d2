"""Ends a process beside each durable step of a compaction and of a restoring, does the same job again, and prints how
it is then. Run as a program, since it forks."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import job_copies

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

from fake_graph import WithFakeGraph

from bridge.memory import Content, Memory, Metadata
from bridge.search import listing
from jobs import steps
from jobs.layout import Workspace

AT = "2026-11-20T12:00:00Z"
OF_BOTH = ("memory.commit", "graph.write", "graph.sync", "outbox.deliver")
OF = {"compact": ("preview.write", "vectors.append", *OF_BOTH), "restore": OF_BOTH}


def outcome(workspace: Workspace, kind: str, payload: dict[str, Any], fault: str | None = None) -> Any:
    with WithFakeGraph(workspace) as stores:
        steps.arm(fault)
        found = job_copies.outcome(stores, kind, payload, kind, at=AT)
        stores.graph.deliver_all()
        owed = stores.store.outbox.count()
    assert owed == 0
    return job_copies.done(found)


def killed(workspace: Workspace, kind: str, payload: dict[str, Any], point: str) -> None:
    pid = os.fork()
    if pid == 0:
        outcome(workspace, kind, payload, f"kill@{point}")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL, f"{kind} came past {point}"


def remember(workspace: Workspace) -> None:
    workspace.memory.mkdir(mode=0o700, parents=True)
    with WithFakeGraph(workspace) as stores:
        for name, decision in (("a", "Retry five times"), ("b", "Retry three times")):
            known = Metadata(topic_id="t", status="Active", created_at=AT)
            stores.store.add([(Memory(name, 0, "summary", known, AT, Content("T", name, (decision,))), None)], AT)


def state(workspace: Workspace) -> dict[str, Any]:
    """How the topic is, with what does not depend on when it was done."""
    history = listing.history(workspace, 10)
    return {
        "memories": sorted((m["memory_number"], m["status"]) for m in listing.memories(workspace, 10)),
        "history": [(made["superseded"], made["restored"]) for made in history],
    }


def main(base: Path) -> dict[str, Any]:
    found = {}
    for kind, names in OF.items():
        for point in [f"{side}:{name}" for name in names for side in ("before", "after")]:
            workspace = Workspace(base / f"{kind}-{point.replace(':', '-')}")
            remember(workspace)
            payload: dict[str, Any] = {"topic_id": "t"}
            if kind == "restore":
                payload = {"decision_record_id": outcome(workspace, "compact", payload)["decision_record_id"]}
            killed(workspace, kind, payload, point)
            first = outcome(workspace, kind, payload)
            assert outcome(workspace, kind, payload) == first
            found[f"{kind} {point}"] = state(workspace)
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
