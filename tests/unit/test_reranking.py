"""A reranker: one in a folder and one behind an endpoint, and as the second stage of a question."""

import json
import math
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Any

import contract
import cross_encoder
import numpy as np
import pytest
from rerank_server import Judge, RerankServer, words_in_common
from shelf import EVERYTHING, Shelf, legacy, record, summary

from bridge.reranking.config import RerankConfig
from bridge.reranking.factory import create
from bridge.reranking.http_reranker import REST_SECONDS, TEXT_CHARACTERS, HttpReranker
from bridge.reranking.local_reranker import LocalReranker
from bridge.reranking.reranker import RerankError, probabilities
from bridge.search import query_client
from bridge.settings import Settings

TEXTS = ["the queue is locked", "a door is locked", "clouds"]


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return cross_encoder.make(tmp_path / "model", [*TEXTS, "word other"])


def local(folder: Path, threads: int = 2) -> LocalReranker:
    return LocalReranker(RerankConfig(model=str(folder)), threads)


# --- on this machine ---


def test_a_cross_encoder_judges_each_pair(folder: Path) -> None:
    found = local(folder).relevance("queue locked", TEXTS)
    assert found.tolist() == pytest.approx([sigmoid(3), sigmoid(0), sigmoid(-3)], abs=1e-7)
    assert (found.shape, found.dtype) == ((3,), np.float64)


def test_the_score_of_a_text_depends_on_no_other_and_on_no_number_of_threads(folder: Path) -> None:
    together = local(folder, threads=4).relevance("queue locked", TEXTS).tolist()
    assert [local(folder, 1).relevance("queue locked", [text]).tolist()[0] for text in TEXTS] == together
    assert local(folder).relevance("queue locked", TEXTS[::-1]).tolist() == together[::-1]


def test_only_the_text_is_cut_at_the_models_limit(folder: Path) -> None:
    reranker = local(folder)
    fits, too_late = ("word " * at + "queue" for at in (512 - 3 - 1 - 1, 512 - 3 - 1))  # [CLS] queue [SEP] text [SEP]
    assert reranker.relevance("queue", [fits]).tolist() == pytest.approx([sigmoid(3)])
    assert reranker.relevance("queue", [too_late]).tolist() == pytest.approx([sigmoid(-3)])


def test_a_query_longer_than_the_model_reads_leaves_room_for_the_text(folder: Path) -> None:
    found = local(folder).relevance("word " * 255 + "queue " * 10_000, ["queue", "other", "word " * 100_000])
    assert found.tolist() == pytest.approx([sigmoid(6 / 256 - 3), sigmoid(-3), sigmoid(6 * 255 / 256 - 3)], abs=1e-6)


def test_nothing_to_judge_and_blank_texts_are_no_failure(folder: Path) -> None:
    assert local(folder).relevance("queue", []).tolist() == []
    assert local(folder).relevance("", ["", "queue"]).tolist() == pytest.approx([sigmoid(-3)] * 2)


def test_the_folder_of_a_published_model_has_its_graph_one_deeper(folder: Path) -> None:
    (folder / "onnx").mkdir()
    shutil.move(folder / "model.onnx", folder / "onnx" / "model.onnx")
    assert local(folder).relevance("queue", ["queue"]).tolist() == pytest.approx([sigmoid(3)])


def test_a_model_that_is_replaced_or_repaired_is_loaded_again(folder: Path) -> None:
    reranker = local(folder)
    before = reranker.relevance("queue", ["queue"]).tolist()
    cross_encoder.make(folder, [*TEXTS, "and more"], steep=2.0)
    assert reranker.relevance("queue", ["queue"]).tolist() == pytest.approx([sigmoid(1)])
    (folder / "model.onnx").unlink()
    with pytest.raises(RerankError, match=r"no model\.onnx"):
        reranker.relevance("queue", ["queue"])
    cross_encoder.make(folder, TEXTS)
    assert reranker.relevance("queue", ["queue"]).tolist() == before


