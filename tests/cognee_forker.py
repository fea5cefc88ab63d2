"""The process that imports cognee once for a whole run of tests, and forks for each connection to its socket.

It takes two sockets that listen, as descriptors, and ends with its standard input. Whoever connects to the second asks
a language model: its client, which takes seconds as well, is imported once for all of them, in a fork.

Each fork has the workspace and the environment that its connection's first line names, and then answers, one JSON array
a line each way; it can be told to say when it enters a certain place, so that it can be killed there.
"""

import json
import os
import select
import signal
import socket
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main() -> None:
    plain, asking = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    servers = [plain, asking]
    while True:
        ready, _, _ = select.select([sys.stdin, *servers], [], [])
        if sys.stdin in ready:
            break
        if "cognee" not in sys.modules:
            prepare()
        if ready == [asking] and plain in servers:
            with_client = os.fork() == 0
            servers.remove(plain if with_client else asking)
            if with_client:
                import openai.resources  # noqa: F401 - as with the first request

                from bridge.graph import cognee_llm  # noqa: F401
            continue
        connection, _ = ready[0].accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            serve(connection)
            os._exit(0)  # all is closed, and to take the interpreter apart takes long
        connection.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    reap(0)
    os._exit(0)


def prepare() -> None:
    """Import what takes the seconds."""
    from bridge.graph import installed
    from bridge.graph.cognee_env import cognee_environment
    from bridge.settings import load
    from jobs.layout import Workspace

    nowhere = Workspace(Path("/nowhere"))
    os.environ |= cognee_environment(load(environment={"COGNEE_MEMORY_CONFIG_DIR": "/nowhere"}), nowhere, os.environ)
    with installed.importing():
        import bridge.graph.cognee_store  # noqa: F401

    warnings.filterwarnings("ignore", "lancedb fork support")
    signal.signal(signal.SIGCHLD, lambda *_: reap(os.WNOHANG))


def reap(options: int) -> None:
    """Wait for the forks that have ended, or for all: then their processor time counts, and nothing of them is left."""
    try:
        while os.waitpid(-1, options)[0]:
            pass
    except ChildProcessError:
        pass


def adopt(environment: dict[str, str], log: str) -> None:
    """Make this process one that has been started with the environment, and that writes to the log."""
    from cognee.base_config import get_base_config
    from cognee.infrastructure.databases.cache.config import get_cache_config
    from cognee.infrastructure.llm.config import get_llm_config

    errors = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(errors, 1)
    os.dup2(errors, 2)
    os.close(errors)
    os.environ.clear()
    os.environ |= environment
    for of_the_import in (get_base_config, get_cache_config, get_llm_config):
        of_the_import.cache_clear()


