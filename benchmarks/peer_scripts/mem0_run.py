"""mem0's own hybrid search: ``Memory.add`` without a language model, ``Memory.search``; its Qdrant in a local folder.

Run by ``benchmarks.peers`` in mem0's environment: ``python mem0_run.py REQUEST.json ANSWER.json``. Its words need the
BM25 encoder of fastembed, its lemmas and entities spaCy's English model; both are downloads from a hub, which its
users have. What is not there is named in the answer.
"""

import json
import os
import sys
from pathlib import Path

os.environ.update(MEM0_TELEMETRY="False", HF_HUB_DOWNLOAD_TIMEOUT="5", MEM0_DIR=str(Path.cwd() / "mem0"))

import spacy
from mem0 import Memory
from mem0.utils import spacy_models


def main(request: Path, answer: Path) -> None:
    asked = json.loads(request.read_text("utf-8"))
    missing = []
    if not spacy.util.is_package("en_core_web_sm"):
        missing.append("spaCy's en_core_web_sm is not installed, so it has neither lemmas nor entities")
        spacy_models._load_failed_full = spacy_models._load_failed_lemma = True  # as after its failed download
    runs = {}
    for place, collection in enumerate(asked["collections"]):
        memory = Memory.from_config(_config(asked, place))
        ids = {}
        for row in collection["memories"]:
            added = memory.add(row["whole"], user_id="user", infer=False)
            ids[added["results"][0]["id"]] = row["id"]
        for query in collection["queries"]:
            found = memory.search(query["query"], filters={"user_id": "user"}, top_k=asked["depth"])
            runs[query["id"]] = [ids[hit["id"]] for hit in found["results"]]
        if memory.vector_store._get_bm25_encoder() is None:
            missing.append("the BM25 encoder Qdrant/bm25 could not be loaded, so it searches by vectors alone")
    answer.write_text(json.dumps({"runs": runs, "missing": sorted(set(missing))}), "utf-8")


def _config(asked: dict, place: int) -> dict:
    model = {"model": "all-MiniLM-L6-v2", "embedding_dims": asked["dimensions"], "api_key": "none"}
    store = {"collection_name": f"set{place}", "path": f"qdrant{place}", "embedding_model_dims": asked["dimensions"]}
    return {
        "embedder": {"provider": "openai", "config": model | {"openai_base_url": asked["endpoint"]}},
        "vector_store": {"provider": "qdrant", "config": store},
        "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": asked["endpoint"]}},
        "history_db_path": f"history{place}.db",
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
