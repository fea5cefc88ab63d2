"""How a session of the docs is compared with a run: what may differ, and what may not."""

import pytest
from sessions import Session, Step, steps

FIRST, SECOND = "01a1fffb-e11a-7d9a-aae7-467fef5a8a3a", "01a1fffd-5291-7c3f-91a7-8d61ebe4fcee"
PAGE = """
```json summary loans.json
{"topic": "x"}
```

```console
$ cognee-memory ingest --summary-json loans.json
submitted

$ cognee-memory topics
```
"""


def test_commands_and_files_come_in_their_order() -> None:
    assert list(steps(PAGE)) == [
        Step(file="loans.json", content='{"topic": "x"}\n'),
        Step("cognee-memory ingest --summary-json loans.json", ("submitted", "")),
        Step("cognee-memory topics"),
    ]


SAME_SHAPES = [
    ("1  0.295  Active  2 d", "1    0.295  Active  17 d\n"),
    ("3 memories in /home/ana/library", "3 memories in /tmp/pytest-7/workspace"),
    ("worker  ready, pid 26886, up 2 s", "worker  ready, pid 4, up 3.5 min"),
    ("http  http://127.0.0.1:45083", "http  http://127.0.0.1:1024"),
    ("ended 2026-11-21 21:20:59", "ended 2027-01-01 00:00:00"),
]


@pytest.mark.parametrize(("shown", "printed"), SAME_SHAPES)
def test_times_places_and_the_width_of_columns_may_differ(shown: str, printed: str) -> None:
    assert Session().difference((shown,), printed) is None


OTHER_SHAPES = [
    ("1  0.295  Active  2 d", "1  0.296  Active  2 d"),
    ("3 memories", "4 memories"),
    ("failed", "failed twice"),
    ("one", ""),
]


@pytest.mark.parametrize(("shown", "printed"), OTHER_SHAPES)
def test_nothing_else_may(shown: str, printed: str) -> None:
    assert Session().difference((shown,), printed) == shown


def test_what_is_printed_beyond_what_is_shown_is_a_difference() -> None:
    assert Session().difference(("one",), "one\ntwo\n") == "(more: two)"


def test_a_gap_stands_for_any_lines_and_the_rest_has_to_come() -> None:
    session = Session()
    assert session.difference(("one", "…", "four"), "one\ntwo\nthree\nfour\n") is None
    assert session.difference(("one", "…"), "one\ntwo\n") is None
    assert session.difference(("one", "…", "five"), "one\ntwo\nfour\n") == "five"


def test_an_id_of_the_page_is_that_of_the_run_from_then_on() -> None:
    session = Session()
    assert session.difference((f"failed {FIRST}",), f"failed {SECOND}") is None
    assert session.command(f"cognee-memory jobs retry {FIRST}") == f"cognee-memory jobs retry {SECOND}"
    assert session.difference((f"running {FIRST}",), f"running {FIRST}") is not None
