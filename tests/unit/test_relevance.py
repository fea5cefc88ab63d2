"""That the right memory comes first, and none where none fits: with the real model, through the real retrieval."""

import json
import re
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_embedder import FakeEmbedder
from fake_graph import WithFakeGraph
from job_copies import done, outcome, task

from bridge.argument_table import ARGUMENTS, DEFAULT_PRESET
from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import Embedder, Vectors
from bridge.operations.ingest import prepare
from bridge.search.ranking import LEXICAL_WEIGHT, NAME_SHARE, least_best
from bridge.search.reader import Reader
from bridge.slices import Slices, ignore_progress
from bridge.store import database
from bridge.store.audit import open_audit
from bridge.store.full_text import table_in_force
from bridge.store.inspection import store_status
from bridge.store.store import Store
from bridge.text.terms import INDEX_FORMAT
from jobs import clock
from jobs.layout import Workspace

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
TODAY = "2026-11-20T12:00:00Z"
RELEVANCE_FLOOR = ARGUMENTS["relevance_floor"].default

Ask = Callable[..., list[dict[str, Any]]]
Payload = dict[str, Any]


def fill(root: Path, payloads: Sequence[Payload], embedder: Embedder) -> Workspace:
    workspace = Workspace(root)
    workspace.memory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(Store(workspace, embedder)) as store:
        tasks = [task("ingest", payload, f"job-{number}", at=TODAY) for number, payload in enumerate(payloads)]
        store.add([(prepare(each, store.workspace_id, TODAY).memory, each.job_id) for each in tasks], TODAY)
    return workspace


def asking(workspace: Workspace, embedder: Embedder) -> Ask:
    reader = Reader(workspace, EmbeddingConfig(cache_dir=workspace.root), lambda _: embedder)

    def ask(query: str, **arguments: Any) -> list[dict[str, Any]]:
        given = {"query": query, "as_of": TODAY, "max_results": 100, "max_tokens": 1_000_000}
        answer = reader.answer("retrieve", given | arguments, NOW)
        assert answer["success"], answer
        return answer["results"]

    return ask


def text(words: str) -> Payload:
    return {"summary_text": words}


UNLIKE = ("what colour does the badger lamp burn", "archive in Oban", "why did E1042 xyzzy come")


class WithoutMeaning(FakeEmbedder):
    """The questions have nothing in common with any text."""

    def _vector(self, text: str) -> Vectors:
        return np.eye(2, dtype=np.float32)[int(text in UNLIKE)]


FLAT = WithoutMeaning(2)


# --- exact words ---

LOG = "\n".join(f"step {number}: copied a part of the archive and compared it with the list" for number in range(400))
PROSE = (
    "We talked for an hour about how the worker decides what to do with a file that somebody drops. The part that"
    " reads it was split from the part that stores it, and the names were made shorter. {} was a part of it. After"
    " that we looked at the tests, which take too long on a slow machine, and at the page for operators."
)
IDENTIFIERS = (
    "parseJobFile", "max_job_bytes", "src/spool/intake.py", "E1042", "FW-UPD-207", "#123", "1.26.4", "--no-start",
    "os.path.join", "3e3331b", "状态机", "`tray-helper`",
)  # fmt: skip
# What means nearly the same in other words, or has the words apart.
PARAPHRASES = (
    "A job file is parsed: we parse each file of a job once and reject a job whose file cannot be parsed.",
    "How many bytes a job may have at most: the maximum is eight mebibytes, and larger jobs are refused.",
    "The intake lies in the sources beside the spool, in a Python file of its own.",
    "The error with the number one thousand and forty-two means that the disk was full.",
    "The firmware update failed with code two hundred and seven, and the updater tried again.",
    "The issue about lost jobs is the hundred and twenty-third; it took 123 minutes to fix.",
    "The release number one, twenty-six, four of the numeric library breaks the build; version 1 of 26 for 4 systems.",
    "The worker is not started when somebody says that there is to be no start of it.",
    "Joining a path of the operating system's modules: paths are joined with the path module.",
    "The commit that broke it was found by bisecting the history of commits.",
    "有限自动机的实现已经重写，转换表现在放在一个文件里。",
    "The helper in the tray shows a menu; helpers for the tray are started at login.",
)


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Ask:
    payloads = [text(PROSE.format(name.strip("`"))) for name in IDENTIFIERS] + [text(words) for words in PARAPHRASES]
    return asking(fill(tmp_path_factory.mktemp("exact"), payloads, embedder), embedder)


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_the_memory_that_has_the_identifier_comes_before_all_paraphrases(exact: Ask, name: str) -> None:
    for query in (name, f"what was decided about {name}?"):
        first, *others = exact(query)
        assert name.strip("`") in first["summary_text"]
        assert all(name.strip("`") not in other["summary_text"] for other in others)


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_an_identifier_at_the_end_of_a_long_log_is_no_less_a_hit(tmp_path: Path, embedder: Embedder, name: str) -> None:
    """No passage that is embedded holds it."""
    payloads = [text(f"{LOG}\nfailed: {name.strip('`')} ."), *(text(f"Note {n} on another thing.") for n in range(3))]
    hit, *_ = asking(fill(tmp_path, payloads, FakeEmbedder(64)), FakeEmbedder(64))(name)
    assert hit["semantic_score"] >= RELEVANCE_FLOOR
    assert hit["summary_text"].startswith("step 0")


