"""The retrieval contract with the real model: through the script and through a reader, without cognee.

That every answer is as the published schema says, and its scores what its factors give, is held by ``contract`` for
each of them; what each argument does, by the tests of questions, ranking, search and packing.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contract
import pytest
from fake_embedder import FakeEmbedder
from harness import PROJECT, Place
from job_copies import task

from bridge import trust
from bridge.embedding.local_models import ENGLISH, ENGLISH_FULL
from bridge.interface.question_arguments import with_settings
from bridge.memory import Content, Memory, Metadata
from bridge.operations import ingest
from bridge.search.reader import Reader
from bridge.settings import load
from jobs import clock

NOW = "2025-11-21T12:00:00Z"
SCRIPT = str(PROJECT / "bridge" / "retrieve.py")

# The contract's own example of an answer with both kinds of memories.
EXAMPLE: dict[str, Any] = {
    "topic": "Plan 014 – Structured Summaries",
    "topic_id": "3e3e4f26-7c02-4b3c-8b9d-8f1f9b3e2a10",
    "plan_id": "014",
    "session_id": "f1b9b8b0-9f1a-4b8f-8c2b-1c2b3d4e5f6a",
    "status": "Active",
    "created_at": "2025-11-17T16:30:00Z",
    "updated_at": "2025-11-17T16:31:00Z",
    "decisions": [
        "Migrate summaries to DataPoints with metadata",
        "Expose structured retrieval contract via retrieve.py",
    ],
    "rationale": ["Enable recency-aware ranking and compaction in later plans"],
    "open_questions": [],
    "next_steps": ["Implement Plan 015 ranking algorithms"],
    "references": ["Plan 014 documentation"],
}
CONTEXT = (
    "Implementing DataPoint-based storage for conversation summaries to enable metadata-driven ranking and compaction."
)
LEGACY_EXAMPLE = (
    "We discussed Plan 013 truncation behavior and decided to remove the 150-char limit. "
    "Full memory content should be visible to users for transparency."
)
ERROR_EXAMPLE = {"success": False, "results": [], "total_results": 0, "total_tokens": 0}

NULL_METADATA = (
    "topic", "topic_id", "plan_id", "session_id", "status", "source_created_at", "created_at", "updated_at",
)  # fmt: skip
STRUCTURED = ("decisions", "rationale", "open_questions", "next_steps", "references")

HARBOUR = "The harbour crane is steered by radio on channel seven."


def ingested(name: str, payload: dict[str, Any]) -> Memory:
    """The memory that an ingest job makes of a payload."""
    given = task("ingest", payload, name, at=NOW)
    return ingest.prepare(given, "6f1c2b1e-0d7a-4c55-9a53-3f0f6f1a9b10", NOW).memory._replace(id=name)


def harbour(name: str, status: Any, created_at: str | None, **known: Any) -> Memory:
    """Memories of one topic and the same words, so that only what is asked about makes a difference."""
    kind: Any = {"DecisionRecord": "decision_record", None: "legacy"}.get(status, "summary")
    if kind == "legacy":
        return Memory(name, 0, "legacy", Metadata(created_at=created_at), NOW, text=HARBOUR)
    sources = ("harbour-old",) if kind == "decision_record" else ()
    metadata = Metadata("harbour", status=status, created_at=created_at, **known)
    return Memory(name, 0, kind, metadata, NOW, Content("Harbour crane", HARBOUR), sources=sources)


TIMELESS = """\
<!-- Template: v1.0 -->
# Conversation Summary: Lighthouse lamp

**Metadata:**
- Topic ID: lighthouse
- Session ID: N/A
- Plan ID: N/A
- Status: Active
- Created: 2025-11-20T01:30:00+02:00
- Updated: N/A
- Source Created: N/A

