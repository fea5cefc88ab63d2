"""What the server answers with: the settings as they are now, a bound, and when it is ready."""

import asyncio
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from harness import until

from bridge import trust
from bridge.interface import envelope
from bridge.settings import load
from jobs.errors import JobError
from jobs.layout import Workspace
from worker.http import executor as module
from worker.http.executor import RequestExecutor


class FakeReader:
    """Says with which arguments it was asked. With a ``problem`` there is no model."""

    problem = False
    held: threading.Event | None = None

    def __init__(
        self, workspace: Workspace, embedding: Any, embedder: Any = None, reranking: Any = None, **_: Any
    ) -> None:
        self.embedding, self.reranking = embedding, reranking

    def answer(self, verb: str, arguments: dict[str, Any], now: datetime) -> dict[str, Any]:
        if self.held is not None:
            self.held.wait(30)
        if self.problem:
            return envelope.failure(JobError("MODEL_MISSING"))
        return envelope.success(verb=verb, model=self.embedding.identity, **arguments)


class Made:
    def __init__(self, folder: Path, **options: Any) -> None:
        self.workspace = Workspace(folder / "workspace")
        self.workspace.root.mkdir()
        self.said: list[str] = []
        trust.adopt(self.workspace, load().config_folder)
        self.settings = trust.settings_of(self.workspace)
        self.answers = RequestExecutor(self.workspace, lambda: self.said.append("ready"), **options)

    def ask(self, *, whole: bool = False, **arguments: Any) -> dict[str, Any]:
        return asyncio.run(self.answers.ask("retrieve", arguments, whole=whole))[0]

    @property
    def config(self) -> Path:
        folder = self.settings.config_folder
        folder.mkdir(exist_ok=True)
        return folder / "config.toml"