def test_a_name_alone_is_enough_for_the_default_floor() -> None:
    assert LEXICAL_WEIGHT * NAME_SHARE >= RELEVANCE_FLOOR


def test_a_name_is_enough_among_so_many_memories_that_other_words_need_more(tmp_path: Path) -> None:
    payloads = [text(f"{LOG[:4_500]}\nfailed: E1042 ."), *(text(f"Note {n} on another thing.") for n in range(400))]
    hit, *_ = asking(fill(tmp_path, payloads, FLAT), FLAT)(UNLIKE[2])
    assert hit["summary_text"].startswith("step 0")
    assert hit["semantic_score"] < least_best(RELEVANCE_FLOOR, len(payloads), has_name=False)


def test_the_lexical_score_of_a_name_stays_a_share_and_keeps_the_order_of_bm25(tmp_path: Path) -> None:
    embedder = FakeEmbedder(64)
    payloads = [text(f"E1042 {'and other words of a log ' * size}") for size in (0, 1, 10, 100)]
    hits = asking(fill(tmp_path, [*payloads, *(text(f"note {n}") for n in range(9))], embedder), embedder)("E1042")
    scores = sorted((len(hit["summary_text"]), hit["lexical_score"]) for hit in hits)
    assert [score for _, score in scores] == sorted((score for _, score in scores), reverse=True)
    assert all(NAME_SHARE < score <= 1 for _, score in scores)


# --- long memories ---

OTHERS = [text(PROSE.format(name.strip("`"))) for name in IDENTIFIERS]


