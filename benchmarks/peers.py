"""Other memories as products: each in an environment of its own, called by its own interface, with our embeddings.

    python -m benchmarks.peers --cache FOLDER [NAME ...]

installs them into that folder (some gigabytes); ``python -m benchmarks.quality --peers all --cache FOLDER`` compares
with those that are there. A ranking is kept in the folder until the product is installed again: it changes only with
the product, the set or the model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.embedding.embedder import Embedder

from . import judged
from .embedding_server import serving
from .judged import DEPTH, Collection, Run

SCRIPTS = Path(__file__).resolve().parent / "peer_scripts"


@dataclass(frozen=True, slots=True)
class Peer:
    """A product: its pinned packages, the Python that it needs, and versions that replace its own requirements."""

    packages: tuple[str, ...]
    python: str = f"{sys.version_info.major}.{sys.version_info.minor}"
    overrides: tuple[str, ...] = ()


PEERS: dict[str, Peer] = {
    "mem0": Peer(("mem0ai[nlp]==2.2.1", "fastembed==0.9.1")),
    # Some builds of Python have an SQLite without extensions, which the vectors of these two need: hence pysqlite3.
    "codemem": Peer(("codemem==0.19.0", "pysqlite3-binary==0.5.4.post2")),
    # Its framework asks for a newer certifi than some mirrors have; nothing here uses certificates.
    "basic-memory": Peer(("basic-memory==0.24.1", "pysqlite3-binary==0.5.4.post2"), "3.12", ("certifi>=2024",)),
    "cognee": Peer(("cognee==1.6.5",)),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all of them, or those named")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - PEERS.keys():
        parser.error(f"{', '.join(sorted(unknown))} is none of {', '.join(PEERS)}")
    failed = [name for name in arguments.names or PEERS if not install(name, arguments.cache)]
    if failed:
        sys.exit(f"Not installed: {', '.join(failed)}. The others can be compared with.")


def install(name: str, cache: Path) -> bool:
    """Makes the product's environment; whether that worked."""
    peer, folder = PEERS[name], _environment(name, cache)
    overrides = folder.with_suffix(".overrides")
    overrides.parent.mkdir(parents=True, exist_ok=True)
    overrides.write_text("\n".join(peer.overrides) + "\n", "utf-8")
    uv = [sys.executable, "-m", "uv"]
    steps = (
        [*uv, "venv", "--quiet", "--allow-existing", "--python", peer.python, str(folder)],
        [*uv, "pip", "install", "--quiet", "--python", str(_python(folder)), "--override", str(overrides),
         *peer.packages],
    )  # fmt: skip
    if any(subprocess.run(step).returncode for step in steps):
        return False
    for kept in (cache / "peer-runs").glob(f"{name}-*.json"):
        kept.unlink()
    _stamp(folder).write_text("\n".join(peer.packages), "utf-8")
    print(f"{name}: {', '.join(peer.packages)} in {folder}")
    return True


def runs(
    name: str, sets: Mapping[str, Sequence[Collection]], embedder: Embedder, cache: Path | None
) -> tuple[str, dict[str, Run]]:
    """The row's name, and for each set what the product ranks first. A line is printed about what could not be had."""
    if cache is None:
        raise SystemExit("Products are installed into a folder: name it with --cache.")
    folder = _environment(name, cache)
    if not _stamp(folder).exists() or _stamp(folder).read_text("utf-8") != "\n".join(PEERS[name].packages):
        print(f"{name} is skipped, it is not installed: python -m benchmarks.peers --cache {cache} {name}\n")
        return name, {}
    found: dict[str, Run] = {}
    missing: set[str] = set()
    for title, collections in sets.items():
        answer = _answer(name, folder, collections, embedder, cache)
        if "error" in answer:
            print(f"{name} is skipped on {title}: {answer['error']}\n")
            continue
        found[title] = answer["runs"]
        missing |= set(answer["missing"])
    if missing:
        print(f"{name} is incomplete: {'; '.join(sorted(missing))}\n")
    version = PEERS[name].packages[0].partition("==")[2]
    return f"{name} {version}{', incomplete' if missing else ''}", found


def _answer(
    name: str, folder: Path, collections: Sequence[Collection], embedder: Embedder, cache: Path
) -> dict[str, Any]:
    script = SCRIPTS / f"{name.replace('-', '_')}_run.py"
    asked = {
        "depth": DEPTH,
        "dimensions": embedder.dimensions,
        "collections": [
            {
                "memories": [
                    {"id": row["id"], "topic": row["topic"], "text": row["text"], "whole": whole}
                    for row, whole in zip(one.memories, judged.texts(one.memories), strict=True)
                ],
                "queries": [{"id": query["id"], "query": query["query"]} for query in one.queries],
            }
            for one in collections
        ],
    }
    probe = embedder.embed(["the model's own numbers"]).tobytes()
    known = json.dumps([asked, script.read_text("utf-8"), PEERS[name].packages, embedder.identity, probe.hex()])
    kept = cache / "peer-runs" / f"{name}-{hashlib.sha256(known.encode()).hexdigest()[:24]}.json"
    if kept.exists():
        answer: dict[str, Any] = json.loads(kept.read_text("utf-8"))
        return answer
    with tempfile.TemporaryDirectory(prefix="cognee-memory-peer-") as place, serving(embedder) as endpoint:
        request, written = Path(place) / "request.json", Path(place) / "answer.json"
        request.write_text(json.dumps(asked | {"endpoint": endpoint}), "utf-8")
        done = subprocess.run(
            [str(_python(folder)), "-P", str(script), str(request), str(written)],
            cwd=place,
            env={
                name: value
                for name, value in os.environ.items()
                if name.startswith(("HF_", "SSL_", "HTTPS_", "https_"))
            }
            | {"PATH": os.defpath, "HOME": place, "HF_HOME": str(cache.resolve() / "hub"), "OPENAI_API_KEY": "none"},
            capture_output=True,
            text=True,
        )
        if done.returncode or not written.exists():
            return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
        answer = json.loads(written.read_text("utf-8"))
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(answer), "utf-8")
    return answer


def _environment(name: str, cache: Path) -> Path:
    return cache.resolve() / "peers" / name


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _stamp(folder: Path) -> Path:
    return folder / "installed.txt"


if __name__ == "__main__":
    main()
