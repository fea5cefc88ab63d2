"""What a process that holds cognee does for a test: a program, and each of its processes is a fork of one that has
imported this and cognee.

It has the workspace that its arguments name, and answers on its standard input, one JSON array a line each way; it can
be told to say when it enters a certain place, so that it can be killed there.
"""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from cognee.base_config import get_base_config
from cognee.infrastructure.databases.cache.config import get_cache_config
from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
from cognee.infrastructure.databases.vector import get_vector_engine_async
from cognee.infrastructure.databases.vector.lancedb.LanceDBAdapter import LanceDBAdapter
from cognee.infrastructure.llm.config import get_llm_config
from fake_embedder import FakeEmbedder

from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.factory import create
from bridge.graph import cognee_process, cognee_store, graph_files, lance, llm
from bridge.graph.llm_budget import Meter
from bridge.graph.open_stores import Stores
from bridge.memory import Content, Memory, Metadata
from bridge.operations import run
from bridge.settings import as_environment, load
from bridge.standing import comparison
from jobs import clock, steps
from jobs.errors import JobError
from jobs.layout import Workspace
from worker.child.protocol import encode

NOW = "2026-11-01T10:00:00Z"
WRITES = {
    "graph write": (LadybugAdapter, "add_nodes"),
    "edge write": (LadybugAdapter, "add_edges"),
    "vector commit": (LanceDBAdapter, "create_data_points"),
}


def main(arguments: list[str]) -> NoReturn:
    """``arguments``: the workspace's folder, and what embeds its texts: ``fake``, or ``model`` as the settings say."""
    workspace, embeds = arguments
    with socket.socket(fileno=os.dup(0)) as connection:
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)  # no program that it starts holds the connection
        for of_the_import in (get_base_config, get_cache_config, get_llm_config):
            of_the_import.cache_clear()
        stores = Stores(Workspace(Path(workspace)), load())
        if embeds == "fake":
            stores._embedder = FakeEmbedder()
        serve(connection, stores)
    os._exit(0)  # all is closed, and to take the interpreter apart takes long


def serve(connection: socket.socket, stores: Stores) -> None:
    def send(kind: str, found: Any) -> None:
        connection.sendall(json.dumps([kind, found], default=str).encode() + b"\n")

    answers = Answers(stores, lambda: send("entered", None))
    for line in connection.makefile("rb"):
        what, *arguments = json.loads(line)
        if what == "close":
            stores.__exit__(None, None, None)
            send("answer", None)
            return
        try:
            found = answers.of(what)(*arguments)
        except Exception as error:
            send("failed", repr(error))
        else:
            send("answer", found)


