"""``cognee-memory forget``: nothing is asked for without a person's yes."""

import io
import json
from contextlib import closing

import pytest
from fake_embedder import FakeEmbedder
from harness import Place, Terminal
from shelf import STORED, Shelf, legacy, summary

from bridge.store.store import Store
from bridge.store.values import Addition
from jobs import spool
from jobs.layout import Workspace
from worker.cli import main


@pytest.fixture
def workspace(place: Place) -> Workspace:
    found = place.workspace
    Shelf(found.root).add(summary("a", "Lakes."), summary("b", "Rivers.", topic="Two\x1b[31m", topic_id="a"))
    return found


def forget(workspace: Workspace, *arguments: str) -> int:
    return main(["forget", "--workspace", str(workspace.root), "--no-start", "--no-wait", *arguments])


def asked_for(workspace: Workspace) -> list[object]:
    if not workspace.spool.root.exists():
        return []
    return [json.loads(path.read_bytes())["payload"] for path in spool.inbox(workspace.spool)]


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, answer: str) -> io.StringIO:
    shown = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    monkeypatch.setattr("sys.stderr", shown)
    return shown


@pytest.mark.parametrize("answer", ["yes\n", "Y\n"])
def test_a_person_sees_titles_and_says_yes(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    shown = on_a_terminal(monkeypatch, answer)
    assert forget(workspace, "--topic-id", "a") == 0
    assert asked_for(workspace) == [{"topic_id": "a"}]
    assert "#1 Topic of a" in shown.getvalue()
    assert "2 memories." in shown.getvalue()
    assert "\x1b" not in shown.getvalue(), "a title is no order to the terminal"


@pytest.mark.parametrize("answer", ["\n", "no\n", "", "yesterday\n"])
def test_whatever_is_no_yes_forgets_nothing(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    shown = on_a_terminal(monkeypatch, answer)
    assert forget(workspace, "1") == 1
    assert asked_for(workspace) == []
    assert "Nothing was done." in shown.getvalue()


@pytest.mark.parametrize("arguments", [["1"], ["1", "--json"]])
def test_where_nobody_can_be_asked_it_has_to_be_said_beforehand(
    workspace: Workspace, arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert forget(workspace, *arguments) != 0
    said = "".join(capfd.readouterr())
    assert "--yes" in said
    assert "NOT_CONFIRMED" in said
    assert asked_for(workspace) == []


def test_a_person_sees_a_linked_originals_title_too(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Store(workspace, FakeEmbedder(dimensions=64))) as store, store.change(STORED) as change:
        change.additions += [
            Addition(legacy("old", "What it was before."), hidden=True),
            Addition(summary("new", "Seas."), migrated_from="old"),
        ]
    shown = on_a_terminal(monkeypatch, "yes\n")
    assert forget(workspace, "new") == 0
    assert "What it was before." in shown.getvalue()
    assert "2 memories." in shown.getvalue()


def test_with_yes_nobody_is_asked_and_numbers_are_ids(workspace: Workspace) -> None:
    assert forget(workspace, "1", "b", "--yes") == 0
    assert asked_for(workspace) == [{"memory_ids": ["a", "b"]}]


def test_memories_or_a_topic_and_not_both(workspace: Workspace) -> None:
    assert forget(workspace, "--yes") != 0
    assert forget(workspace, "1", "--topic-id", "a", "--yes") != 0
    assert asked_for(workspace) == []
