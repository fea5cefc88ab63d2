"""Run inside another commit's tree by ``commit``: its ``benchmarks.judged`` and ``bridge``, this file's embedder cache.

``python -P commit_run.py REQUEST.json ANSWER.json``, with PYTHONPATH naming the tree.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.judged import Shelf
from bridge.embedding.factory import create
from bridge.settings import load


def main(request: Path, answer: Path) -> None:
    given = json.loads(request.read_text("utf-8"))
    cache = Path(given["cache"]) if given["cache"] else None
    embedder = _once_embedder().OnceEmbedder(create(load().embedding, bulk=True), cache)
    runs: dict[str, dict[str, list[str]]] = {}
    for name, collections in given["sets"].items():
        runs[name] = {}
        for collection in collections:
            with tempfile.TemporaryDirectory(prefix="cognee-memory-judged-") as folder:
                shelf = Shelf(Path(folder), collection["memories"], embedder)
                runs[name] |= {query["id"]: shelf.ask(query["query"]) for query in collection["queries"]}
    answer.write_text(json.dumps(runs), "utf-8")


def _once_embedder() -> Any:
    """The module beside this file: the other commit may have another one, or none."""
    spec = importlib.util.spec_from_file_location("once_embedder", Path(__file__).with_name("once_embedder.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
