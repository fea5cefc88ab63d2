"""cognee's own vector search over one vector a memory, in its vector store (LanceDB).

Run by ``benchmarks.peers`` in cognee's environment: ``python cognee_run.py REQUEST.json ANSWER.json``. Only its
embedding engine is replaced: its own load a model, or a list of tokens, from a hub.
"""

import asyncio
import json
import os
import sys
import urllib.request
from pathlib import Path


class Embeddings:
    """What cognee's vector store asks of an embedding engine."""

    model = "all-MiniLM-L6-v2"
    max_completion_tokens = 510

    def __init__(self, endpoint, dimensions):
        self._endpoint, self._dimensions = endpoint, dimensions

    async def embed_text(self, text):
        from cognee.infrastructure.databases.vector.embeddings.EmbeddingEngine import EmbeddingResult

        return EmbeddingResult(await asyncio.to_thread(self._embed, text), tokens=0)

    def _embed(self, texts):
        body = json.dumps({"model": self.model, "input": texts}).encode()
        request = urllib.request.Request(f"{self._endpoint}/embeddings", body)
        with urllib.request.urlopen(request) as response:
            return [item["embedding"] for item in json.load(response)["data"]]

    def get_vector_size(self):
        return self._dimensions

    def get_batch_size(self):
        return 100

    async def input_limit(self):
        return self.max_completion_tokens


async def run(asked):
    from cognee.infrastructure.databases.vector import get_vector_engine_async
    from cognee.infrastructure.engine import DataPoint

    class Note(DataPoint):
        text: str
        metadata: dict = {"index_fields": ["text"]}

    embeddings = Embeddings(asked["endpoint"], asked["dimensions"])
    creating = sys.modules["cognee.infrastructure.databases.vector.create_vector_engine"]
    creating.get_embedding_engine = lambda: embeddings
    engine = await get_vector_engine_async()
    runs = {}
    for place, collection in enumerate(asked["collections"]):
        name = f"Set{place}_text"
        notes = [Note(text=row["whole"]) for row in collection["memories"]]
        ids = {str(note.id): row["id"] for note, row in zip(notes, collection["memories"], strict=True)}
        await engine.create_collection(name, payload_schema=Note)
        await engine.create_data_points(name, notes)
        for query in collection["queries"]:
            found = await engine.search(name, query_text=query["query"], limit=asked["depth"])
            runs[query["id"]] = [ids[str(hit.id)] for hit in found]
    return {"runs": runs, "missing": []}


if __name__ == "__main__":
    os.environ.update(
        SYSTEM_ROOT_DIRECTORY=str(Path.cwd() / "system"),
        DATA_ROOT_DIRECTORY=str(Path.cwd() / "data"),
        COGNEE_LOGS_DIR=str(Path.cwd() / "logs"),
        LLM_API_KEY="none",
        TELEMETRY_DISABLED="1",
    )
    given = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    Path(sys.argv[2]).write_text(json.dumps(asyncio.run(run(given))), "utf-8")
