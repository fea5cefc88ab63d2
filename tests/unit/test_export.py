"""Export and import: everything comes back as it was, and what is there already stays as it is."""

import contextlib
import json
import os
import re
import sqlite3
import stat
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID, uuid5

import jsonschema_rs
import pytest
from contract import published
from fake_graph import WithFakeGraph
from harness import sql
from hypothesis import HealthCheck, given, settings, strategies as st
from job_copies import copy_of, done, outcome, refused

from bridge import slices
from bridge.graph.open_stores import Stores
from bridge.memory import MAX_KEPT, Content, Memory, Metadata, References, TimeScope
from bridge.operations import run
from bridge.settings import Settings
from bridge.slices import ignore_progress
from bridge.store import values
from bridge.store.export_rows import TABLES
from bridge.store.values import Addition, AppliedJob, KeptExtraction
from bridge.text.sections import normalise
from bridge.transfer import export, export_file, export_lines
from bridge.transfer.export import line_of
from jobs import clock, files
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lifecycle import Failed
from jobs.model import Record
from worker.cli import main, parser
from worker.scheduling.retention import prune
from worker.terminal import job_commands
from worker.terminal.kinds import transfer

NOW = clock.parse("2026-11-20T12:00:00Z")
EARLIER, LATER = "2026-11-01T10:00:00Z", "2026-11-19T10:00:00Z"
SOMEWHERE = UUID("6f1c2b1e-0d7a-4c55-9a53-3f0f6f1a9b10")
FILE = "memories.jsonl"
RESULT, EXPORT = (jsonschema_rs.Draft202012Validator(published(name)) for name in ("result.import", "export"))


def an_id(name: str) -> str:
    return str(uuid5(SOMEWHERE, name))


@contextmanager
def opened(root: Path) -> Iterator[WithFakeGraph]:
    workspace = Workspace(root)
    workspace.memory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with WithFakeGraph(workspace) as stores:
        yield stores


@pytest.fixture
def here(tmp_path: Path) -> Iterator[WithFakeGraph]:
    with opened(tmp_path / "here") as stores:
        yield stores


@pytest.fixture
def there(tmp_path: Path) -> Iterator[WithFakeGraph]:
    with opened(tmp_path / "there") as stores:
        yield stores


def summary(name: str, number: int = 0, status: str = "Active", topic: str = "ranking", **fields: Any) -> Memory:
    content = Content(f"About {name}", fields.pop("context", f"What {name} says."), decisions=(f"Decide {name}",))
    metadata = Metadata(topic_id=topic, status=status, created_at=EARLIER, updated_at=EARLIER, **fields)  # type: ignore[arg-type]
    return Memory(an_id(name), number, "summary", metadata, EARLIER, content)


def legacy(name: str, text: str = "", number: int = 0) -> Memory:
    return Memory(an_id(name), number, "legacy", Metadata(importance=0.5), EARLIER, text=text or f"User asked: {name}")


def record(name: str, *sources: str, number: int = 0) -> Memory:
    metadata = Metadata("ranking", None, "014", "DecisionRecord", LATER, LATER, EARLIER, 1.0)
    content = Content("Ranking", f"The story of {name}", ("[Earlier] a", "[Later] b supersedes a"))
    return Memory(an_id(name), number, "decision_record", metadata, LATER, content, sources=tuple(map(an_id, sources)))


def store(stores: Stores, *memories: Memory | Addition) -> None:
    additions = [each if isinstance(each, Addition) else Addition(each, "job") for each in memories]
    do(stores, at=EARLIER, additions=additions)


def do(stores: Stores, at: str = LATER, **fields: Any) -> None:
    """A change of the store with these fields."""
    with stores.store.change(at) as found:
        for name, value in fields.items():
            setattr(found, name, value)


def memory_of(stores: Stores, name: str) -> Memory:
    return stores.store.get(an_id(name))


def lines_of(stores: Stores) -> list[dict[str, Any]]:
    """The export of a workspace, line by line."""
    found: list[bytes] = []
    export.write(stores.workspace, "1.0", clock.iso(NOW), found.append)
    lines = [json.loads(line) for line in found]
    for line in lines:
        EXPORT.validate(line)
    return lines


def body(stores: Stores) -> list[dict[str, Any]]:
    """What an export says of memories, and of what was done with them."""
    return lines_of(stores)[1:-1]


def save(stores: Stores, lines: Sequence[dict[str, Any] | bytes], name: str = FILE) -> None:
    data = [line + b"\n" if isinstance(line, bytes) else export._encoded(line) for line in lines]
    (stores.workspace.root / name).write_bytes(b"".join(data))


def edited(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any] | bytes]:
    """The lines of an export as somebody leaves them who has changed some."""
    header = {"type": "header", "format": export.FORMAT, "version": 1}
    return [header, *(line for line in lines if line["type"] not in ("header", "end")), export_file.EDITED.encode()]


def importing(stores: Stores, *, job_id: str = "import", accepted_at: str = LATER, path: str = FILE) -> Any:
    return outcome(stores, "import", {"path": path}, job_id, at=accepted_at, now=NOW)


def imported(stores: Stores, lines: Sequence[dict[str, Any] | bytes], **how: Any) -> dict[str, Any]:
    """The result of importing these lines."""
    save(stores, lines)
    found = done(importing(stores, **how))
    RESULT.validate(found)
    assert found["memories"] == sum(
        found[name] for name in ("added", "unchanged", "duplicates", "conflicts", "forgotten", "failed")
    )
    return found


