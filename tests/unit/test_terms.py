"""Words: of a text and of a question, those that a warm process keeps, misspelt ones, and words of courtesy."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_embedder import FakeEmbedder
from harness import sql
from hypothesis import example, given, strategies as st
from shelf import NOW, STORED, Shelf, summary

from benchmarks import judged
from bridge.embedding.config import EmbeddingConfig
from bridge.search.bounded_cache import BoundedCache
from bridge.search.lexical import Column, _summed
from bridge.search.question import parse_question
from bridge.search.reader import Reader
from bridge.settings import Settings
from bridge.store import migrations
from bridge.store.opening import reader_of
from bridge.store.store import Store
from bridge.store.values import StatusChange
from bridge.text.courtesy import without_courtesy
from bridge.text.query_words import QueryWords
from bridge.text.terms import INDEX_FORMAT, MAX_TERMS, Term, index_text, query_terms
from jobs import clock
from jobs.layout import Workspace


def asked(query: str) -> list[str]:
    return [term.match for term in query_terms(query)]


def names(query: str) -> list[str]:
    return [term.text for term in query_terms(query) if term.is_name]


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(migrations.WORDS.format(table="words"))
        yield connection


def counts(connection: sqlite3.Connection, text: str, terms: Iterable[Term]) -> list[int]:
    """How many texts have each term, where this is the only text."""
    connection.execute("DELETE FROM words")
    connection.execute("INSERT INTO words (topic, body) VALUES ('', ?)", (index_text(text),))
    asked = "SELECT count(*) FROM words WHERE words MATCH ?"
    return [connection.execute(asked, (term.match,)).fetchone()[0] for term in terms]


def found(connection: sqlite3.Connection, text: str, query: str, *, by_name: bool = False) -> bool:
    """Whether the query finds the text, or finds it by an identifier."""
    return any(counts(connection, text, [term for term in query_terms(query) if term.is_name or not by_name]))


QUERIES = [
    ("queue", ['"queue"']),
    ("Queue lock queue QUEUE", ['"queue"', '"lock"']),
    ("why does the queue wait", ['"queue"', '"wait"']),
    ("why doesn't Ann’s queue wait", ['"ann"', '"queue"', '"wait"']),
    ("parseJobFile", ['"parsejobfile"', '"parse job file"', '"parse"', '"job"', '"file"']),
    ("max_job_bytes", ['"max job bytes"', '"max"', '"job"', '"bytes"']),
    ("app/main.py:42:7", ['"app main py"', '"main py"', '"app"', '"main"', '"py"']),
    ("E1042", ['"e1042"', '"1042"']),
    ("HTTPServer2", ['"httpserver2"', '"http"', '"server"', '"2"']),
    ("FW-UPD-207", ['"fw upd 207"', '"fw"', '"upd"', '"207"']),
    ("v1.26.4", ['"1 26 4"', '"1 26"']),
    ("#123", ['"hash123"', '"123"']),
    ("--no-start", ['"dashnostart"', '"no start"', '"start"']),
    ("C++ or .env", ['"cplusplus"', '"dotenv"', '"env"']),
    ("3e3331b", ['"3e3331b" *']),
    ("3e3331bed", ['("3e3331bed" * OR "3e3331b" OR "3e3331be")']),
    ("café Größe", ['"café"', '"groesse"']),
    ("状态机", ['"状 态 机"', '"状 态"', '"态 机"']),
    ("令牌多久过期吗", ['"令 牌"', '"过 期"']),
    ("什么", ['"什 么"']),
    ("ログは何日で削除されますか", ['"ロ グ"', '"日 で"', '"削 除"', '"除 さ"']),
    ("ですます", ['"で す ま す"', '"で す"', '"す ま"', '"ま す"']),
    ("เมื่อไร", ['"เ ม"', '"ม อ"', '"อ ไ"', '"ไ ร"']),
    ("Welche Schlüssel verschlüsseln die Notizbücher?", ['"schluessel" *', '"verschluessel" *', '"notizbuech" *']),
    ("Was ist die UserId von ann?", ['"userid"', '"user id"', '"user"', '"id"', '"ann"']),
    ("Quelles clés chiffrent les carnets ?", ['"clés"', '"chiffr" *', '"carnet" *']),
    ("who is it", ['"who"', '"is"', '"it"']),
    ("don't", ['"don"', '"t"']),
    ("is_not_there queue", ['"is not there"', '"queue"']),
    ("may the die roll des or la", ['"may"', '"die"', '"roll"', '"des"', '"la"']),
    ("???", []),
    ("", []),
]


@pytest.mark.parametrize(("query", "terms"), QUERIES)
def test_a_query_asks_for_whole_identifiers_and_for_their_parts(query: str, terms: list[str]) -> None:
    assert asked(query) == terms


NAMES_IN_QUERIES = [
    ("why did we raise max_job_bytes", ["max_job_bytes"]),
    ("does parse_job fail in src/parse.py?", ["parse_job", "src/parse.py", "parse.py"]),
    ("what does FW-UPD-207 mean", ["FW-UPD-207"]),
    ("is issue 41 done", ["#41"]),
    ("who merged feature/sync-beta?", ["feature/sync-beta"]),
    ("read/write of a well-known 5k file, e.g. on 8/5/2023 at 3 p.m.", []),
    ("what of the `tray-helper`", ["tray-helper"]),
    ("what of the tray-helper", []),
    ("tray-helper", ["tray-helper"]),
    ("uploader", ["uploader"]),
    ("when to flush, that is, call `flush`", ["flush"]),
    ("状态机", ["状态机"]),
    ("状态机怎么工作", []),
    ("why is `状态机` slow", ["状态机"]),
]


@pytest.mark.parametrize(("query", "expected"), NAMES_IN_QUERIES)
def test_a_name_is_what_looks_like_an_identifier_or_is_marked_as_one(query: str, expected: list[str]) -> None:
    assert names(query) == expected


# Text, query, whether it must be found by an identifier.
NAMED = [
    # identifiers, whole
    ("We renamed parseJobFile last week.", "parseJobFile"),
    ("We renamed parseJobFile last week.", "what became of parseJobFile()?"),
    ("The limit max_job_bytes is 8 MiB.", "max_job_bytes"),
    ("The limit MAX_JOB_BYTES is 8 MiB.", "max_job_bytes"),
    ("The option `release-notes-bot` is off.", "release-notes-bot"),
    ("std::vector grows by half.", "std::vector"),
    ("It is in os.path.join.", "os.path.join"),
    ("Key a.b.c is gone.", "`a.b.c`"),
    ("Set HUEY_IMMEDIATE=1 in tests.", "HUEY_IMMEDIATE"),
    # another style of the same name
    ("We renamed parseJobFile last week.", "parse_job_file"),
    ("We renamed parse_job_file last week.", "parseJobFile"),
    ("The class XMLHttpRequest is old.", "xml_http_request"),
    # a part of a name
    ("We call setRetryPolicy twice.", "retryPolicy"),
    ("The limit max_job_bytes is 8 MiB.", "job_bytes"),
    ("See bridge/retrieve.py for it.", "retrieve.py"),
    # paths
    ("See bridge/retrieve.py for it.", "bridge/retrieve.py"),
    ("See bridge/retrieve.py for it.", "/home/ann/project/bridge/retrieve.py"),
    ("See bridge/retrieve.py:120 for it.", "bridge/retrieve.py"),
    ("See bridge/retrieve.py for it.", "bridge/retrieve.py:120:7"),
    (r"It lies in C:\Users\ann\job.json.", r"C:\Users\ann\job.json"),
    ("The workflow .github/workflows/ci.yml", ".github/workflows/ci.yml"),
    ("Branch feature/sync-v2 is merged.", "feature/sync-v2"),
    # issues
    ("Fixed by #123.", "#123"),
    ("Fixed by #123.", "issue 123"),
    ("Fixed by PR 123.", "#123"),
    ("Fixed by GH-123.", "#123"),
    ("See https://example.com/a/b/issues/123", "#123"),
    ("See owner/repo#123", "#123"),
    ("Ticket ABC-12 is open.", "ABC-12"),
    # error codes and versions
    ("It ends with E1042.", "E1042"),
    ("It ends with FW-UPD-207.", "FW-UPD-207"),
    ("numpy 1.26.4 breaks it", "1.26.4"),
    ("numpy v1.26.4 breaks it", "1.26.4"),
    ("numpy 1.26.4rc1 breaks it", "v1.26.4"),
    ("numpy 1.26.4 breaks it", "1.26"),
    ("utf8 is the default", "utf8"),
    # flags and signs
    ("Run it with --no-start.", "--no-start"),
    ("Run it with `--force`!", "--force"),
    ("Run it with --max_results=5.", "--max_results"),
    ("Run it with -x.", "-x"),
    ("It is written in C++.", "C++"),
    ("It is written in C# now.", "C#"),
    ("Keys stay in .env, always.", ".env"),
    ("Types come from @types.", "@types"),
    ("It reads $HOME first.", "$HOME"),
    ("The theme is set in .vscode/settings.json.", ".vscode"),
    ("Types come from @types/node.", "@types"),
    ("It reads $HOME/.cache/models first.", "$HOME"),
    (r"Keys stay in deploy\.env, always.", ".env"),
    # hashes
    ("Broken since 3e3331bed0aa4b3c8b9d8f1f9b3e2a10deadbeef.", "3e3331b"),
    ("Broken since 3e3331b.", "3e3331bed0aa4b3c8b9d8f1f9b3e2a10deadbeef"),
    ("Broken since 3E3331BED.", "3e3331bed"),
    ("Memory 3e3e4f26-7c02-4b3c-8b9d-8f1f9b3e2a10", "3e3e4f26-7c02-4b3c-8b9d-8f1f9b3e2a10"),
    ("Memory 3e3e4f26-7c02-4b3c-8b9d-8f1f9b3e2a10", "3e3e4f26"),
]
# Text, query: found by some of its words.
FOUND = [
    ("We renamed parseJobFile last week.", "job file"),
    ("We renamed parseJobFile last week.", "parse"),
    ("The limit max_job_bytes is 8 MiB.", "how many bytes"),
    ("It ends with E1042.", "1042"),
    ("It ends with FW-UPD-207.", "UPD 207"),
    ("Caroline's dog ran", "Caroline"),
    ("the dog of Caroline", "Caroline's"),
    ("Die Größe der Datei", "Größe"),
    ("Die Größe der Datei", "groesse"),
    ("Die Größe der Datei", "grösse"),
    ("Die Größe der Datei", "GRÖSSE"),
    ("Die Groesse der Datei", "Größe"),
    ("In der Straße", "strasse"),
    ("Über alles", "uber"),
    ("résumé", "re\N{COMBINING ACUTE ACCENT}sume\N{COMBINING ACUTE ACCENT}"),
    ("re\N{COMBINING ACUTE ACCENT}sume\N{COMBINING ACUTE ACCENT}", "resume"),
    ("\N{FULLWIDTH LATIN CAPITAL LETTER A}PI key", "api"),
    ("ΟΔΟΣ", "οδος"),
    ("Η βάση δεδομένων", "ΒΑΣΗ"),
    ("Η ΒΑΣΗ ΔΕΔΟΜΕΝΩΝ", "βάση"),
    ("Счёт закрыт", "счет"),
    ("Счет закрыт", "счёт"),
    ("Сервер отвечает медленно", "сервер"),
    ("नमस्ते दुनिया", "नमस्ते"),
    ("我们重写了状态机的实现。", "状态机"),
    ("我们重写了状态机的实现。", "状态"),
    ("我们重写了状态机的实现。", "机"),
    ("我们重写了状态机的实现。", "状态机为什么要重写"),
    ("使用Redis缓存会话", "redis"),
    ("使用Redis缓存会话", "缓存"),
    ("データベースの移行", "ベース"),
    ("ﾃﾞｰﾀﾍﾞｰｽの移行", "データベース"),
    ("데이터베이스를 옮겼다", "데이터베이스"),
    ("데이터베이스를 옮겼다", "베이스"),
]
# Text, query: not found at all.
MISSED = [
    ("We renamed parseJobFile last week.", "par"),
    ("It ends with E1042.", "E104"),
    ("It ends with E1042.", "042"),
    ("numpy 11.26.4 breaks it", "1.26.4"),
    ("it took 1 of 26 for 4", "1.26.4"),
    ("Broken since 3e3331b.", "3e3331c"),
    ("我们重写了状态机的实现。", "机状"),
    ("мой", "мои"),
    ("我们重写了状态机的实现。", "数据库"),
]
# Text, query: perhaps found by a word, but not as the identifier.
NOT_NAMED = [
    ("It took 123 ms.", "#123"),
    ("Fixed by #1234.", "#123"),
    ("Use force and start again.", "--force"),
    ("The environment, env for short.", ".env"),
    ("Plan C: write it anew.", "C++"),
    ("bytes of a job, at most", "max_job_bytes"),
    ("a file that jobs parse", "parseJobFile"),
    ("207 FW of the UPD", "FW-UPD-207"),
    ("There is no start without it.", "--no-start"),
    ("main loop of the app", "src/app/main.py"),
]


@pytest.mark.parametrize(("text", "query"), NAMED)
def test_an_identifier_is_found_by_name(index: sqlite3.Connection, text: str, query: str) -> None:
    assert found(index, text, query, by_name=True)


@pytest.mark.parametrize(("text", "query"), FOUND)
def test_a_text_is_found_by_a_part_and_in_any_spelling(index: sqlite3.Connection, text: str, query: str) -> None:
    assert found(index, text, query)


@pytest.mark.parametrize(("text", "query"), MISSED)
def test_what_only_looks_alike_is_not_found(index: sqlite3.Connection, text: str, query: str) -> None:
    assert not found(index, text, query)


@pytest.mark.parametrize(("text", "query"), NOT_NAMED)
def test_words_of_an_identifier_are_not_the_identifier(index: sqlite3.Connection, text: str, query: str) -> None:
    assert query_terms(query)[0].is_name
    assert not found(index, text, query, by_name=True)


def test_a_term_is_shown_as_it_was_asked_for() -> None:
    assert [term.text for term in query_terms("Why FW-UPD-207, C++ or 状态?")] == [
        "FW-UPD-207", "fw", "upd", "207", "C++", "状态",
    ]  # fmt: skip


def test_what_is_indexed_holds_the_text_and_the_other_spellings() -> None:
    assert index_text("call parseJobFile now") == "call parsejobfile now\nparse job file"
    assert index_text("nothing special") == "nothing special"


def test_a_pasted_log_asks_for_a_bounded_number_of_terms_and_for_its_identifiers_first() -> None:
    terms = query_terms(" ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(500)) + " E1042")
    assert len(terms) == MAX_TERMS
    assert "E1042" in [term.text for term in terms]


@given(st.text())
def test_no_query_whatever_is_a_syntax_error_for_the_full_text_index(index: sqlite3.Connection, query: str) -> None:
    """Users paste code, quotes, emoji and operators."""
    found(index, "A text.", query)


@given(st.from_regex(r"[a-z]{2,8}([A-Z][a-z]{2,8}){1,3}", fullmatch=True))
def test_each_part_of_a_camel_case_name_finds_the_text_that_holds_it(index: sqlite3.Connection, name: str) -> None:
    assert counts(index, f"see {name} there", query_terms(name)) == [1] * len(query_terms(name))


@given(st.text(alphabet="ab1_-./#状态äß ", min_size=1))
@example(".a-")
def test_a_text_is_found_by_itself(index: sqlite3.Connection, text: str) -> None:
    assert found(index, text, text) or not query_terms(text)


# Fixed texts with one case at least of each rule of ``index_text``. A new rule adds a text, and changes the digest.
INDEXED = (
    "We renamed parseJobFile and XMLHttpRequest to max_job_bytes; E1042 and HTTPServer2 stay.",
    "See src/app/main.py:42:7, C:\\Users\\ann\\job.json and .github/workflows/ci.yml.",
    "Fixed by #41, #42- and PR 123; GH-7 and owner/repo#9 are open.",
    "C++, C#, C#/ and F#: with .env, .env/, --no-start, -v, @ann and $HOME.",
    "Größe, GROESSE, café, Ärger, Ωμέγα and Ёлка.",
    "状态机怎么工作 and データベース移行.",
    "โทเค็นหมดอายุ and ຂໍ້ມູນ.",
    "Commit 3e3331bed, id 123e4567-e89b-12d3-a456-426614174000, version v1.26.4.",
    "ﬁle ① ｆｕｌｌ, Ann’s “quoted” word; read/write of a well-known 5k file.",
)
# Format -> digest of what ``index_text`` gives for them.
DIGESTS = {6: "2ed070a48eda90ee108fe11b7d59b41f64c7328b8fe748ae7df0d661b74e020f"}


def test_another_output_of_the_index_has_another_format() -> None:
    output = "\0".join(index_text(text) for text in INDEXED)
    assert DIGESTS.get(INDEX_FORMAT) == sha256(output.encode()).hexdigest(), "raise INDEX_FORMAT, and add its digest"


# --- query words ---


OTHER_INFLECTIONS = [
    ("who may renew a token", "Only the tray helper renews tokens.", ["renews", "tokens"]),
    ("why are people logged out", "The app logs everybody out.", ["logs"]),
    ("running the policies", "A run keeps each policy.", ["run", "policy"]),
    ("What does FW-UPD-207 mean?", "FW-UPD-207 says so.", ["FW", "UPD", "207"]),
    ("发票号会重复吗", "规则: 发票号每年重新开始", ["发票号"]),
    ("Größe", "Die GRÖSSE, die Größe", ["GRÖSSE", "Größe"]),
    ("to be or not to be", "to be", ["to", "be"]),
    ("?!", "what?!", []),
]  # fmt: skip


@pytest.mark.parametrize(("query", "text", "found"), OTHER_INFLECTIONS)
def test_the_words_of_a_query_are_found_in_other_forms(query: str, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in QueryWords(query).spans(text)] == found


def test_the_share_counts_each_word_of_the_query_once() -> None:
    words = QueryWords("who may renew a token")
    assert words.share_in("Nothing.") == 0.0
    assert words.share_in("tokens, tokens, tokens") == pytest.approx(1 / 2)
    assert words.share_in("Renewing a token.") == 1.0
    assert QueryWords("发票号").share_in("发票号每年") == 1.0
    assert QueryWords("?!").share_in("what?!") == 0.0


@given(st.text(max_size=40), st.text(max_size=80))
def test_the_spans_are_in_order_and_inside_the_text(query: str, text: str) -> None:
    spans = QueryWords(query).spans(text)
    ends = [0, *(at for span in spans for at in span), len(text)]
    assert ends == sorted(ends)
    assert all(start < end for start, end in spans)
    assert 0.0 <= QueryWords(query).share_in(text) <= 1.0


# --- known words ---


def add(workspace: Workspace, texts: Iterable[str], first: int = 0) -> None:
    """Memories m0, m1 … of these texts."""
    Shelf(workspace.root).add(*(summary(f"m{n}", text, topic=f"Topic {n}") for n, text in enumerate(texts, first)))


def reader(workspace: Workspace) -> Reader:
    embedder = FakeEmbedder(dimensions=64)
    return Reader(workspace, EmbeddingConfig(cache_dir=Path()), lambda _: embedder)


def ask(reader: Reader, query: str) -> dict[str, Any]:
    return dict(reader.answer("retrieve", {"query": query, "relevance_floor": 0.0, "max_tokens": 9000}, NOW))


TEXTS = ["The token is renewed twice.", "A renewed lease, abc1234def.", "Nobody renews tokens; max_job_bytes holds."]


def test_bm25_of_single_phrases_adds_up_to_that_of_the_whole_query_bit_for_bit(workspace: Workspace) -> None:
    add(workspace, [*TEXTS, *["Nothing."] * 9])
    snapshot = reader_of(workspace).snapshot()
    with closing(snapshot):
        for query in ("renewed token", "abc1234def89 lease renewed", "max_job_bytes renews tokens twice"):
            terms = query_terms(query)
            phrases = [phrase for term in terms for phrase in term.phrases]
            parts = [np.array(snapshot.bm25([phrase], (1.0, 1.0))).reshape(-1, 2) for phrase in phrases]
            summed = _summed([Column(part[:, 0].astype(np.int64), part[:, 1]) for part in parts])
            assert list(zip(*(column.tolist() for column in summed), strict=True)) == snapshot.bm25(terms, (1.0, 1.0))


def test_sums_are_the_same_where_numbers_have_large_gaps() -> None:
    near = [Column(np.array([3, 5]), np.array([0.1, 0.2])), Column(np.array([5, 9]), np.array([0.7, 0.4]))]
    far = [Column(column.windows**9, column.bm25) for column in near]
    assert _summed(far).windows.tolist() == [3**9, 5**9, 9**9]
    assert _summed(far).bm25.tolist() == _summed(near).bm25.tolist() == [0.1, 0.2 + 0.7, 0.4]


def test_an_answer_follows_additions_and_changes_of_status(workspace: Workspace) -> None:
    add(workspace, TEXTS)
    warm = reader(workspace)
    assert ask(warm, "renewed token") == ask(reader(workspace), "renewed token")
    add(workspace, ["The token is renewed three times."], 7)
    assert ask(warm, "renewed token") == ask(reader(workspace), "renewed token")
    assert ask(warm, "renewed token")["result_count"] == 4
    store = Store(workspace, FakeEmbedder(dimensions=64))
    with store.change(STORED) as change:
        change.statuses.append(StatusChange("m0", "Superseded", STORED))
    store.close()
    assert ask(warm, "renewed token") == ask(reader(workspace), "renewed token")
    assert "m0" not in [hit["memory_id"] for hit in ask(warm, "renewed token")["results"]]


def test_answers_about_a_long_memory_are_the_same_warm_cold_and_after_a_rebuild(workspace: Workspace) -> None:
    add(workspace, TEXTS)
    warm = reader(workspace)
    ask(warm, "renewed token")
    long = " ".join(f"Step {number} renewed nothing." for number in range(900))
    add(workspace, [f"{long} The badger renewed a token. {long}", "Another token."], 7)
    before = ask(warm, "badger token")
    assert before == ask(reader(workspace), "badger token")
    assert before["results"][0]["memory_id"] == "m7"
    with closing(Store(workspace, FakeEmbedder(dimensions=64))) as store:
        store.rebuild_words()
    assert ask(warm, "badger token") == ask(reader(workspace), "badger token") == before


def test_a_cache_drops_the_least_recently_used_and_keeps_nothing_too_large() -> None:
    cache = BoundedCache[str, int](100)
    for place, name in enumerate("abc"):
        cache.put(name, place, 40)
        assert cache.get("a") is not None
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (0, None, 2)
    cache.put("a", 5, 101)
    assert (cache.get("a"), cache.bytes) == (None, 40)


# --- spelling ---


MISSPELT = {
    "forecast": "The forecast counts holidays as Sundays, and says so.",
    "labels": "Labels are printed in the shop. The layer above them is foil.",
    "database": "The database is backed up by src/backup/nightly.py every night.",
    "provider": "Payments go through one provider; confirmation takes a minute.",
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Shelf:
    embedder = judged.embedder(EmbeddingConfig(cache_dir=model_cache))
    found = Shelf(tmp_path_factory.mktemp("spelling"), embedder, Settings())
    return found.add(*(summary(name, text) for name, text in MISSPELT.items()))


def answer(shelf: Shelf, verb: Any = "retrieve", **arguments: Any) -> dict[str, Any]:
    found = shelf._ask(verb, **arguments)
    assert found["success"], found
    return found


def searched_for(shelf: Shelf, query: str) -> str | None:
    return answer(shelf, query=query)["ranking"].get("searched_for")


MISSPELT_QUERIES = [
    ("forcast of holidys", "forecast of holidays"),  # a missing letter each
    ("Forecaast?", "forecast?"),  # one too much
    ("how are lables printed", "how are labels printed"),  # two in the wrong order
    ("which databese", "which database"),  # a wrong one
    ("comfirmaton of payments", "confirmation of payments"),  # two errors in a long word
    ("the providr's fee", "the provider's fee"),
]


@pytest.mark.parametrize(("query", "searched"), MISSPELT_QUERIES)
def test_a_misspelt_word_is_searched_for_as_the_memories_have_it(shelf: Shelf, query: str, searched: str) -> None:
    assert searched_for(shelf, query) == searched


NOT_MISSPELT = [
    "forecasting a holiday",  # other forms are found as they are
    "which lawyer wrote the contract",  # a word of English, though “layer” is near
    "furicost",  # three errors
    "prvdier",  # two errors in a short word
    "`forcast`",
    "src/bakcup/nightli.py",
    "forcast_holidys",
    "forcasT42",
]


@pytest.mark.parametrize("query", NOT_MISSPELT)
def test_other_words_are_searched_for_as_they_are(shelf: Shelf, query: str) -> None:
    assert searched_for(shelf, query) is None


def test_the_answer_is_that_to_the_right_spelling_digit_for_digit_on_every_way(shelf: Shelf) -> None:
    right, wrong = (answer(shelf, query=query) for query in ("forecast of holidays", "forcast of holidys"))
    assert right["results"] == wrong["results"] != []
    warning = "searched for forecast, holidays: no memory has forcast, holidys"
    assert wrong["warnings"] == [*right["warnings"], warning]
    explained = answer(shelf, "explain", query="forcast of holidys", ids=[1, 2, 3, 4])
    totals = {item["id"]: item["score"]["total"] for item in explained["items"]}
    assert all(totals[hit["memory_number"]] == hit["score"] for hit in wrong["results"])
    assert totals == {
        item["id"]: item["score"]["total"]
        for item in answer(shelf, "explain", query="forecast of holidays", ids=[1, 2, 3, 4])["items"]
    }
    assert explained["items"][0]["matches"]["query_terms"] == ["forecast", "holidays"]
    context = answer(shelf, "context", query="forcast of holidys")
    assert context["context"] == answer(shelf, "context", query="forecast of holidays")["context"]
    for metadata in (explained["metadata"], context):
        assert warning in metadata["warnings"]
        assert metadata["ranking"]["searched_for"] == "forecast of holidays"


class Quarters(FakeEmbedder):
    """Counts a token for each four letters."""

    def count_tokens(self, text: str) -> int:
        return -(-len(text) // 4)


def test_without_the_index_of_words_nothing_is_replaced(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, Quarters()).add(summary("forecast", MISSPELT["forecast"]))
    sql(shelf.workspace.memory_db, "DROP TABLE words")
    found = answer(shelf, query="forcast")
    assert "searched_for" not in found["ranking"]
    assert found["warnings"][0].startswith("The full-text index is damaged or missing")


# --- courtesy ---


COURTESY = [
    ("could you please tell me which database we chose, thank you", "which database we chose"),
    ("Hi there! Can you remind me why the cache is per process? Thanks a lot.", "why the cache is per process"),
    ("I'd like to know what renews the token", "what renews the token"),
    ("I was wondering, please help me understand the retry rule", "the retry rule"),
    ("do you remember why we left MongoDB?", "why we left MongoDB?"),
    ("tell me about the retry policy; please", "about the retry policy"),
]


@pytest.mark.parametrize(("query", "rest"), COURTESY)
def test_courtesy_is_left_out(query: str, rest: str) -> None:
    assert without_courtesy(query) == rest


LOOKED_FOR = [
    "which database did we choose?",
    "Do we retry a failed upload?",
    "Can you sign in without a network?",
    "the thank you page",
    "can you tell me",
    "please",
    "tell me why",
    "Good names for modules",
    "I need to rename max_job_bytes",
    "   ",
    "warum nehmen wir bitte SQLite",
]


@pytest.mark.parametrize("query", LOOKED_FOR)
def test_what_is_looked_for_is_kept(query: str) -> None:
    assert without_courtesy(query) == query


def test_a_question_keeps_what_was_asked() -> None:
    question = parse_question({"query": "Could you tell me which database we chose?"}, clock.now())
    assert question.query == "which database we chose?"
    assert question.asked == "Could you tell me which database we chose?"