@pytest.fixture(autouse=True)
def _fake_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Reader", FakeReader)
    monkeypatch.setattr(FakeReader, "problem", False)
    monkeypatch.setattr(FakeReader, "held", None)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def test_whoever_brings_the_settings_along_gets_nothing_of_ours(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting that the asker has not is one that he has not, whatever this process was started with."""
    monkeypatch.setenv("COGNEE_MEMORY_HALF_LIFE_DAYS", "30")
    assert made.ask(query="x")["half_life_days"] == 30
    found = made.ask(whole=True, query="x", maxTokens=7, status=None)
    assert found.keys() - {"success", "verb", "model"} == {"query", "max_tokens"}


def test_what_was_not_given_comes_from_the_settings_as_they_are_at_the_question(made: Made) -> None:
    """But for a default that depends on the question: it is left to the search."""
    assert "max_results" not in made.ask(query="x")
    made.workspace.env_file.write_text("COGNEE_MEMORY_MAX_RESULTS=7\n")
    assert made.ask(query="x")["max_results"] == 7
    made.workspace.env_file.unlink()
    made.config.write_text("max_results = 8\n")
    assert made.ask(query="x")["max_results"] == 8
    assert made.ask(query="x", max_results=9)["max_results"] == 9


def test_another_model_in_the_settings_is_used_from_the_next_question_on(made: Made) -> None:
    before = made.ask(query="x")["model"]
    made.config.write_text('embedding_provider = "openai"\nembedding_model = "m"\nembedding_dimensions = 3\n')
    assert (before, made.ask(query="x")["model"]) == (made.settings.embedding.identity, "openai/m/3")


@pytest.mark.parametrize("from_the_start", [False, True])
def test_a_setting_that_cannot_be_read_is_said_until_it_is_mended(made: Made, from_the_start: bool) -> None:
    made.config.write_text('max_results = "many"\n')
    if from_the_start:
        made.answers = RequestExecutor(made.workspace, lambda: None)
        made.answers.warm()
    for _ in range(2):
        assert made.ask(query="x")["error_code"] == "SETTING_INVALID"
    made.config.write_text("max_results = 6\n")
    assert made.ask(query="x")["max_results"] == 6


def test_a_workspace_that_is_no_longer_this_users_is_closed(made: Made) -> None:
    """Such as after a checkout that brought the memory of somebody else."""
    trust.adopt(made.workspace, made.settings.config_folder)
    assert made.ask(query="x")["success"] is True
    marker = made.workspace.owner_marker(made.workspace.memory)
    own = marker.read_text("ascii")
    marker.write_text("f" * 32, "ascii")
    (made.workspace.memory / "memory.db").write_bytes(b"")
    assert made.ask(query="x")["error_code"] == "WORKSPACE_NOT_TRUSTED"
    marker.write_text(own, "ascii")
    assert made.ask(query="x")["success"] is True


def test_what_a_workspace_may_say_holds_as_soon_as_it_is_trusted(made: Made) -> None:
    trust.adopt(made.workspace, made.settings.config_folder)
    names = "EMBEDDING_PROVIDER=openai\nEMBEDDING_MODEL=m\nEMBEDDING_DIMENSIONS=3\n"
    made.workspace.env_file.write_text(names, "utf-8")
    assert made.ask(query="x")["model"] == made.settings.embedding.identity
    trust.adopt(made.workspace, made.settings.config_folder, trusted=True)
    assert made.ask(query="x")["model"] == "openai/m/3"


def test_it_is_ready_when_the_model_is_loaded_and_says_so_once(made: Made) -> None:
    assert not made.answers.is_ready
    made.answers.warm()
    made.answers.warm()
    made.ask(query="x")
    assert (made.answers.is_ready, made.said) == (True, ["ready"])


def test_without_a_model_it_is_ready_once_a_question_was_answered(
    made: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as missing:
        missing.setattr(FakeReader, "problem", True)
        made.answers.warm()
        assert made.ask(query="x")["success"] is False
        assert not made.answers.is_ready
        with pytest.raises(JobError, match="MODEL_MISSING") as caught:
            made.answers.require_ready()
        assert (caught.value.code, caught.value.details) == ("NOT_READY", {"reason": "model"})
    (line,) = caplog.records
    assert line.__dict__["fields"] == {"code": "MODEL_MISSING"}, "said once, however often it is tried"
    made.ask(query="x")
    assert (made.answers.is_ready, made.said) == (True, ["ready"])


def test_what_was_missing_may_be_there_when_it_is_asked_again(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(JobError, match="still being loaded"):
        made.answers.require_ready()
    with monkeypatch.context() as missing:
        missing.setattr(FakeReader, "problem", True)
        made.answers.warm()
    with pytest.raises(JobError, match="No worker"):
        made.answers.require_ready()
    assert made.answers.is_ready


def test_questions_are_measured_and_the_one_that_warms_is_none(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    made.answers.warm()
    made.ask(query="x")
    monkeypatch.setattr(FakeReader, "problem", True)
    made.ask(query="x")
    found = made.answers.figures.as_dict()
    ((verb, taken),) = found["histograms"]["question_seconds"]
    assert (verb, sum(taken["counts"])) == ("retrieve", 2)
    assert found["counters"] == {"question_errors": [["retrieve", "MODEL_MISSING", 1]]}


def test_too_much_at_once_is_sent_away_and_nothing_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made(tmp_path, most_at_once=3)
    held = threading.Event()
    monkeypatch.setattr(FakeReader, "held", held)

    async def all_at_once() -> list[Any]:
        asked = [asyncio.create_task(made.answers.ask("retrieve", {"query": str(n)})) for n in range(5)]
        await asyncio.sleep(0)
        busy = made.answers.in_flight
        held.set()
        return [busy, *await asyncio.gather(*asked, return_exceptions=True)]

    busy, *found = asyncio.run(all_at_once())
    assert busy == 3
    assert [found.code if isinstance(found, JobError) else found[0]["query"] for found in found] == [
        "0", "1", "2", "HTTP_BUSY", "HTTP_BUSY",
    ]  # fmt: skip
    assert made.answers.in_flight == 0


def test_waiting_questions_share_one_look_at_the_settings(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later one looks again."""
    made.ask(query="x")
    looks, stamp = list[int](), module._stamp
    monkeypatch.setattr(module, "_stamp", lambda *given: looks.append(1) or stamp(*given))

    async def together() -> None:
        with made.answers._renewing:
            asked = [asyncio.create_task(made.answers.ask("retrieve", {"query": str(n)})) for n in range(5)]
            await asyncio.sleep(0)
        await asyncio.gather(*asked)

    asyncio.run(together())
    assert len(looks) == 1
    made.ask(query="x")
    assert len(looks) == 2


def test_the_time_of_the_last_question_is_when_it_was_answered(made: Made) -> None:
    before = made.answers.asked_at
    until(lambda: made.ask(query="x") and made.answers.asked_at > before, "the time moves")


def test_a_server_whose_workspace_is_gone_or_another_one_does_not_answer(made: Made) -> None:
    """An empty success would say that nothing is known."""
    root = made.workspace.root
    assert made.ask(query="x")["success"]
    former = root.rename(root.with_name("moved"))
    assert made.ask(query="x")["error_code"] == "WORKSPACE_MOVED"
    root.mkdir()
    trust.adopt(made.workspace, made.settings.config_folder)
    assert made.ask(query="x")["error_code"] == "WORKSPACE_MOVED"
    with pytest.raises(JobError, match="WORKSPACE_MOVED"):
        made.answers.require_ready()
    root.rename(root.with_name("other"))
    former.rename(root)
    assert made.ask(query="x")["success"]


def test_another_reranker_is_asked_from_the_next_question_on(made: Made) -> None:
    def reader() -> Any:
        made.ask(query="x")
        return made.answers._in_use.reader

    made.ask(query="x")
    before = reader()
    made.config.write_text('rerank_model = "/models/minilm"\n')
    after = reader()
    assert (before.reranking, after.reranking.identity) == (None, "local:/models/minilm")
    assert reader() is after
    made.config.write_text('rerank_model = "/models/minilm"\nrerank_hits = 5\n')
    assert reader().reranking.hits == 5