def counts(result: dict[str, Any]) -> dict[str, int]:
    """The counts that are not 0."""
    return {name: n for name, n in result.items() if isinstance(n, int) and n and name != "memories"}


def some_of_everything(stores: Stores) -> None:
    whole = Content(
        "Topic ü\u2028", "Two\nlines", ("d1", "d2"), ("r",), ("q",), ("n",),
        References(("f.py",), ("plan-1",), ("b",), ("#1",)), TimeScope("all week", EARLIER, LATER, 3),
    )  # fmt: skip
    store(
        stores,
        summary("a")._replace(content=normalise(whole)),
        Addition(summary("b", status="Superseded"), status_set_at=LATER),
        summary("c", status="Draft", session_id="s", plan_id="014", importance=0.25)._replace(number=7),
        legacy("d", 'A "text" of\nlines, \x85 with ünïcode, \\ and 日本語'),
        Addition(legacy("e"), hidden=True),
        Addition(summary("f"), migrated_from=an_id("e")),
        record("g", "b", "f"),
    )
    merged = tuple(values.Source(an_id(name), "a" * 64, "Active", at) for name, at in (("b", LATER), ("f", None)))
    conflict = {"kind": "value", "earlier": {"memory_id": an_id("b")}, "later": {"memory_id": an_id("f")}}
    made = values.Compaction(
        an_id("g"), "ranking", LATER, AppliedJob("j", "b" * 64), "c" * 64, merged, (conflict,), "template"
    )
    node = values.ExtractedNode(an_id("node"), "Entity", ("name",), {"name": "pool", "rank": None})
    edge = values.ExtractedEdge(values.data_id_of(an_id("d")), node.id, "mentions", {"weight": 0.5})
    left = values.Skipped(an_id("f"), "status_changed")
    came = values.Restored(LATER, (an_id("b"),), (left,))
    do(stores, restorations=[(made._replace(restored=came), "job")])
    with stores.store.change(LATER) as change:
        change.compactions.append(made._replace(applied_at=EARLIER))
        change.extractions.append(KeptExtraction(an_id("d"), values.Extraction((node,), (edge,)), "job"))
        change.feedback.append(values.Feedback(an_id("a"), "person", "wrong", LATER, "why?", "It is b."))
        change.feedback.append(values.Feedback(an_id("g"), "agent", "withdrawn", LATER))
        change.verdicts.append(verdict("b", "f", "older"))


def verdict(older: str, newer: str, holds: Any, at: str = LATER) -> values.PairVerdict:
    words = [sha256(name.encode()).hexdigest() for name in (older, newer)]
    return values.PairVerdict(
        an_id(older), words[0], an_id(newer), words[1], holds, "So it was.", "person", at, "job-1"
    )


KEY = "ghp_" + "QYLPMN5HFIQR7XYAbcdefghijk01234567wx"  # in two parts, so that no scanner takes it for one
PHRASE = "zebra quartz fjord plumbing nocturne harvest"


def history_with_texts() -> dict[str, Any]:
    """A line of the history that a person has filled with texts."""
    said = f"{PHRASE} {KEY}"
    side = {"memory_id": an_id("b"), "text": said, "note": said}
    return {
        "type": "compaction", "record_id": an_id("g"), "topic_id": "zebra-quartz-fjord", "applied_at": LATER,
        "job_id": said, "job_sha256": said, "preview_digest": KEY, "narrative_source": said, "restored_at": LATER,
        "restored_by": said,
        "sources": [
            {"memory_id": an_id(name), "content_sha256": said, "status": "Active", "status_set_at": said}
            for name in ("b", "f")
        ],
        "conflicts": [{"kind": said, "note": said, said: said, "confidence": 0.5, "earlier": side, "later": said}],
    }  # fmt: skip


def test_no_text_of_an_edited_file_gets_into_the_history(here: WithFakeGraph) -> None:
    store(here, summary("b"), summary("f"), record("g", "b", "f"))
    assert counts(imported(here, edited([history_with_texts()])))["compactions"] == 1
    (line,) = [line for line in body(here) if line["type"] == "compaction"]
    assert not {"zebra", "ghp_"} & set(re.findall("zebra|ghp_", json.dumps(line)))
    assert (line["job_id"], line["topic_id"], line["sources"][0]["status_set_at"]) == ("", "", None)
    masked = f"{PHRASE} [REDACTED:github-token]"
    assert line["conflicts"][0]["earlier"] == {
        "memory_id": an_id("b"), "text_sha256": sha256(masked.encode()).hexdigest(),
    }  # fmt: skip


def test_a_secret_in_a_field_that_refers_to_something_is_not_imported_with_a_finding(here: WithFakeGraph) -> None:
    store(here, legacy("d"))
    node = {"id": an_id("n"), "type": "Entity", "index_fields": [], "properties": {"source": KEY, "path": f"a {KEY}"}}
    finding = {
        "type": "cognified", "memory_id": an_id("d"), "data_id": an_id("data"), "at": LATER,
        "found": {"job_id": "j", "nodes": [node], "edges": []},
    }  # fmt: skip
    assert imported(here, edited([finding]))["redactions"]["total"] == 1
    assert KEY not in json.dumps(body(here))


