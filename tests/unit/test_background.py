"""A value that is made in a thread: waited for, made once, and tried again where that failed."""

import threading

import pytest

from bridge.background import Background


def test_it_begins_before_anybody_asks() -> None:
    begun = threading.Event()
    made = Background(begun.set)
    assert begun.wait(10)
    made.result()


def test_whoever_asks_while_it_is_made_waits_and_gets_the_one_value() -> None:
    release, made = threading.Event(), []

    def make() -> object:
        release.wait(10)
        made.append(object())
        return made[-1]

    value = Background(make)
    asked = [Background(value.result) for _ in range(3)]
    release.set()
    assert {id(asker.result()) for asker in asked} == {id(made[0])}
    assert len(made) == 1


def test_what_failed_is_not_tried_again_for_who_waited_for_it_but_for_the_next() -> None:
    """A provider that refuses a text had better not be asked for it twice."""
    tries: list[int] = []

    def make() -> str:
        tries.append(len(tries))
        if len(tries) <= 2:
            raise OSError("not yet")
        return "made"

    found = Background(make)
    for tried in ([0], [0, 1]):
        with pytest.raises(OSError, match="not yet"):
            found.result()
        assert tries == tried
    assert (found.result(), found.result(), tries) == ("made", "made", [0, 1, 2])
