"""What the installed cognee does that nothing else shows: each name states a fact that the design rests on.

The real cognee, unmodified, with its embedded stores and real embeddings, offline. It configures itself from
the environment when imported, so one child process with the environment written below looks at all facts, and
reports here. `docs/cognee-api.md` says which assumption each fact confirms or replaces. In the end it is given texts,
as by another program, and they are migrated.
"""

import asyncio
import gc
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.cognee

SETTINGS = {
    "TELEMETRY_DISABLED": "1",
    "COGNEE_TRACING_ENABLED": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "HF_HUB_OFFLINE": "1",
    "COGNEE_SKIP_CONNECTION_TEST": "true",
    "COGNEE_LOG_FILE": "false",
    "COGNEE_LOG_SEARCH_HISTORY": "false",
    "LOG_LEVEL": "ERROR",
    "ENABLE_BACKEND_ACCESS_CONTROL": "false",
    "CACHING": "false",
    "GRAPH_DATABASE_SUBPROCESS_ENABLED": "false",
    "VECTOR_DB_SUBPROCESS_ENABLED": "false",
    "EMBEDDING_PROVIDER": "fastembed",
    "EMBEDDING_MODEL": "sentence-transformers/all-MiniLM-L6-v2",
    "EMBEDDING_DIMENSIONS": "384",
}

TEXTS = [
    "We keep the queue in SQLite, because one file is enough and it survives a crash.",
    "def drain(self): ...  # TODO(ana): naïve — 日本語 and emoji 🙂 too",
    "word",
    "The worker writes a record after each attempt. " * 12,
    "The retrieval ranks sentences and whole memories together. " * 120,  # more than the model reads
]

Fact = Callable[["Lab"], Awaitable[None]]
FACTS: dict[str, Fact] = {}


def fact(body: Fact) -> Fact:
    FACTS[body.__name__] = body
    return body


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cognee")


@pytest.fixture(scope="module")
def found(root: Path, full_weights: Path) -> dict[str, str | None]:
    """For each fact, what is wrong with it."""
    import old_workspace  # not at the top: the child cannot import it
    from hub_cache import lay_out

    for name in ("home", "tmp", "project"):
        (root / name).mkdir()
    (root / "project" / ".env").write_text("LLM_API_KEY=of-the-project\nEMBEDDING_MODEL=of-the-project\n")
    (root / "empty.env").touch()
    environment = SETTINGS | {
        "PATH": os.environ["PATH"],
        "HOME": str(root / "home"),
        "TMPDIR": str(root / "tmp"),
        "SYSTEM_ROOT_DIRECTORY": str(root / "workspace" / ".cognee_system"),
        "DATA_ROOT_DIRECTORY": str(root / "workspace" / ".cognee_data"),
        "CACHE_ROOT_DIRECTORY": str(root / "cache"),
        "COGNEE_ENV_FILE": str(root / "empty.env"),
        "HF_HUB_CACHE": str(lay_out(full_weights, root / "hub")),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, __file__, str(root)], env=environment, cwd=root / "project", capture_output=True, text=True,
        timeout=300, check=False, input=json.dumps([old_workspace.GIVEN, TEXTS]),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    answers: dict[str, str | None] = json.loads((root / "found.json").read_text())
    skips = "table already exists, skipping creation"
    return answers | {"setting_up_prints_to_stdout": None if skips in done.stdout else done.stdout[:2000] or "nothing"}