def test_forgetting_removes_the_texts_that_an_earlier_version_imported_into_the_history(here: WithFakeGraph) -> None:
    store(here, summary("b"), summary("f"), record("g", "b", "f"), summary("other"))
    do(here, imported_compactions=[{name: value for name, value in history_with_texts().items() if name != "type"}])
    done(outcome(here, "forget", {"memory_ids": [an_id("b")]}, "forget", at=LATER))
    assert b"quartz fjord" not in here.workspace.memory_db.read_bytes()
    assert KEY.encode() not in here.workspace.memory_db.read_bytes()


# --- there and back ---


def test_an_export_comes_back_line_by_line(here: WithFakeGraph, there: WithFakeGraph) -> None:
    some_of_everything(here)
    lines = lines_of(here)
    found = imported(there, lines)
    assert counts(found) == {"added": 7, "compactions": 2, "findings": 1, "feedback": 2, "verdicts": 1}
    assert (found["details"], found["warnings"]) == ([], [])
    assert body(there) == body(here)
    assert [line["metadata"]["memory_number"] for line in lines[1:8]] == [1, 2, 7, 8, 9, 10, 11]


@pytest.mark.parametrize("later", [LATER, EARLIER.replace("Z", ".250Z")])
def test_a_later_feedback_of_here_outlives_an_import(here: WithFakeGraph, there: WithFakeGraph, later: str) -> None:
    store(here, summary("a"))
    store(there, summary("a"))
    for stores, verdict, at in ((here, "wrong", EARLIER), (there, "helpful", later)):
        do(stores, at=at, feedback=[values.Feedback(an_id("a"), "person", verdict, at)])
    imported(there, lines_of(here))
    imported(here, lines_of(there))
    assert [[each.verdict for each in stores.store.feedback(an_id("a"))] for stores in (here, there)] == [
        ["helpful"]
    ] * 2


def test_of_two_verdicts_on_a_pair_the_later_one_outlives_an_import(here: WithFakeGraph, there: WithFakeGraph) -> None:
    for stores, said in ((here, verdict("a", "b", "older", EARLIER)), (there, verdict("a", "b", "both", LATER))):
        store(stores, summary("a"), summary("b"))
        do(stores, at=EARLIER, verdicts=[said])
    assert "verdicts" not in counts(imported(there, lines_of(here)))
    assert counts(imported(here, lines_of(there)))["verdicts"] == 1
    assert [[each.verdict for each in stores.store.all_verdicts()] for stores in (here, there)] == [["both"]] * 2


def test_every_line_is_as_the_published_schema_says(here: WithFakeGraph) -> None:
    some_of_everything(here)
    expected = ["header", *["memory"] * 7, *["compaction"] * 2, "cognified", *["feedback"] * 2, "verdict", "end"]
    header, *lines = lines_of(here)  # which looks at the shape of each
    assert [line["type"] for line in (header, *lines)] == expected
    assert header["counts"] == {"memory": 7, "compaction": 2, "cognified": 1, "feedback": 2, "verdict": 1}


def test_what_was_never_stored_is_an_empty_export_which_can_be_imported(tmp_path: Path, here: WithFakeGraph) -> None:
    found: list[bytes] = []
    assert export.write(Workspace(tmp_path), "1.0", EARLIER, found.append) == dict.fromkeys(
        ("memory", "compaction", "cognified", "feedback", "verdict"), 0
    )
    assert imported(here, found)["memories"] == 0


def test_a_second_import_changes_nothing_and_owes_nothing(here: WithFakeGraph, there: WithFakeGraph) -> None:
    some_of_everything(here)
    imported(there, lines_of(here))
    before, told = body(there), dict(there.fake.told)
    assert counts(imported(there, lines_of(here), job_id="again")) == {"unchanged": 7}
    assert (body(there), there.fake.told) == (before, told)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
ITEMS = st.lists(TEXTS, max_size=2).map(tuple)
DATES = st.datetimes(clock.parse("1000-01-02").replace(tzinfo=None)).map(clock.iso)
TIMES = st.none() | DATES
CONTENTS = st.builds(
    Content, TEXTS, TEXTS, ITEMS, ITEMS, ITEMS, ITEMS, st.builds(References, ITEMS, ITEMS, ITEMS, ITEMS),
    st.builds(TimeScope, TEXTS, TIMES | TEXTS, TIMES, st.none() | st.integers(0, 9999)),
).map(normalise)  # fmt: skip
LABELS = st.fixed_dictionaries(
    {
        **dict.fromkeys(("session_id", "plan_id"), st.none() | TEXTS),
        **dict.fromkeys(("created_at", "updated_at", "source_created_at"), TIMES),
        "importance": st.none() | st.floats(0, 1),
    }
)
KINDS = st.one_of(
    st.tuples(st.just("summary"), st.sampled_from(["Draft", "Active", "Superseded"]), CONTENTS, st.just("")),
    st.tuples(st.just("decision_record"), st.sampled_from(["DecisionRecord", "Superseded"]), CONTENTS, st.just("")),
    st.tuples(st.just("legacy"), st.sampled_from([None, "Active"]), st.none(), TEXTS.map("x{}".format)),
)


@st.composite
def additions(draw: st.DrawFn) -> Addition:
    kind, status, content, text = draw(KINDS)
    topic = draw(st.from_regex(r"[a-z0-9][a-z0-9._-]{0,9}", fullmatch=True))
    metadata = Metadata(topic_id=None if kind == "legacy" else topic, status=status, **draw(LABELS))
    ids = st.uuids().map(str)
    sources = tuple(draw(st.lists(ids, max_size=2))) if kind == "decision_record" else ()
    number = draw(st.integers(1, MAX_KEPT))
    memory = Memory(draw(ids), number, kind, metadata, draw(DATES), content, text, sources)
    return Addition(memory, hidden=draw(st.booleans()), migrated_from=draw(st.none() | ids), status_set_at=draw(TIMES))


