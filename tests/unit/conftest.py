"""Fixtures that unit tests of several modules share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from in_process import InProcess
from inbox_door import Door
from shelf import Shelf

from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import Embedder
from bridge.embedding.factory import create
from jobs import files, spool
from jobs.layout import Workspace

if TYPE_CHECKING:
    from fake_graph import WithFakeGraph


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace that may hold memories and jobs, and holds none yet."""
    found = Workspace(tmp_path / "workspace")
    found.memory.mkdir(mode=0o700, parents=True)
    spool.prepare(found.spool)
    return found


@pytest.fixture
def stores(workspace: Workspace) -> Iterator["WithFakeGraph"]:
    """The stores of that workspace, with a graph that takes everything."""
    from fake_graph import WithFakeGraph  # not at the top: most tests need none

    with WithFakeGraph(workspace) as found:
        yield found


@pytest.fixture
def place(tmp_path: Path) -> InProcess:
    """An adopted workspace with no worker, whose command line is called in this process."""
    return InProcess(tmp_path)


@pytest.fixture
def door(tmp_path: Path) -> Door:
    """A spool whose inbox is read."""
    return Door(tmp_path / "spool")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A store of memories for questions, empty."""
    return Shelf(tmp_path)


@pytest.fixture
def refuse_after(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Called with a number and an error: lets so many changes of the file system happen, and then raises the error at
    each. Called with None, it refuses none."""
    left: list[Any] = [None, None]

    def counted(change: Callable[..., None]) -> Callable[..., None]:
        def changed(*arguments: Any, **options: Any) -> None:
            if left[0] is not None:
                if left[0] == 0:
                    raise left[1]
                left[0] -= 1
            change(*arguments, **options)

        return changed

    for name in ("write_new", "rename", "remove", "sync_folder"):
        monkeypatch.setattr(files, name, counted(getattr(files, name)))

    def refuse(changes: int | None, error: BaseException | None = None) -> None:
        left[:] = [changes, error]

    return refuse


@pytest.fixture(scope="session")
def embedder(model_cache: Path) -> Embedder:
    """The default model, loaded once."""
    return create(EmbeddingConfig(cache_dir=model_cache))