def _remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _spoil(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(b"no such thing") and None  # type: ignore[func-returns-value]


WRONG_FOLDERS = [
    (_remove("model.onnx"), "There is no model.onnx"),
    (_remove("tokenizer.json"), "There is no tokenizer.json"),
    (_spoil("model.onnx"), "cannot be loaded"),
    (_spoil("tokenizer.json"), "cannot be read"),
    (lambda folder: cross_encoder.make(folder, TEXTS, outputs=3), "gave 3 numbers for a pair"),
    (lambda folder: cross_encoder.make(folder, TEXTS, steep=math.nan), "gave no finite number"),
]


@pytest.mark.parametrize(("damage", "message"), WRONG_FOLDERS)
def test_a_wrong_folder_is_told_with_a_remedy(folder: Path, damage: Callable[[Path], Any], message: str) -> None:
    damage(folder)
    reranker = local(folder)
    for _ in range(2):
        with pytest.raises(RerankError, match=message) as failure:
            reranker.relevance("queue", TEXTS)
        assert "COGNEE_MEMORY_RERANK_MODEL" in failure.value.remedy
        assert failure.value.warning.startswith("RERANK_UNAVAILABLE: ")
        assert "\n" not in failure.value.warning


def test_a_name_without_an_endpoint_is_no_folder() -> None:
    with pytest.raises(RerankError, match="no absolute path"):
        local(Path("jina-reranker-v2")).relevance("queue", TEXTS)


def test_probabilities_of_any_logit() -> None:
    found = probabilities(np.array([-1e4, -3.0, 0.0, 3.0, 1e4]))
    assert found.tolist() == pytest.approx([0.0, sigmoid(-3), 0.5, sigmoid(3), 1.0], abs=1e-15)


# --- behind an endpoint ---


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer().running() as server:
        yield server


def at(server: RerankServer, **other: Any) -> RerankConfig:
    return RerankConfig(**{"model": "judge-1", "endpoint": server.url, "timeout_seconds": 30.0, **other})


def test_an_endpoint_gets_the_query_and_the_texts_and_its_key(server: RerankServer) -> None:
    found = create(at(server, api_key="sk-rerank")).relevance("queue locked", TEXTS)
    assert found.tolist() == [1.0, 0.5, 0.0]
    body = {"model": "judge-1", "query": "queue locked", "documents": TEXTS, "top_n": 3}
    assert server.requests == [("Bearer sk-rerank", body)]


def test_without_a_key_none_is_sent_and_without_texts_nothing(server: RerankServer) -> None:
    reranker = create(at(server))
    assert reranker.relevance("queue", []).tolist() == []
    assert server.requests == []
    reranker.relevance("queue", TEXTS)
    assert server.requests[0][0] is None


def test_an_endpoint_gets_the_beginning_of_a_long_text(server: RerankServer) -> None:
    create(at(server)).relevance("queue", ["x" * (TEXT_CHARACTERS + 1)])
    assert server.requests[0][1]["documents"] == ["x" * TEXT_CHARACTERS]


def test_logits_of_an_endpoint_become_shares_if_the_settings_say_so(server: RerankServer) -> None:
    server.answer = lambda _: {"results": [{"index": 1, "relevance_score": -3}, {"index": 0, "relevance_score": 9.5}]}
    found = create(at(server, scores="logit")).relevance("queue", TEXTS[:2])
    assert found.tolist() == pytest.approx([sigmoid(9.5), sigmoid(-3)])
    with pytest.raises(RerankError, match="outside of 0 to 1") as failure:
        create(at(server)).relevance("queue", TEXTS[:2])
    assert "COGNEE_MEMORY_RERANK_SCORES=logit" in failure.value.remedy


NO_ANSWERS = [
    b"no json",
    b"[" * 100_000,
    None,
    [],
    {},
    {"results": None},
    {"results": [1, 2]},
    {"results": [{"index": 0, "relevance_score": 0.5}]},
    {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 2, "relevance_score": 0.5}]},
    {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": "0.5"}]},
    {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": math.nan}]},
    {"results": [{"index": True, "relevance_score": 0.5}, {"index": 0, "relevance_score": 0.5}]},
    b" " * (4 * 1024 * 1024 + 1),
]


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_an_answer_that_is_none_is_a_failure(server: RerankServer, answer: Any) -> None:
    server.answer = lambda _: answer
    with pytest.raises(RerankError, match="The reranker's endpoint"):
        create(at(server)).relevance("queue", TEXTS[:2])


def test_no_failure_shows_the_key_or_the_address(server: RerankServer) -> None:
    server.status = 401
    server.answer = lambda _: {"error": "the key sk-rerank is wrong"}
    with pytest.raises(RerankError, match="answered 401") as failure:
        create(at(server, api_key="sk-rerank")).relevance("queue", TEXTS)
    assert "sk-rerank" not in failure.value.warning
    assert "127.0.0.1" not in failure.value.warning


def test_an_endpoint_that_is_not_there_or_no_address_is_a_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for endpoint in (f"http://user:secret@127.0.0.1:{port}/rerank", "127.0.0.1/rerank", "ftp://host/", "http://[::"):
        with pytest.raises(RerankError, match="cannot be reached") as failure:
            create(RerankConfig(model="m", endpoint=endpoint)).relevance("queue", TEXTS)
        assert "secret" not in failure.value.warning


def test_a_question_does_not_wait_for_a_slow_endpoint(server: RerankServer) -> None:
    server.held = threading.Event()
    with pytest.raises(RerankError, match=r"did not answer in 0\.05 s") as failure:
        create(at(server, timeout_seconds=0.05)).relevance("queue", TEXTS)
    assert "COGNEE_MEMORY_RERANK_TIMEOUT_SECONDS" in failure.value.remedy


def test_after_a_failure_an_endpoint_rests(server: RerankServer) -> None:
    now = 1000.0
    reranker = HttpReranker(at(server), lambda: now)
    server.status = 503
    for _ in range(3):
        with pytest.raises(RerankError, match="answered 503"):
            reranker.relevance("queue", TEXTS)
    assert len(server.requests) == 1
    server.status = 200
    now += REST_SECONDS - 0.1
    with pytest.raises(RerankError, match="answered 503"):
        reranker.relevance("queue", TEXTS)
    now += 0.1
    assert reranker.relevance("queue locked", TEXTS).tolist() == [1.0, 0.5, 0.0]
    assert reranker.relevance("queue locked", TEXTS).tolist() == [1.0, 0.5, 0.0]
    assert len(server.requests) == 3


def test_the_identity_names_the_model_and_no_address(server: RerankServer, folder: Path) -> None:
    assert create(at(server, api_key="sk-rerank")).identity == "endpoint:judge-1"
    assert create(RerankConfig(model=str(folder))).identity == f"local:{folder}"
    assert "sk-rerank" not in repr(at(server, api_key="sk-rerank"))


# --- second stage ---


QUERY = "locked queue of uploads"
MEMORIES = (
    summary("a", "queue queue locked queue uploads", created_at="2026-11-01T12:00:00Z"),
    summary("b", "the uploads wait while the queue of the uploader is locked", decisions=("one writer",)),
    record("r", "uploads are retried"),
    legacy("l", "locked queue of uploads, said an old note"),
    summary("s", "a locked queue", status="Superseded"),
    summary("z", "clouds"),
)


@pytest.fixture
def judge_folder(tmp_path: Path) -> Path:
    words = "locked queue of uploads the a wait while is uploader said an old note clouds retried are"
    return cross_encoder.make(tmp_path / "model", [words])


def only_with(words: str) -> Judge:
    """A judge who gives 1 to the texts with these words, and 0 to all others."""

    def judge(asked: dict[str, Any]) -> Any:
        shares = [float(words in text) for text in asked["documents"]]
        return {"results": [{"index": index, "relevance_score": share} for index, share in enumerate(shares)]}

    return judge


def with_model(judge_folder: Path, **other: Any) -> Settings:
    return EVERYTHING.changed(rerank_model=str(judge_folder), **other)


def with_endpoint(server: RerankServer, **other: Any) -> Settings:
    return EVERYTHING.changed(rerank_model="judge-1", rerank_endpoint=server.url, rerank_timeout_seconds=30.0, **other)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    (tmp_path / "workspace").mkdir()
    return Shelf(tmp_path / "workspace").add(*MEMORIES)


def with_settings_of(shelf: Shelf, settings: Settings) -> Shelf:
    """The same workspace, asked with other settings."""
    other = copy(shelf)
    other.settings = settings
    return other


# --- the formula ---


@pytest.mark.parametrize("mode", ["product", "blend"])
def test_half_of_the_relevance_is_the_rerankers(shelf: Shelf, judge_folder: Path, mode: str) -> None:
    found = with_settings_of(shelf, with_model(judge_folder)).retrieve(QUERY, max_results=6, ranking_mode=mode)
    assert contract.problems_in(json.dumps(found)) == []
    assert found["ranking"]["reranker"] == {"model": f"local:{judge_folder}", "hits": 20}
    assert found["warnings"] == []
    first = {hit["memory_id"]: hit for hit in shelf.retrieve(QUERY, max_results=6, ranking_mode=mode)["results"]}
    assert len(found["results"]) == len(first) == 5
    for hit in found["results"]:
        assert hit["rerank_score"] == float(f"{hit['rerank_score']:.10g}")
        without = 0.6 * hit["vector_score"] + 0.4 * hit["lexical_score"]
        assert hit["semantic_score"] == float(f"{0.5 * without + 0.5 * hit['rerank_score']:.10g}")
        semantic, recency, status = hit["semantic_score"], hit["recency_multiplier"], hit["status_multiplier"]
        alpha = found["ranking"]["alpha"]
        score = semantic * recency if mode == "product" else alpha * semantic + (1 - alpha) * recency
        assert hit["score"] == pytest.approx(score * status, rel=1e-9)
        assert hit["vector_score"] == first[hit["memory_id"]]["vector_score"]
    scores = [hit["score"] for hit in found["results"]]
    assert scores == sorted(scores, reverse=True)


def test_the_reranker_changes_the_order(shelf: Shelf, server: RerankServer) -> None:
    server.answer = only_with("clouds")
    assert shelf.retrieve(QUERY)["results"][0]["memory_id"] != "z"
    (best, *_), others = (with_settings_of(shelf, with_endpoint(server)).retrieve(QUERY)["results"],) * 2
    assert (best["memory_id"], best["rerank_score"]) == ("z", 1.0)
    assert {hit["rerank_score"] for hit in others[1:]} == {0.0}


def test_without_a_reranker_nothing_of_it_is_in_an_answer(shelf: Shelf) -> None:
    for answer in (shelf.retrieve(QUERY), shelf.explain(query=QUERY, include_pack_context=True), shelf.context(QUERY)):
        assert '"rerank' not in json.dumps(answer)


# --- which memories are judged ---


def test_the_first_hits_are_judged_with_their_whole_texts(shelf: Shelf, server: RerankServer) -> None:
    plain = [hit["memory_id"] for hit in shelf.retrieve(QUERY, max_results=6)["results"]]
    asked = with_settings_of(shelf, with_endpoint(server, rerank_hits=3))
    found = asked.retrieve(QUERY, max_results=2)
    ((_, request),) = server.requests
    assert request["query"] == QUERY
    by_id = {memory.id: memory for memory in MEMORIES}
    texts = [by_id[name].text or by_id[name].content.context for name in plain[:3]]  # type: ignore[union-attr]
    assert len(request["documents"]) == 3
    assert all(text in judged for text, judged in zip(texts, request["documents"], strict=True))
    assert {hit["memory_id"] for hit in found["results"]} <= set(plain[:3])
    assert (found["result_count"], found["total_results"]) == (2, shelf.retrieve(QUERY)["total_results"])


def test_more_hits_than_the_reranker_is_to_judge_are_all_judged(shelf: Shelf, server: RerankServer) -> None:
    found = with_settings_of(shelf, with_endpoint(server, rerank_hits=1)).retrieve(QUERY, max_results=4)
    assert len(server.requests[0][1]["documents"]) == 4
    assert all("rerank_score" in hit for hit in found["results"])


def test_the_floor_is_that_of_the_first_stage(shelf: Shelf, server: RerankServer) -> None:
    server.answer = only_with("no such words")
    floor = 0.2
    plain = shelf.retrieve(QUERY, relevance_floor=floor)
    found = with_settings_of(shelf, with_endpoint(server)).retrieve(QUERY, relevance_floor=floor)
    assert {hit["memory_id"] for hit in found["results"]} == {hit["memory_id"] for hit in plain["results"]}
    assert found["total_results"] == plain["total_results"]
    assert min(hit["semantic_score"] for hit in found["results"]) < floor


def test_legacy_memories_still_come_last_if_that_is_asked(shelf: Shelf, judge_folder: Path) -> None:
    asked = with_settings_of(shelf, with_model(judge_folder))
    kinds = [hit["memory_type"] for hit in asked.retrieve(QUERY, legacy="append")["results"]]
    assert kinds.index("legacy") == len(kinds) - 1
    assert asked.retrieve(QUERY)["results"][-1]["memory_type"] != "legacy"


def test_who_lost_its_place_for_its_age_is_seen_with_the_final_scores(shelf: Shelf, server: RerankServer) -> None:
    server.answer = only_with("queue queue")
    asked = with_settings_of(shelf, with_endpoint(server))
    (warning,) = asked.retrieve(QUERY, half_life_days=3, recency_floor=0.0)["warnings"]
    fitting = asked.explain(ids=[1], query=QUERY, half_life_days=3, recency_floor=0.0)["items"]
    parts = next(item for item in fitting if item["id"] == 1)["score"]["components"]
    assert f"#1 fits best ({parts['base'] + parts['semantic_boost'] + parts['rerank']:.2f})" in warning


# --- explain and context ---


@pytest.mark.parametrize("verb_arguments", [{}, {"legacy": "append"}, {"ranking_mode": "blend"}, {"max_results": 2}])
def test_explain_gives_the_same_digits(shelf: Shelf, judge_folder: Path, verb_arguments: dict[str, Any]) -> None:
    asked = with_settings_of(shelf, with_model(judge_folder))
    hits = asked.retrieve(QUERY, **verb_arguments)["results"]
    limits = {"limit": len(hits)}
    given = {name: value for name, value in verb_arguments.items() if name != "max_results"}
    found = asked.explain(query=QUERY, ids=[1, 2, 3, 4, 6], include_pack_context=True, **limits, **given)
    assert contract.problems_in(json.dumps(found)) == []
    by_number = {item["id"]: item for item in found["items"]}
    assert [item["id"] for item in found["items"][: len(hits)]] == [hit["memory_number"] for hit in hits]
    assert set(by_number) >= {1, 2, 3, 4, 6}
    for hit in hits:
        score = by_number[hit["memory_number"]]["score"]
        assert score["total"] == hit["score"]
        parts = score["components"]
        relevance = parts["base"] + parts["semantic_boost"] + parts["rerank"]
        assert relevance == pytest.approx(hit["semantic_score"], abs=1e-9)
        assert parts["rerank"] == pytest.approx(0.5 * hit["rerank_score"], abs=1e-9)
    assert all("rerank" in item["score"]["components"] for item in found["items"])
    ranking = found["metadata"]["ranking"]
    assert ranking["weights"] == {"base": 0.2, "semantic_boost": 0.3, "rerank": 0.5}
    assert ranking["reranker"]["model"] == f"local:{judge_folder}"


def test_explain_reproduces_retrieve_where_the_block_judges_more(shelf: Shelf, judge_folder: Path) -> None:
    """The block of ``context`` chooses among four times as many memories."""
    asked = with_settings_of(shelf, with_model(judge_folder, rerank_hits=1))
    hits = [(hit["memory_number"], hit["score"]) for hit in asked.retrieve(QUERY, max_results=1)["results"]]
    found = asked.explain(query=QUERY, limit=1, include_pack_context=True, max_results=1)
    assert [(item["id"], item["score"]["total"]) for item in found["items"]] == hits
    block = asked.context(QUERY, max_results=1)
    shown = [item["pack_context"]["included"] for item in found["items"]]
    assert shown == [item["id"] in {memory["memory_number"] for memory in block["memories"]} for item in found["items"]]


def test_an_explanation_without_a_query_asks_no_reranker(shelf: Shelf, server: RerankServer) -> None:
    found = with_settings_of(shelf, with_endpoint(server)).explain(ids=[1])
    assert server.requests == []
    assert '"rerank' not in json.dumps(found)


def test_a_block_is_ranked_with_the_reranker_too(shelf: Shelf, judge_folder: Path) -> None:
    asked = with_settings_of(shelf, with_model(judge_folder))
    block = asked.context(QUERY)
    scores = {hit["memory_number"]: hit["score"] for hit in asked.retrieve(QUERY, max_results=6)["results"]}
    assert block["memories"]
    assert all(memory["score"] == scores[memory["memory_number"]] for memory in block["memories"])
    assert block["ranking"]["reranker"]["model"] == f"local:{judge_folder}"


# --- failures ---


def without_the_warning(answer: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The answer without the reranker's warnings, and these."""
    about = answer.get("metadata", answer)
    ours = [warning for warning in about["warnings"] if warning.startswith("RERANK_UNAVAILABLE: ")]
    about["warnings"] = [warning for warning in about["warnings"] if warning not in ours]
    return answer, ours


@pytest.mark.parametrize("trouble", ["no folder", "no endpoint", "an error"])
def test_a_failing_reranker_costs_a_warning(shelf: Shelf, server: RerankServer, tmp_path: Path, trouble: str) -> None:
    """The answer is that of the first stage."""
    server.status = 500
    settings = {
        "no folder": with_model(tmp_path / "nothing"),
        "no endpoint": with_model(tmp_path, rerank_endpoint="http://127.0.0.1:1/"),
        "an error": with_endpoint(server),
    }[trouble]
    asked = with_settings_of(shelf, settings)
    for arguments in ({"max_results": 2}, {"legacy": "append"}, {"half_life_days": 3, "recency_floor": 0.0}):
        found, (warning,) = without_the_warning(asked.retrieve(QUERY, **arguments))
        assert found == shelf.retrieve(QUERY, **arguments)
        assert "The hits are ranked without it." in warning
    found, (_,) = without_the_warning(asked.context(QUERY))
    assert found == shelf.context(QUERY)
    question: dict[str, Any] = {"query": QUERY, "ids": [1, 6], "limit": 2, "include_pack_context": True}
    found, (_,) = without_the_warning(asked.explain(**question))
    assert found == shelf.explain(**question)


def test_an_explanation_is_never_of_two_kinds(shelf: Shelf, server: RerankServer) -> None:
    """The endpoint judges the hits, and fails for the memories that were requested by their ids."""

    def judge(asked: dict[str, Any]) -> Any:
        return words_in_common(asked) if len(server.requests) == 1 else {}

    server.answer = judge
    question: dict[str, Any] = {"query": QUERY, "ids": [1, 2, 3, 4, 6], "limit": 1}
    found, (_,) = without_the_warning(with_settings_of(shelf, with_endpoint(server)).explain(**question))
    assert len(server.requests) == 2
    assert found == shelf.explain(**question)


def test_a_store_without_memories_needs_no_reranker(tmp_path: Path, server: RerankServer) -> None:
    found = Shelf(tmp_path, settings=with_endpoint(server)).retrieve(QUERY)
    assert (found["results"], found["warnings"], server.requests) == ([], [], [])
    assert found["ranking"]["reranker"]["model"] == "endpoint:judge-1"


# --- the reader and its settings ---


def test_a_reader_is_of_its_reranker(shelf: Shelf, judge_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps it, and other settings mean another reader."""
    monkeypatch.setattr(query_client, "_kept", None)
    reader = query_client._reader(shelf.workspace, with_model(judge_folder))
    assert query_client._reader(shelf.workspace, with_model(judge_folder)) is reader
    for other in (EVERYTHING, with_model(judge_folder, rerank_hits=3), with_model(judge_folder, rerank_endpoint="x")):
        assert query_client._reader(shelf.workspace, other) is not reader