@given(additions())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_memory_comes_back_from_its_line_as_it_was(addition: Addition) -> None:
    line = json.loads(export._encoded(line_of(addition)))
    found = export_file._line(2, json.dumps(line).encode(), is_first=False)
    assert isinstance(found, export_lines.ExportedMemory)
    assert export_file.addition_of(found) == addition
    assert not export_file._strays(found, addition.memory)


@given(st.lists(additions(), max_size=4, unique_by=(lambda a: a.memory.id, lambda a: a.memory.number)))
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
def test_any_store_comes_back_from_its_export_as_it_was(found: list[Addition]) -> None:
    shown = {(a.memory.kind, a.memory.metadata.topic_id, a.memory.content, a.memory.text) for a in found}
    if len(shown) < len(found):
        return  # no store has the same memory twice
    with TemporaryDirectory() as folder, opened(Path(folder, "a")) as here, opened(Path(folder, "b")) as there:
        store(here, *found)
        assert (counts(imported(there, lines_of(here))).get("added", 0), body(there)) == (len(found), body(here))


# --- what is there already ---


def test_ids_with_other_words_here_are_conflicts_and_ours_stay(here: WithFakeGraph, there: WithFakeGraph) -> None:
    store(here, summary("a", context="Theirs."))
    store(there, summary("a", context="Ours."))
    before = body(there)
    found = imported(there, lines_of(here))
    assert counts(found) == {"conflicts": 1}
    assert found["details"] == [
        {
            "line": 2, "memory_id": an_id("a"), "what": "conflict", "here": an_id("a"),
            "note": "The memory of this id has other words here.",
        }
    ]  # fmt: skip
    assert body(there) == before


def test_a_status_of_ours_stays_and_the_difference_is_told(here: WithFakeGraph, there: WithFakeGraph) -> None:
    store(here, summary("a"), summary("b"))
    imported(there, lines_of(here))
    there.store.set_status(an_id("a"), "Superseded", LATER, LATER)
    found = imported(there, lines_of(here), job_id="again")
    assert counts(found) == {"unchanged": 2, "kept": 1}
    assert found["details"][0]["note"] == "It is Superseded here, and Active in the file."
    assert memory_of(there, "a").metadata.status == "Superseded"


def test_the_same_words_of_another_id_are_one_memory_with_references(here: WithFakeGraph, there: WithFakeGraph) -> None:
    some_of_everything(here)
    words = memory_of(here, "d")
    store(there, summary("b")._replace(id=an_id("ours")), words._replace(id=an_id("our words"), number=0))
    found = imported(there, lines_of(here))
    assert counts(found) == {
        "added": 5,
        "duplicates": 2,
        "kept": 1,
        "renumbered": 1,
        "compactions": 2,
        "findings": 1,
        "feedback": 2,
        "verdicts": 1,
    }
    assert there.store.get(an_id("b")) is None
    assert memory_of(there, "g").sources == (an_id("ours"), an_id("f"))
    *compactions, finding, _, _, said = body(there)[-6:]
    assert (said["older"], said["newer"]) == (an_id("ours"), an_id("f"))
    for compaction in compactions:
        assert [source["memory_id"] for source in compaction["sources"]] == [an_id("ours"), an_id("f")]
        assert compaction["conflicts"][0]["earlier"]["memory_id"] == an_id("ours")
    assert (compactions[0]["restored"]["restored"], finding["memory_id"]) == ([an_id("ours")], an_id("our words"))
    assert finding["data_id"] == finding["found"]["edges"][0]["source"] == values.data_id_of(an_id("our words"))


def test_an_original_goes_with_the_memory_that_is_here_already(here: WithFakeGraph, there: WithFakeGraph) -> None:
    store(here, Addition(legacy("old"), hidden=True), Addition(summary("new"), migrated_from=an_id("old")))
    store(there, summary("new")._replace(id=an_id("ours")))
    found = imported(there, lines_of(here))
    assert (found["added"], found["duplicates"]) == (1, 1)
    (ours,) = (line for line in body(there) if not line["hidden"])
    assert (ours["metadata"]["memory_id"], ours["migrated_from"]) == (an_id("ours"), an_id("old"))
    before = body(there)
    imported(there, lines_of(here), job_id="again")
    assert body(there) == before


def test_a_memory_keeps_the_original_that_it_has_and_takes_no_other(here: WithFakeGraph, there: WithFakeGraph) -> None:
    store(here, Addition(legacy("theirs"), hidden=True), Addition(summary("new"), migrated_from=an_id("theirs")))
    converted = Addition(summary("new")._replace(id=an_id("ours")), migrated_from=an_id("own"))
    store(there, Addition(legacy("own"), hidden=True), converted)
    before = body(there)
    assert (found := imported(there, lines_of(here)))["duplicates"] == 2, found
    assert body(there) == before