@pytest.mark.parametrize(("filler", "size"), [(LOG, 10_000), (PROSE, 40_000), (LOG, 900_000)])
def test_a_memory_of_any_length_is_found_by_the_words_of_its_end(tmp_path: Path, filler: str, size: int) -> None:
    """Words alone: no passage that is embedded holds them, and the vectors know no meaning."""
    body = (filler * (size // len(filler) + 1))[:size]
    alone, among = (
        asking(fill(tmp_path / name, [text(f"{body} The badger lamp burns blue."), *others], FLAT), FLAT)
        for name, others in (("alone", []), ("among", OTHERS))
    )
    for ask in (alone, among):
        hit, *_ = ask(UNLIKE[0])
        assert hit["summary_text"].endswith("The badger lamp burns blue.")
        assert 0.45 < hit["lexical_score"] < 0.65  # as of a text of one sentence


def test_the_index_of_a_long_memory_is_sound_and_goes_whole(tmp_path: Path) -> None:
    """For the quick and the close check, ``doctor`` and ``check``."""
    workspace = fill(tmp_path, [text(LOG), *OTHERS], FLAT)
    inspected = store_status(workspace, 10)
    assert (inspected.memories, inspected.words) == (1 + len(OTHERS), 1 + len(OTHERS))
    with open_audit(workspace) as audit:
        assert list(audit.memories(Slices(ignore_progress, "", 0), None)) == []
    with closing(Store(workspace, FLAT)) as store:
        assert store._words.is_sound(closely=True)
        assert store._words.is_sound(closely=False)
        with store.change(TODAY) as change:
            change.dropped += [memory.id for memory in store.after(0, 1)]
        table = table_in_force(store._connection)
        assert store._connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (len(OTHERS),)


def test_a_long_memory_makes_its_words_no_commoner_than_other_memories_do(tmp_path: Path) -> None:
    """A word in each window of a log is still a word of one memory."""
    ask = asking(fill(tmp_path, [text(LOG * 9), text("The archive is kept in Oban."), *OTHERS], FLAT), FLAT)
    first, second, *_ = ask(UNLIKE[1], relevance_floor=0.1)
    assert first["summary_text"] == "The archive is kept in Oban."
    assert second["summary_text"].startswith("step 0")


# --- a project of some weeks ---

# Questions of the demo, and the beginning of the decision that answers each.
ANSWERED = {
    "Why are people logged out when their laptop wakes up?": "Only the tray helper renews tokens",
    "May a feature change or delete a time entry in place?": "The append-only table event_log",
}


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> dict[str, Ask]:
    """The demo's project with its dates, before and after the compaction of the topic on sync."""
    script = json.loads(resources("worker").joinpath("data/demo.json").read_text("utf-8"))
    jobs = [dated(job["payload"], NOW - timedelta(days=job["days_ago"])) for job in script["jobs"]]
    folder = tmp_path_factory.mktemp("weeks")
    before = fill(folder / "before", jobs, embedder)
    after = Workspace(shutil.copytree(before.root, folder / "after"))
    payload = {"topic_id": script["compaction"]["topic_id"], "preview": False}
    with WithFakeGraph(after) as stores:
        stores._embedder = embedder
        done(outcome(stores, "compact", payload, at=TODAY, now=NOW))
    return {"before": asking(before, embedder), "after": asking(after, embedder)}


def dated(payload: Payload, at: datetime) -> Payload:
    (kind, content), field = *payload.items(), "created_at" if "summary" in payload else "timestamp"
    return {kind: content | {field: clock.iso(at)}}


@pytest.mark.parametrize("query", ANSWERED)
@pytest.mark.parametrize("when", ["before", "after"])
def test_what_was_decided_weeks_ago_comes_first_for_people(weeks: dict[str, Ask], when: str, query: str) -> None:
    found = weeks[when](query, preset=DEFAULT_PRESET)
    assert any(decision.startswith(ANSWERED[query]) for decision in found[0]["decisions"])


# --- nothing where nothing fits ---

OFF_SUBJECT = (
    "how do I bake sourdough bread", "kubernetes ingress TLS termination", "best restaurants in Lisbon",
    "what is the capital of Mongolia", "terraform state locking in S3", "write a haiku about autumn",
    "CSS grid center a div", "how tall is mount Everest", "asdfghjkl qwerty zxcvbn", "lorem ipsum dolor sit amet",
    "hello", "thanks, that's all for today", "what should I wear tomorrow", "convert miles to kilometers",
    "how to exit vim", "E4711 kernel panic on boot", "migrate from MySQL to PostgreSQL", "#99999",
    "horoscope for Gemini",
)  # fmt: skip
# Where the answer stands in other words, in the demo's project.
PARAPHRASED = {
    "my password prompt shows up each dawn": "Sign-in and sessions",
    "application takes ages to launch": "Local data model",
    "bill sum off by a penny": "Invoice documents",
    "how to stop a bad version from spreading": "Releases and updates",
    "wrong time on a computer": "Sync and conflicts",
}


@pytest.mark.parametrize("query", OFF_SUBJECT)
def test_a_question_of_another_subject_gets_nothing(weeks: dict[str, Ask], query: str) -> None:
    assert [hit["topic"] for hit in weeks["before"](query)] == []


@pytest.mark.parametrize(("query", "topic"), PARAPHRASED.items())
def test_a_paraphrase_is_above_the_floor_and_first(weeks: dict[str, Ask], query: str, topic: str) -> None:
    assert weeks["before"](query, recency_floor=1)[0]["topic"] == topic


# --- the index of a store of before ---


def test_an_index_of_an_older_form_is_made_anew_once_by_the_writer(tmp_path: Path) -> None:
    embedder = FakeEmbedder(64)
    workspace = fill(tmp_path, [text("It ends with E1042."), text("数据库已经迁移")], embedder)
    with closing(sqlite3.connect(workspace.memory_db)) as connection, connection:
        connection.execute("UPDATE words SET body = '数据库已经迁移' WHERE rowid = 2")  # as the first form had it
        connection.execute("DELETE FROM meta WHERE key = 'words_format'")
    ask = asking(workspace, embedder)
    assert [hit["summary_text"] for hit in ask("迁移", relevance_floor=0.1)] == []
    tables = []
    for _ in range(2):
        Store(workspace, embedder).close()
        with closing(sqlite3.connect(workspace.memory_db)) as connection:
            assert database.meta(connection, "words_format") == str(INDEX_FORMAT)
            tables.append(table_in_force(connection))
    assert [hit["summary_text"] for hit in ask("迁移")] == ["数据库已经迁移"]
    assert tables == ["words_2", "words_2"]


def test_an_index_of_version_0_4_0_is_made_anew_and_is_then_sound(tmp_path: Path) -> None:
    embedder = FakeEmbedder(64)
    workspace = fill(tmp_path, [text("Fixed by #41-")], embedder)
    with closing(sqlite3.connect(workspace.memory_db)) as connection, connection:
        connection.execute("UPDATE words SET body = 'fixed by #41-'")  # as format 3 had it
        database.set_meta(connection, "words_format", "3")
    Store(workspace, embedder).close()
    with open_audit(workspace) as audit:
        assert list(audit.memories(Slices(ignore_progress, "", 0), None)) == []
    assert [hit["summary_text"] for hit in asking(workspace, embedder)("#41")] == ["Fixed by #41-"]


def test_a_new_store_needs_no_second_index(tmp_path: Path) -> None:
    workspace = fill(tmp_path, [text("One thing."), text("Another.")], FakeEmbedder())
    Store(workspace, FakeEmbedder()).close()
    with closing(sqlite3.connect(workspace.memory_db)) as connection:
        assert table_in_force(connection) == "words"


# --- what the docs compute ---


def examples() -> Iterator[tuple[list[Payload], str, str]]:
    """Of each example of the page: the payloads, the question, and the text up to the next heading."""
    page = (ROOT / "docs" / "explain.md").read_text("utf-8")
    for section in re.split(r"^#+ ", page, flags=re.MULTILINE):
        commands = [shlex.split(line) for line in section.splitlines() if line.startswith("cognee-memory ")]
        payloads = [{"summary": json.loads(words[-1])} for words in commands if words[1] == "ingest"]
        queries = [words[2] for words in commands if words[1] == "retrieve"]
        if payloads and queries:
            yield payloads, queries[0], section


def test_the_scores_of_the_page_are_those_that_the_program_gives(tmp_path: Path, embedder: Embedder) -> None:
    """To six digits: the last ones of a cosine may differ with the processor."""
    checked = 0
    for number, (payloads, query, section) in enumerate(examples()):
        ask = asking(fill(tmp_path / str(number), payloads, embedder), embedder)
        shown = [float(value) for value in re.findall(r"\b0\.\d{10}\b", section)]
        for preset in ("contract", "long-lived"):
            for hit in ask(query, preset=preset):
                if hit["score"] > 0.1:
                    assert any(value == pytest.approx(hit["score"], rel=1e-6) for value in shown), hit["score"]
                assert any(value == pytest.approx(hit["semantic_score"], rel=1e-6) for value in shown)
                checked += 1
    assert checked == 2
