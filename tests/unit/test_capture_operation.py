"""Capturing sessions, previewing that, undoing and forgetting it: over a real store and real transcripts, without
cognee."""

import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from fake_graph import WithFakeGraph
from job_copies import done, outcome, refused, task

from bridge import trust
from bridge.capture import consent
from bridge.capture.readers import json_records
from bridge.operations import capture, forget, ingest, migrate
from bridge.search import listing
from bridge.settings import OWN_MODEL_FOLDER, USER_HOME, Settings, load
from bridge.store.store import Store
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lifecycle import Failed, Succeeded
from worker.hooks import hook
from worker.mcp.answer import Answer
from worker.mcp.tools import TOOLS, call

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
BEGAN = datetime(2026, 11, 20, 9, tzinfo=UTC)
SESSION = "5f0c1111-2222-4333-8444-555566667777"
TOKEN = "ghp_" + "a1B2" * 9

TALK = (
    ("user", "The uploader gives up at the first 503 from the gateway. How should we retry?"),
    ("assistant", "The gateway recovers within a minute, so a bounded exponential backoff fits this case well."),
    ("user", "Let's use five attempts with full jitter, because the gateway recovers within a minute."),
    ("assistant", "Done: retry.ts now retries five times with full jitter, and all of the tests pass."),
)
MORE = (
    ("user", "We also decided that a 429 respects the header Retry-After before the next attempt is made."),
    ("assistant", "The header is respected now: the wait is the larger one of the header and of the backoff."),
)