class Lab:
    """What a fact may use: cognee, its two stores, a model of our shape, and what was looked up in a network."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lookups: list[str] = []
        sys.addaudithook(self._note_network)

    def _note_network(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}:
            self.lookups.append(f"{event} {arguments}")

    async def open(self) -> None:
        import cognee
        from cognee.infrastructure.databases.graph import get_graph_engine
        from cognee.infrastructure.databases.vector import get_vector_engine_async
        from cognee.infrastructure.engine import DataPoint
        from cognee.modules.engine.operations.setup import setup
        from cognee.tasks.storage import add_data_points

        class Decision(DataPoint):
            text: str
            decided: Any = None
            metadata: dict = {"index_fields": ["text"]}

        await setup()
        self.cognee, self.add, self.decision = cognee, add_data_points, Decision
        self.graph, self.vectors = await get_graph_engine(), await get_vector_engine_async()


@fact
async def an_explicit_edge_text_keeps_the_contents_out_of_the_edge_collection(lab: Lab) -> None:
    from cognee.infrastructure.engine import Edge

    chosen = [lab.decision(text=f"quiet decision {number}") for number in range(3)]
    edge = Edge(relationship_type="decided", edge_text="decided")
    await lab.add([lab.decision(text="A quiet summary", decided=(edge, chosen))])
    table = await (await lab.vectors.get_connection()).open_table("EdgeType_relationship_name")
    assert [row["payload"]["text"] for row in await table.query().to_list()] == ["decided"]


@fact
async def the_graph_checkpoints_by_itself_unless_its_connection_is_told_not_to(lab: Lab) -> None:
    async def setting() -> object:
        ((found,),) = await lab.graph.query("CALL current_setting('auto_checkpoint') RETURN *")
        return found

    assert await setting() == "True"
    await lab.graph.query("CALL auto_checkpoint = false;")
    assert await setting() == "False"
    await lab.graph.query("CALL auto_checkpoint = true;")


async def opened_elsewhere(path: Path) -> str:
    """What a second process says that opens this graph and counts its nodes."""
    script = (
        f"import ladybug; database = ladybug.Database({str(path)!r})\n"
        "print('nodes', ladybug.Connection(database).execute('MATCH (n) RETURN count(*)').get_next()[0])"
    )
    second = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await second.communicate()
    return said.decode()


@fact
async def the_lock_is_lost_when_its_holder_closes_any_other_descriptor_of_the_file(lab: Lab) -> None:
    import ladybug

    graph = lab.root / "graph"
    with ladybug.Database(str(graph)):
        assert "Could not set lock on file" in await opened_elsewhere(graph)
        await asyncio.to_thread(graph.read_bytes)
        assert "nodes 0" in await opened_elsewhere(graph)


HOLDER = """
import ladybug, sys
connection = ladybug.Connection(ladybug.Database(sys.argv[1]))
connection.execute("CREATE NODE TABLE Kept(id STRING PRIMARY KEY)")
print("holding", flush=True)
sys.stdin.read()
"""


@fact
async def cognee_deletes_the_log_of_a_graph_in_use_if_the_path_has_the_letters_wal(lab: Lab) -> None:
    from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter

    graph = lab.root / "wallet" / "graph"
    await asyncio.to_thread(graph.parent.mkdir)
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(graph), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert await holder.stdout.readline() == b"holding\n"
        log = graph.with_name("graph.wal")
        assert log.exists()
        # The refusal names the path, and cognee takes any message with "wal" in it for a damaged log.
        with pytest.raises(RuntimeError, match="Could not set lock on file"):
            LadybugAdapter(str(graph))
        assert not log.exists()
    finally:
        await holder.communicate(b"")


@fact
async def nothing_is_looked_up_or_connected_to_from_import_to_search(lab: Lab) -> None:
    await lab.add([lab.decision(text="Offline")])
    await lab.vectors.search("Decision_text", query_text="Offline", limit=1)
    await lab.cognee.add(data=["Offline as well"], dataset_name="texts")
    assert lab.lookups == []


@fact
async def outside_the_roots_only_empty_folders_of_the_graph_engine_appear(lab: Lab) -> None:
    await lab.add([lab.decision(text="Where are files written?")])

    def written() -> tuple[set[str], list[Path], set[str]]:
        home = lab.root / "home"
        return (
            {path.name for path in home.iterdir()},
            [path for folder in (home, lab.root / "tmp") for path in folder.rglob("*") if path.is_file()],
            {path.name for path in (lab.root / "project").iterdir()},
        )

    assert await asyncio.to_thread(written) == ({".lbdb"}, [], {".env"})
    assert not (lab.root / "workspace" / ".cognee_system" / "logs").exists()


@fact
async def a_dotenv_of_the_project_would_override_us_unless_another_file_is_named(lab: Lab) -> None:
    from cognee.shared.env_file import resolve_env_file

    assert "LLM_API_KEY" not in os.environ
    assert os.environ["EMBEDDING_MODEL"] == SETTINGS["EMBEDDING_MODEL"]
    named = os.environ.pop("COGNEE_ENV_FILE")
    try:
        assert resolve_env_file() == str(lab.root / "project" / ".env")
        os.environ["COGNEE_ENV_FILE"] = os.devnull
        with pytest.raises(FileNotFoundError, match="does not name a file"):
            resolve_env_file()
    finally:
        os.environ["COGNEE_ENV_FILE"] = named


@pytest.mark.parametrize("name", [*FACTS, "setting_up_prints_to_stdout"])
def test_a_fact_is_as_it_was(found: dict[str, str | None], name: str) -> None:
    if found[name]:
        pytest.fail(str(found[name]), pytrace=False)


def test_its_vectors_and_tokens_are_ours(root: Path, found: dict[str, str | None], full_weights: Path) -> None:
    """A cognee that nobody changed finds the model without a network."""
    from bridge.embedding.local_models import ENGLISH_FULL
    from bridge.embedding.onnx import OnnxEmbedder
    from bridge.embedding.tokens import TOKEN_LIMIT

    ours, theirs = OnnxEmbedder(ENGLISH_FULL, full_weights), json.loads((root / "embedded.json").read_text())
    assert theirs["limit"] == TOKEN_LIMIT - 2
    assert np.abs(ours.embed(TEXTS) - np.array(theirs["vectors"])).max() < 1e-5
    assert theirs["tokens"] == [ours.count_tokens(text) for text in TEXTS]


def test_what_the_present_cognee_was_given_is_migrated(root: Path, found: dict[str, str | None]) -> None:
    import old_workspace
    from fake_embedder import FakeEmbedder
    from job_copies import task
    from pydantic import TypeAdapter

    from bridge.graph import earlier_stores
    from bridge.graph.open_stores import Stores
    from bridge.interface.result_shapes import MigrateResult
    from bridge.operations import migrate
    from bridge.settings import Settings
    from bridge.slices import ignore_progress
    from jobs import clock
    from jobs.layout import Workspace

    given = ["Offline as well", *old_workspace.GIVEN]  # the first by a fact
    texts = earlier_stores.find(Workspace(root / "workspace")).texts
    assert [earlier_stores.read(text) for text in texts] == given
    assert all(text.added_at is not None for text in texts)
    stores = Stores(Workspace(root / "workspace"), Settings())
    stores._embedder = FakeEmbedder()
    with stores:
        done = migrate.run(task("migrate", {}, "m", at=clock.iso(clock.now())), stores, clock.now(), ignore_progress)
    result: Any = TypeAdapter(MigrateResult).validate_python(done)
    assert [(item["outcome"], item["title"]) for item in result["items"]] == [
        ("failed", None), ("migrated", "Plan 014 Summaries"), ("migrated", "Ranking weights"),
        ("migrated", "Ranking floor"), ("migrated", "User asked: Which port does the worker use?"),
        ("skipped", None), ("skipped", None),
    ]  # fmt: skip
    assert result["items"][1]["created_at"] == texts[1].added_at
    # Given to it by another program: ours begins with stores of its own, and these stay to be read.
    assert earlier_stores.archive(Workspace(root / "workspace")) is not None
    kept = earlier_stores.find(Workspace(root / "workspace")).texts
    assert [earlier_stores.read(text) for text in kept] == given


def test_the_workers_child_is_told_what_the_facts_are_looked_at_with() -> None:
    """Such as no telemetry, no log of its own, and no record of the questions."""
    from bridge.graph.cognee_env import cognee_environment  # not at the top: the child cannot import it
    from bridge.settings import Settings
    from jobs.layout import Workspace

    told = cognee_environment(Settings(), Workspace(Path("/nowhere")), {})
    assert {name: told.get(name) for name in SETTINGS} == SETTINGS | {"LOG_LEVEL": "CRITICAL"}


# --- the process that holds cognee ---


async def embedded(texts: list[str]) -> dict[str, Any]:
    """The vectors of texts, of which the last is too long to be asked for as others, their tokens and the limit."""
    from cognee.infrastructure.databases.vector.embeddings import get_embedding_engine

    engine: Any = get_embedding_engine()
    vectors = await engine.embed_text(texts[:-1])
    vectors.append(next(iter(engine.embedding_model.embed(texts[-1:]))).tolist())
    tokens = [engine.tokenizer.count_tokens(text) for text in texts]
    return {"vectors": vectors, "limit": await engine.input_limit(), "tokens": tokens}


async def look(root: Path) -> None:
    """Look at each fact, and keep a traceback or null for each."""
    lab = Lab(root)
    await lab.open()
    found: dict[str, str | None] = {}
    for name, body in FACTS.items():
        try:
            found[name] = await body(lab)
        except (Exception, pytest.fail.Exception) as error:
            shown = traceback.TracebackException.from_exception(error, capture_locals=True, limit=-4)
            found[name] = "".join(shown.format())
    (root / "found.json").write_text(json.dumps(found))
    given, texts = json.load(sys.stdin)
    (root / "embedded.json").write_text(json.dumps(await embedded(texts)))
    for text in given:
        await lab.cognee.add(text, dataset_name="chat_memory")


if __name__ == "__main__":
    gc.disable()  # what cognee's modules hold stays
    asyncio.run(look(Path(sys.argv[1])))
