"""What people see: plain in a pipe, fitted to a terminal, and never a control sequence that is not ours."""

import io
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from harness import Terminal
from rich.cells import cell_len

from worker.cli import parser
from worker.terminal import hits, memories, output as terminal, worker
from worker.terminal.job_table import shown_ids
from worker.terminal.job_views import show_result

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def on_screen(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Print on a terminal that is so wide; what it was sent."""

    def shown(print_it: Callable[[], None], width: int = 80, **environment: str) -> str:
        screen = Terminal()
        monkeypatch.setattr("sys.stdout", screen)
        for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm-256color", "COLUMNS": str(width), **environment}.items():
            monkeypatch.setenv(name, value)
        print_it()
        return screen.getvalue()

    return shown


def rows() -> None:
    terminal.table(
        ("job", "kind", "state", "age", "why"),
        [("job-1", "compact", "failed", "2 min", "There is no topic of that name in this workspace."),
         ("job-2", "ingest", "succeeded", "1 h", "")],
        right=("age",), wraps=("why",), optional_columns=("age", "kind"),
    )  # fmt: skip


def test_a_pipe_gets_a_line_for_each_row_and_no_codes(capsys: pytest.CaptureFixture[str]) -> None:
    rows()
    terminal.say("state ", terminal.state("failed"))
    terminal.facts([("state", [terminal.state("failed"), ", now"]), ("empty", ""), ("long name", "x")])
    assert capsys.readouterr().out.splitlines() == [
        "job    kind     state        age  why",
        "job-1  compact  failed     2 min  There is no topic of that name in this workspace.",
        "job-2  ingest   succeeded    1 h",
        "state failed",
        "state      failed, now",
        "long name  x",
    ]


def test_a_terminal_gets_colours_beside_the_words(on_screen: Callable[..., str]) -> None:
    shown = on_screen(rows, 100)
    assert CODE.search(shown)
    assert {"failed", "succeeded", "2 min"} <= set(re.split(r"\s{2,}|\n", CODE.sub("", shown)))


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_are_left_out_where_not_wanted(on_screen: Callable[..., str], environment: dict[str, str]) -> None:
    def all_of_it() -> None:
        rows()
        terminal.say(terminal.state("failed"), ("next", "bold"))
        terminal.facts([("why", "because")])
        hits.hits(found("Loans"), NOW, "loan")

    shown = on_screen(all_of_it, **environment)
    assert not CODE.search(shown)
    assert "failed" in shown


# --- hits ---


def found(*topics: str, status_multiplier: float = 1.0, text: str = "A loan lasts 14 days.") -> dict[str, Any]:
    hits = [
        {"memory_number": 60 + at, "score": 0.5, "semantic_score": 0.5, "recency_multiplier": 1.0, "topic": topic,
         "status_multiplier": status_multiplier, "status": "Active" if status_multiplier == 1 else "Superseded",
         "source_created_at": None, "created_at": "2026-11-18T12:00:00Z", "best_passages": [text],
         "summary_text": f"<!-- Template: v1.0 -->\n# {topic}\n\n**Metadata:**\n- Plan ID: N/A\n\n## Context\nWhy.\n"}
        for at, topic in enumerate(topics)
    ]  # fmt: skip
    return {"results": hits}


def test_a_hit_shows_its_number_and_what_it_says_or_its_whole_text(capsys: pytest.CaptureFixture[str]) -> None:
    hits.hits(found("Loans", "Fees"), NOW, "how long is a loan")
    assert capsys.readouterr().out.splitlines() == [
        "memory  score  relevance  recency  status ×  topic  status  age",
        "   #60  0.500      0.500    1.000       1.0  Loans  Active  2 d",
        "    A loan lasts 14 days.",
        "   #61  0.500      0.500    1.000       1.0  Fees   Active  2 d",
        "    A loan lasts 14 days.",
    ]
    hits.hits(found("Loans"), NOW, "loan", whole=True)
    whole = capsys.readouterr().out.splitlines()[2:]
    assert whole == ["    # Loans", "", "    **Metadata:**", "", "    ## Context", "    Why.", ""]


def test_the_words_of_the_question_are_bold_on_a_terminal(on_screen: Callable[..., str]) -> None:
    shown = on_screen(lambda: hits.hits(found("Loans"), NOW, "how many loans a day"))
    assert "    A \x1b[1mloan\x1b[0m lasts 14 \x1b[1mdays\x1b[0m." in shown


def heads(shown: str) -> list[str]:
    return re.split(r"\s{2,}", CODE.sub("", shown).split("\n")[0].strip())


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
@pytest.mark.parametrize("topic", ["Loans", "Ein langer Titel über die Ausleihe von Romanen", "发票规则" * 10])
def test_a_narrow_terminal_keeps_the_hits_relevance(on_screen: Callable[..., str], width: int, topic: str) -> None:
    shown = on_screen(lambda: hits.hits(found(topic, text="发票号 is long. " * 20), NOW, "loan"), width)
    assert {"memory", "score", "relevance", "topic"} <= set(heads(shown))
    assert max(map(cell_len, CODE.sub("", shown).splitlines())) <= width
    assert width < 80 or {"recency", "age"} <= set(heads(shown))


def test_the_status_of_hits_gives_way_only_if_it_says_nothing(on_screen: Callable[..., str]) -> None:
    topic = "Ein langer Titel über die Ausleihe"
    assert not {"status ×", "status"} & set(heads(on_screen(lambda: hits.hits(found(topic), NOW, "loan"), 60)))
    old = found(topic, status_multiplier=0.4)
    assert "status" in heads(on_screen(lambda: hits.hits(old, NOW, "loan"), 60))


def explained(multiplier: float) -> dict[str, Any]:
    parts = {"base": 0.1, "semantic_boost": 0.4, "recency": 0.9, "kind_bonus": multiplier - 1}
    item = {"id": 60, "kind": "summary", "title": "Loan periods of novels and other books", "retrieval": {"rank": 1},
            "score": {"total": 0.45, "components": parts},
            "matches": {"query_terms": ["long", "keep", "novel", "library", "reader"]}}  # fmt: skip
    return {"items": [item], "errors": [], "metadata": {"warnings": []}}


@pytest.mark.parametrize("width", [80, 100, 160])
def test_an_explanation_keeps_the_parts_that_differ(on_screen: Callable[..., str], width: int) -> None:
    shown = heads(on_screen(lambda: hits.explain(explained(1.0)), width))
    assert {"memory", "score", "words", "meaning", "recency", "title", "terms"} <= set(shown)
    assert width > 80 or not {"kind", "status ×"} & set(shown)
    assert "status ×" in heads(on_screen(lambda: hits.explain(explained(0.4)), width))


@pytest.mark.parametrize("width", [80, 160])
def test_an_explanation_has_the_rerankers_part_if_there_is_one(on_screen: Callable[..., str], width: int) -> None:
    answer = explained(1.0)
    assert "reranker" not in heads(on_screen(lambda: hits.explain(answer), width))
    answer["metadata"]["ranking"] = {"reranker": {"model": "local:/m", "hits": 20}}
    answer["items"][0]["score"]["components"]["rerank"] = 0.321
    shown = on_screen(lambda: hits.explain(answer), width)
    assert {"words", "meaning", "reranker"} <= set(heads(shown))
    assert "0.321" in shown


def test_a_memory_is_shown_without_what_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    fields = {"memory_number": 60, "memory_id": "id", "status": "Active", "topic_id": "loans", "plan_id": None,
              "hidden": False, "migrated_from": None, "migrated_to": [], "sources": [], "captured_from": None,
              "feedback": {"helpful": 2, "wrong": 0, "given": []}, "standings": [], "rests_on": [],
              "in_code": None}  # fmt: skip
    memories.show_memory({"memory": {**fields, "summary_text": found("Loans")["results"][0]["summary_text"]}})
    shown = capsys.readouterr().out
    assert "2 helpful\n" in shown
    assert "wrong" not in shown
    assert "Template" not in shown
    assert "N/A" not in shown
    assert shown.endswith("# Loans\n\n**Metadata:**\n\n## Context\nWhy.\n")


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_is_wider_than_the_terminal(on_screen: Callable[..., str], width: int) -> None:
    def all_of_it() -> None:
        rows()
        terminal.facts([("why", "word " * 40), ("id", "0" * 120)])
        terminal.say(("next: ", "bold"), "cognee-memory jobs causes " * 5)

    lines = CODE.sub("", on_screen(all_of_it, width)).splitlines()
    assert max(map(len, lines)) <= width
    assert {"job-1", "failed"} <= set(" ".join(lines).split()), "what matters stays"


def test_a_narrow_terminal_loses_the_spare_columns_first(on_screen: Callable[..., str]) -> None:
    heads = [CODE.sub("", on_screen(rows, width)).split("\n")[0].split() for width in (100, 50, 40)]
    assert heads == [["job", "kind", "state", "age", "why"], ["job", "state", "why"], ["job", "state", "why"]]


SEQUENCES = [
    "\x1b[2J", "a\x07b", "\x9b31m", "\r", "\u202eabc", "\u2066x", "\x00", "a\u200bb", "\U000e0041", "\u200f",
    "\ufeff", "\x1b]52;c;ZXZpbA==\x07",
]  # fmt: skip


@pytest.mark.parametrize("text", SEQUENCES)
def test_terminals_obey_no_memory(on_screen: Callable[..., str], capsys: pytest.CaptureFixture[str], text: str) -> None:
    def all_of_it() -> None:
        terminal.say(text)
        terminal.say((text, "bold"))
        terminal.facts([("name", text)])
        terminal.table(("a",), [(text,)])

    hidden = {letter for letter in text if not letter.isprintable()}
    assert not hidden & set(CODE.sub("", on_screen(all_of_it)))
    terminal.warn(text)
    assert not hidden & set(capsys.readouterr().err)


def test_markup_of_a_memory_is_text(on_screen: Callable[..., str]) -> None:
    shown = CODE.sub("", on_screen(lambda: terminal.table(("a",), [("[bold]x[/bold] :smile:",)])))
    assert "[bold]x[/bold] :smile:" in shown


def test_wide_characters_keep_the_columns_of_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.table(("topic", "n"), [("日本", "1"), ("cafe\u0301", "2"), ("abcd", "3")])
    assert capsys.readouterr().out.splitlines() == ["topic  n", "日本   1", "cafe\u0301   2", "abcd   3"]


@pytest.mark.parametrize(("said", "agreed"), [("yes\n", True), ("Y\n", True), ("no\n", False), ("", False)])
def test_a_person_is_asked_beside_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str, agreed: bool
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(said))
    assert terminal.agrees([f"job {number}" for number in range(30)], "job", "Run again?") is agreed
    told = capsys.readouterr()
    assert told.out == ""
    assert "… and 10 more" in told.err
    assert told.err.endswith("30 jobs. Run again? [yes/no] ")


def test_the_beginning_of_an_id_tells_it_from_those_of_its_millisecond_that_are_not_shown() -> None:
    shown, hidden = "01a2004b-e8dd-7bd0-af9d-4af04b36fa88", "01a2004b-e8dd-7b3b-a96f-199c2017036e"
    (short,) = shown_ids([shown], 60)
    assert shown.startswith(short)
    assert len(short) < len(shown)
    assert not hidden.startswith(short)


def test_what_was_forgotten_is_told_of_one_as_of_many(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("forgotten", "records_rebuilt", "records_removed", "revived", "warnings")
    for count, said in ((1, "1 job lost its texts, 1 waiting job ended"), (2, "2 jobs lost their texts, 2 waiting")):
        result = {**dict.fromkeys(names, ()), "jobs_scrubbed": count, "jobs_ended": count, "files_removed": count}
        show_result({"kind": "forget", "result": result})
        assert said in capsys.readouterr().out


def test_of_many_topics_with_contradictions_three_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    none = dict.fromkeys(("active", "decision_records", "superseded", "drafts", "characters", "worth_compacting"), 0)
    topic = {**none, "title": "Loans", "oldest": None, "newest": None}
    for count, more in ((3, ""), (4, ", and 1 more topic"), (9, ", and 6 more topics")):
        topics = [{**topic, "topic_id": f"t{at}", "contradictions": at} for at in range(count + 1)]
        memories.show_topics({"topics": topics, "warnings": []})
        named = f"\n1 contradiction in t1, 2 contradictions in t2, 3 contradictions in t3{more}: cognee-memory review\n"
        assert capsys.readouterr().out.endswith(named)


@pytest.mark.parametrize("words", [["worker"], ["worker", "run"]])
def test_a_foreground_worker_has_said_all_in_its_log(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show(parser("worker").parse_args(words), {"success": True, "stopped": True})
    assert capsys.readouterr().out == ""


def test_without_a_model_the_memories_come_before_the_readable_context(capsys: pytest.CaptureFixture[str]) -> None:
    node = "Node: {}\n__node_content_start__\n{}\n__node_content_end__\n\n"
    context = f"Nodes:\n{node.format('Loans', 'A loan lasts.')}{node.format('Fees', None)}\nConnections:\na --[b]--> c"
    memory = {"memory_number": 60, "title": "Loans", "status": "Active"}
    result = {"answer": None, "context": context, "memories": [memory], "warnings": ["No model"]}
    show_result({"kind": "ask", "result": result})
    assert capsys.readouterr().out.splitlines() == [
        "Based on:", "memory  title  status", "#60     Loans  Active", "Note: No model.", "",
        "Nodes:", "Node: Loans", "A loan lasts.", "", "Connections:", "a --[b]--> c",
    ]  # fmt: skip
    show_result({"kind": "ask", "result": result | {"answer": "21 days."}})
    assert capsys.readouterr().out.startswith("21 days.\n\nBased on:")
    show_result({"kind": "ask", "result": result | {"context": "", "memories": []}})
    assert "nothing that matches" in capsys.readouterr().out


GRAPH_STATES = [
    ({"memories": 0, "graph_lag": 0, "has_graph": False}, None, True, ""),
    ({"memories": 3, "graph_lag": 3, "has_graph": False}, None, True,
     "none yet; made when the machine is idle, or by cognee-memory graph"),
    ({"memories": 3, "graph_lag": 3, "has_graph": False}, None, False,
     "not installed; cognee-memory setup --graph adds it"),
    ({"memories": 40, "graph_lag": 34, "has_graph": True}, None, True,
     "34 changes wait; brought up to date when idle, or by cognee-memory graph"),
    ({"memories": 40, "graph_lag": 0, "has_graph": True}, None, True, "up to date"),
    ({"memories": 40, "graph_lag": 7, "has_graph": True}, "2026-11-20T12:00:00Z", True, ""),
]  # fmt: skip


@pytest.mark.parametrize(("memory", "copy_at", "has_cognee", "said"), GRAPH_STATES)
def test_the_status_tells_of_a_graph(memory: dict[str, Any], copy_at: str | None, has_cognee: bool, said: str) -> None:
    assert worker._graph(memory, {"team_copy_at": copy_at, "graph_installed": has_cognee}) == said
