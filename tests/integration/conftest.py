"""What integration tests share."""

from collections.abc import Iterator

import pytest
from llm_server import LlmServer


@pytest.fixture(scope="module")
def model() -> Iterator[LlmServer]:
    """A language model of scripted answers, on this machine."""
    with LlmServer() as server:
        yield server
