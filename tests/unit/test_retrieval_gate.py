"""That retrieval with its default settings finds what it found before, over the decision records of the benchmarks."""

from pathlib import Path

import pytest

from benchmarks import gate, judged
from benchmarks.gate import EMPTY, NOTHING, Measured
from bridge.embedding.config import EmbeddingConfig


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
