"""Without cognee: what is owed to the graph, what needs it, and what a forgetting does to one of before."""

from collections.abc import Iterator
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from job_copies import done, outcome, refused

from bridge.compaction import judgement
from bridge.graph import graph_files
from bridge.graph.open_stores import Stores
from bridge.settings import Settings
from jobs.errors import JobError
from jobs.layout import Workspace

AT = "2026-11-20T12:00:00Z"
SECRET = "quokkazebra"


@pytest.fixture
def stores(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    monkeypatch.setattr("bridge.graph.installed.is_installed", lambda: False)
    settings = Settings(llm_api_key="key", llm_model="openai/some")
    with Stores(workspace, settings, load_embedder=lambda _: FakeEmbedder()) as found:
        yield found


def remember(stores: Stores, *decisions: str) -> str:
    payload = {"summary": {"topic": "Uploads", "context": f"{SECRET} said so.", "decisions": list(decisions)}}
    return str(done(outcome(stores, "ingest", payload, f"job-{len(decisions)}", at=AT))["memory_id"])


def test_a_memory_is_stored_and_nothing_is_owed_to_a_graph(stores: Stores) -> None:
    remember(stores, "Retry five times.")
    assert stores.store.count() == 1
    assert stores.graph.lag() is None
    assert stores.store.outbox.count() == 0
    assert stores.graph.deliver([]) == {}


NEEDS_THE_GRAPH = [
    ("ask", {"question": "What is about uploads?"}), ("graph", {}), ("migrate", {}), ("migrate", {"dry_run": True}),
    ("cognify", {}), ("cognify", {"texts": ["Some raw text."]}), ("rebuild", {"what": "graph"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "payload"), NEEDS_THE_GRAPH)
def test_what_needs_the_graph_says_so(stores: Stores, kind: str, payload: dict[str, Any]) -> None:
    error = refused(outcome(stores, kind, payload, at=AT))
    assert error.code == "GRAPH_NOT_INSTALLED"
    assert "cognee-memory setup --graph" in error.remediation


def test_a_text_that_is_to_be_cognified_is_kept_as_a_memory(stores: Stores) -> None:
    error = refused(outcome(stores, "cognify", {"texts": ["Some raw text."]}, at=AT))
    assert "kept" in error.message
    assert stores.store.count() == 1


def test_a_compaction_uses_the_rules_and_says_why_the_model_was_not_asked(stores: Stores) -> None:
    judge = judgement.judge(stores, "job", lambda: None)
    text, [warning] = judge.narrative([], [])
    assert text is None
    assert "GRAPH_NOT_INSTALLED" in warning


def test_forgetting_removes_a_graph_of_before_with_its_texts_and_later_all_memories_are_due(stores: Stores) -> None:
    workspace = stores.workspace
    kept = remember(stores, "Retry five times.")
    gone = remember(stores, "Retry five times.", "Say so.")
    stores.store.outbox.note_opened(FakeEmbedder().identity)  # as an installation with cognee did
    databases = graph_files.databases_of(workspace)
    databases.mkdir(parents=True)
    (databases / "cognee_graph_ladybug").write_text(SECRET)
    done(outcome(stores, "forget", {"memory_ids": [gone]}, "forget", at=AT))
    assert not databases.exists()
    left = [path for path in workspace.root.rglob("cognee_graph_ladybug") if path.is_file()]
    assert left == [], "the graph that was set aside is removed too"
    assert stores.store.newest(10) == [kept]


def test_the_graph_itself_is_refused(stores: Stores) -> None:
    for use in (lambda: stores.graph.open(), stores.graph.deliver_all, stores.graph.compare):
        with pytest.raises(JobError, match="GRAPH_NOT_INSTALLED"):
            use()