## Context
The lighthouse lamp turns once a minute.
"""


def memories() -> list[Memory]:
    day = "2025-11-{:02}T12:00:00Z".format
    return [
        ingested("example", {"summary": {**EXAMPLE, "context": CONTEXT, "time_scope": "Nov 17 14:00-16:30"}}),
        ingested("legacy-example", {"summary_text": LEGACY_EXAMPLE}),
        ingested("timeless", {"summary_text": TIMELESS}),
        harbour("harbour-active", "Active", day(14), source_created_at=day(7), plan_id="plan-014", session_id="s"),
        harbour("harbour-newer", "Active", day(20), plan_id="014-some-title"),
        harbour("harbour-record", "DecisionRecord", day(14), plan_id="014"),
        harbour("harbour-old", "Superseded", day(14), plan_id="015"),
        harbour("harbour-draft", "Draft", day(14)),
        harbour("harbour-undated", "Active", None),
        harbour("harbour-legacy", None, day(14)),
        Memory(
            "buoy", 0, "summary", Metadata("buoy", "", "", "Active", "soon", "", "N/A"), NOW,
            Content("Buoy", "The buoy rings in the fog."),
        ),
        Memory("key", 0, "legacy", Metadata(), NOW, text="The certificate of the observatory: " + "Ab1" * 20_000),
        Memory(
            "signs", 0, "legacy", Metadata(), NOW,
            text="שלום עולם, the parrot said.\0 🦜👩‍👩‍👧 \u202eolleh\u202c “Größe” 状态机 e\u0301",
        ),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("contract"))
    place.keep(memories(), NOW)
    return place


@pytest.fixture(scope="module")
def reader(place: Place) -> Reader:
    return Reader(place.workspace, load(environment=place.environment).embedding)


Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def asked(place: Place, reader: Reader) -> Ask:
    """A question to a reader that is there, which is quick; ``now`` is the time that the memories are told of."""
    settings = load(environment=place.environment)

    def put(query: str, **arguments: Any) -> dict[str, Any]:
        given = with_settings({"query": query, **arguments}, settings, "contract")
        return reader.answer("retrieve", given, clock.parse(NOW))

    return put


def script(place: Place, *arguments: str, status: int = 0) -> dict[str, Any]:
    """What ``python bridge/retrieve.py`` prints on stdout, which is one object and nothing else; and no other word."""
    done = place.program("bridge.retrieve", *arguments)
    assert (done.stderr, done.returncode) == ("", status)
    return contract.checked(done.stdout)


def ids(found: dict[str, Any]) -> list[str]:
    return [hit["memory_id"] for hit in found["results"]]


HARBOUR_QUERY = "how is the harbour crane steered"


# --- the script ---


def test_the_contracts_example_comes_back_with_its_own_values(place: Place) -> None:
    """Text and scores apart, which are this program's own."""
    found = script(place, str(place.workspace.root), "Plan 014 structured summaries, Plan 013 truncation", "2", "5000")
    assert found["total_results"] >= 2
    by_type = {hit["memory_type"]: hit for hit in found["results"]}
    structured, legacy = by_type["summary"], by_type["legacy"]
    assert {name: structured[name] for name in EXAMPLE} == EXAMPLE
    assert CONTEXT in structured["summary_text"]
    assert EXAMPLE["decisions"][1] in structured["summary_text"]
    assert legacy["summary_text"] == LEGACY_EXAMPLE
    assert {name: legacy[name] for name in NULL_METADATA} == dict.fromkeys(NULL_METADATA)
    assert not set(STRUCTURED) & set(legacy)


def test_the_six_positional_arguments_stand_in_the_contracts_order(place: Place) -> None:
    found = script(place, str(place.workspace.root), HARBOUR_QUERY, "3", "150", "14", "true")
    assert (found["half_life_days"], found["include_superseded"]) == (14.0, True)
    assert found["total_tokens"] <= 150
    assert found["result_count"] <= 3 < found["total_results"]
    assert script(place, str(place.workspace.root), HARBOUR_QUERY, "1")["result_count"] == 1


def test_what_is_left_out_has_the_contracts_defaults(place: Place) -> None:
    found = script(place, str(place.workspace.root), HARBOUR_QUERY)
    assert (found["half_life_days"], found["include_superseded"], found["result_count"]) == (7.0, False, 5)
    assert found["total_tokens"] <= 2000
    assert found["ranking"] == {
        "preset": "contract", "mode": "product", "half_life_days": 7.0, "recency_floor": 0.0, "alpha": 0.8,
        "relevance_floor": 0.2,
    }  # fmt: skip