def serve(connection: socket.socket) -> None:
    from bridge.graph.cognee_process import run as in_cognee
    from bridge.graph.open_stores import Stores
    from bridge.operations import run
    from bridge.settings import load
    from bridge.standing import comparison
    from jobs import clock
    from jobs.layout import Workspace
    from worker.child.protocol import encode

    def send(kind: str, found: Any) -> None:
        connection.sendall(json.dumps([kind, found], default=str).encode() + b"\n")

    def answer(what: str, arguments: list[Any]) -> Any:
        match what:
            case "run":
                kind, tasks = arguments
                outcomes = run(kind, tasks, stores, clock.now(), lambda _: None)
                return {job_id: encode(outcome) for job_id, outcome in outcomes.items()}
            case "watch":
                return watch(*arguments, lambda: send("entered", None))
            case "refuse":
                return refuse(stores, *arguments)
            case "compare":  # as in an idle moment of the child
                while comparison.compare_some(stores.store):
                    pass
                return None
            case "count":
                return stores.store.count()
            case "reconcile":  # as after an unclean end: what the graph lacks is enqueued
                return len(stores.graph._enqueue_missing(stores.graph.open(), stores.store, "2026-11-01T10:00:00Z"))
            case "missing":
                lacking = stores.graph.open().missing(stores.store.expected_graph, ())
                return [each for each in arguments[0] if lacking is None or each in lacking]
            case "keep":
                return keep(stores, *arguments)
            case "drop":
                with stores.store.change("2026-11-01T10:00:00Z") as change:
                    change.dropped += arguments[0]
                return stores.graph.deliver_all()
            case "forgo":  # the store alone: what the graph has of it stays
                outbox = stores.store.outbox
                with stores.store.change("2026-11-01T10:00:00Z") as change:
                    change.dropped.append(arguments[0])
                outbox.delivered(outbox.pending(outbox.count()))
                return None
            case "graph":
                return what_is_there(stores)
            case "query":
                return query(stores, *arguments)
            case "search":
                assert stores.graph.open()
                return in_cognee(search(*arguments))
            case "ask_llm":
                return ask_llm(stores, *arguments)
            case "embed":
                return embed(*arguments)
            case "node" | "neighbours" | "memory_count" | "picture":
                return getattr(stores.graph.open(), what)(*arguments)
            case "maintain":
                return stores.maintain()
            case "close_graph":
                return stores.graph.close()
            case _:
                return getattr(stores.graph, what)(*arguments)

    lines = connection.makefile("rb")
    workspace, environment, log, with_model = json.loads(next(lines))
    adopt(environment, log)
    stores = Stores(Workspace(Path(workspace)), load())
    if not with_model:
        from fake_embedder import FakeEmbedder

        stores._embedder = FakeEmbedder()
    send("pid", os.getpid())
    for line in lines:
        what, *arguments = json.loads(line)
        if what == "close":
            stores.__exit__(None, None, None)
            send("answer", None)
            return
        try:
            found = answer(what, arguments)
        except Exception as error:
            send("failed", repr(error))
        else:
            send("answer", found)


def keep(stores: Any, memories: list[dict[str, Any]]) -> int:
    """Store memories as they are, without a job, and tell the graph: ``id``, ``topic``, ``sources`` and the like."""
    from bridge.memory import Content, Memory, Metadata

    now = "2026-11-01T10:00:00Z"

    def memory(given: dict[str, Any]) -> Memory:
        is_record = "sources" in given
        metadata = Metadata(
            topic_id=given["topic_id"], session_id=given.get("session_id"), plan_id=given.get("plan_id"),
            status="DecisionRecord" if is_record else "Active", created_at=now, updated_at=now,
        )  # fmt: skip
        content = Content(given.get("topic", "T"), given.get("context", "C"), tuple(given.get("decisions", ())))
        kind = "decision_record" if is_record else "summary"
        return Memory(given["id"], 0, kind, metadata, now, content, sources=tuple(given.get("sources", ())))

    stores.store.add([(memory(given), None) for given in memories], now)
    paid: int = stores.graph.deliver_all()
    return paid


def query(stores: Any, text: str, values: dict[str, Any]) -> list[Any]:
    """What cognee's graph engine answers."""
    from bridge.graph import cognee_process, cognee_store

    async def ask() -> list[Any]:
        found: list[Any] = await (await cognee_store.get_graph_engine()).query(text, values)
        return found

    assert stores.graph.open()
    return cognee_process.run(ask())


async def search(text: str, collection: str, limit: int) -> list[tuple[str, float]]:
    """cognee's own vector search: cosine distances by node id."""
    from cognee.infrastructure.databases.vector import get_vector_engine_async

    found = await (await get_vector_engine_async()).search(collection, query_text=text, limit=limit)
    return [(str(each.id), float(each.score)) for each in found]


def what_is_there(stores: Any) -> dict[str, Any]:
    """Every node as type, name and id; every edge as the ids of its ends and its name; nodes' vectors by table."""
    from cognee.infrastructure.databases.vector import get_vector_engine_async

    from bridge.graph import cognee_process, lance

    async def vectors() -> dict[str, list[str]]:
        engine = await get_vector_engine_async()
        found = {name: sorted(await lance.row_ids(engine, name)) for name in await lance.table_names(engine)}
        return {name: ids for name, ids in found.items() if ids and not name.startswith("EdgeType")}

    return {
        "nodes": query(stores, "MATCH (n:Node) RETURN n.type, n.name, n.id ORDER BY n.id", {}),
        "edges": query(stores, "MATCH (n:Node)-[e:EDGE]->(m:Node) RETURN n.id, e.relationship_name, m.id", {}),
        "vectors": cognee_process.run(vectors()),
    }


