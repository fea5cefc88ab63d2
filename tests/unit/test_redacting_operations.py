"""What operations store, answer and send to a language model holds no likely secret, wherever a text comes from."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_graph import FakeCognee, WithFakeGraph
from job_copies import done, outcome, refused
from old_workspace import OldWorkspace

from bridge.forgetting.leftovers import ForgetTargets, Quotes, of_earlier
from bridge.graph.llm_budget import Meter
from bridge.memory import Content, Memory, Metadata
from bridge.settings import Settings
from bridge.store.values import Addition, ExtractedNode, Extraction, KeptExtraction
from bridge.transfer import export, export_file
from jobs import clock
from jobs.layout import Workspace

KEY = "AKIA" + "Q3EGXYZ7ABCDWXYZ"
MARK = "[REDACTED:aws-access-key]"
ONE = {"total": 1, "kinds": {"aws-access-key": 1}}
AT, NOW = "2026-11-20T11:00:00Z", clock.parse("2026-11-20T12:00:00Z")
ON = Settings(llm_api_key="key", llm_model="openai/test")
OFF = ON.changed(redact_secrets=False)
OLD = f"Summary:\nTopic: Keys\nContext: We used {KEY} in spring.\nDecisions:\n- Rotate the key.\n"


class Cognee(FakeCognee):
    """Takes everything, and notes the texts that it is given to look into."""

    def __init__(self) -> None:
        super().__init__()
        self.looked: list[str] = []

    def extract(self, memory_id: str, text: str, meter: Meter, pause: Callable[[], None]) -> Extraction:
        self.looked.append(text)
        return Extraction((ExtractedNode("3b1f8a52-0000-4000-8000-000000000001", "Entity", ("name",), {}),))

    def ask(self, question: str, top_k: int) -> Any:
        self.looked.append(question)
        return SimpleNamespace(context=f"Node: {KEY}", links=(), decisions={})

    def in_prose(self, question: str, context: str, meter: Meter) -> str:
        self.looked.append(context)
        return f"It is {KEY}."


class Place(WithFakeGraph):
    def __init__(self, root: Path, settings: Settings = ON) -> None:
        workspace = Workspace(root)
        workspace.memory.mkdir(mode=0o700, parents=True, exist_ok=True)
        super().__init__(workspace, settings, cognee=Cognee())

    def done(self, kind: str, payload: dict[str, Any], job_id: str = "job", **fields: Any) -> dict[str, Any]:
        return done(outcome(self, kind, payload, job_id, at=AT, now=NOW, **fields))

    def holding(self) -> list[str]:
        """The files of the store that hold the secret."""
        self.store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        there = [path for path in self.workspace.memory.rglob("*") if path.is_file()]
        return [path.name for path in there if KEY.encode() in path.read_bytes()]

    def memory(self) -> Memory:
        memory_id = self.store.ids()[0]
        return self.store.get(memory_id)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Place]]:
    with ExitStack() as stack:
        yield lambda name="here", settings=ON: stack.enter_context(Place(tmp_path / name, settings))


# --- ingest ---

FORMS = {
    "summary": {"summary": {"topic": "Keys", "context": "C", "decisions": [f"Use {KEY}."]}},
    "text": {"summary_text": f"We used {KEY}."},
    "conversation": {"conversation": {"user_message": "Which?", "assistant_message": f"It is {KEY}."}},
}


@pytest.mark.parametrize("payload", FORMS.values(), ids=FORMS)
def test_a_job_past_intake_is_stored_without_its_secret(opened: Callable[..., Place], payload: dict[str, Any]) -> None:
    place = opened()
    assert place.done("ingest", payload)["redactions"] == ONE
    assert place.holding() == []


def test_what_intake_replaced_is_counted_with_what_is_found_here(opened: Callable[..., Place]) -> None:
    place = opened()
    result = place.done("ingest", FORMS["text"], job_sha256="0" * 64, redactions={"jwt": 2, "aws-access-key": 1})
    assert result["redactions"] == {"total": 4, "kinds": {"aws-access-key": 2, "jwt": 2}}


def test_two_texts_that_differ_in_their_secrets_alone_are_one_memory(opened: Callable[..., Place]) -> None:
    place = opened()
    first = place.done("ingest", FORMS["text"], "a")
    again = place.done("ingest", {"summary_text": f"We used {KEY[:-1]}Q."}, "b")
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert again["memory_id"] == first["memory_id"]


def test_where_it_is_switched_off_the_text_is_stored_as_it_is_and_nothing_is_said(opened: Callable[..., Place]) -> None:
    place = opened(settings=OFF)
    assert place.done("ingest", FORMS["text"])["redactions"] is None
    assert KEY in place.memory().text


# --- with a language model ---


def test_files_are_looked_into_without_their_secrets(opened: Callable[..., Place]) -> None:
    place = opened()
    (place.workspace.root / "notes.md").write_text(f"We used {KEY}.")
    result = place.done("cognify", {"paths": ["notes.md"]})
    assert (result["redactions"], place.fake.looked) == (ONE, [f"We used {MARK}."])
    assert place.holding() == []


def test_a_memory_that_is_older_is_looked_into_without_its_secret(opened: Callable[..., Place], tmp_path: Path) -> None:
    with Place(tmp_path / "here", OFF) as before:
        memory_id = before.done("ingest", FORMS["text"])["memory_id"]
    place = opened()
    place.done("cognify", {"memory_ids": [memory_id]}, "look")
    assert place.fake.looked == [f"We used {MARK}."]


def test_neither_question_nor_answer_holds_a_secret(opened: Callable[..., Place]) -> None:
    place = opened()
    assert KEY not in json.dumps(place.done("ask", {"question": f"What is {KEY}?"}))
    assert place.fake.looked == [f"What is {MARK}?", f"Node: {MARK}"]


# --- migrate ---


def test_texts_of_earlier_versions_are_taken_over_without_their_secrets(opened: Callable[..., Place]) -> None:
    place = opened()
    OldWorkspace(place.workspace.root, "0.3.4").add(OLD)
    shown = place.done("migrate", {"dry_run": True}, "show")
    result = place.done("migrate", {}, "migrate")
    assert shown["redactions"] == result["redactions"] == ONE
    assert place.holding() == []
    assert place.done("migrate", {}, "again")["migrated"] == 0


def test_a_text_taken_over_with_its_secret_is_not_so_again(opened: Callable[..., Place], tmp_path: Path) -> None:
    with Place(tmp_path / "here", OFF) as before:
        OldWorkspace(before.workspace.root, "0.3.4").add(OLD)
        first = before.done("migrate", {}, "migrate")
    again = opened().done("migrate", {}, "again")
    assert (again["migrated"], again["already_migrated"], again["redactions"]["total"]) == (0, first["migrated"], 0)


def test_a_forgetting_finds_the_old_text_of_a_memory_that_was_redacted(opened: Callable[..., Place]) -> None:
    place = opened()
    path = OldWorkspace(place.workspace.root, "0.3.4").add(OLD)
    place.done("migrate", {}, "migrate")
    memory_id = place.store.ids_about("keys")[0]
    targets = ForgetTargets(frozenset([memory_id]), frozenset(), Quotes([]))
    found, _ = of_earlier(place.workspace, targets, [], place.store.workspace_id)
    assert [text.path for text in found] == [path]


# --- import ---


def exported(place: Place, memories: list[Memory]) -> bytes:
    """The export of a store with these memories, in which nothing was redacted."""
    with place.store.change(AT) as change:
        change.additions += (Addition(memory, "job") for memory in memories)
    found: list[bytes] = []
    export.write(place.workspace, "1.0", AT, found.append)
    return b"".join(found)


def of_everything() -> list[Memory]:
    known = Metadata(topic_id="keys", status="Active", created_at=AT)
    content = Content("Keys", f"We used {KEY}.", decisions=(f"Rotate {KEY}.",))
    return [
        Memory("0b4f5c1e-5b1c-4d4e-9d4e-000000000001", 0, "summary", known, AT, content),
        Memory("0b4f5c1e-5b1c-4d4e-9d4e-000000000002", 0, "legacy", Metadata(), AT, text=f"It said {KEY}."),
    ]


def test_an_export_with_secrets_is_imported_without_them_and_under_its_ids(opened: Callable[..., Place]) -> None:
    data = exported(opened("there", OFF), of_everything())
    place = opened()
    (place.workspace.root / "memories.jsonl").write_bytes(data)
    result = place.done("import", {"path": "memories.jsonl"}, "import")
    assert result["redactions"] == {"total": 2, "kinds": {"aws-access-key": 2}}
    assert place.holding() == []
    assert set(place.store.all_ids()) == {m.id for m in of_everything()}
    again = place.done("import", {"path": "memories.jsonl"}, "again")
    assert (again["unchanged"], again["conflicts"], again["redactions"]["total"]) == (2, 0, 0)
    retried = place.done("import", {"path": "memories.jsonl"}, "import")
    assert retried["redactions"] == result["redactions"], "a further attempt tells the same"


def test_what_was_found_in_a_text_is_imported_without_secrets_and_counted(opened: Callable[..., Place]) -> None:
    there, (memory, _) = opened("there", OFF), of_everything()
    exported(there, [memory])
    found = Extraction((ExtractedNode("0b4f5c1e-5b1c-4d4e-9d4e-000000000003", "Entity", ("name",), {"name": KEY}),))
    with there.store.change(AT) as change:
        change.extractions.append(KeptExtraction(memory.id, found, "job"))
    data: list[bytes] = []
    export.write(there.workspace, "1.0", AT, data.append)
    place = opened()
    (place.workspace.root / "memories.jsonl").write_bytes(b"".join(data))
    result = place.done("import", {"path": "memories.jsonl"}, "import")
    assert (result["findings"], result["redactions"]["total"]) == (1, 2)
    assert place.holding() == []


def test_what_is_here_with_its_secret_is_no_conflict(opened: Callable[..., Place], tmp_path: Path) -> None:
    with Place(tmp_path / "here", OFF) as before:
        data = exported(before, of_everything())
    place = opened("here")
    (place.workspace.root / "memories.jsonl").write_bytes(data)
    result = place.done("import", {"path": "memories.jsonl"}, "import")
    assert (result["unchanged"], result["conflicts"], result["added"]) == (2, 0, 0)


def test_what_is_wrong_with_a_file_is_said_without_its_secrets(opened: Callable[..., Place]) -> None:
    place = opened()
    header = {"type": "header", "format": "cognee-memory-export", "version": 1}
    lines = [json.dumps(header), json.dumps({"type": "cognified", KEY: 1}), export_file.EDITED]
    (place.workspace.root / "memories.jsonl").write_text("\n".join(lines))
    error = refused(outcome(place, "import", {"path": "memories.jsonl"}, at=AT))
    assert MARK in error.message
    assert KEY not in json.dumps(error.as_dict())