def test_the_editors_settings_are_the_defaults_of_a_question(place: Place, tmp_path: Path) -> None:
    before = place.environment
    place.environment = before | {
        "COGNEE_MEMORY_MAX_RESULTS": "2", "COGNEE_MEMORY_MAX_TOKENS": "60", "COGNEE_MEMORY_HALF_LIFE_DAYS": "30",
    }  # fmt: skip
    try:
        found = script(place, str(place.workspace.root), HARBOUR_QUERY)
        own = script(place, str(place.workspace.root), HARBOUR_QUERY, "3", "2000", "0.5")
    finally:
        place.environment = before
    assert (found["half_life_days"], found["result_count"]) == (30.0, 1)
    assert found["total_tokens"] <= 60
    assert (own["half_life_days"], own["result_count"]) == (0.5, 3)


NONSENSE = [
    (("", "5"), "QUERY_EMPTY"),
    ((HARBOUR_QUERY, "5", "2000", "7", "true", "more"), "ARGUMENT_INVALID"),
    ((HARBOUR_QUERY, "--loud"), "ARGUMENT_INVALID"),
]


@pytest.mark.parametrize(("arguments", "code"), NONSENSE)
def test_nonsense_is_an_error_with_code_and_exit_status(place: Place, arguments: tuple[str, ...], code: str) -> None:
    found = script(place, str(place.workspace.root), *arguments, status=2)
    assert (found["error_code"], found["results"]) == (code, [])


def test_the_same_question_gives_the_same_bytes_through_every_door(place: Place, asked: Ask) -> None:
    arguments = (str(place.workspace.root), HARBOUR_QUERY, "9", "5000", "7", "true", "--as-of", NOW)
    first, second = (place.python(SCRIPT, *arguments).stdout for _ in range(2))
    assert first == second
    inside = asked(HARBOUR_QUERY, max_results=9, max_tokens=5000, half_life_days=7, include_superseded=True, as_of=NOW)
    assert first == json.dumps(inside, ensure_ascii=False) + "\n"


def test_text_of_any_script_comes_back_as_it_was_stored(place: Place) -> None:
    (signs,) = (memory for memory in memories() if memory.id == "signs")
    found = script(place, str(place.workspace.root), "שלום עולם", "1")
    assert [hit["text"] for hit in found["results"]] == [signs.text]
    assert script(place, str(place.workspace.root), "harbour " * 12_500)["success"], "a query of 100,000 characters"


# --- the hits ---


def test_times_are_null_or_in_utc_whatever_was_stored(asked: Ask) -> None:
    (lamp,) = asked("how often does the lighthouse lamp turn", topic_id="lighthouse")["results"]
    assert (lamp["created_at"], lamp["source_created_at"]) == ("2025-11-19T23:30:00Z", None)
    assert (lamp["session_id"], lamp["plan_id"]) == (None, None)
    hits = {hit["memory_id"]: hit for hit in asked(HARBOUR_QUERY, topic_id="harbour", max_results=9)["results"]}
    undated = hits["harbour-undated"]
    assert [undated[name] for name in ("source_created_at", "created_at", "updated_at")] == [None] * 3
    assert undated["recency_multiplier"] == 1.0, "what has no date does not decay"


def test_what_is_no_time_and_what_is_empty_counts_as_none(asked: Ask) -> None:
    """Whoever wrote it into the store: one such memory must not spoil the answers with others in them."""
    (buoy,) = asked("the buoy in the fog", topic_id="buoy")["results"]
    for name in ("session_id", "plan_id", "source_created_at", "created_at", "updated_at"):
        assert buoy[name] is None, name
    assert buoy["recency_multiplier"] == 1.0
    assert asked("the buoy in the fog", topic_id="buoy", since="1970-01-01")["results"] == []


def test_a_text_is_shown_with_its_status_of_now(asked: Ask) -> None:
    (hit,) = asked(HARBOUR_QUERY, status="Superseded")["results"]
    assert "- Status: Superseded" in hit["summary_text"]


RANGES = [
    ({"since": "2025-11-14T12:00:00Z"}, {"newer", "record", "legacy"}),
    ({"since": "2025-11-14T12:00:01Z"}, {"newer"}),
    ({"since": "2025-11-07", "until": "2025-11-14T13:00:00+01:00"}, {"active"}),
    ({"until": "2025-11-14T12:00:00Z"}, {"active"}),
    ({"until": "2025-11-14T12:00:00.001"}, {"active", "record", "legacy"}),
    ({"since": "2025-11-21"}, set()),
]


