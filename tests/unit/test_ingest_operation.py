"""Ingestion as an operation, over a real store with a tiny embedder and a graph that takes everything."""

from collections.abc import Iterator

import pytest
from fake_embedder import FakeEmbedder
from fake_graph import WithFakeGraph
from job_copies import copy_of

from bridge.graph.open_stores import Stores
from bridge.operations import JobCopy, run
from bridge.slices import ignore_progress
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lifecycle import Failed

NOW = clock.parse("2026-11-20T12:00:00Z")
REFUSED = JobError("EMBEDDING_FAILED", details={"status": 400})


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def stores(workspace: Workspace, embedder: FakeEmbedder) -> Iterator[Stores]:
    with WithFakeGraph(workspace, embedder=embedder) as found:
        yield found


def jobs(*topics: str) -> list[JobCopy]:
    asked = "2026-11-20T11:00:00Z"
    return [
        copy_of("ingest", {"summary": {"topic": t, "context": f"About {t}."}}, t, at=asked, submitted_at=asked)
        for t in topics
    ]


def outcomes(stores: Stores, *topics: str) -> dict[str, str]:
    """The code of each job's error, or none."""
    found = run("ingest", jobs(*topics), stores, NOW, ignore_progress)
    return {job: outcome.error.code if isinstance(outcome, Failed) else "" for job, outcome in found.items()}


def test_a_text_that_the_provider_refuses_fails_its_own_job_alone(stores: Stores, embedder: FakeEmbedder) -> None:
    embedder.refused = {"bad": REFUSED}
    assert outcomes(stores, "a", "bad", "b") == {"a": "", "bad": "EMBEDDING_FAILED", "b": ""}
    assert stores.store.count() == 2
    embedder.refused = {}
    assert outcomes(stores, "a", "bad", "b") == {"a": "", "bad": "", "b": ""}
    assert stores.store.count() == 3


def test_a_copy_that_no_longer_fits_fails_its_own_job_alone(stores: Stores) -> None:
    """Another version may have accepted it."""
    broken = copy_of("ingest", {"summary": {"topic": "bad"}}, "bad", at="2026-11-20T11:00:00Z")
    one, other = jobs("a", "b")
    found = run("ingest", [one, broken, other], stores, NOW, ignore_progress)
    codes = {job_id: outcome.error.code for job_id, outcome in found.items() if isinstance(outcome, Failed)}
    assert (codes, stores.store.count()) == ({"bad": "JOB_INVALID"}, 2)


@pytest.mark.parametrize("error", [JobError("RATE_LIMITED"), JobError("EMBEDDING_FAILED", details={"status": 503})])
def test_a_provider_that_is_out_of_order_is_asked_once_for_all(
    stores: Stores, embedder: FakeEmbedder, error: JobError
) -> None:
    embedder.refused = {"": error}
    with pytest.raises(JobError, match=error.code):
        run("ingest", jobs("a", "b"), stores, NOW, ignore_progress)
    assert len(embedder.seen) == len(set(embedder.seen)), "no text is asked about twice"


def test_a_provider_that_has_no_time_after_a_rejected_text_lets_all_jobs_wait(
    stores: Stores, embedder: FakeEmbedder
) -> None:
    embedder.refused = {"bad": REFUSED, "": JobError("RATE_LIMITED")}
    with pytest.raises(JobError, match="RATE_LIMITED"):
        run("ingest", jobs("bad", "a", "b"), stores, NOW, ignore_progress)
