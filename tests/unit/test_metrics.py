"""How the quality of a ranking is measured, and that the benchmarks over judged data run on data of any folder."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from fake_embedder import FakeEmbedder

from benchmarks import judged, quality
from benchmarks.metrics import METRICS, bounds, of_query, of_run, resampled

MEASURED = [
    (["a"], ["a"], [1, 1, 1, 1, 1]),
    (["x", "a"], ["a"], [0, 1, 1, 1 / 2, 1 / math.log2(3)]),
    (["a", "x", "b"], ["a", "b"], [1 / 2, 1, 1, 1, (1 + 1 / 2) / (1 + 1 / math.log2(3))]),
    (["x"] * 3 + ["a"], ["a"], [0, 1, 1, 1 / 2, 1 / math.log2(3)]),  # a repetition counts once
    ([*"bcdefghijk", "a"], ["a"], [0, 0, 0, 0, 0]),
    ([], ["a", "b"], [0, 0, 0, 0, 0]),
]


@pytest.mark.parametrize(("ranked", "relevant", "expected"), MEASURED)
def test_a_querys_measures_are_those_by_hand(ranked: list[str], relevant: list[str], expected: list[float]) -> None:
    assert of_query(ranked, relevant) == pytest.approx(expected)


def test_a_query_that_a_run_has_not_scores_nothing() -> None:
    queries = [{"id": "1", "relevant": ["a"]}, {"id": "2", "relevant": ["b"]}]
    assert of_run(queries, {"1": ["a"]}).tolist() == [[1.0] * len(METRICS), [0.0] * len(METRICS)]


def test_an_interval_holds_the_mean_and_is_narrower_with_more_queries() -> None:
    few = np.array([[0.0], [1.0]] * 10)
    many = np.array([[0.0], [1.0]] * 1000)
    widths = []
    for scores in (few, many):
        low, high = bounds(resampled(scores, ["one"] * len(scores)))
        assert low[0] < 0.5 < high[0]
        widths.append(high[0] - low[0])
    assert widths[1] < widths[0] / 5


def test_queries_are_drawn_again_within_their_conversation() -> None:
    """Two conversations that are each of one mind leave nothing to chance."""
    low, high = bounds(resampled(np.array([[0.0]] * 5 + [[1.0]] * 5), ["a"] * 5 + ["b"] * 5))
    assert (low[0], high[0]) == (0.5, 0.5)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two conversations of three memories; each question is answered by the memory that shares its word."""
    folder = tmp_path / "data" / "structured"
    folder.mkdir(parents=True)
    words = {"c1": ["zebra", "quagga", "okapi"], "c2": ["piano", "cello", "flute"]}
    memories = [
        {
            "id": f"{name}/{word}", "conversation": name, "topic": f"About {name}", "created_at": f"2023-05-0{n + 1}",
            "text": f"They met a {word} there.\n- The {word} was old.", "facts": [f"The {word} was old."],
        }
        for name, found in words.items() for n, word in enumerate(found)
    ]  # fmt: skip
    queries = [
        {"id": f"q{m['id']}", "conversation": m["conversation"], "query": f"how old was the {m['id'][3:]}",
         "relevant": [m["id"]], "split": "dev" if "c1" in m["id"] else "heldout"}
        for m in memories
    ]  # fmt: skip
    for name, rows in (("memories", memories), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    return folder.parent


def test_a_memory_of_the_data_becomes_a_summary_with_its_facts_as_decisions(data: Path) -> None:
    arguments = judged.parser("quality", None).parse_args(["--data", str(data), "--split", "dev"])
    [collection] = judged.collections(data / "structured", "workspace", arguments)
    summary = judged.payload(collection.memories[0], judged.DAY)["summary"]
    assert summary["context"] == "They met a zebra there."
    assert summary["decisions"] == ["The zebra was old."]


def test_the_rankings_are_written_for_other_tools(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = tmp_path / "runs"
    monkeypatch.setattr(judged, "embedder", lambda *_: judged.OnceEmbedder(FakeEmbedder(64)))
    quality.main(["--data", str(data), "--split", "dev", "--scope", "both", "--runs", str(runs)])
    files = sorted(runs.glob("*.jsonl"))
    assert len(files) == 2 * 6
    for file in files:
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        assert [row["query_id"] for row in rows] == ["qc1/zebra", "qc1/quagga", "qc1/okapi"]


def test_a_folder_without_data_ends_the_program_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"holds no memories\.jsonl"):
        quality.main(["--data", str(tmp_path)])
