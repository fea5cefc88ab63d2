"""codemem's own store and search: ``MemoryStore.remember`` and ``search``, with its hybrid retrieval switched on.

Run by ``benchmarks.peers`` in codemem's environment: ``python codemem_run.py REQUEST.json ANSWER.json``. Only its
embedding client is replaced: its own loads a model from a hub.
"""

import json
import os
import sqlite3
import sys
import urllib.request
from pathlib import Path

if not hasattr(sqlite3.Connection, "enable_load_extension"):
    import pysqlite3

    sys.modules["sqlite3"] = pysqlite3

os.environ["CODEMEM_HYBRID_RETRIEVAL_ENABLED"] = "1"

from codemem import semantic
from codemem.store import MemoryStore


class Client:
    """What codemem's ``_FastEmbedClient`` offers."""

    model = "all-MiniLM-L6-v2"

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint

    def embed(self, texts):
        body = json.dumps({"model": self.model, "input": list(texts)}).encode()
        request = urllib.request.Request(f"{self._endpoint}/embeddings", body)
        with urllib.request.urlopen(request) as response:
            return [item["embedding"] for item in json.load(response)["data"]]


def main(request: Path, answer: Path) -> None:
    asked = json.loads(request.read_text("utf-8"))
    semantic._CLIENT = Client(asked["endpoint"])
    runs = {}
    for place, collection in enumerate(asked["collections"]):
        store = MemoryStore(Path.cwd() / f"codemem{place}.sqlite")
        session = store.start_session(str(Path.cwd()), None, None, "user", "benchmark", project="set")
        ids = {
            store.remember(session, "decision", row["topic"], row["text"]): row["id"] for row in collection["memories"]
        }
        for query in collection["queries"]:
            found = store.search(query["query"], limit=asked["depth"], log_usage=False)
            runs[query["id"]] = [ids[hit.id] for hit in found]
    answer.write_text(json.dumps({"runs": runs, "missing": []}), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
