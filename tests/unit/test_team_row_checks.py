"""What a gateway lets in: every row that the store writes, and none that it could not have written."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import numpy as np
import pytest
from fake_embedder import FakeEmbedder

from bridge.memory import Content, Memory, Metadata
from bridge.store import values
from bridge.store.store import Store
from bridge.store.team.recorder import Recorder
from bridge.store.team.row_checks import RowChecks
from bridge.store.team.shared_tables import SEQUENCES, TABLES, key_text
from bridge.store.values import KeptExtraction
from bridge.team.rows import SharedRow
from jobs.errors import JobError
from jobs.layout import Workspace

AT, LATER, SHA = "2026-11-20T12:00:00Z", "2026-11-20T12:00:00.125Z", "a" * 64
DIMENSIONS = 16
ONE, TWO, RECORD, GONE = (str(uuid5(NAMESPACE_OID, name)) for name in ("one", "two", "record", "gone"))
ODD = (None, "", "x", -1, 10**17, 1.5, [], {}, "null", "[]", "{}", "[1", "[NaN]", "9999-99-99T99:99:99Z", True, "\0")
# Where a person or another tool may have written any text.
FREE = {"session_id", "path", "version", "first_place", "last_place", "by", "query", "note", "reason"}
# What an edited import may say instead, or what is another memory, another job or nothing.
OTHERS = {"topic_id", "updated_at", "status_set_at", "origin_job", "migrated_from", "job_id", "job_sha256"}
OTHERS |= {"preview_digest", "narrative_source", "sources", "conflicts", "segments", "evidence", "digests"}
OTHERS |= {"restored_at", "restored_by", "importance", "plan_id", "source_created_at", "created_at"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[SharedRow]:
    """A row of each kind, as the store writes it."""
    workspace = Workspace(tmp_path_factory.mktemp("store"))
    workspace.memory.mkdir(mode=0o700)
    store = Store(workspace, FakeEmbedder(DIMENSIONS))
    labels = Metadata("queue", "a session", "plan-014", "Active", AT, AT, AT, 0.5)
    said = Memory(ONE, 0, "summary", labels, AT, Content("The queue – 状态", "It is\x01 a spool.", ("Use a spool.",)))
    raw = Memory(TWO, 7, "legacy", Metadata(created_at="some day in May"), LATER, text="User asked: why?")
    merged = said._replace(id=RECORD, kind="decision_record", metadata=labels._replace(status="DecisionRecord"))
    conflict = {"kind": "reversal", "confidence": 0.5, "judged_by": "rules"}
    made = values.Compaction(
        RECORD, "queue", AT, values.AppliedJob("compact-1", SHA), SHA, (values.Source(ONE, SHA, "Active", None),),
        (conflict | {side: {"memory_id": ONE, "text_sha256": SHA} for side in ("earlier", "later")},), ONE,
    )  # fmt: skip
    undone = values.Restored(LATER, (ONE,), (values.Skipped(TWO, "forgotten"),))
    captured = values.CapturedSession("codex", "s", "/p/ü", "v", "kept", AT, (values.CapturedSegment(3, SHA, ONE),))
    with store.change(AT, [values.AppliedJob("job-1", SHA)]) as change:
        change.additions += [
            values.Addition(said, "job-1"),
            values.Addition(raw, None),
            values.Addition(merged._replace(sources=(ONE,)), "compact-1"),
        ]
        change.additions += [values.Addition(raw._replace(id=GONE, number=0), "job-1", hidden=True, status_set_at=AT)]
        change.compactions.append(made)
        change.captured_sessions.append(captured)
        change.captured_turns.append(("codex", "s", ["0123456789ab", "ba9876543210"]))
        change.capture_sources.append(
            values.CaptureSource(ONE, "codex", "s", "/p", "1", "2", "rules", 0.3, (("decisions", 0, "1"),), AT, "job-1")
        )
        found = values.Extraction((values.ExtractedNode(ONE, "Entity", ("name",), {"name": "ü"}),))
        change.extractions.append(KeptExtraction(TWO, found, "job-1"))
        change.tombstones += [str(uuid5(NAMESPACE_OID, "forgotten"))]
    with store.change(LATER) as change:
        change.feedback.append(values.Feedback(ONE, "Jörg", "helpful", AT, "why?", "It held."))
        change.verdicts.append(values.PairVerdict(ONE, SHA, TWO, SHA, "newer", "It held.", "Jörg", AT, "job-1"))
        [compaction] = [store.compactions.latest(RECORD)]
        change.restorations.append((compaction._replace(restored=undone), "restore-1"))
    vector = np.zeros(DIMENSIONS, "<f4")
    vector[0] = 1
    found = list(Recorder(store._connection, lambda row, count: vector.tobytes() * count).all_rows())
    store.close()
    return found


@pytest.fixture(scope="module")
def memory(rows: list[SharedRow]) -> SharedRow:
    [found] = [row for row in rows if row.table == "memories" and row.key == "[1]"]
    return found


CHECKS = RowChecks()


def is_let_in(row: SharedRow) -> bool:
    try:
        CHECKS.require_valid(row, DIMENSIONS)
    except JobError:
        return False
    return True


def test_every_row_that_the_store_writes_is_let_in(rows: list[SharedRow]) -> None:
    assert {row.table for row in rows} == {table.name for table in TABLES} | {SEQUENCES}, "there is one of each kind"
    for row in rows:
        CHECKS.require_valid(row, DIMENSIONS)


def changed(row: SharedRow) -> Iterator[tuple[str, Any, SharedRow]]:
    """The row with each of its columns odd, under the key that it then has."""
    keys = {table.name: table.key for table in TABLES}
    for name, value in (row.value or {}).items():
        for odd in ODD:
            if value != odd or type(value) is not type(odd):
                given = (row.value or {}) | {name: odd}
                yield name, odd, replace(row, value=given, key=key_text([given[each] for each in keys[row.table]]))


def test_odd_values_are_let_in_only_if_somebody_may_have_written_them(rows: list[SharedRow]) -> None:
    tried = 0
    for row in rows:
        for name, odd, given in changed(row) if row.table != "sqlite_sequence" else ():
            tried += 1
            if is_let_in(given):
                assert name in FREE | OTHERS, (row.table, name, odd)
                assert odd is None or (isinstance(odd, str) and "\0" not in odd), (row.table, name, odd)
    assert tried > 1000


OTHER_KEYS = ['[{"x":1}]', "[ 1 ]", "[1.0]", "[true]", '["1"]', "[1,1]", "[99999999999]", "[[1]]", "1", "[0]"]


@pytest.mark.parametrize("key", OTHER_KEYS)
def test_a_key_that_is_not_written_so_is_refused(memory: SharedRow, key: str) -> None:
    assert is_let_in(memory)
    assert not is_let_in(replace(memory, key=key))
    if key != "[0]":
        assert not is_let_in(SharedRow("memories", key, None))


OTHER_VECTORS = [b"", b"\0" * 4, np.full(DIMENSIONS, np.nan, "<f4").tobytes(), np.full(DIMENSIONS, 9, "<f4").tobytes()]


@pytest.mark.parametrize("vectors", OTHER_VECTORS)
def test_vectors_of_another_length_are_refused(memory: SharedRow, vectors: bytes) -> None:
    assert not is_let_in(replace(memory, vectors=vectors))


def test_words_that_the_store_derives_cannot_say_something_else(memory: SharedRow) -> None:
    value = memory.value or {}
    for lie in (
        {"plan_key": "015"}, {"dated": 1.0}, {"body": value["body"].replace('"context"', '"evil": 1, "context"')},
        {"body": value["body"].replace(", ", ",", 1)}, {"body": value["body"].replace('["Use a spool."]', '"Use"')},
        {"kind": "legacy"}, {"status": "Final"}, {"sources": f'["{ONE}"]'}, {"hidden": 2}, {"id": ONE.upper()},
    ):  # fmt: skip
        assert not is_let_in(replace(memory, value=value | lie)), lie


OUT_OF_BOUNDS = [
    ('["memories"]', {"seq": 2**62 - 1}),
    ('["memories"]', {"seq": "1"}),
    ('["rows"]', {"seq": 1}),
    ('["memories"]', None),
]


@pytest.mark.parametrize(("key", "value"), OUT_OF_BOUNDS)
def test_a_sequence_out_of_bounds_is_refused(key: str, value: dict[str, Any] | None) -> None:
    assert not is_let_in(SharedRow("sqlite_sequence", key, value))
    assert is_let_in(SharedRow("sqlite_sequence", '["memories"]', {"seq": 7}))