class Bench:
    """A workspace, the home of its user with transcripts of Claude Code, and jobs that are run."""

    def __init__(self, root: Path, home: Path) -> None:
        root.mkdir()
        self.workspace, self.home = Workspace(root), home
        self.config = load().config_folder
        trust.adopt(self.workspace, self.config)
        self.embedder = FakeEmbedder()
        self.open()

    def open(self, **settings: Any) -> None:
        self.stores = WithFakeGraph(
            self.workspace, Settings(config_dir=self.config, **settings), embedder=self.embedder
        )

    def transcript(self, session: str = SESSION) -> Path:
        encoded = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(self.workspace.root))
        folder = self.home / ".claude" / "projects" / encoded
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{session}.jsonl"

    def write(
        self,
        turns: Sequence[tuple[str, str]] = TALK,
        session: str = SESSION,
        folder: Path | None = None,
        began: datetime = BEGAN,
    ) -> Path:
        path, parent = self.transcript(session), None
        lines = []
        for number, (speaker, text) in enumerate(turns):
            record = {
                "type": speaker, "uuid": f"u{number}", "parentUuid": parent, "isSidechain": False,
                "cwd": str(folder or self.workspace.root), "sessionId": session, "version": "2.1.330",
                "gitBranch": "main", "timestamp": f"{began + timedelta(seconds=40 * number):%Y-%m-%dT%H:%M:%S.000Z}",
                "message": {"role": speaker, "id": f"m{number}", "content": [{"type": "text", "text": text}]},
            }  # fmt: skip
            parent = f"u{number}"
            lines.append(json.dumps(record))
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return path

    def enable(self, enabled: bool = True) -> None:
        consent.set_enabled(self.workspace, self.config, "claude-code", enabled)

    def outcome(self, job_id: str, operation: Any = capture, **payload: Any) -> Succeeded | Failed:
        kind = operation.__name__.rpartition(".")[2]
        return outcome(self.stores, kind, payload, job_id, at="2026-11-23T12:00:00Z", now=NOW, submitted_at=None)

    def run(self, job_id: str, operation: Any = capture, **payload: Any) -> dict[str, Any]:
        return done(self.outcome(job_id, operation, **payload))

    def fails(self, job_id: str, operation: Any = capture, **payload: Any) -> JobError:
        return refused(self.outcome(job_id, operation, **payload))

    def memories(self) -> list[tuple[int, str | None]]:
        found = [(line["memory_number"], line["status"]) for line in listing.memories(self.workspace, 100)]
        return sorted(found, key=lambda each: each[0])


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv(USER_HOME, str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    made = Bench(tmp_path / "project", tmp_path / "home")
    made.enable()
    yield made
    made.stores.__exit__(None, None, None)


@pytest.fixture
def captured(bench: Bench) -> Bench:
    """One whose session was captured by the job a."""
    bench.write()
    bench.run("a")
    return bench


def text_of(result: dict[str, Any]) -> str:
    (item,) = result["items"]
    (memory,) = item["memories"]
    return str(memory["summary_text"])


# --- consent ---


def test_nothing_is_read_until_a_tool_is_enabled_for_the_workspace(bench: Bench) -> None:
    bench.write()
    bench.enable(False)
    assert bench.fails("a").code == bench.fails("b", tools=["claude-code"]).code == "CAPTURE_OFF"
    bench.enable()
    assert bench.fails("c", tools=["claude-code", "codex"]).code == "CAPTURE_OFF"
    assert bench.run("d")["memories"] == 1


def test_what_a_tool_said_while_it_summarised_is_not_captured_also_if_the_workspace_is_the_home(bench: Bench) -> None:
    folder = bench.workspace.root / ".config" / "cognee-memory" / OWN_MODEL_FOLDER
    bench.write(folder=folder)
    (item,) = bench.run("a")["items"]
    assert (item["outcome"], item["reason"]) == ("empty", "Nothing was said in this folder.")


def test_another_workspace_of_the_same_user_is_not_enabled_with_it(bench: Bench, tmp_path: Path) -> None:
    other = Bench(tmp_path / "other", bench.home)
    other.write()
    assert other.fails("a").code == "CAPTURE_OFF"
    other.stores.__exit__(None, None, None)


def test_a_copy_of_a_workspace_begins_without_capture_and_a_moved_one_keeps_it(tmp_path: Path) -> None:
    config = tmp_path / "config"
    original, copy, moved = (Workspace(tmp_path / name) for name in ("original", "copy", "moved"))
    original.root.mkdir()
    consent.set_enabled(original, config, "codex", True, own_model="small")
    shutil.copytree(original.root, copy.root)
    assert consent.read(copy, config).tools == frozenset()
    assert consent.read(copy, config).own_models == {}, "nor does it ask a model"
    assert consent.read(original, config).own_models == {"codex": "small"}
    assert consent.read(original, config).tools == {"codex"}
    original.root.rename(moved.root)
    assert consent.read(moved, config).tools == {"codex"}
    assert hook._enabled(str(moved.root), "codex", str(config))
    with pytest.raises(hook.NotNow):
        hook._enabled(str(copy.root), "codex", str(config))


def test_a_damaged_list_enables_nothing(bench: Bench) -> None:
    (path,) = (bench.config / "captures").iterdir()
    path.write_bytes(b"{")
    bench.write()
    assert bench.fails("a").code == "CAPTURE_OFF"


# --- forks ---

FORK = "6f0c1111-2222-4333-8444-555566667777"


def context_of(bench: Bench, number: int) -> str:
    return listing.memory(bench.workspace, str(number))["summary_text"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_what_a_fork_has_in_common_with_its_origin_is_kept_once(bench: Bench, dry_run: bool) -> None:
    bench.write()
    bench.write((*TALK, *MORE), FORK)
    result = bench.run("a", dry_run=dry_run)
    assert (result["captured"], result["memories"]) == (2, 2)
    assert [item["left_out"].get("turn of another session", 0) for item in result["items"]] == [0, len(TALK)]
    if not dry_run:
        texts = [context_of(bench, number) for number in (1, 2)]
        assert ["five attempts" in text for text in texts] == [True, False]
        assert ["Retry-After" in text for text in texts] == [False, True]
        again = bench.run("b")
        assert (again["unchanged"], again["memories"]) == (2, 0)


def test_a_fork_does_not_bring_back_what_was_forgotten_of_its_origin(captured: Bench) -> None:
    captured.run("b", forget, session=f"claude-code/{SESSION}")
    captured.write((*TALK, *MORE), FORK)
    assert captured.run("c")["memories"] == 1
    (number,) = [number for number, _ in captured.memories()]
    assert "five attempts" not in context_of(captured, number)
    assert "Retry-After" in context_of(captured, number)


@pytest.mark.parametrize(("turns", "copies"), [(4, 4), (3, 3), (2, 0)])
def test_three_turns_of_the_same_words_in_a_row_are_a_copy_at_any_time(bench: Bench, turns: int, copies: int) -> None:
    bench.write()
    speaker = "user" if TALK[turns - 1][0] == "assistant" else "assistant"
    more = (speaker, "Another way: we never retry at all, and tell the person what to do.")
    bench.write((*TALK[:turns], more), session=FORK, began=BEGAN + timedelta(days=1))
    result = bench.run("a")
    assert [item["left_out"].get("turn of another session", 0) for item in result["items"]] == [0, copies]


def test_the_words_that_several_sessions_begin_with_are_a_products_and_in_one_memory_at_most(bench: Bench) -> None:
    rules = "You must never write to the disk, and you should always answer in English, in whatever is asked. " * 2
    for number, (session, question) in enumerate(
        ((SESSION, "Which port?"), (FORK, "Let's use the port 9090 instead."))
    ):
        talk = (("user", f"{rules}\n{question}"), ("assistant", f"Done. The server now uses the port {number}."))
        bench.write(talk, session, began=BEGAN + timedelta(days=number))
    bench.run("a")
    texts = [context_of(bench, number) for number, _ in bench.memories()]
    assert ["never write" in text for text in texts][1:] == [False]
    assert "port 9090" in texts[1]


def test_a_prompt_that_several_sessions_have_whole_is_nobodys_and_what_came_out_is_told(bench: Bench) -> None:
    prompt = "You are the builder of this project.\n\n- Find the next story of the plan.\n- Keep formatting plain. " * 2
    for number, session in enumerate((SESSION, FORK)):
        report = f"I have implemented the story {number} of the uploader's plan."
        bench.write((("user", prompt), ("assistant", report)), session, began=BEGAN + timedelta(days=number))
    bench.run("a")
    text = context_of(bench, bench.memories()[1][0])
    assert "# Conversation Summary: I have implemented the story 1 of the uploader's plan." in text
    assert "formatting" not in text


def test_what_somebody_stored_during_a_session_gives_its_capture_the_title_and_is_not_said_twice(bench: Bench) -> None:
    bench.write()
    note = {
        "topic": "Retries of the uploader", "context": "The gateway recovers within a minute.",
        "decisions": ["The uploader makes five attempts with full jitter, since the gateway recovers in a minute."],
        "session_id": f"claude-code/{SESSION}", "importance": 0.8,
    }  # fmt: skip
    bench.run("a", ingest, summary=note)
    bench.run("b")
    stored = bench.stores.store.select(bench.stores.store.ids())
    first, captured = sorted(stored.values(), key=lambda memory: memory.number)
    assert captured.metadata.topic_id == first.metadata.topic_id == "retries-of-the-uploader"
    assert captured.content.decisions == ()
    assert (captured.metadata.importance or 1) < (first.metadata.importance or 0)


def test_a_session_that_goes_on_after_it_was_forked_keeps_its_memory(captured: Bench) -> None:
    captured.write((*TALK, ("user", "Another way: we never retry at all, and tell the person.")), FORK)
    captured.run("b")
    captured.write((*TALK, *MORE))
    assert (captured.run("c")["superseded"], [status for _, status in captured.memories()].count("Active")) == (1, 2)


# --- what is kept ---


def test_a_preview_shows_exactly_the_text_that_is_stored_and_changes_nothing(bench: Bench) -> None:
    bench.write()
    bench.enable(False)
    shown = bench.run("a", dry_run=True)
    assert (shown["memories"], shown["receipt"], bench.memories()) == (1, None, [])
    bench.enable()
    bench.run("b")
    assert listing.memory(bench.workspace, "1")["summary_text"] == text_of(shown)


def test_a_captured_memory_says_from_where_it_comes(bench: Bench) -> None:
    path = bench.write()
    bench.run("a")
    memory = listing.memory(bench.workspace, "1")
    source = memory["captured_from"]
    assert (source["tool"], source["session_id"], source["path"]) == ("claude-code", SESSION, str(path))
    assert (source["first_place"], source["last_place"], source["method"]) == ("line 1", "line 4", "rules")
    assert {"section": "decisions", "index": 0, "place": "line 3"} in source["evidence"]
    assert memory["session_id"] == f"claude-code/{SESSION}"
    assert memory["created_at"] == "2026-11-20T09:02:00Z", "its age begins with the last turn"
    (tool,) = [tool for tool in TOOLS if tool.name == "memory_read"]
    told = call(tool, bench.workspace, {"memory_number": 1})
    assert isinstance(told, Answer)
    expected = {"tool": "claude-code", "session_id": SESSION, "first_place": "line 1", "last_place": "line 4"}
    assert told.structured["memory"]["captured_from"] == expected


def test_private_parts_secrets_and_ignored_files_are_not_kept(bench: Bench) -> None:
    (bench.workspace.root / ".gitignore").write_text("*.env\n")
    talk = [*TALK, ("user", f"Use <private>the salary of Ann is 70000</private> the token {TOKEN} for the gateway.")]
    bench.write(talk)
    shown = bench.run("a", dry_run=True)
    assert "salary" not in json.dumps(shown)
    assert TOKEN not in json.dumps(shown)
    assert shown["redactions"] is not None
    assert (shown["redactions"]["total"], shown["items"][0]["left_out"]["private part"]) == (1, 1)


def test_what_was_said_in_another_folder_does_not_enter(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "project-two").mkdir()
    bench.write(folder=tmp_path / "project-two")
    result = bench.run("a")
    assert (result["memories"], result["empty"]) == (0, 1)
    assert result["items"][0]["left_out"]["turn of another folder"] == len(TALK)


def test_what_was_said_in_a_folder_below_enters(bench: Bench) -> None:
    bench.write(folder=bench.workspace.root / "src")
    assert bench.run("a")["memories"] == 1


def test_sub_agents_change_neither_the_time_nor_the_places_of_a_memory(bench: Bench) -> None:
    path = bench.write()
    agent = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    agent.parent.mkdir(parents=True)
    record = json.loads(path.read_text("utf-8").splitlines()[0])
    agent.write_text(json.dumps(record | {"isSidechain": True, "agentId": "a1", "timestamp": "2026-11-21T00:00:00Z"}))
    bench.run("a")
    memory = listing.memory(bench.workspace, "1")
    assert memory["created_at"] == "2026-11-20T09:02:00Z"
    assert memory["captured_from"] is not None
    assert memory["captured_from"]["last_place"] == "line 4"


# --- again ---


def test_again_is_nothing(captured: Bench) -> None:
    again = captured.run("b")
    assert (again["memories"], again["unchanged"], again["bytes_read"]) == (0, 1, 0), "it is not even read"
    captured.transcript().touch()
    again = captured.run("c")
    assert (again["memories"], again["unchanged"], captured.memories()) == (0, 1, [(1, "Active")])


def test_a_session_that_grew_supersedes_its_earlier_memory(captured: Bench) -> None:
    captured.write([*TALK, *MORE])
    grown = captured.run("b")
    assert (grown["memories"], grown["superseded"]) == (1, 1)
    assert captured.memories() == [(1, "Superseded"), (2, "Active")]


def test_a_status_that_a_person_set_is_not_changed_by_a_session_that_grew(captured: Bench) -> None:
    (memory_id,) = captured.stores.store.ids()
    captured.stores.store.set_status(memory_id, "Draft", "2026-11-23T13:00:00Z", "2026-11-23T13:00:00Z")
    captured.write([*TALK, *MORE])
    captured.run("b")
    assert captured.memories() == [(1, "Draft"), (2, "Active")]


def test_a_resumed_session_that_repeats_another_one_adds_nothing(bench: Bench) -> None:
    bench.write()
    bench.write(session="6f0c1111-2222-4333-8444-555566667777")
    result = bench.run("a")
    assert (result["sessions"], result["memories"], bench.memories()) == (2, 1, [(1, "Active")])


# --- undo and forget ---


def test_an_undo_removes_what_a_capture_added_and_revives_what_it_superseded(captured: Bench) -> None:
    captured.write([*TALK, *MORE])
    captured.run("b")
    undone = captured.run("c", undo="b")
    assert (undone["undone"], len(undone["revived"]), captured.memories()) == (1, 1, [(1, "Active")])
    assert captured.run("d", undo="b")["undone"] == 1, "undoing it again gives the same"
    assert captured.run("e")["withdrawn"] == 1, "it is not captured again by itself"
    again = captured.run("f", again=True)
    assert (again["memories"], captured.memories()) == (1, [(1, "Superseded"), (3, "Active")])


def test_an_undo_keeps_what_a_person_changed(captured: Bench) -> None:
    (memory_id,) = captured.stores.store.ids()
    captured.stores.store.set_status(memory_id, "Draft", "2026-11-23T13:00:00Z", "2026-11-23T13:00:00Z")
    undone = captured.run("b", undo="a")
    assert (undone["undone"], [each["memory_id"] for each in undone["kept"]]) == (0, [memory_id])


def test_the_receipts_of_captures_and_migrations_are_not_mixed_up(captured: Bench) -> None:
    assert captured.fails("b", migrate, undo="a").code == "RECEIPT_NOT_FOUND"
    assert captured.memories() == [(1, "Active")]


def test_a_forgotten_session_leaves_no_word_and_stays_forgotten_when_it_grows(captured: Bench) -> None:
    captured.run("f", forget, session=f"claude-code/{SESSION}")
    assert captured.memories() == []
    assert b"full jitter" not in b"".join(p.read_bytes() for p in captured.workspace.memory.rglob("*") if p.is_file())
    captured.write([*TALK, *MORE])
    result = captured.run("b", again=True)
    assert (result["forgotten"], result["memories"], captured.memories()) == (1, 0, [])


def test_one_forgotten_memory_of_a_session_stays_forgotten_when_it_grows(captured: Bench) -> None:
    captured.run("f", forget, memory_ids=captured.stores.store.ids())
    captured.write([*TALK, *MORE])
    assert (captured.run("b")["forgotten"], captured.memories()) == (1, [])


def test_an_unknown_session_cannot_be_forgotten(captured: Bench) -> None:
    error = captured.fails("b", forget, session="claude-code/5f0c1111")
    assert (error.code, error.details["nearest"]) == ("SESSION_NOT_FOUND", [f"claude-code/{SESSION}"])


# --- choice and faults ---


def test_sessions_can_be_chosen_by_id_pattern_time_and_number(bench: Bench) -> None:
    for session in ("aaaa", "bbbb", "cccc"):
        bench.write(session=session)
    chosen = {
        "session": ("bbbb", 1), "include": (["claude-code/c*"], 1), "exclude": (["*/a*"], 2),
        "since": ("2999-01-01T00:00:00Z", 0), "transcript": (str(bench.transcript("aaaa")), 1), "limit": (2, 2),
    }  # fmt: skip
    for name, (value, count) in chosen.items():
        assert bench.run(f"choice-{name}", dry_run=True, **{name: value})["sessions"] == count, name
    assert bench.run("limit", dry_run=True, limit=2)["remaining"] == 1


def test_a_path_outside_of_the_tools_folders_is_no_transcript(bench: Bench, tmp_path: Path) -> None:
    elsewhere = tmp_path / "secret.jsonl"
    elsewhere.write_bytes(bench.write().read_bytes())
    assert bench.run("a", transcript=str(elsewhere))["sessions"] == 0


def test_a_transcript_that_cannot_be_read_does_not_stop_the_others(bench: Bench) -> None:
    bench.write(session="aaaa").rename(bench.transcript("aa\udce9" if sys.platform == "linux" else "aaaa"))
    bench.transcript("bbbb").write_bytes(b"\xff\xfe not JSON\n{half")
    result = bench.run("a")
    assert (result["captured"], result["memories"]) == (1, 1)
    (bad,) = [item for item in result["items"] if item["session_id"] == "bbbb"]
    assert bad["outcome"] == "empty"
    assert bad["damaged"] or bad["unfinished"]


def test_an_export_inside_the_workspace_is_captured_without_consent(bench: Bench) -> None:
    bench.enable(False)
    lines = [f"**{'User' if who == 'user' else 'Assistant'}:** {text}" for who, text in TALK]
    (bench.workspace.root / "chat.md").write_text("\n\n".join(lines), "utf-8")
    result = bench.run("a", file="chat.md")
    assert (result["memories"], result["items"][0]["tool"]) == (1, "export")
    assert bench.fails("b", file="../elsewhere.md").code != ""


SPEAKERS = {"user": "_**User**_", "assistant": "_**Assistant**_"}
EXPORT = "\n\n".join(f"{SPEAKERS[who]}\n\n{text}" for who, text in TALK)


def test_several_exports_are_one_job_and_a_copy_names_the_file_it_was_made_of(bench: Bench) -> None:
    bench.workspace.imports.mkdir(parents=True)
    (bench.workspace.imports / "job+1.jsonl").write_text(f"# Retries of the uploader\n\n{EXPORT}", "utf-8")
    (bench.workspace.root / "chat.md").write_text(EXPORT.replace("uploader", "importer"), "utf-8")
    source = "/home/ana/.specstory/2025-02-11_02-13-retries.md"
    copy = {"path": ".cognee_memory/imports/job+1.jsonl", "source": source, "modified_at": "2026-01-01T00:00:00Z"}
    result = bench.run("a", files=[copy, {"path": "chat.md"}])
    assert [item["outcome"] for item in result["items"]] == ["captured", "captured"]
    (told,) = (item for item in result["items"] if item["path"] == source)
    (memory,) = told["memories"]
    assert (memory["topic"], memory["created_at"]) == ("Retries of the uploader", "2025-02-11T02:13:00Z")
    assert listing.memory(bench.workspace, str(memory["memory_number"]))["captured_from"]["path"] == source


@pytest.mark.parametrize("is_beginning", [True, False], ids=["how the request begins", "a title"])
def test_the_name_of_an_export_is_its_title_unless_the_request_begins_so(bench: Bench, is_beginning: bool) -> None:
    name = "-".join(TALK[0][1].lower().split()[:2] if is_beginning else ["uploader", "settled"])
    (bench.workspace.root / f"2025-02-11_02-13-{name}.md").write_text(EXPORT, "utf-8")
    (told,) = bench.run("a", files=[{"path": f"2025-02-11_02-13-{name}.md"}])["items"]
    assert (told["memories"][0]["topic"] == name.replace("-", " ").capitalize()) is not is_beginning


def test_an_export_without_labels_is_refused_with_the_reason_and_nothing_of_it_is_kept(bench: Bench) -> None:
    (bench.workspace.root / "chat.md").write_text("We never store a token.\n\nThat is decided.", "utf-8")
    result = bench.run("a", file="chat.md")
    (item,) = result["items"]
    assert (item["outcome"], item["memories"]) == ("failed", [])
    assert item["reason"].startswith("Nothing was kept. No labels of speakers were found. These forms are read:")
    (bench.workspace.root / "chat.md").write_text(EXPORT, "utf-8")
    assert bench.run("b", file="chat.md")["captured"] == 1


def test_two_sessions_about_other_things_under_one_title_have_topics_of_their_own(bench: Bench) -> None:
    one = "_**User**_\n\nWe should log JSON lines\n\n_**Assistant**_\n\nDone. Logs are JSON lines now.\n"
    two = "_**User**_\n\nLet's embed the Noto font\n\n_**Assistant**_\n\nDone. Invoices embed Noto now.\n"
    for name, text in (("a.md", one), ("b.md", two)):
        (bench.workspace.root / name).write_text(f"# Logs and fonts\n\n{text}", "utf-8")
        bench.run(name[0], file=name)
    topics = {line["topic_id"] for line in listing.memories(bench.workspace, 100)}
    assert len(topics) == 2
    assert "logs-and-fonts" in topics


# --- transcripts that are damaged, change while they are read, or are no files of this user ---


LONG = tuple(
    (speaker, f"Subject {number}: {text} It concerns the part {number} of the uploader.")
    for number in range(50)
    for speaker, text in TALK
)


def pipe(path: Path, _: Path) -> None:
    os.mkfifo(path)


def link_to_elsewhere(path: Path, elsewhere: Path) -> None:
    path.symlink_to(elsewhere)


def file_of_another_user(path: Path, elsewhere: Path) -> None:
    path.write_bytes(elsewhere.read_bytes())
    os.chown(path, 12345, -1)


def file_that_may_not_be_read(path: Path, elsewhere: Path) -> None:
    path.write_bytes(elsewhere.read_bytes())
    path.chmod(0)


REFUSED = [
    (pipe, "pipe"),
    (link_to_elsewhere, "outside"),
    (file_of_another_user, "another user"),
    (file_that_may_not_be_read, "Permission denied"),
]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes, links and owners of POSIX")
@pytest.mark.parametrize(("make", "said"), REFUSED)
def test_what_is_no_file_of_ours_has_a_reason(bench: Bench, tmp_path: Path, make: Any, said: str) -> None:
    if os.geteuid() and make is file_of_another_user:
        pytest.skip("only root can give a file away")
    if not os.geteuid() and make is file_that_may_not_be_read:
        pytest.skip("root reads everything")
    elsewhere = bench.write(session="aaaa").rename(tmp_path / "elsewhere.jsonl")
    bench.write(session="good")
    make(bench.transcript("bad"), elsewhere)
    for dry_run in (True, False):
        result = bench.run(f"a-{dry_run}".lower(), dry_run=dry_run)
        assert (result["captured"], result["failed"], result["memories"]) == (1, 1, 1)
        (bad,) = [item for item in result["items"] if item["session_id"] == "bad"]
        assert re.match(f"The transcript was not read: .*{said}", bad["reason"])


@pytest.mark.parametrize("share", [0.0, 0.5, 0.97])
def test_a_transcript_that_lost_its_end_takes_no_memory_away(bench: Bench, share: float) -> None:
    path = bench.write(LONG)
    assert bench.run("a")["memories"] > 3
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    result = bench.run("b")
    assert (result["memories"], result["superseded"]) == (0, 0)
    assert {status for _, status in bench.memories()} == {"Active"}
    assert "lost its end" in result["items"][0]["reason"]
    bench.write([*LONG, *MORE])
    again = bench.run("c")
    assert (again["memories"], again["superseded"]) == (1, 1)


def test_a_session_that_was_rewritten_to_nothing_is_superseded_and_an_undo_revives_it(bench: Bench) -> None:
    bench.write()
    bench.run("a")
    bench.write([("user", "```\nx = 1\n```")])
    assert (bench.run("preview", dry_run=True)["superseded"], bench.run("b")["superseded"]) == (1, 1)
    assert bench.memories() == [(1, "Superseded")]
    assert len(bench.run("c", undo="b")["revived"]) == 1
    assert bench.memories() == [(1, "Active")]


def test_bytes_that_are_not_utf8_are_replaced_and_counted(bench: Bench) -> None:
    path = bench.write()
    path.write_bytes(path.read_bytes().replace(b"gateway recovers", b"gateway \xff\xfe recovers"))
    result = bench.run("a")
    assert (result["memories"], result["items"][0]["left_out"][json_records.NOT_UTF8]) == (1, 2)


def test_a_disk_that_fills_in_between_loses_and_doubles_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        bench.write([(who, f"{text} Number {number}.") for who, text in TALK], session=f"s{number}")
    change, writes = Store.change, [0]

    def full(store: Store, *rest: Any) -> Any:
        writes[0] += 1
        if writes[0] > 3:
            raise JobError("DISK_FULL", os.strerror(errno.ENOSPC))
        return change(store, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "change", full)
        assert bench.fails("a").code == "DISK_FULL"
    assert len(bench.memories()) == 3
    result = bench.run("a")
    assert (result["unchanged"], result["captured"]) == (3, 3)
    assert len(bench.memories()) == 6
    assert bench.run("b", undo="a")["undone"] == 6, "the receipt has what both attempts stored"


def test_pauses_lie_between_transactions_and_tell_the_progress(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.operations.captured_session.SLICE_SECONDS", 0.0)
    bench.write(session="short")
    bench.write(LONG, session="long")
    seen: list[tuple[int, int, int]] = []

    def progress(said: dict[str, Any]) -> None:
        seen.append((said["done"], said["total"], len(bench.memories())))

    now = capture.clock.now()
    result: Any = capture.run(task("capture", {}, "a", at="2026-11-23T12:00:00Z"), bench.stores, now, progress)
    memories = [stored for _, _, stored in seen]
    assert memories == sorted(memories)
    assert len(set(memories)) == result["memories"], "each was stored before the next pause"
    assert {total for _, total, _ in seen} == {2}
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


def test_a_cancellation_in_the_middle_keeps_what_is_stored_and_the_next_capture_completes_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cancelled(Exception):
        pass

    monkeypatch.setattr("bridge.operations.captured_session.SLICE_SECONDS", 0.0)
    bench.write(LONG)

    def cancel(_: Any) -> None:
        if bench.memories():
            raise Cancelled

    with pytest.raises(Cancelled):
        capture.run(task("capture", {}, "a", at="2026-11-23T12:00:00Z"), bench.stores, capture.clock.now(), cancel)
    stored = len(bench.memories())
    assert stored > 0
    bench.run("b")
    whole = bench.memories()
    assert len(whole) > stored
    assert ({status for _, status in whole}, bench.run("c")["unchanged"]) == ({"Active"}, 1)
