"""Fixtures that tests of several kinds share."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import contract
import pytest
from harness import SOAK, Place
from hypothesis import settings
from platformdirs import user_cache_path

from bridge.embedding.installer import install
from bridge.embedding.local_models import ENGLISH_FULL, MULTILINGUAL
from bridge.search import reader

pytest_plugins = ["costs", "cognee_forks"]

# The tests and their modules stay: to look through them for garbage, again and again, costs each process seconds.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


# Every run tries the same few examples, so that a change and not chance makes a test fail; the long form draws others.
# A deadline per example would fail on a busy machine.
settings.register_profile("project", derandomize=not SOAK, deadline=None, max_examples=1000 if SOAK else 50)
settings.load_profile("project")


@pytest.fixture(scope="session")
def model_cache() -> Path:
    """The machine's cache folder of models. The default model is in the package, so it may be empty."""
    chosen = os.environ.get("COGNEE_MEMORY_MODEL_CACHE")
    return Path(chosen) if chosen else user_cache_path("cognee-memory", appauthor=False)


@pytest.fixture(scope="session")
def full_weights(model_cache: Path) -> Path:
    """The folder of the default model's full weights, as published; downloaded once a machine."""
    return install(ENGLISH_FULL, model_cache)


@pytest.fixture(scope="session")
def both_models(model_cache: Path) -> Path:
    """A cache folder that holds the multilingual model; downloaded once a machine."""
    install(MULTILINGUAL, model_cache)
    return model_cache


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    """The address of a database that a file's tests share."""
    from postgres import database  # not at the top: most tests need no driver

    with database() as found:
        yield found


@pytest.fixture(autouse=True, scope="module")
def _no_gateway_is_left() -> Iterator[None]:
    """The gateways that machines of a test's team have used end with its module."""
    yield
    if (gateways := sys.modules.get("gateways")) is not None:
        gateways.end_all()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An adopted workspace with no worker."""
    return Place(tmp_path)


@pytest.fixture(autouse=True)
def _settings_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the settings and markers of the user who runs it."""
    for name in list(os.environ):
        if name.startswith(("COGNEE_MEMORY_", "LLM_", "EMBEDDING_")) and name != "COGNEE_MEMORY_MODEL_CACHE":
            monkeypatch.delenv(name)
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(tmp_path / "config"))


@pytest.fixture(autouse=True)
def _answers_as_published(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a reader answers in a test is as its published schema says. Judged behind the test, so that no part of
    the program can take the failure for one of its own."""
    answers: list[tuple[reader.Verb, dict[str, Any]]] = []
    answer, failure = reader.Reader.answer, reader.failure

    def answering(self: reader.Reader, verb: reader.Verb, *arguments: Any) -> dict[str, Any]:
        found = answer(self, verb, *arguments)
        answers.append((verb, found))
        return found

    def failing(verb: reader.Verb, *arguments: Any) -> dict[str, Any]:
        found = failure(verb, *arguments)
        answers.append((verb, found))
        return found

    monkeypatch.setattr(reader.Reader, "answer", answering)
    monkeypatch.setattr(reader, "failure", failing)
    yield
    assert [problem for verb, found in answers for problem in contract.problems(verb, found)] == []
