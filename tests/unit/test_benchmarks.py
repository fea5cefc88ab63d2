"""The benchmarks of quality: tables beside a baseline, metrics, published sets, and what retrieval must reach."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_embedder import FakeEmbedder
from harness import git

from benchmarks import commit, gate, judged, published, quality
from benchmarks.gate import EMPTY, NOTHING, Measured
from benchmarks.metrics import METRICS, bounds, of_query, of_run, resampled
from benchmarks.once_embedder import OnceEmbedder
from bridge.embedding.config import EmbeddingConfig
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


# --- metrics ---


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


# --- published sets ---


LONGMEMEVAL = [
    {
        "question_id": "q1", "question_type": "multi-session", "question": "Which boat is blue?", "answer": "the ferry",
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_session_ids": ["s1", "s2", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 09:00", "2023/05/21 (Sun) 09:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "The ferry is blue."}, {"role": "assistant", "content": "Ah."}],
            [{"role": "user", "content": "I like soup."}, {"role": "user", "content": "And bread."}],
            [{"role": "user", "content": "I like soup."}],
        ],
        "answer_session_ids": ["s1"],
    },
    {
        "question_id": "q2_abs", "question_type": "multi-session", "question": "Which boat is red?", "answer": "None",
        "haystack_session_ids": ["s3"], "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "The ferry is blue."}]], "answer_session_ids": ["s3"],
    },
]  # fmt: skip
LOCOMO = [
    {
        "sample_id": "conv-26",
        "conversation": {
            "speaker_a": "Ann", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "I saw a ferry."}],
            "session_2_date_time": "1:14 pm on 25 May, 2023",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "I made soup."}],
            "session_3_date_time": "1:14 pm on 26 May, 2023", "session_3": [],
        },
        "session_summary": {"session_1_summary": "They spoke of boats."},
        "observation": {"session_1_observation": {"Ann": [["Ann saw a ferry.", "D1:1"]], "Ben": []}},
        "qa": [
            {"question": "What did Ann see?", "answer": "a ferry", "evidence": ["D1:1; D2:1", "D:2:1"], "category": 1},
            {"question": "What did Cid see?", "adversarial_answer": "x", "evidence": ["D1:1"], "category": 5},
        ],
    }
]  # fmt: skip
BEAM_QUESTIONS = {
    "abstention": [{"question": "Who am I?"}],
    "knowledge_update": [{"question": "Which sprint?", "source_chat_ids": {"original": [2], "updated": [0, 99]}}],
    "event_ordering": [{"question": "In which order?", "source_chat_ids": [0, 1, 2]}],
}


def turn(number: int, role: str, text: str) -> dict[str, Any]:
    return {"id": number, "role": role, "content": text}


def test_a_memory_of_longmemeval_is_what_the_user_said_in_a_session(tmp_path: Path) -> None:
    path = tmp_path / "longmemeval_s.json"
    path.write_text(json.dumps(LONGMEMEVAL))
    memories, queries = published.read(path)
    assert [(row["id"], row["text"]) for row in memories] == [
        ("q1/s1", "The ferry is blue."), ("q1/s2", "I like soup.\n\nAnd bread."), ("q2_abs/s3", "The ferry is blue."),
    ]  # fmt: skip
    assert (memories[0]["topic"], memories[0]["created_at"]) == ("Chat of 20 May 2023", "2023-05-20T02:21:00+00:00")
    assert [row["relevant"] for row in queries] == [["q1/s1"], []]


def test_a_memory_of_locomo_is_a_summary_with_what_was_observed_or_the_turns(tmp_path: Path) -> None:
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps(LOCOMO))
    memories, queries = published.read(path)
    assert [row["text"] for row in memories] == ["They spoke of boats.\n- Ann saw a ferry.", "Ben: I made soup."]
    assert memories[0]["facts"] == ["Ann saw a ferry."]
    assert [row["relevant"] for row in queries] == [["conv-26/1", "conv-26/2"], []]


def test_a_memory_of_beam_is_what_the_user_said_in_an_exchange(tmp_path: Path) -> None:
    questions = tmp_path / "100K" / "1" / "probing_questions" / "probing_questions.json"
    questions.parent.mkdir(parents=True)
    questions.write_text(json.dumps(BEAM_QUESTIONS))
    chat = questions.parents[1]
    (chat / "topic.json").write_text(json.dumps({"title": "A budget"}))
    exchanges = [[turn(0, "user", "Plan it. ->-> 1,1"), turn(1, "assistant", "Yes.")], [turn(2, "user", "Sprint 2.")]]
    (chat / "chat.json").write_text(json.dumps([{"turns": exchanges[:1]}, {"turns": exchanges[1:]}]))
    assert published.is_published(tmp_path / "100K")
    memories, queries = published.read(tmp_path / "100K")
    assert [(row["topic"], row["text"]) for row in memories] == [("A budget", "Plan it."), ("A budget", "Sprint 2.")]
    assert [row["relevant"] for row in queries] == [[], ["1/1", "1/0"], ["1/0", "1/1"]]


def test_a_published_file_is_judged_beside_the_plain_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(judged, "create", lambda config, bulk: FakeEmbedder(64))
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps(LOCOMO))
    quality.main(["--data", str(path)])
    out = capsys.readouterr().out
    assert "| method | locomo10: 2 memories, 1 questions | mean of the sets |" in out
    assert "| grep: words found | " in out


@pytest.mark.parametrize("text", ["{", "[]", '[{"a": 1}]', '[{"qa": []}]'])
def test_a_file_of_another_form_ends_the_program_with_a_sentence(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(SystemExit, match=r"other\.json cannot be read as a set"):
        quality.main(["--data", str(path)])


# --- what retrieval must reach ---


def test_retrieval_is_as_good_as_recorded(model_cache: Path) -> None:
    """A loss is to be understood; a gain, and a change of the set, is recorded: benchmarks quality gate --record."""
    found = gate.measure(judged.embedder(EmbeddingConfig(cache_dir=model_cache)))
    before = gate.recorded()
    assert found.hits.keys() == before.hits.keys()
    if said := gate.verdict(before, found):
        pytest.fail("\n".join([*gate.changes(before, found), said]), pytrace=False)


def test_what_holds_comes_first_unless_the_past_or_another_scope_is_asked_for(model_cache: Path) -> None:
    found = gate.first_by_currency(judged.embedder(EmbeddingConfig(cache_dir=model_cache)))
    assert {name: first for name, (_, first) in found.items()} == {name: wanted for name, (wanted, _) in found.items()}


def test_the_set_is_large_and_mixed_enough_for_a_gate() -> None:
    memories = judged.rows(gate.FOLDER / judged.FILE)
    queries = judged.rows(gate.FOLDER / "queries.jsonl")
    ids = {memory["id"] for memory in memories}
    assert len(ids) == len(memories) >= 60
    assert len({query["query"] for query in queries}) == len(queries)
    assert sum(bool(query["relevant"]) for query in queries) >= 100
    assert all(set(query["relevant"]) <= ids for query in queries)
    assert all(bool(query["relevant"]) != (query["category"] in ("foreign", "absent")) for query in queries)


@pytest.fixture
def before() -> Measured:
    return gate.recorded()


def remeasured(hits: dict[str, gate.Hits]) -> Measured:
    return Measured(gate.figures(judged.rows(gate.FOLDER / "queries.jsonl"), hits), hits)


def test_a_loss_is_named_with_the_questions_that_changed(before: Measured) -> None:
    """Three questions get another first hit; the answer of each is printed before and after, with scores."""
    worse = ("short-1", "identifier-1", "identifier-2")
    stranger = [("monorepo", 0.9)]
    found = remeasured(before.hits | {name: stranger + before.hits[name] for name in worse})
    assert "lost quality: nDCG@10" in gate.verdict(before, found)
    said = gate.changes(before, found)
    assert [line.split()[1] for line in said] == sorted(worse, key=list(before.hits).index)
    assert all(line.startswith("worse: ") and "monorepo 0.900" in line for line in said)


def test_hits_for_foreign_questions_and_questions_without_a_hit_are_losses(before: Measured) -> None:
    noisy = {f"foreign-{number}": [("monorepo", 0.3)] for number in range(5, 10)}
    assert EMPTY in gate.verdict(before, remeasured(before.hits | noisy))
    mute: dict[str, gate.Hits] = {f"paraphrase-{number}": [] for number in range(1, 4)}
    assert NOTHING in gate.verdict(before, remeasured(before.hits | mute))


def test_a_gain_asks_to_be_recorded(before: Measured) -> None:
    answers = {query["id"]: query["relevant"] for query in judged.rows(gate.FOLDER / "queries.jsonl")}
    found = remeasured({name: [(memory, 0.9) for memory in relevant] for name, relevant in answers.items()})
    assert "better than recorded" in gate.verdict(before, found)
    assert "--record" in gate.verdict(before, found)


def test_one_question_more_or_less_is_within_the_tolerance(before: Measured) -> None:
    found = remeasured(before.hits | {"short-1": [("monorepo", 0.9), *before.hits["short-1"]]})
    assert gate.verdict(before, found) == ""


def test_what_is_recorded_is_read_again(before: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "RECORDED", tmp_path / "recorded.json")
    assert gate.recorded() == Measured({}, {})
    gate.write(before)
    assert gate.recorded() == before