@pytest.mark.parametrize("between", [0, 150])
def test_an_original_of_two_stays_for_who_lacks_it(here: WithFakeGraph, there: WithFakeGraph, between: int) -> None:
    """Also where the two are in different transactions."""
    others = [legacy(f"other {number}") for number in range(between)]
    store(here, Addition(legacy("shared"), hidden=True), Addition(summary("first"), migrated_from=an_id("shared")))
    store(here, *others, Addition(summary("second"), migrated_from=an_id("shared")))
    own = Addition(legacy("own"), hidden=True), Addition(summary("first"), migrated_from=an_id("own"))
    store(there, *own, *others, summary("second"))
    imported(there, lines_of(here))
    lines = {line["metadata"]["memory_id"]: line for line in body(there)}
    assert lines[an_id("first")]["migrated_from"] == an_id("own")
    assert lines[an_id("second")]["migrated_from"] == an_id("shared")
    assert lines[an_id("shared")]["hidden"]


def test_the_history_of_a_forgotten_topic_is_imported_too(here: WithFakeGraph, there: WithFakeGraph) -> None:
    some_of_everything(here)
    do(here, topics_to_clear=["ranking"])
    imported(there, lines_of(here))
    assert body(there) == body(here)


def test_what_was_imported_and_is_ingested_again_is_a_duplicate(here: WithFakeGraph, there: WithFakeGraph) -> None:
    words = {"topic": "Naming", "context": "How to name things.", "decisions": ["Short"]}
    conversation = {"conversation": {"user_message": "Why?", "assistant_message": "Because."}}
    for stores in (here, there):
        tasks = [
            copy_of("ingest", payload, f"{n}", at=EARLIER, submitted_at=EARLIER)
            for n, payload in enumerate(({"summary": words}, conversation))
        ]
        found = run("ingest", tasks, stores, NOW, ignore_progress)
        results = [outcome.result for outcome in found.values() if not isinstance(outcome, Failed)]
        assert [result["duplicate"] for result in results] == [stores is there] * 2
        if stores is here:
            imported(there, lines_of(here))
            ids = [result["memory_id"] for result in results]
    assert ([result["memory_id"] for result in results], there.store.count()) == (ids, 2)


def test_free_numbers_are_kept(here: WithFakeGraph, there: WithFakeGraph, capsys: pytest.CaptureFixture[str]) -> None:
    """And those of nobody else are moved."""
    store(here, *(summary(name, number) for number, name in enumerate("abcdefghij", 1)))
    store(there, summary("x"), summary("y"))
    found = imported(there, lines_of(here))
    assert counts(found) == {"added": 10, "renumbered": 2}
    numbers = {line["metadata"]["memory_id"]: line["metadata"]["memory_number"] for line in body(there)}
    assert [numbers[an_id(name)] for name in "abcdefghij"] == [11, 12, *range(3, 11)]
    assert found["details"][0]["note"] == "The number 1 was taken; it has 11 here."
    transfer.show_import(found)
    shown = capsys.readouterr().out
    assert "2 memories got another number here" in shown
    assert "line " not in shown, "not one line for each"


def test_a_records_decisions_name_memories_by_their_numbers_here(here: WithFakeGraph, there: WithFakeGraph) -> None:
    merged = record("r", "a", "b", number=4)
    decisions = (
        "[Later] B (2026-11-02, #2) supersedes A (2026-11-01, #1)",
        "C (2026-11-03)",
        "[Earlier] A (2026-11-01, #1)",
    )
    story = "Merged.\n“B” (2026-11-02, #2) replaced “A” (2026-11-01, #1)."
    content = merged.content._replace(decisions=decisions, context=story)
    store(here, summary("a", 1), summary("b", 2), summary("c", 3), merged._replace(content=content))
    store(there, summary("x"), summary("b"))
    assert counts(imported(there, lines_of(here))) == {"added": 3, "unchanged": 1, "renumbered": 1}
    found = memory_of(there, "r")
    assert found.content.decisions == tuple(line.replace("#1", "#5") for line in decisions)
    assert found.content.context == story.replace("#1", "#5")
    assert counts(imported(there, lines_of(here), job_id="again")) == {"unchanged": 4}


def test_a_number_of_no_store_is_not_kept_so_that_the_next_has_one(here: WithFakeGraph, there: WithFakeGraph) -> None:
    store(here, summary("a", 2**31 - 1), summary("b", 7))
    assert counts(imported(there, lines_of(here))) == {"added": 2, "renumbered": 1}
    store(there, summary("c"))
    assert [line["metadata"]["memory_number"] for line in body(there)] == [7, 8, 9]


def test_a_number_that_a_forgotten_memory_had_is_not_given_again(here: WithFakeGraph, there: WithFakeGraph) -> None:
    store(there, summary("x"))
    do(there, dropped=[an_id("x")])
    store(here, summary("a"))
    assert counts(imported(there, lines_of(here))) == {"added": 1, "renumbered": 1}


@pytest.mark.parametrize(("accepted_at", "comes"), [(EARLIER, 0), (clock.iso(NOW), 1)])
def test_a_later_import_brings_it_back(here: WithFakeGraph, there: WithFakeGraph, accepted_at: str, comes: int) -> None:
    """What was forgotten, and no other import does."""
    store(here, summary("a"), summary("b"))
    do(there, tombstones=[an_id("a")])
    found = imported(there, lines_of(here), accepted_at=accepted_at)
    assert (found["forgotten"], found["added"]) == (1 - comes, 1 + comes)


# --- bad weather ---


