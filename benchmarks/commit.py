"""The rankings of another commit of this project: its files are unpacked, and run with this environment's packages.

It gets the memories as payloads of ingest jobs, so it need not know how a set becomes memories. Used of it are its
``judged.Shelf``, its settings and its embedder.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bridge.settings import inherited_environment

from . import judged
from .judged import Collection, Run

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent


def check(commit: str) -> None:
    """Ends the program if git does not know the commit, before anything is measured."""
    done = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"], cwd=REPOSITORY, capture_output=True
    )
    if done.returncode:
        raise SystemExit(f"{commit} is neither a commit that git knows nor a folder of --runs.")


def runs(commit: str, sets: Mapping[str, Sequence[Collection]], cache: Path | None) -> dict[str, Run]:
    """For each set, what that commit's retrieval gives."""
    done = subprocess.run(["git", "archive", "--format=tar", commit], cwd=REPOSITORY, capture_output=True, check=True)
    asked = {
        name: [
            {
                "memories": [
                    {"id": row["id"], "payload": judged.payload(row, judged.DAY)} for row in collection.memories
                ],
                "queries": [{"id": query["id"], "query": query["query"]} for query in collection.queries],
            }
            for collection in collections
        ]
        for name, collections in sets.items()
    }
    with tempfile.TemporaryDirectory(prefix="cognee-memory-commit-") as folder:
        tree = Path(folder) / "tree"
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as files:
            files.extractall(tree, filter="data")
        request, answer = Path(folder) / "request.json", Path(folder) / "answer.json"
        request.write_text(json.dumps({"sets": asked, "cache": str(cache.resolve()) if cache else None}), "utf-8")
        ran = subprocess.run(
            [sys.executable, "-P", str(HERE / "commit_run.py"), str(request), str(answer)],
            cwd=tree,
            env=inherited_environment() | {"PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
        )
        if ran.returncode:
            raise SystemExit(f"{commit} did not run:\n{ran.stderr}")
        found: dict[str, Run] = json.loads(answer.read_text("utf-8"))
        return found
