"""What integration tests share: importing cognee takes seconds, so one process holds it for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cognee_process import CogneeProcess
from harness import Place
from llm_server import LlmServer


@pytest.fixture(scope="session")
def graph(model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CogneeProcess]:
    """cognee over a workspace of its own. Tests share it, so each brings memories that no other has."""
    place = Place(tmp_path_factory.mktemp("graph"), COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    process = CogneeProcess(place)
    yield process
    process.close()


@pytest.fixture(scope="module")
def model() -> Iterator[LlmServer]:
    """A language model of scripted answers, on this machine."""
    with LlmServer() as server:
        yield server