@pytest.mark.parametrize(("bounds", "names"), RANGES)
def test_a_range_includes_its_first_bound_not_its_second(asked: Ask, bounds: dict[str, str], names: set[str]) -> None:
    """By the date from which the age counts; what has none is out of any range."""
    assert set(ids(asked(HARBOUR_QUERY, **bounds, max_results=99))) == {f"harbour-{name}" for name in names}


def test_a_key_of_thousands_of_characters_is_more_than_one_token(asked: Ask) -> None:
    """To the model's tokenizer it is a single unknown word; a prompt would be full of it."""
    (hit,) = asked("certificate of the observatory", max_tokens=100)["results"]
    assert len(hit["summary_text"]) < 600
    assert hit["tokens"] <= 100


# --- the process ---


FORBIDDEN = (
    "cognee", "lancedb", "litellm", "huey", "watchdog", "pydantic_settings", "torch", "ladybug", "fastembed",
    "bridge.reranking", "bridge.search.second_stage", "dataclasses", "inspect", "numpy.typing", "platform",
)  # fmt: skip
LOADED = f"import sys; print([name for name in {FORBIDDEN!r} if name in sys.modules])"


def test_a_whole_retrieval_loads_none_of_the_heavy_packages(place: Place) -> None:
    code = f"""
import sys
from bridge.retrieve import respond
found = respond({str(place.workspace.root)!r}, {{"query": {HARBOUR_QUERY!r}}})
assert found["results"], found
import numpy
assert numpy.ndarray.sum.__doc__ is None, "its documentation was imported"
{LOADED}
"""
    done = place.python("-c", code)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_retrieving_changes_nothing_that_was_stored(place: Place) -> None:
    def contents() -> dict[str, bytes]:
        kept = [path for path in place.workspace.root.rglob("*") if path.is_file() and "-" not in path.suffix]
        return {str(path): path.read_bytes() for path in kept}

    before = contents()
    script(place, str(place.workspace.root), HARBOUR_QUERY)
    assert contents() == before


# --- what can be wrong ---


def test_a_missing_workspace_is_an_error_and_an_empty_one_has_no_hits(place: Place, tmp_path: Path) -> None:
    missing = script(place, str(tmp_path / "nowhere"), "anything", status=1)
    assert {name: missing[name] for name in ERROR_EXAMPLE} == ERROR_EXAMPLE
    assert (missing["error_code"], bool(missing["remediation"])) == ("WORKSPACE_MISSING", True)
    unused = Place(tmp_path, adopted=False)
    root = str(unused.workspace.root)
    found = script(unused, root, "anything")
    assert (found["results"], found["total_results"], found["total_tokens"]) == ([], 0, 0)
    assert (found["half_life_days"], found["tokenizer"]) == (7.0, None)
    assert script(unused, root, "anything", "many", status=2)["error_code"] == "ARGUMENT_INVALID"
    assert list(unused.workspace.root.iterdir()) == [], "asking leaves nothing behind"
    trust.adopt(unused.workspace, unused.config)
    assert script(unused, root, "anything")["results"] == []


def test_a_workspace_of_somebody_else_is_not_read(place: Place, tmp_path: Path) -> None:
    found = script(Place(tmp_path), str(place.workspace.root), HARBOUR_QUERY, status=1)
    assert found["error_code"] == "WORKSPACE_NOT_TRUSTED"
    assert "cognee-memory trust" in found["remediation"]


def test_a_store_whose_model_is_not_on_this_machine_is_refused_with_the_remedy(tmp_path: Path) -> None:
    """As version 0.4.0 made it, of the full weights."""
    place = Place(tmp_path, COGNEE_MEMORY_CACHE_DIR=str(tmp_path / "empty"))
    embedder = FakeEmbedder(ENGLISH_FULL.dimensions)
    embedder.identity = ENGLISH_FULL.identity
    place.keep(memories(), NOW, embedder)
    found = script(place, str(place.workspace.root), "session", status=1)
    assert (found["success"], found["error_code"]) == (False, "EMBEDDER_CHANGING")
    assert ENGLISH_FULL.identity in found["error"]
    assert ENGLISH.identity in found["error"]
    assert "cognee-memory worker start" in found["remediation"]


def test_a_damaged_store_is_an_answer_and_no_traceback(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.workspace.memory_db.write_bytes(b"SQLite format 3\0" + b"\xa5" * 20_000)
    assert script(place, str(place.workspace.root), "session", status=1)["error_code"] == "STORE_UNREADABLE"