def ask_llm(stores: Any, shape: str, text: str, options: dict[str, Any]) -> dict[str, Any]:
    """Through cognee's own gateway, at the expense of a job: ``times`` in a row, or ``at_once``. Gives the answers or
    the error, and what was ``spent`` and stands as the expense ``of_job``; other options are settings."""
    import asyncio

    from cognee.infrastructure.llm.config import get_llm_config
    from cognee.infrastructure.llm.LLMGateway import LLMGateway
    from cognee.shared import data_models

    from bridge.graph import cognee_llm, cognee_process, llm
    from bridge.graph.llm_budget import Meter
    from bridge.settings import as_environment
    from jobs import clock
    from jobs.errors import JobError

    job_id, times, at_once = options.pop("job_id", "job"), options.pop("times", 1), options.pop("at_once", 0)
    settings = stores.settings.changed(**options)
    told = as_environment(llm.with_defaults(settings))  # as cognee reads it while it is imported
    names = ("llm_provider", "llm_model", "llm_endpoint", "llm_api_key")
    before = {name: getattr(get_llm_config(), name) for name in names}
    for name in names:
        setattr(get_llm_config(), name, told.get(name.upper()))
    meter = Meter(stores.store.llm_usage, settings, job_id, clock.now)
    found: dict[str, Any] = {"answers": [], "pauses": 0}
    model, system = getattr(data_models, shape), "Say what the text says."

    def pause() -> None:
        found["pauses"] += 1

    async def all_at_once() -> list[Any]:
        asked = (LLMGateway.acreate_structured_output(text, system, model) for _ in range(at_once))
        return await asyncio.gather(*asked, return_exceptions=True)

    try:
        for _ in range(0 if at_once else times):
            found["answers"].append(cognee_llm.ask(meter, system, text, model, pause).model_dump())
        if at_once:
            answers = cognee_process.run(cognee_llm.metered(meter, all_at_once()))
            found["answers"] = [getattr(answer, "code", type(answer).__name__) for answer in answers]
    except JobError as error:
        found["error"] = error.as_dict()
    finally:
        for name, value in before.items():
            setattr(get_llm_config(), name, value)
    return found | {"spent": meter.spent._asdict(), "of_job": stores.store.llm_usage.of_job(job_id)._asdict()}


def embed(config: dict[str, Any], text: str) -> Any:
    """The vector of a text by the embedder of these settings, or the error."""
    from bridge.embedding.config import EmbeddingConfig
    from bridge.embedding.factory import create
    from jobs.errors import JobError

    try:
        return create(EmbeddingConfig(cache_dir=Path(), **config)).embed([text])[0].tolist()
    except JobError as error:
        return error.as_dict()


def refuse(stores: Any, beginning: str, code: str | None) -> None:
    """Let the embedding provider refuse texts that begin so, or no more."""
    from jobs.errors import JobError

    embed = type(stores.embedder).embed

    def refusing(texts: list[str]) -> Any:
        if code is not None and any(text.startswith(beginning) for text in texts):
            raise JobError(code, details={"retry_after_seconds": 7})
        return embed(stores.embedder, texts)

    stores.embedder.embed = refusing


def watch(place: str, nth: int, say: Callable[[], None]) -> None:
    """Say it when the process enters the place for the n-th time."""
    from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
    from cognee.infrastructure.databases.vector.lancedb.LanceDBAdapter import LanceDBAdapter

    from bridge.graph import graph_files, lance
    from jobs import steps

    left = nth

    def entered() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            say()

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
        case "graph write":
            wrap(LadybugAdapter, "add_nodes")
        case "edge write":
            wrap(LadybugAdapter, "add_edges")
        case "vector commit":
            wrap(LanceDBAdapter, "create_data_points")
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


if __name__ == "__main__":
    main()
