"""Tags: the property with several values, from a payload to filters, exports, compactions and older stores."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bridge.memory import LABELS
from bridge.memory_shapes import Labels
from bridge.store import migrations, rows
from bridge.store.team.shared_tables import RowForms
from bridge.team.rows import SharedRow
from jobs.payloads import Summary


def test_tags_of_a_payload_are_trimmed_in_lower_case_and_each_once() -> None:
    given = Summary.model_validate({"topic": "t", "context": "c", "tags": [" SQL ", "sql", "Full text"]})
    assert given.tags == ["sql", "full text"]


@pytest.mark.parametrize("tags", [["a,b"], [" "], ["x" * 41], [1], [str(n) for n in range(21)]])
def test_a_payload_with_tags_out_of_range_is_refused(tags: list[object]) -> None:
    with pytest.raises(ValueError, match="tags"):
        Summary.model_validate({"topic": "t", "context": "c", "tags": tags})


def test_every_property_is_in_the_answers() -> None:
    assert set(LABELS) == set(Labels.__annotations__)


def test_a_filter_by_tags_asks_for_all_of_them() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE memories (number, tags)")
        connection.executemany("INSERT INTO memories VALUES (?, ?)", [(1, '["a", "b"]'), (2, '["a"]'), (3, "[]")])

        def found(tags: list[str] | None) -> list[int]:
            where, values = rows.having({"tags": tags})
            return [n for (n,) in connection.execute(f"SELECT number FROM memories WHERE {where}", values)]

        assert (found(["a"]), found(["a", "b"]), found(["c"])) == ([1, 2], [1], [])
        assert found(None) == found([]) == [1, 2, 3]


def test_a_row_of_a_team_from_before_tags_has_none() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrations.bring_up(connection, Path(":memory:"))
        before = SharedRow("memories", "[1]", {"number": 1})
        assert RowForms(connection).filled(before).value == {"number": 1, "tags": "[]", "anchors": "[]"}
