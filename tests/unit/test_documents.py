"""Documents: the previews of a compaction, a migration and a capture, in Markdown."""

import re
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from worker.cli import parser, run
from worker.documents import LISTS, capture_document, compaction_document, document, markdown, migration_document
from worker.terminal import job_commands, output

HOSTILE = (
    "[press here](command:a)", "[press\nhere](command:a)", "\\[press](command:a) \\\\[press](command:a)",
    "<command:a> <http://evil.example/a> http://evil.example www.evil.example a@evil.example",
    "[ref]: command:a 'title'", "![image](http://evil.example/?q=secret)", "<img src=x> <script>alert(1)</script>",
    "\\<img src=x> &lt;img src=x&gt; &#60;img src=x&#62;", "```\n</code></pre>\n[press](command:a)", "~~~~ html",
    "    <b>indented</b>", "> > # quoted", "| a | b |\n| --- | --- |", "# Heading\n\n## Another", "===\n---\n***",
    "1. one\n- two\n+ three", "**strong** _soft_ ~~gone~~ `code`", "a\u202egnp.exe\u2066 \u0007\u001b[31m red \u200e",
)  # fmt: skip


def preview(said: str) -> Any:
    side = {"memory_number": 1, "text": said, "date": "2026-11-01T10:00:00Z"}
    later = {**side, "memory_number": 2, "date": "2026-11-02T10:00:00Z"}
    conflict = {"conflict_id": "0123abcd", "kind": "value", "confidence": 0.8, "earlier": side, "later": later}
    source = {"memory_number": 1, "memory_type": "summary", "topic": said, "created_at": "2026", "decisions": [said]}
    record = {"topic": said, "narrative_source": "template", "summary_text": said}
    return {
        "summaries": [{**source, "source_created_at": None}] * 2, "conflicts": [conflict], "kept_both": [],
        "decision_record": {**record, **{name: [said] for name in LISTS}}, "warnings": [said],
    }  # fmt: skip


def migration(said: str) -> Any:
    names = ("memory_number", "memory_type", "created_at", "session_id", "plan_id", "status", "title", "topic_id")
    item = {**dict.fromkeys((*names, "reason")), "source": {"file": said}}
    items = [
        {**item, "outcome": "failed", "reason": said},
        {**item, "outcome": "migrated", "memory_type": "summary", "title": said, "topic_id": said, "plan_id": said},
        {**item, "outcome": "skipped"},
    ]
    return {
        "dry_run": True, "found": 2, "migrated": 1, "already_migrated": 0, "forgotten": 0, "failed": 1, "skipped": 3,
        "remaining": 0, "items": items, "items_omitted": 0, "warnings": [said], "redactions": {"total": 2},
    }  # fmt: skip


def captured(said: str, warning: str = "") -> Any:
    memory: Any = {"memory_number": None, "topic": said, "created_at": "2026-11-01T10:00:00Z", "decisions": 2,
              "is_new": True, "supersedes": [], "summary_text": said}  # fmt: skip
    item = {"session_id": "0123456789", "modified_at": "2026-11-02T10:00:00Z", "title": said, "reason": said,
            "memories": []}  # fmt: skip
    counts = dict.fromkeys(("empty", "withdrawn", "forgotten", "remaining", "superseded"), 0)
    items = [
        {**item, "tool": "claude-code", "outcome": "captured", "memories": [memory]},
        {**item, "tool": "codex", "outcome": "failed"},
        {**item, "tool": "cursor", "outcome": "unchanged"},
    ]
    return {
        **counts, "dry_run": True, "sessions": 3, "captured": 1, "unchanged": 1, "failed": 1, "memories": 1,
        "items": items, "items_omitted": 4, "warnings": [warning or said], "redactions": {"total": 2},
    }  # fmt: skip


def test_a_compaction_has_its_conflicts_first_and_side_by_side() -> None:
    text = markdown(compaction_document(preview("Five | retries")))
    row = r"| \#1 2026\-11\-01 Five \| retries | \#2 2026\-11\-02 Five \| retries | another amount, 80 % sure |"
    assert row in text
    headings = ["# Compaction", "## Conflicts", "## The record", "### Decisions", "## The memories"]
    assert headings[1:] == sorted(headings[1:], key=lambda heading: text.index(f"\n{heading}"))
    assert text.startswith("# Compaction of Five")
    assert "reject" not in text
    assert "0123abcd" not in text, "an id is for who types commands"


