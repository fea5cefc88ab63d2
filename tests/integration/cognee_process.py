"""A process that holds cognee, as the worker's child does, and answers what tests ask about its stores.

Imported, it gives the tests' side; run, it is the process: one JSON object a line each way.
"""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from harness import PATIENCE, Place
from job_copies import copy_of

from bridge import trust
from bridge.graph.cognee_env import cognee_environment
from bridge.settings import load

TESTS = str(Path(__file__).resolve().parent.parent)


class CogneeProcess:
    """Runs operations with the real cognee, and looks at its graph."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._numbers = itertools.count(1)
        trust.adopt(place.workspace, place.config)
        settings = load(environment=place.environment)
        self._errors = place.config.parent / "cognee-process.log"
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(place.workspace.root)],
                env=cognee_environment(settings, place.workspace, place.environment) | {"PYTHONPATH": TESTS},
                cwd=place.workspace.root.anchor,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def close(self) -> None:
        """Let it close its stores."""
        self._process.communicate(timeout=PATIENCE)

    def _ask(self, what: str, *arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([what, arguments]).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the process ended with {self._process.wait(PATIENCE)}:\n{self._errors.read_text()[-3000:]}"
        found = json.loads(line)
        assert "failed" not in found, found["failed"]
        return found["answer"]

    def task(self, kind: str, payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """A job as the runner would hand it over."""
        job_id = fields.pop("job_id", None) or f"job-{next(self._numbers)}"
        at = {"at": fields.pop("accepted_at", "2026-11-01T10:00:01Z")}
        at["submitted_at"] = fields.pop("submitted_at", "2026-11-01T10:00:00Z")
        return {**copy_of(kind, payload, job_id, **at), **fields}

    def run(self, kind: str, *tasks: dict[str, Any]) -> list[dict[str, Any]]:
        """The outcome of each task of one batch: ``{"result": …}`` or ``{"error": …}``."""
        found: dict[str, dict[str, Any]] = self._ask("run", kind, tasks)
        return [found[task["job_id"]] for task in tasks]

    def ingest(self, payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """The result of one ingest job that succeeds."""
        (outcome,) = self.run("ingest", self.task("ingest", payload, **fields))
        assert "result" in outcome, outcome
        found: dict[str, Any] = outcome["result"]
        return found

    def node(self, memory_id: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self._ask("node", memory_id)
        return found

    def neighbours(self, memory_id: str) -> list[tuple[str, dict[str, Any]]]:
        return [(name, node) for name, node in self._ask("neighbours", memory_id)]

    def search(self, text: str, collection: str, limit: int = 10) -> dict[str, float]:
        """cognee's own vector search: cosine distances by node id."""
        return dict(self._ask("search", text, collection, limit))

    def counts(self) -> tuple[int, int]:
        nodes, edges = self._ask("counts")
        return nodes, edges

    def ask_llm(self, shape: str, text: str, **options: Any) -> dict[str, Any]:
        """A question to the language model: ``{"answer" | "error", "spent", "of_job"}``; settings by name."""
        found: dict[str, Any] = self._ask("ask_llm", shape, text, options)
        return found

    def forget_extractions(self, memory_ids: list[str]) -> None:
        self._ask("forget_extractions", memory_ids)

    def lag(self) -> int:
        found: int = self._ask("lag")
        return found


async def read_counts() -> tuple[int, int]:
    """The numbers of nodes and of edges."""
    from cognee.infrastructure.databases.graph import get_graph_engine

    nodes, edges = await (await get_graph_engine()).get_graph_counts()
    return int(nodes), int(edges)


async def read_search(text: str, collection: str, limit: int) -> list[tuple[str, float]]:
    from cognee.infrastructure.databases.vector import get_vector_engine_async

    engine = await get_vector_engine_async()
    results = await engine.search(collection, query_text=text, limit=limit)
    return [(str(result.id), float(result.score)) for result in results]


def ask_llm(stores: Any, shape: str, text: str, options: dict[str, Any]) -> dict[str, Any]:
    """Through cognee's own gateway, at the expense of a job: ``times`` in a row, or ``at_once``."""
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


def main() -> None:
    from bridge.graph.cognee_process import run as run_in_cognee
    from bridge.graph.open_stores import Stores
    from bridge.operations import run
    from jobs import clock
    from jobs.layout import Workspace
    from worker.child.protocol import encode

    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    with Stores(Workspace(Path(sys.argv[1])), load()) as stores:

        def answer(what: str, arguments: list[Any]) -> Any:
            match what:
                case "run":
                    kind, tasks = arguments
                    outcomes = run(kind, tasks, stores, clock.now(), lambda _: None)
                    if kind in ("ingest", "set_status", "compact", "restore", "migrate", "import"):
                        stores.graph.deliver_all()  # as the next job that needs the graph would
                    return {job_id: encode(outcome) for job_id, outcome in outcomes.items()}
                case "ask_llm":
                    return ask_llm(stores, *arguments)
                case "lag":
                    return stores.graph.lag()
                case "forget_extractions":
                    return stores.graph.forget_extractions(*arguments)
                case "counts" | "search":
                    stores.graph.open().memory_count()  # opens it
                    return run_in_cognee(globals()[f"read_{what}"](*arguments))
                case _:
                    return getattr(stores.graph.open(), what)(*arguments)

        for line in sys.stdin.buffer:
            try:
                found = {"answer": answer(*json.loads(line))}
            except Exception as error:
                found = {"failed": repr(error)}
            answers.write(json.dumps(found, default=str).encode() + b"\n")
    os._exit(0)  # all is closed, and to take the interpreter apart takes seconds


if __name__ == "__main__":
    main()