def test_a_cut_off_import_goes_on(here: WithFakeGraph, there: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it was."""
    monkeypatch.setattr(slices, "SLICE_SECONDS", 0.0)  # each portion as small as can be
    store(here, *(summary(name) for name in "abcdefghijklmnop"), record("r", "a"))
    lines = lines_of(here)
    cut = [
        line if line["metadata"]["memory_id"] != an_id("p") else _with(line, context="deadly") for line in body(here)
    ]
    save(there, edited(cut))
    there.embedder.refused = {"deadly": KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        importing(there)
    assert 5 < there.store.count() < 16
    assert (counts(imported(there, lines)), body(there)) == ({"added": 17}, body(here))


def _with(line: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**line, "metadata": {**line["metadata"], **fields}}


def test_a_text_that_the_provider_refuses_fails_alone(here: WithFakeGraph) -> None:
    here.embedder.refused = {"refused": JobError("EMBEDDING_FAILED", details={"status": 400})}
    texts = ("x", "refused", "z")
    lines = [line_of(Addition(summary(text, number, context=text))) for number, text in enumerate(texts, 1)]
    found = imported(here, edited(lines))
    assert counts(found) == {"added": 2, "failed": 1}
    assert found["details"][0]["what"] == "failed"
    assert "EMBEDDING_FAILED" in found["details"][0]["note"]


def test_an_import_may_be_cancelled_until_all_is_stored(here: WithFakeGraph, there: WithFakeGraph) -> None:
    store(here, summary("a"))
    imported(there, lines_of(here))
    assert sql(there.workspace.memory_db, "SELECT job_id FROM effects") == [("import",)]


def merged(name: str, *sources: str) -> dict[str, Any]:
    return line_of(Addition(record(name, *sources)._replace(number=1)))


HEADER = {"type": "header", "format": export.FORMAT, "version": 1}
GOOD = line_of(Addition(summary("a")._replace(number=1)))
END = {"type": "end", "sha256": None}


BAD_FILES = [
    ([], 1, "empty"),
    ([b"{"], 1, "Line 1: It is not valid JSON"),
    ([b"PK\x03\x04\0"], 1, "NUL"),
    ([b"\xff"], 1, "not UTF-8"),
    ([GOOD, END], 1, "Line 1: It is not the header of an export."),
    ([{**HEADER, "format": "other"}, END], 1, "not the header"),
    ([{**HEADER, "version": 2, "new": 1}, END], 1, "has version 2; this program reads version 1."),
    ([HEADER, GOOD], 3, "cut off"),
    ([HEADER, b'{"type": "memory", "metada'], 2, "not valid JSON"),
    ([HEADER, {"type": "note"}, END], 2, "The field type must be one of: header, memory"),
    ([HEADER, b"[]", END], 2, "The field type must be one of"),
    ([HEADER, _with(GOOD, type="summary"), END], 2, "metadata.type must be one of: conversation_summary"),
    ([HEADER, _with(GOOD, status="Done"), END], 2, "metadata.status"),
    ([HEADER, _with(GOOD, topik_id="x"), END], 2, "metadata.topik_id is not known. Did you mean 'topic_id'?"),
    ([HEADER, _with(GOOD, memory_id="m"), END], 2, "metadata.memory_id: must be a UUID."),
    ([HEADER, _with(GOOD, memory_number=0), END], 2, "metadata.memory_number"),
    ([HEADER, _with(GOOD, created_at="yesterday"), END], 2, "metadata.created_at"),
    ([HEADER, b'{"type": "\\ud800"}', END], 2, "surrogate"),
    ([HEADER, GOOD, GOOD, END], 3, "was there in an earlier line."),
    ([HEADER, _with(GOOD, decisions=["a"] * 300_001), END], 2, "metadata.decisions"),
    ([HEADER, GOOD, merged("r", "a", "r"), END], 3, "merged itself"),
    ([HEADER, merged("r", "s"), merged("s", "t"), merged("t", "r", "a"), END], 2, "a record that merged it"),
    ([HEADER, merged("r", "s", "t", "t"), merged("s", "s"), merged("t", "a"), END], 3, "merged itself"),
    ([HEADER, GOOD, HEADER, END], 3, "A line of the type header cannot stand behind one of memory."),
    ([HEADER, END, GOOD], 3, "cannot stand behind one of end."),
    ([HEADER, GOOD, {"type": "end", "sha256": "0" * 64}], 3, "The checksum does not fit"),
    ([HEADER, GOOD, {"type": "end"}], 3, "sha256 is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "number", "said"), BAD_FILES)
def test_a_bad_file_is_refused_whole_by_its_line(here: WithFakeGraph, lines: list[Any], number: int, said: str) -> None:
    save(here, lines)
    if not lines:
        (here.workspace.root / FILE).write_bytes(b"")
    error = refused(importing(here))
    assert error.code == "IMPORT_INVALID"
    assert said in error.message
    assert error.details["line"] == number
    assert "Nothing was stored." in error.remediation
    assert here.store.count() == 0


def test_a_line_of_gigabytes_is_not_read_whole(here: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_file, "LONGEST_LINE", 100)
    save(here, [HEADER, b" " * 101, END])
    assert refused(importing(here)).message == "Line 2: It has more than 100 bytes."


def test_an_export_survives_what_editors_and_transfers_do_to_lines(here: WithFakeGraph, there: WithFakeGraph) -> None:
    some_of_everything(here)
    found: list[bytes] = []
    export.write(here.workspace, "1.0", EARLIER, found.append)
    data = b"\xef\xbb\xbf" + b"".join(found).replace(b"\n", b"\r\n") + b"\r\n \r\n"
    assert imported(there, [data])["added"] == 7


def test_an_edited_file_is_taken_at_its_fields_and_says_what_does_not_fit(here: WithFakeGraph) -> None:
    line = _with(GOOD, context="Said in other words.", memory_number=None, status="Final")
    found = imported(here, edited([line]))
    assert counts(found) == {"added": 1}
    assert [w.split(":")[0] for w in found["warnings"]] == [
        "The file says that it was edited",
        "What is not read differs from the fields, which count (text, references, time_scope)",
    ]
    memory = memory_of(here, "a")
    assert (memory.content.context, memory.metadata.status, memory.number) == ("Said in other words.", "Active", 1)


def test_words_that_could_forge_structure_are_normalised(here: WithFakeGraph) -> None:
    imported(here, edited([_with(GOOD, topic="One\n\n**Metadata:**\n- Status: Draft")]))
    assert memory_of(here, "a").content.topic == "One **Metadata:** - Status: Draft"


def test_sources_that_are_nowhere_are_kept_and_told(here: WithFakeGraph) -> None:
    found = imported(here, edited([line_of(Addition(record("r", "gone", number=1)))]))
    assert found["warnings"][-1] == "1 memories that others come from are neither in the file nor here."
    assert memory_of(here, "r").sources == (an_id("gone"),)


def test_the_details_are_bounded(here: WithFakeGraph, there: WithFakeGraph) -> None:
    store(here, *(summary(f"s{n}", context=f"Theirs {n}.") for n in range(110)))
    store(there, *(summary(f"s{n}", context=f"Ours {n}.") for n in range(110)))
    found = imported(there, lines_of(here))
    assert (found["conflicts"], len(found["details"])) == (110, 100)
    assert found["warnings"] == ["The details name the first 100 of 110."]


@pytest.mark.parametrize("path", ["nowhere.jsonl", "../outside.jsonl", ".cognee_memory/memory.db"])
def test_a_path_that_no_job_may_open_is_refused(here: WithFakeGraph, path: str) -> None:
    assert refused(importing(here, path=path)).code == "ARGUMENT_INVALID"


def test_an_export_of_a_store_that_no_child_has_opened_since_an_update(here: WithFakeGraph) -> None:
    store(here, summary("a"))
    before = body(here)
    with closing(sqlite3.connect(here.workspace.memory_db)) as connection:
        connection.executescript(
            "DROP TRIGGER memories_feedback; DROP TRIGGER memories_verdicts; DROP TRIGGER statement_judged;"
            "DROP TABLE feedback; DROP TABLE verdicts; PRAGMA user_version = 5;"
        )
    assert body(here) == before


def test_the_shapes_of_lines_have_the_columns_of_their_tables(here: WithFakeGraph) -> None:
    for model in export_lines.FOLLOWERS:
        kind = model.model_fields["type"].annotation.__args__[0]  # type: ignore[union-attr]
        table = TABLES[kind][0].split()[0]
        columns = {row[1] for row in here.store._connection.execute(f"PRAGMA table_info({table})")}
        assert columns - {"seq"} == set(model.model_fields) - {"type"}


def test_an_export_takes_no_more_memory_for_more_memories(here: WithFakeGraph) -> None:
    def peak() -> int:
        sizes: list[int] = []
        tracemalloc.start()
        try:
            export.write(here.workspace, "1.0", EARLIER, lambda line: sizes.append(len(line)))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    store(here, *(legacy(f"{n}", f"{n} " + "x" * 20_000) for n in range(20)))
    few = peak()
    store(here, *(legacy(f"{n}", f"{n} " + "x" * 20_000) for n in range(20, 80)))
    assert peak() < few + 200_000  # the lines have 1.2 MB more


# --- the command line ---


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    with opened(tmp_path / "place") as stores:
        store(stores, summary("a"), legacy("b"))
    workspace = Workspace(tmp_path / "place")
    assert main(["trust", "--workspace", str(workspace.root)]) == 0
    return workspace


def command(workspace: Workspace, *arguments: str) -> dict[str, Any]:
    """What a command answers. Raises JobError."""
    given = parser().parse_args([*arguments, "--workspace", str(workspace.root)])
    return given.run(given)


def test_an_export_is_private_and_whole(place: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "backup.jsonl"
    out.write_text("old")
    out.chmod(0o644)
    capsys.readouterr()
    assert main(["export", "--out", str(out), "--workspace", str(place.root)]) == 0
    assert capsys.readouterr().out == f"2 memories, 0 compactions, 0 findings in {out}\n"
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert json.loads(out.read_text("utf-8").splitlines()[-1])["lines"] == 3
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []
    assert command(place, "export", "--json", "--out", str(out))["bytes"] == out.stat().st_size


def test_topics_are_exported_with_only_their_history(here: WithFakeGraph, there: WithFakeGraph, tmp_path: Path) -> None:
    some_of_everything(here)
    store(here, summary("mine", topic="pay")._replace(content=Content("Pay", PHRASE)), summary("h", topic="queue"))
    everything = body(here)
    assert main(["trust", "--workspace", str(here.workspace.root)]) == 0
    out = tmp_path / "topics.jsonl"
    found = command(here.workspace, "export", "--topic-id", "ranking", "--topic-id", "queue", "--out", str(out))
    assert found["counts"] == {"memory": 6, "compaction": 2, "cognified": 0, "feedback": 2, "verdict": 1}
    assert PHRASE not in out.read_text("utf-8")
    lines = [line.encode() for line in out.read_text("utf-8").splitlines()]
    assert counts(imported(there, lines)) == {"added": 6, "compactions": 2, "feedback": 2, "verdicts": 1}
    assert body(there) == [line for line in everything if line in body(there)], "as they were"
    assert not there.store.known(an_id("mine"))


def test_a_topic_without_memories_is_not_found_and_no_file_is_made(place: Workspace, tmp_path: Path) -> None:
    with pytest.raises(JobError) as caught:
        command(place, "export", "--topic-id", "ranking", "--topic-id", "rankin", "--out", str(tmp_path / "x.jsonl"))
    assert (caught.value.code, "'rankin'" in caught.value.message) == ("TOPIC_NOT_FOUND", True)
    assert not (tmp_path / "x.jsonl").exists()


@pytest.mark.parametrize("name", [".cognee_jobs/x.json", ".cognee_memory/export.jsonl", "folder", "nowhere/x.jsonl"])
def test_an_export_goes_neither_into_our_folders_nor_over_what_is_no_file(place: Workspace, name: str) -> None:
    (place.root / "folder").mkdir()
    with pytest.raises(JobError, match="ARGUMENT_INVALID"):
        command(place, "export", "--out", str(place.root / name))
    assert not (place.root / name).is_file()


def test_json_goes_with_a_file_only(place: Workspace) -> None:
    with pytest.raises(JobError, match="goes with --out"):
        command(place, "export", "--json")


def test_files_from_elsewhere_are_copied_in_ours_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Workspace(tmp_path / "place")

    def dropped(path: str) -> dict[str, Any]:
        job_id = command(place, "import", path, "--no-start", "--no-wait")["job_id"]
        return json.loads(place.spool.dropped(job_id).read_bytes())

    outside, inside = tmp_path / "outside.jsonl", place.root / "sub" / "inside.jsonl"
    inside.parent.mkdir(parents=True)
    for path in (outside, inside):
        path.write_text("the lines")
    assert dropped(str(inside))["payload"] == {"path": "sub/inside.jsonl"}
    assert not place.imports.exists()
    job = dropped(str(outside))
    copy = place.imported(job["job_id"])
    assert job["payload"] == {"path": f".cognee_memory/imports/{copy.name}"}
    assert (copy.read_text(), stat.S_IMODE(copy.stat().st_mode)) == ("the lines", 0o600)
    with outside.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert place.imported(dropped("-")["job_id"]).read_text() == "the lines"


@pytest.mark.parametrize("path", ["nowhere.jsonl", ".", os.devnull, __file__])
def test_a_file_that_cannot_be_copied_is_refused(place: Workspace, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNEE_MEMORY_MIN_FREE_BYTES", str(10**14))
    with pytest.raises(JobError, match="DISK_FULL" if path == __file__ else "ARGUMENT_INVALID"):
        command(place, "import", path, "--no-start", "--no-wait")
    assert [*place.spool.root.glob("*.json"), *place.imports.glob("*")] == []


@pytest.mark.parametrize(("code", "stays"), [("", 0), ("IMPORT_INVALID", 0), ("GRAPH_UNAVAILABLE", 1)])
def test_a_copy_goes_with_its_import_unless_a_further_try_could_use_it(
    place: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, stays: int
) -> None:
    def ended(*_: object, **__: object) -> dict[str, Any]:
        if code:
            raise JobError(code)
        return {"success": True, "state": "succeeded"}

    monkeypatch.setattr(job_commands, "submit", ended)
    (tmp_path / "outside.jsonl").write_text("the lines")
    with contextlib.suppress(JobError):
        command(place, "import", str(tmp_path / "outside.jsonl"))
    assert len(list(place.imports.iterdir())) == stays


def test_a_copy_is_imported_from_where_no_other_job_may_read(place: Workspace, tmp_path: Path) -> None:
    with opened(tmp_path / "other") as other:
        store(other, summary("c"))
        data = [export._encoded(line) for line in lines_of(other)]
    files.make_folder(place.imports)
    place.imported("import").write_bytes(b"".join(data))
    with opened(place.root) as stores:
        done(importing(stores, path=place.imported("import").relative_to(place.root).as_posix()))
    transfer.discard(place, "import")
    transfer.discard(place, "import")
    assert list(place.imports.iterdir()) == []


def test_copies_whose_import_is_done_are_pruned_and_those_that_may_be_tried_again_are_not(place: Workspace) -> None:
    files.make_folder(place.imports)
    states: dict[str, Any] = {"done": "succeeded", "failed": "failed", "live": None, "old": "failed", "new": None}
    for name, state in states.items():
        place.imported(name).write_text("x")
        if state is not None:
            files.make_folder(place.spool.results)
            record = Record.from_dict(_record(name, state))
            place.spool.record(name).write_text(json.dumps(record.as_dict()))
    now = NOW.timestamp()
    for name in states:
        os.utime(place.imported(name), (now, now - (31 * 86_400 if name in ("old", "live") else 60)))
    prune(place, Settings(keep_succeeded_days=1000, keep_failed_days=1000), lambda job_id: job_id == "live", now)
    assert {path.stem for path in place.imports.iterdir()} == {"failed", "live", "old", "new"}
    prune(place, Settings(keep_succeeded_days=1000, keep_failed_days=30), lambda job_id: job_id == "live", now)
    assert {path.stem for path in place.imports.iterdir()} == {"failed", "live", "new"}


def _record(job_id: str, state: str) -> dict[str, Any]:
    example: dict[str, Any] = json.loads(
        (Path(__file__).parents[2] / "docs" / "schemas" / "examples" / "record-failed.json").read_text("utf-8")
    )
    return example | {"job_id": job_id, "state": state, "success": state == "succeeded"}
