"""The worked examples of docs/explain.md: the numbers on the page are those that the program gives."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from job_copies import task
from shelf import STORED, Shelf

from bridge.embedding.embedder import Embedder
from bridge.operations.ingest import prepare
from bridge.settings import Settings

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "explain.md").read_text("utf-8")
WORKSPACE = "6f1c2b1e-0d7a-4c55-9a53-3f0f6f1a9b10"
CLOSE = 1e-5  # another processor may round a cosine's last digits otherwise


def example(heading: str) -> str:
    return PAGE.partition(f"### {heading}\n")[2].partition("\n### ")[0]


def asked(text: str, embedder: Embedder, folder: Path, preset: str) -> dict[str, dict[str, Any]]:
    """The hits of an example by their topic: its ingests stored, and its question asked."""
    lines = [shlex.split(line) for line in text.splitlines() if line.startswith("cognee-memory ")]
    summaries = [json.loads(line[line.index("--summary-json") + 1]) for line in lines if line[1] == "ingest"]
    [question] = [line for line in lines if line[1] == "retrieve"]
    shelf = Shelf(folder, embedder, Settings())
    folder.mkdir(exist_ok=True)
    shelf.add(*(prepare(task("ingest", {"summary": one}, at=STORED), WORKSPACE, STORED).memory for one in summaries))
    as_of = question[question.index("--as-of") + 1]
    found = shelf.retrieve(question[2], as_of=as_of, preset=preset)
    return {hit["topic"]: hit for hit in found["results"]}


def test_the_worked_example_gives_its_numbers(embedder: Embedder, tmp_path: Path) -> None:
    text = example("A worked example")
    vector, lexical = (float(one) for one in re.findall(r"= 0\.6 \* (\S+) \+ 0\.4 \* (\S+)", text)[0])
    (contract, long_lived) = re.findall(r"^\S+ (0\.\d{10})$", text, re.MULTILINE)
    hits = asked(text, embedder, tmp_path, "contract")
    assert list(hits) == ["Token renewal"], "one is found"
    [hit] = hits.values()
    assert hit["vector_score"] == pytest.approx(vector, rel=CLOSE)
    assert hit["lexical_score"] == pytest.approx(lexical, rel=CLOSE)
    assert hit["score"] == pytest.approx(float(contract), rel=CLOSE)
    [hit] = asked(text, embedder, tmp_path / "again", "long-lived").values()
    assert hit["score"] == pytest.approx(float(long_lived), rel=CLOSE)
