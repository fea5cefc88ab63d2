"""Tests of many cases, each of which waits for processes: run side by side, told apart all the same."""

import shutil
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from harness import Place

Case = Callable[[Place, str], None]


class SideBySide:
    """Runs the cases of a test that has one parameter side by side, each in a workspace of its own."""

    def __init__(self, template: Path, folder: Path, pool: ThreadPoolExecutor, items: list[pytest.Item]) -> None:
        self._template = template
        self._folder = folder
        self._pool = pool
        self._items = items
        self._begun: dict[tuple[str, str], Future[None]] = {}

    def __call__(self, request: pytest.FixtureRequest, case: Case, value: str) -> None:
        """The outcome of one case; the first call begins them all."""
        test = request.node.originalname
        if (test, value) not in self._begun:
            for item in self._items:
                if isinstance(item, pytest.Function) and item.originalname == test:
                    each = next(iter(item.callspec.params.values()))
                    self._begun[test, each] = self._pool.submit(self._run, case, each)
        self._begun[test, value].result()

    def _run(self, case: Case, value: str) -> None:
        base = self._folder / f"{case.__name__}-{value.replace(':', '-')}"
        place = Place(base)
        shutil.copytree(self._template, base, dirs_exist_ok=True)
        case(place, value)
