"""The rerankers: a real cross-encoder in ONNX, and a real server on this machine."""

from __future__ import annotations

import math
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cross_encoder
import numpy as np
import pytest
from rerank_server import RerankServer

from bridge.reranking.config import RerankConfig
from bridge.reranking.factory import create
from bridge.reranking.http_reranker import REST_SECONDS, TEXT_CHARACTERS, HttpReranker
from bridge.reranking.local_reranker import LocalReranker
from bridge.reranking.reranker import RerankError, probabilities

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


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_remove("model.onnx"), "There is no model.onnx"),
        (_remove("tokenizer.json"), "There is no tokenizer.json"),
        (_spoil("model.onnx"), "cannot be loaded"),
        (_spoil("tokenizer.json"), "cannot be read"),
        (lambda folder: cross_encoder.make(folder, TEXTS, outputs=3), "gave 3 numbers for a pair"),
        (lambda folder: cross_encoder.make(folder, TEXTS, steep=math.nan), "gave no finite number"),
    ],
)
def test_what_is_wrong_with_a_folder_is_said_with_the_remedy(
    folder: Path, damage: Callable[[Path], Any], message: str
) -> None:
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
    server = RerankServer()
    yield server
    server.close()


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


@pytest.mark.parametrize(
    "answer",
    [
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
    ],
)
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
