"""Memories and questions whose answers are known, read from a folder of the user's and put through the real path.

``memories.jsonl``: ``id, conversation, topic, text`` and perhaps ``facts``, ``created_at``. ``queries.jsonl``: ``id,
conversation, query, relevant`` (ids) and perhaps ``split``, ``as_of``. A query that nothing answers has no relevant
ids. ``published`` reads other forms. Nothing of them is kept, except vectors in the folder that the user names.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bridge.argument_table import DEFAULT_PRESET
from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import Embedder
from bridge.embedding.factory import create
from bridge.operations import task_of
from bridge.operations.ingest import prepare
from bridge.search.reader import Reader
from bridge.standing import comparison
from bridge.store.store import Store
from jobs import clock
from jobs.layout import Workspace
from jobs.parse import parse_job

from . import published
from .once_embedder import OnceEmbedder as OnceEmbedder

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import RetrievalHit, RetrievalResponse

OWN = Path(__file__).resolve().parent
DAY = datetime(2026, 1, 1, tzinfo=UTC)
FILE = "memories.jsonl"
DEPTH = 10  # results of a question that count

_BULLET = re.compile(r"^- ", re.MULTILINE)

Row = dict[str, Any]
Run = dict[str, list[str]]  # for each query's id the memories' ids, best first
When = Callable[[Row], datetime]


@dataclass(frozen=True, slots=True)
class Collection:
    """Memories that are searched together, and the queries to them."""

    memories: list[Row]
    queries: list[Row]


def parser(module: str, about: str | None, own: Sequence[str] = (".",)) -> argparse.ArgumentParser:
    """The arguments that every benchmark over such data takes; ``about`` is its docstring, ``own`` are the folders here
    that it takes if none is named."""
    found = argparse.ArgumentParser(
        prog=f"python -m benchmarks quality {module}", description=(about or "").split("\n\n")[0]
    )
    found.add_argument(
        "--data", type=Path, nargs="+", default=[OWN / name for name in own], metavar="DIR",
        help="folders with memories.jsonl and queries.jsonl, or of such; LongMemEval's or LoCoMo's JSON file; a folder"
        " of BEAM's chats. The project's own sets, if none is named",
    )  # fmt: skip
    found.add_argument("--queries", default="queries.jsonl", help="the name of the file with the questions")
    found.add_argument("--split", choices=("dev", "heldout", "all"), default="all", help="of the questions")
    found.add_argument("--most", type=int, metavar="N", help="only the first N conversations of a set")
    found.add_argument("--cache", type=Path, help="a folder that keeps embeddings, so that the next run takes seconds")
    return found


def forms(arguments: argparse.Namespace) -> dict[str, Path]:
    """Each set that was named, or those in a named folder, by its name. Ends the program where there are none."""
    found: dict[str, Path] = {}
    for data in arguments.data:
        is_one = (data / FILE).exists() or published.is_published(data)
        for folder in [data] if is_one else [path.parent for path in sorted(data.glob(f"*/{FILE}"))]:
            if folder.stem in found:
                raise SystemExit(f"{folder} and {found[folder.stem]} have the same name.")
            if is_one or (folder / arguments.queries).exists():
                found[folder.stem] = folder
    if not found:
        raise SystemExit(f"{', '.join(map(str, arguments.data))} holds no {FILE}, or none with {arguments.queries}.")
    return found


def collections(folder: Path, scope: str, arguments: argparse.Namespace) -> list[Collection]:
    """``workspace``: each conversation by itself; ``pooled``: all together. Of the queries, those with an answer."""
    try:
        is_published = published.is_published(folder)
        if is_published:
            memories, queries = published.read(folder)
        else:
            memories, queries = rows(folder / FILE), rows(folder / arguments.queries)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{folder} cannot be read as a set: {error!r}") from error
    queries = [query for query in queries if query["relevant"] and arguments.split in ("all", query.get("split"))]
    names = list(dict.fromkeys(query["conversation"] for query in queries))[: arguments.most]
    of: dict[str, Collection] = {name: Collection([], []) for name in names}
    for row in memories:
        if row["conversation"] in of:
            of[row["conversation"]].memories.append(row)
    for row in queries:
        if row["conversation"] in of:
            of[row["conversation"]].queries.append(row)
    if scope == "pooled":
        known = [row for row in memories if arguments.most is None or row["conversation"] in of]
        return [Collection(known, [query for one in of.values() for query in one.queries])]
    return list(of.values())


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def embedder(config: EmbeddingConfig, cache: Path | None = None) -> OnceEmbedder:
    return OnceEmbedder(create(config, bulk=True), cache)


def payload(memory: Row, when: datetime) -> Row:
    """The memory as a structured summary: its facts are decisions, and context is the text before the first of them.

    A memory that brings its ``payload`` keeps it.
    """
    if "payload" in memory:
        given: Row = memory["payload"]
        return given
    text, topic = memory["text"], memory["topic"]
    context = _BULLET.split(text, maxsplit=1)[0].strip() if "facts" in memory else text
    summary = {"topic": topic, "context": context or topic, "decisions": memory.get("facts", [])}
    summary |= {name: memory[name] for name in ("rationale",) if name in memory}
    return {"summary": summary | {"created_at": clock.iso(when)}}


def texts(memories: Sequence[Row]) -> list[str]:
    """The memories as a method without titles gets them: each with its title before it, unless all have the same."""
    if len({memory["topic"] for memory in memories}) == 1:
        return [memory["text"] for memory in memories]
    return [f"{memory['topic']}\n{memory['text']}" for memory in memories]


class Shelf:
    """A workspace that holds a collection, filled by the ingest operation's own preparation and the store."""

    def __init__(self, root: Path, memories: Sequence[Row], embedder: Embedder, when: When = lambda _: DAY) -> None:
        self._workspace = Workspace(root)
        self._workspace.memory.mkdir(parents=True, mode=0o700)
        self._ids: dict[str, str] = {}
        self._embedder = embedder
        self._reader = Reader(self._workspace, EmbeddingConfig(cache_dir=root), lambda _: embedder)
        store = Store(self._workspace, embedder)
        try:
            found = []
            for place, row in enumerate(memories):
                name = f"judged-{place}"
                job = {"schema_version": 1, "job_id": name, "kind": "ingest", "payload": payload(row, when(row))}
                parsed = parse_job(name, json.dumps(job).encode())
                memory = prepare(task_of(parsed, clock.iso(DAY)), store.workspace_id, clock.iso(DAY)).memory
                if memory.id not in self._ids:  # the same content again is the same memory
                    found.append((memory, name))
                    self._ids[memory.id] = row["id"]
            store.add(found, clock.iso(DAY))
        finally:
            store.close()

    def compare(self) -> None:
        """Find what holds, as the worker does in an idle moment."""
        store = Store(self._workspace, self._embedder)
        try:
            while comparison.compare_some(store):
                pass
        finally:
            store.close()

    def hits(self, query: str, as_of: datetime = DAY, **arguments: Any) -> dict[str, RetrievalHit]:
        """The hits by the ids of the set, best first, asked as people and agents do, with more results."""
        given = {"query": query, "as_of": clock.iso(as_of), "max_results": DEPTH, "max_tokens": 1_000_000}
        asked = given | {"preset": DEFAULT_PRESET} | arguments
        answer = cast("RetrievalResponse", self._reader.answer("retrieve", asked, as_of))
        assert answer["success"], answer
        return {self._ids[hit["memory_id"]]: hit for hit in answer["results"]}


@contextmanager
def shelf(memories: Sequence[Row], embedder: Embedder, when: When = lambda _: DAY) -> Iterator[Shelf]:
    """A workspace with the memories, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="cognee-memory-judged-") as folder:
        yield Shelf(Path(folder), memories, embedder, when)


def run(collections: Sequence[Collection], embedder: Embedder, when: When = lambda _: DAY) -> Run:
    """What the real retrieval gives for each query, best first, at the query's own time if it has one."""
    found: Run = {}
    for collection in collections:
        with shelf(collection.memories, embedder, when) as filled:
            filled.compare()
            for query in collection.queries:
                at = clock.parse(query["as_of"]) if "as_of" in query else DAY
                found[query["id"]] = list(filled.hits(query["query"], at))
    return found


def own_date(row: Row) -> datetime:
    """When the memory was made, as its set says."""
    found = datetime.fromisoformat(row["created_at"]) if "created_at" in row else DAY
    return found.replace(hour=found.hour or 10, tzinfo=found.tzinfo or UTC)