class Answers:
    """A method for each question of the tests that neither the graph nor cognee has."""

    def __init__(self, stores: Stores, say_entered: Callable[[], None]) -> None:
        self.stores, self.say_entered = stores, say_entered

    def of(self, what: str) -> Callable[..., Any]:
        if what in ("node", "neighbours", "memory_count", "picture"):
            return getattr(self.stores.graph.open(), what)
        return getattr(self, what, None) or getattr(self.stores.graph, what)

    def run(self, kind: str, tasks: list[Any]) -> dict[str, Any]:
        outcomes = run(kind, tasks, self.stores, clock.now(), lambda _: None)
        return {job_id: encode(outcome) for job_id, outcome in outcomes.items()}

    def compare(self) -> None:
        """As in an idle moment of the child."""
        while comparison.compare_some(self.stores.store):
            pass

    def count(self) -> int:
        return self.stores.store.count()

    def maintain(self) -> None:
        self.stores.maintain()

    def close_graph(self) -> None:
        self.stores.graph.close()

    def lacking(self) -> int:
        """How many of the delivered memories the graph lacks, as it is compared after an unclean end."""
        store = self.stores.store
        return len(self.stores.graph.open().missing(store.expected_graph, store.outbox.undelivered_ids()))

    def missing(self, memory_ids: list[str]) -> list[str]:
        lacking = self.stores.graph.open().missing(self.stores.store.expected_graph, ())
        return [each for each in memory_ids if each in lacking]

    def drop(self, memory_ids: list[str]) -> int:
        with self.stores.store.change(NOW) as change:
            change.dropped += memory_ids
        return self.stores.graph.deliver_all()

    def forgo(self, memory_id: str) -> None:
        """Drop it from the store alone: what the graph has of it stays."""
        outbox = self.stores.store.outbox
        with self.stores.store.change(NOW) as change:
            change.dropped += [memory_id]
        outbox.delivered(outbox.pending(outbox.count()))

    def keep(self, memories: list[dict[str, Any]]) -> int:
        """Store memories as they are, without a job, and tell the graph: ``id``, ``topic``, ``sources`` and others."""

        def memory(given: dict[str, Any]) -> Memory:
            is_record = "sources" in given
            metadata = Metadata(
                topic_id=given["topic_id"], session_id=given.get("session_id"), plan_id=given.get("plan_id"),
                status="DecisionRecord" if is_record else "Active", created_at=NOW, updated_at=NOW,
            )  # fmt: skip
            content = Content(given.get("topic", "T"), given.get("context", "C"), tuple(given.get("decisions", ())))
            kind = "decision_record" if is_record else "summary"
            return Memory(given["id"], 0, kind, metadata, NOW, content, sources=tuple(given.get("sources", ())))

        self.stores.store.add([(memory(given), None) for given in memories], NOW)
        return self.stores.graph.deliver_all()

    def query(self, text: str, values: dict[str, Any]) -> list[Any]:
        """What cognee's graph engine answers."""

        async def ask() -> list[Any]:
            return await (await cognee_store.get_graph_engine()).query(text, values)

        assert self.stores.graph.open()
        return cognee_process.run(ask())

    def search(self, text: str, collection: str, limit: int) -> list[tuple[str, float]]:
        """cognee's own vector search: cosine distances by node id."""

        async def ask() -> list[Any]:
            return await (await get_vector_engine_async()).search(collection, query_text=text, limit=limit)

        assert self.stores.graph.open()
        return [(str(each.id), float(each.score)) for each in cognee_process.run(ask())]

    def graph(self) -> dict[str, Any]:
        """Every node as type, name and id; every edge as the ids of its ends and its name; nodes' vectors by table."""

        async def vectors() -> dict[str, list[str]]:
            engine = await get_vector_engine_async()
            found = {name: sorted(await lance.row_ids(engine, name)) for name in await lance.table_names(engine)}
            return {name: ids for name, ids in found.items() if ids and not name.startswith("EdgeType")}

        return {
            "nodes": self.query("MATCH (n:Node) RETURN n.type, n.name, n.id ORDER BY n.id", {}),
            "edges": self.query("MATCH (n:Node)-[e:EDGE]->(m:Node) RETURN n.id, e.relationship_name, m.id", {}),
            "vectors": cognee_process.run(vectors()),
        }

    def ask_llm(self, shape: str, text: str, options: dict[str, Any]) -> dict[str, Any]:
        """At the expense of a job, so many ``times`` in a row. Gives the answers or the error, and what was ``spent``
        and stands as the expense ``of_job``; other options are settings."""
        from cognee.shared import data_models

        from bridge.graph import cognee_llm

        job_id, times = options.pop("job_id", "job"), options.pop("times", 1)
        settings = self.stores.settings.changed(**options)
        told = as_environment(llm.with_defaults(settings))  # as cognee reads it while it is imported
        names = ("llm_provider", "llm_model", "llm_endpoint", "llm_api_key")
        before = {name: getattr(get_llm_config(), name) for name in names}
        for name in names:
            setattr(get_llm_config(), name, told.get(name.upper()))
        meter = Meter(self.stores.store.llm_usage, settings, job_id, clock.now)
        found: dict[str, Any] = {"answers": []}
        model, system = getattr(data_models, shape), "Say what the text says."

        try:
            for _ in range(times):
                found["answers"].append(cognee_llm.ask(meter, system, text, model).model_dump())
        except JobError as error:
            found["error"] = error.as_dict()
        finally:
            for name, value in before.items():
                setattr(get_llm_config(), name, value)
        return found | {"spent": meter.spent._asdict(), "of_job": self.stores.store.llm_usage.of_job(job_id)._asdict()}

    def embed(self, config: dict[str, Any], text: str) -> Any:
        """The vector of a text by the embedder of these settings, or the error."""
        try:
            return create(EmbeddingConfig(cache_dir=Path(), **config)).embed([text])[0].tolist()
        except JobError as error:
            return error.as_dict()

    def refuse(self, beginning: str, code: str | None) -> None:
        """Let the embedding provider refuse texts that begin so, or no more."""
        embed = type(self.stores.embedder).embed

        def refusing(texts: list[str]) -> Any:
            if code is not None and any(text.startswith(beginning) for text in texts):
                raise JobError(code, details={"retry_after_seconds": 7})
            return embed(self.stores.embedder, texts)

        self.stores.embedder.embed = refusing

    def watch(self, place: str, nth: int) -> None:
        """Say it when the process enters the place for the n-th time."""
        left = nth

        def entered() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self.say_entered()

        def wrap(owner: Any, name: str, concerns: Callable[..., bool] = lambda *_: True) -> None:
            real = getattr(owner, name)

            async def wrapped(*arguments: Any, **named: Any) -> Any:
                if concerns(*arguments):
                    entered()
                return await real(*arguments, **named)

            setattr(owner, name, wrapped)

        match place:
            case "checkpoint":
                wrap(LadybugAdapter, "query", lambda _, query, *__: query.startswith("CHECKPOINT"))
            case "graph write" | "edge write" | "vector commit":
                wrap(*WRITES[place])
            case "graph rewrite":
                counted = graph_files._counts

                def counting(connection: Any) -> list[int]:
                    entered()
                    return counted(connection)

                graph_files._counts = counting
            case "compaction":
                lance._MAX_VERSIONS = 2  # else it is rarely due
                wrap(lance, "compact")
            case _:
                point = f"before:{place}"
                steps._fault = lambda here: entered() if here == point else None