def test_rejected_conflicts_and_the_narrative_of_a_model_are_named() -> None:
    result = preview("Five")
    result |= {"conflicts": [], "kept_both": result["conflicts"]}
    result["decision_record"]["narrative_source"] = "llm"
    text = markdown(compaction_document(result))
    assert "No two decisions contradict each other" in text
    assert "## Conflicts that you rejected\\: both hold\n\n| earlier | later | why |" in text
    assert "### Narrative, by the language model" in text


def test_that_somebody_said_which_one_holds_is_named() -> None:
    result = preview("Five")
    conflict = result["conflicts"][0]
    result["conflicts"] = [conflict | {"judged_by": "said", "earlier": conflict["later"], "later": conflict["earlier"]}]
    text = markdown(compaction_document(result))
    assert "## Conflicts\\: the second one holds" in text
    assert "another amount, as somebody said |" in text


def test_a_migration_lists_what_fails_and_what_each_text_becomes() -> None:
    text = markdown(migration_document(migration("text_1.txt")))
    assert "2 memories of earlier versions\\: would be 1 migrated, 1 failed\\." in text
    assert "3 other texts of cognee's left alone\\.  \n2 likely secrets would be replaced\\." in text
    assert "| outcome | kind | topic | title | plan | why |" in text, "columns without a value are left out"
    assert "| failed |  |  | text\\_1\\.txt |  | text\\_1\\.txt |" in text
    assert "| migrated | summary | text\\_1\\.txt | text\\_1\\.txt | text\\_1\\.txt |  |" in text
    assert "skipped" not in text


def test_a_capture_lists_what_would_be_kept_and_what_cannot_be_read() -> None:
    text = markdown(capture_document(captured("Retry\nSECOND")))
    assert "| claude\\-code/01234567 | 2026\\-11\\-01 | Retry SECOND | 2 |  |".replace("/", "\\/") in text
    assert "| codex\\/01234567 | 2026\\-11\\-02 | Retry SECOND |  | Retry SECOND |" in text
    assert "cursor" not in text, "it is captured already"
    assert "would be 1 captured, 1 unchanged, 1 failed; 1 memory to add" in text
    assert "2 likely secrets would be replaced" in text
    assert "… and 4 more sessions" in text
    assert "## Retry SECOND\n\nRetry  \nSECOND\n" in text
    assert "enable" not in markdown(capture_document(captured("", "It is off: cognee-memory capture enable codex")))


@pytest.mark.parametrize("said", HOSTILE)
def test_no_text_of_a_memory_is_markup(said: str) -> None:
    plain = shape(re.sub(r"[^\n]+", "text", said))
    assert shape(said) == plain, "the headings, tables, lists and lines of a text without any mark"


def shape(said: str) -> list[list[tuple[str, str]]]:
    """The elements of each document, without its texts. Raises AssertionError for a bare address or a control."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    shapes = []
    for text in (
        markdown(compaction_document(preview(said))), markdown(migration_document(migration(said))),
        markdown(capture_document(captured(said))),
    ):  # fmt: skip
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)
        assert not re.search(r"[^\\](://|@)|www\.", text)
        tokens = parser.parse(text)
        shapes.append([
            (each.type, each.tag) for token in tokens for each in (token, *(token.children or ()))
            if each.type not in ("text", "text_special")
        ])  # fmt: skip
    return shapes


def test_a_command_prints_the_document_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    given = parser("migrate").parse_args(["migrate", "--dry-run", "--markdown", "--workspace", str(tmp_path)])
    answer = {"success": True, "job_id": "j", "kind": "migrate", "result": migration("text")}
    monkeypatch.setattr(job_commands, "submit", lambda *_, **__: answer)
    output.show(given, run(given))
    assert capsys.readouterr().out == markdown(migration_document(migration("text")))
    monkeypatch.setattr(job_commands, "submit", lambda *_, **__: {"success": True, "job_id": "j"})
    output.show(given, run(given))
    assert capsys.readouterr().out == "submitted j\n", "it does not wait"


def test_only_a_result_of_its_kind_has_a_document() -> None:
    assert document("migrate", migration("text")) == markdown(migration_document(migration("text")))
    assert document("migrate", {"undone": 1, "kept": []}) is None
    assert document("migrate", None) is None
    assert document("forget", {"forgotten": []}) is None
    assert document(None, None) is None
