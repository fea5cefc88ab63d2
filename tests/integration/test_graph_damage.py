"""cognee's files damaged: they are set aside, the graph is written anew from memory.db, and a warning says so.

Each case is a workspace of its own with a graph that was closed cleanly, in a process that has just imported cognee.
"""

from __future__ import annotations

import re
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cognee_forks import Forks, summary, task
from harness import SOAK

from jobs.layout import Workspace

pytestmark = pytest.mark.cognee

MANY = 6


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    forks = Forks(tmp_path_factory.mktemp("damage"))
    yield forks
    forks.close()


@pytest.fixture(scope="module")
def whole(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A copy of a workspace with some memories, and their ids."""
    ids = []
    with forks.start() as fork:
        for number in range(MANY):
            (outcome,) = fork.run("ingest", task(f"job-{number}", "ingest", {"summary": summary(f"Topic {number}")}))
            ids.append(outcome["result"]["memory_id"])
    copy = tmp_path_factory.mktemp("whole") / "copy"
    shutil.copytree(forks.place.workspace.root, copy)
    return copy, ids


@pytest.fixture
def workspace(forks: Forks, whole: tuple[Path, list[str]]) -> Workspace:
    root = forks.place.workspace.root
    shutil.rmtree(root)
    shutil.copytree(whole[0], root)
    return forks.place.workspace


def databases(workspace: Workspace) -> Path:
    return workspace.cognee_system / "databases"


def tables(workspace: Workspace) -> list[Path]:
    return sorted((databases(workspace) / "cognee.lancedb").iterdir())


def zeroed(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def of_every_table(pattern: str, harm: Callable[[Path], None]) -> Callable[[Workspace], None]:
    def do(workspace: Workspace) -> None:
        found = [path for table in tables(workspace) for path in table.glob(pattern)]
        assert found
        for path in found:
            harm(path)

    return do


def one_table(workspace: Workspace) -> Path:
    (table,) = [table for table in tables(workspace) if table.stem == "ConversationSummary_summary_text"]
    return table


def one_tables_data(workspace: Workspace) -> None:
    for path in one_table(workspace).glob("data/*.lance"):
        zeroed(path)


def one_tables_last_version(workspace: Workspace) -> None:
    """LanceDB counts versions down, and takes what it finds for the last one."""
    min(one_table(workspace).glob("_versions/*.manifest")).unlink()
    for hint in one_table(workspace).glob("_versions/*.json"):
        hint.unlink()


def one_table_whole(workspace: Workspace) -> None:
    shutil.rmtree(one_table(workspace))


def database_of_cognee(workspace: Workspace) -> None:
    (databases(workspace) / "cognee_db").write_bytes(b"no database at all" * 1000)


NO_GRAPH = b"\xa5" * 40_000


def graph_file(workspace: Workspace) -> None:
    (databases(workspace) / "cognee_graph_ladybug").write_bytes(NO_GRAPH)


DAMAGES: dict[str, Callable[[Workspace], None]] = {
    "manifests zeroed": of_every_table("_versions/*.manifest", zeroed),
    "manifests gone": of_every_table("_versions/*.manifest", Path.unlink),
    "data zeroed": of_every_table("data/*.lance", zeroed),
    "data gone": of_every_table("data/*.lance", Path.unlink),
    "data empty": of_every_table("data/*.lance", lambda path: path.write_bytes(b"")),
    "data cut short": of_every_table("data/*.lance", lambda path: path.write_bytes(path.read_bytes()[:100])),
    "one table's data zeroed": one_tables_data,
    "one table's last version gone": one_tables_last_version,
    "one table gone": one_table_whole,
    "cognee's own database": database_of_cognee,
    "the graph's file": graph_file,
}


EVERY_DAY = (
    "data zeroed",
    "one table's last version gone",
    "cognee's own database",
    "the graph's file",
    "everything gone",
)
in_the_long_form = pytest.mark.skipif(not SOAK, reason="one of many alike: make soak")


@pytest.mark.parametrize(
    "damage", [pytest.param(name, marks=() if name in EVERY_DAY else in_the_long_form) for name in DAMAGES]
)
def test_after_any_damage_every_memory_is_in_graph_and_vectors_again(
    forks: Forks, workspace: Workspace, whole: tuple[Path, list[str]], damage: str
) -> None:
    DAMAGES[damage](workspace)
    before = len(forks.log())
    with forks.start() as fork:
        given = task("job-new", "ingest", {"summary": summary(f"After: {damage}")})
        try:
            (outcome,) = fork.run("ingest", given)
        except AssertionError as error:  # it came out at the write; the next attempt opens the graph anew
            if not re.match(r"JobError\(.GRAPH_UNAVAILABLE", str(error)):
                raise
            (outcome,) = fork.run("ingest", given)
        assert "result" in outcome, outcome
        fork.ask("deliver_all")
        assert fork.ask("missing", [*whole[1], outcome["result"]["memory_id"]]) == []
        assert fork.ask("memory_count") == MANY + 1
        assert fork.ask("lag") == 0
    said = forks.log()[before:]
    assert "set aside in" in said or "lacked" in said, said
    if damage == "the graph's file":
        assert NO_GRAPH in [path.read_bytes() for path in workspace.quarantine.rglob("cognee_graph*") if path.is_file()]


def test_a_graph_that_somebody_removed_is_written_anew_from_the_store(
    forks: Forks, workspace: Workspace, whole: tuple[Path, list[str]]
) -> None:
    shutil.rmtree(databases(workspace))
    with forks.start() as fork:
        (outcome,) = fork.run("ingest", task("job-new", "ingest", {"summary": summary("After the removal")}))
        assert fork.ask("missing", [*whole[1], outcome["result"]["memory_id"]]) == []
        assert (fork.ask("memory_count"), fork.ask("lag")) == (MANY + 1, 0)


def test_a_graph_whose_checkpoint_fails_at_its_closing_is_closed_all_the_same(
    forks: Forks, workspace: Workspace, whole: tuple[Path, list[str]]
) -> None:
    """Else the next opening would have its file open twice, in one process, where no lock keeps them apart."""

    def open_files() -> list[str]:
        found = [str(path.readlink()) for path in Path(f"/proc/{fork.pid}/fd").iterdir() if path.is_symlink()]
        return [path for path in found if "cognee_graph_ladybug" in path]

    with forks.start() as fork:
        (outcome,) = fork.run("ingest", task("job-f", "ingest", {"summary": summary("Late")}))
        assert open_files()
        resource.prlimit(fork.pid, resource.RLIMIT_FSIZE, (20_000, -1))  # beyond, a write fails as on a full disk
        fork.ask("close_graph")
        assert open_files() == []
        resource.prlimit(fork.pid, resource.RLIMIT_FSIZE, (-1, -1))
        assert fork.ask("memory_count") == MANY + 1
        assert fork.ask("missing", [*whole[1], outcome["result"]["memory_id"]]) == []
    assert "the graph did not close cleanly" in forks.log()


def test_an_unclean_end_alone_sets_nothing_aside(
    forks: Forks, workspace: Workspace, whole: tuple[Path, list[str]]
) -> None:
    fork = forks.start()
    fork.ask("memory_count")
    fork.kill()
    before = len(forks.log())
    with forks.start() as fork:
        assert fork.ask("missing", whole[1]) == []
    assert "set aside" not in forks.log()[before:]
    assert "lacked" not in forks.log()[before:]


@in_the_long_form
def test_a_vector_that_is_lost_is_found_missing_and_written_again(
    forks: Forks, workspace: Workspace, whole: tuple[Path, list[str]]
) -> None:
    one_table_whole(workspace)
    with forks.start() as fork:
        assert fork.ask("memory_count") == 0
        assert fork.ask("lag") == MANY, "the opening has seen it"
        fork.ask("deliver_all")
        assert fork.ask("reconcile") == 0
        assert fork.ask("memory_count") == MANY


# What Ladybug appends to its log when the shadow file is whole: the end of a checkpoint, with its checksum.
CHECKPOINT_RECORD = b"\x01\0\0\0\0\0\0\0\xfew<\xb3\xd5\x17={%"


@pytest.mark.parametrize(
    "is_applied", [pytest.param(True, marks=in_the_long_form), False], ids=["applied", "not applied"]
)
def test_a_checkpoint_that_was_cut_off_is_repaired_and_what_it_took_with_it_is_written_again(
    forks: Forks, workspace: Workspace, whole: tuple[Path, list[str]], is_applied: bool
) -> None:
    """At its end the shadow file is emptied before the log is removed; a kill there leaves a graph that does not open.

    Not applied: as if the medium had lost the graph's own pages.
    """
    fork = forks.start()
    given = [task(f"job-c{number}", "ingest", {"summary": summary(f"Late {number}")}) for number in range(3)]
    late = [outcome["result"]["memory_id"] for outcome in fork.run("ingest", *given)]
    (changed,) = fork.run("set_status", task("job-s", "set_status", {"memory_id": whole[1][0], "status": "Draft"}))
    assert "result" in changed
    graph = databases(workspace) / "cognee_graph_ladybug"
    written = graph.with_name(graph.name + ".wal").read_bytes()
    fork.close() if is_applied else fork.kill()
    graph.with_name(graph.name + ".wal").unlink(missing_ok=True)
    graph.with_name(graph.name + ".wal.checkpoint").write_bytes(written + CHECKPOINT_RECORD)
    graph.with_name(graph.name + ".shadow").touch()
    before = len(forks.log())
    with forks.start() as fork:
        assert fork.ask("memory_count") == (MANY + 3 if is_applied else MANY)
        assert fork.ask("lag") == (0 if is_applied else 4)
        fork.ask("deliver_all")
        assert fork.ask("missing", [*whole[1], *late]) == []
        assert fork.ask("node", whole[1][0])["status"] == "Draft"
    said = forks.log()[before:]
    assert "a checkpoint of the graph was cut off" in said
    assert ("the graph lacked 4 of 9 memories" in said) != is_applied
    assert "set aside" not in said


@in_the_long_form
def test_a_status_that_the_graph_has_lost_is_found_and_set_again(
    forks: Forks, workspace: Workspace, whole: tuple[Path, list[str]]
) -> None:
    """As after a checkpoint that was cut off, whose repair gives up the graph's log."""
    databases(workspace).rename(workspace.root / "before")
    shutil.copytree(workspace.root / "before", databases(workspace))
    with forks.start() as fork:
        (outcome,) = fork.run("set_status", task("job-s", "set_status", {"memory_id": whole[1][0], "status": "Draft"}))
        assert "result" in outcome, outcome
        assert fork.ask("missing", whole[1]) == []
    shutil.rmtree(databases(workspace))
    (workspace.root / "before").rename(databases(workspace))
    with forks.start() as fork:
        assert fork.ask("reconcile") == 1
        fork.ask("deliver_all")
        assert fork.ask("node", whole[1][0])["status"] == "Draft"
        assert fork.ask("reconcile") == 0


def test_a_provider_that_asks_for_a_pause_while_the_graph_is_written_is_no_fault_of_the_memory(
    forks: Forks, workspace: Workspace
) -> None:
    """The name of a plan is embedded for the graph alone."""
    given = task("job-p", "ingest", {"summary": summary("Limits", plan_id="plan-077")})
    with forks.start() as fork:
        fork.ask("refuse", "Plan 077", "RATE_LIMITED")
        with pytest.raises(AssertionError, match=r"^JobError\(.RATE_LIMITED"):  # of the delivery: the memory is stored
            fork.run("ingest", given)
        assert fork.ask("lag") == 1, "it waits, and was not refused"
        fork.ask("refuse", "", None)
        (outcome,) = fork.run("ingest", given)
        assert outcome["result"]["duplicate"] is False
        assert fork.ask("missing", [outcome["result"]["memory_id"]]) == []


def test_a_failed_picture_does_not_report_an_earlier_error_of_the_provider(forks: Forks, workspace: Workspace) -> None:
    given = task("job-q", "ingest", {"summary": summary("Limits", plan_id="plan-078")})
    with forks.start() as fork:
        fork.ask("refuse", "Plan 078", "RATE_LIMITED")
        with pytest.raises(AssertionError, match=r"^JobError\(.RATE_LIMITED"):
            fork.run("ingest", given)
        with pytest.raises(AssertionError, match="while writing"):
            fork.ask("picture", 5)  # not a list of ids, so the graph's engine raises


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open"])
def test_damage_that_a_question_finds_is_repaired_when_it_is_asked_again(
    forks: Forks, workspace: Workspace, whole: tuple[Path, list[str]], is_open: bool
) -> None:
    """Nothing waits for the graph, so no write finds the damage."""
    given = task("job-a", "ask", {"question": "What is said of Topic 3?"})
    with forks.start() as fork:
        if is_open:
            assert fork.ask("memory_count") == MANY
        DAMAGES["data zeroed"](workspace)
        (first,) = fork.run("ask", given)
        assert first["error"]["code"] == "GRAPH_UNAVAILABLE"
        (second,) = fork.run("ask", given)
        assert "Topic 3" in second["result"]["context"]
        assert fork.ask("missing", whole[1]) == []


def test_damage_that_a_question_finds_is_repaired_by_the_next_process(
    forks: Forks, workspace: Workspace, whole: tuple[Path, list[str]]
) -> None:
    DAMAGES["data zeroed"](workspace)
    given = task("job-a", "ask", {"question": "What is said of Topic 3?"})
    with forks.start() as fork:
        (first,) = fork.run("ask", given)
        assert first["error"]["code"] == "GRAPH_UNAVAILABLE"
    with forks.start() as fork:
        (second,) = fork.run("ask", given)
        assert "Topic 3" in second["result"]["context"]
