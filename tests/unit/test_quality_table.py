"""The table of quality over several sets, the change beside a baseline, and kept embeddings."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fake_embedder import FakeEmbedder
from harness import git

from benchmarks import commit, judged, quality
from benchmarks.once_embedder import OnceEmbedder
from bridge.embedding.embedder import Vectors


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sets of one conversation each; a question shares a word with the memory that answers it, one has none."""
    for name, words in (("animals", ["zebra", "quagga", "okapi"]), ("music", ["piano", "cello", "flute"])):
        folder = tmp_path / "sets" / name
        folder.mkdir(parents=True)
        memories = [
            {"id": word, "conversation": name, "topic": f"The {word}", "text": f"They met a {word} there."}
            for word in words
        ]
        queries = [
            {"id": f"q-{word}", "conversation": name, "query": f"how old was the {word}?", "relevant": [word]}
            for word in words
        ]
        queries.append({"id": "q-none", "conversation": name, "query": "how tall is Mount Everest", "relevant": []})
        for file, rows in (("memories", memories), ("queries", queries)):
            (folder / f"{file}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    monkeypatch.setattr(judged, "create", lambda config, bulk: FakeEmbedder(64))
    return tmp_path / "sets"


def test_all_sets_are_in_one_table_with_their_mean(sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quality.main(["--data", str(sets), "--metrics", "nDCG@10", "Recall@1"])
    out = capsys.readouterr().out
    assert "| method | animals: 3 memories, 3 questions | music: 3 memories, 3 questions | mean of the sets |" in out
    assert out.count("| cognee-memory retrieve | 1.000 | 1.000 | 1.000 |") == 2
    assert "| BM25 alone | +0.000 (+0.000 to +0.000) |" in out


def test_sets_of_several_folders_must_have_names_of_their_own(sets: Path) -> None:
    with pytest.raises(SystemExit, match="have the same name"):
        quality.main(["--data", str(sets), str(sets / "music")])


def test_a_set_that_loses_beside_a_saved_run_is_named_and_ends_with_1(
    sets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    quality.main(["--data", str(sets), "--runs", str(runs)])
    quality.main(["--data", str(sets), "--baseline", str(runs)])
    assert "animals: 0 questions better, 0 worse, of 3" in capsys.readouterr().out

    real = judged.run
    monkeypatch.setattr(
        judged, "run", lambda *given: {name: [] if "cello" in name else hits for name, hits in real(*given).items()}
    )
    with pytest.raises(SystemExit) as ended:
        quality.main(["--data", str(sets), "--baseline", str(runs)])
    out = capsys.readouterr().out
    assert ended.value.code == 1
    assert "music LOST 0.3333 of nDCG@10" in out
    assert "animals LOST" not in out


def test_a_baseline_that_is_neither_commit_nor_folder_ends_with_a_sentence(sets: Path) -> None:
    with pytest.raises(SystemExit, match="no-such-commit is neither a commit"):
        quality.main(["--data", str(sets), "--baseline", "no-such-commit"])


def committed(tree: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in the place of this one, whose last commit has this program of benchmarks."""
    (tree / "benchmarks").mkdir(parents=True)
    (tree / "benchmarks" / "__main__.py").write_text(program)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "another retrieval"]):
        git(tree, *arguments)
    monkeypatch.setattr(commit, "REPOSITORY", tree)
    return tree


def test_a_commit_is_run_from_its_own_files(sets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository whose commit has another retrieval than this one: it writes what it was asked."""
    program = (
        "import pathlib, sys\n"
        "runs = pathlib.Path(sys.argv.pop())\n"
        "runs.mkdir()\n"
        "(runs / 'asked').write_text('\\n'.join(sys.argv[1:]))\n"
    )
    tree = committed(tmp_path / "repository", program, monkeypatch)
    (tree / "benchmarks" / "__main__.py").write_text("raise SystemExit('the work tree is run')")
    runs = commit.write_runs("HEAD", ["--data", str(sets)], tmp_path)
    assert (runs / "asked").read_text().split("\n") == ["quality", "sets", "--data", str(sets), "--runs"]


def test_a_failing_commit_ends_it_with_its_words(sets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path / "repository", "raise SystemExit('no such set')", monkeypatch)
    with pytest.raises(SystemExit, match="HEAD did not run:\nno such set"):
        quality.main(["--data", str(sets), "--baseline", "HEAD"])


class Counting(FakeEmbedder):
    """Counts the texts that it embeds."""

    texts = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return super().embed(texts)


def test_a_text_is_embedded_once_in_all_runs_that_name_a_folder(tmp_path: Path) -> None:
    first, second = Counting(64), Counting(64)
    vectors = OnceEmbedder(first, tmp_path).embed(["a boat", "a pier", "a boat"])
    assert first.texts == 2 + 1  # and the text that tells models apart
    again = OnceEmbedder(second, tmp_path).embed(["a pier", "a boat", "a ramp"])
    assert second.texts == 1 + 1
    assert np.array_equal(again[:2], vectors[[1, 0]])


def test_a_model_of_the_same_name_with_other_weights_gets_vectors_of_its_own(tmp_path: Path) -> None:
    class Other(Counting):
        def embed(self, texts: Sequence[str]) -> Vectors:
            return -super().embed(texts)

    plain = OnceEmbedder(Counting(64), tmp_path).embed(["a boat"])
    assert np.array_equal(OnceEmbedder(Other(64), tmp_path).embed(["a boat"]), -plain)


def test_the_kept_file_holds_no_text(tmp_path: Path) -> None:
    OnceEmbedder(FakeEmbedder(64), tmp_path).embed(["a secret pier"])
    assert b"secret pier" not in (tmp_path / "embeddings.db").read_bytes()
