"""A plugin of pytest that runs the tests in random order: ``-p random_order --seed NUMBER``. Files are mixed, and the
tests of a file within it, so that what one file's tests share is made once."""

import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=0)


def pytest_report_header(config: pytest.Config) -> str:
    return f"random order: --seed {config.getoption('seed')}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chance = random.Random(config.getoption("seed"))
    paths = sorted({item.path for item in items})
    chance.shuffle(paths)
    place = {path: number for number, path in enumerate(paths)}
    chance.shuffle(items)
    items.sort(key=lambda item: place[item.path])
