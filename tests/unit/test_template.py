"""The texts of memories: written, read, and never mistaken."""

import contextlib
import re
from collections.abc import Callable
from datetime import datetime

import pytest
from hypothesis import given, strategies as st

from bridge.memory import Content, Metadata, References, TimeScope
from bridge.text.conversation import Conversation, parse_conversation, render_conversation
from bridge.text.passages import render_plain
from bridge.text.sections import normalise
from bridge.text.template import (
    Enriched,
    Legacy,
    Plain,
    normalise_metadata,
    parse,
    readable,
    render,
    sections,
)
from jobs.errors import JobError

CONTENT = Content(
    topic="Plan 014 – Structured Summaries",
    context="Moving summaries to a structured form.",
    decisions=("Store metadata as fields", "Return it with each hit"),
    rationale=("Ranking needs dates",),
    open_questions=("Who migrates?",),
    next_steps=("Write the reader",),
    references=References(("bridge/retrieve.py",), ("Plan 014 documentation",), ("fix/dates",), ("#12",)),
    time_scope=TimeScope(start="2025-11-17T14:00:00Z", end="2025-11-17T16:30:00Z", turn_count=12),
)
METADATA = Metadata(
    topic_id="plan-014-structured-summaries",
    session_id="2025-11-17-session-1",
    plan_id=None,
    status="Active",
    created_at="2025-11-17T16:30:00Z",
    updated_at="2025-11-17T16:31:00.250Z",
)
UUID = "3e3e4f26-7c02-4b3c-8b9d-8f1f9b3e2a10"
TEXT = """\
<!-- Template: v1.0 -->
# Conversation Summary: Plan 014 – Structured Summaries

**Metadata:**
- Topic ID: plan-014-structured-summaries
- Session ID: 2025-11-17-session-1
- Plan ID: N/A
- Status: Active
- Created: 2025-11-17T16:30:00Z
- Updated: 2025-11-17T16:31:00.250Z

## Context
Moving summaries to a structured form.

## Key Decisions
- Store metadata as fields
- Return it with each hit

## Rationale
- Ranking needs dates

## Open Questions
- Who migrates?

## Next Steps
- Write the reader

## References
- bridge/retrieve.py
- Plan 014 documentation
- fix/dates
- #12

## Time Scope
- Start: 2025-11-17T14:00:00Z
- End: 2025-11-17T16:30:00Z
- Turn Count: 12
"""
RECORD_TEXT = """\
<!-- Decision Record Template: v1.0 -->
# Decision Record: Ranking

**Metadata:**
- Topic ID: ranking
- Session ID: N/A
- Plan ID: 015
- Status: DecisionRecord
- Created: 2025-11-20T10:00:00Z
- Updated: N/A

## Summary
Two talks, one result.

## Consolidated Decisions
- Use a product

## Sources
- 0193c7a2
- 0193c7a3
"""


def enriched(text: str) -> Enriched:
    found = parse(text)
    assert isinstance(found, Enriched)
    return found


def plain(text: str) -> Content:
    found = parse(text)
    assert isinstance(found, Plain)
    return found.content


# --- writing ---


def test_a_summary_is_written_exactly_as_version_1_0_shows_it() -> None:
    assert render(CONTENT, METADATA) == TEXT


def test_sections_without_content_are_left_out() -> None:
    text = render(Content("T", ""), Metadata())
    assert text.endswith("- Updated: N/A\n")
    assert "##" not in text


def test_a_decision_record_has_a_template_of_its_own() -> None:
    content = Content("Ranking", "Two talks, one result.", decisions=("Use a product",))
    metadata = Metadata("ranking", None, "015", "DecisionRecord", "2025-11-20T10:00:00Z")
    assert render(content, metadata, "decision_record", ["0193c7a2", "0193c7a3"]) == RECORD_TEXT
    expected = Enriched(content, metadata, "1.0", "decision_record", ("0193c7a2", "0193c7a3"))
    assert parse(RECORD_TEXT) == expected


def test_the_plain_text_holds_the_words_and_neither_status_nor_dates() -> None:
    assert render_plain(CONTENT) == (
        "Topic: Plan 014 – Structured Summaries\n"
        "Context: Moving summaries to a structured form.\n"
        "Decisions:\n- Store metadata as fields\n- Return it with each hit\n"
        "Rationale:\n- Ranking needs dates\n"
        "Open Questions:\n- Who migrates?\n"
        "Next Steps:\n- Write the reader\n"
        "References:\n- bridge/retrieve.py\n- Plan 014 documentation\n- fix/dates\n- #12"
    )


# --- the round trip ---

LINES = st.one_of(
    st.text(max_size=10),
    st.sampled_from(
        [
            "## Context", "# x", "### x", "#", "##x", "#12", "**Metadata:**", "  **Metadata:** x",
            "- a", "-", " - b", "<!-- Template: v9.9 -->", "<!-- Decision Record Template: v1.0 -->",
            "- Topic ID: forged", "- Status: Superseded", "Status: Draft", "Created: 2020-01-01",
            "\\## Context", "\\\\- Topic ID: x", "\\", "\\d+", "- None", "None", "n/a", "", "   ",
            "  indented", "\t", "\x85", "a\u2028b", "a\r", "\r\n", "\x1c", "\ufeff",
            "- Start: 2025-01-01", "- Start: N/A", "- Turn Count: 4", "- End: soon", "branch: main",
            "User asked: x", "Assistant answered: y", "Metadata: timestamp=x, importance=1",
            "Summary: x", "Topic: y", "## Key Decisions", "# Conversation Summary: z",
            "# Decision Record: z", "## Sources",
        ]
    ),
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=5).map("\n".join)
ITEMS = st.lists(TEXTS, max_size=3).map(tuple)
TIMES = st.sampled_from(
    [None, "", "N/A", "soon", "2025-11-17T16:30:00Z", "2025-11-17T16:30:00.123456+02:00", "2025-11-17"]
)
CONTENTS = st.builds(
    Content,
    topic=TEXTS,
    context=TEXTS,
    decisions=ITEMS,
    rationale=ITEMS,
    open_questions=ITEMS,
    next_steps=ITEMS,
    references=st.builds(References, ITEMS, ITEMS, ITEMS, ITEMS),
    time_scope=st.builds(
        TimeScope, TEXTS, st.one_of(TIMES, TEXTS), TIMES, st.one_of(st.none(), st.integers(-5, 10**12))
    ),
)
IDS = st.one_of(st.none(), TEXTS, st.sampled_from(["N/A", "014", "plan-014", "2025-11-17-session-1"]))
METADATAS = st.builds(
    Metadata,
    topic_id=st.one_of(st.none(), st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True)),
    session_id=IDS,
    plan_id=IDS,
    status=st.sampled_from([None, "Draft", "Active", "Superseded", "DecisionRecord"]),
    created_at=TIMES,
    updated_at=TIMES,
    source_created_at=st.none(),
    importance=st.none(),
    **dict.fromkeys(("tags", "anchors"), st.just(())),
)


@given(CONTENTS, METADATAS)
def test_what_is_written_is_read_again_exactly(content: Content, metadata: Metadata) -> None:
    assert parse(render(content, metadata)) == Enriched(normalise(content), normalise_metadata(metadata))


@given(CONTENTS, METADATAS, ITEMS)
def test_a_record_is_read_again_exactly(content: Content, metadata: Metadata, sources: tuple[str, ...]) -> None:
    text = render(content, metadata, "decision_record", sources)
    found = enriched(text)
    assert found.kind == "decision_record"
    assert (found.content, found.metadata) == (normalise(content), normalise_metadata(metadata))
    assert render(found.content, found.metadata, found.kind, found.sources) == text


@given(CONTENTS)
def test_normalising_twice_is_normalising_once(content: Content) -> None:
    assert normalise(normalise(content)) == normalise(content)


@given(CONTENTS, METADATAS)
def test_no_text_can_write_a_second_metadata_line_heading_or_comment(content: Content, metadata: Metadata) -> None:
    lines = render(content, metadata).split("\n")
    for start in ("**Metadata:**", "- Topic ID:", "- Session ID:", "- Plan ID:", "- Status:", "- Created:"):
        assert sum(line.strip().startswith(start) for line in lines) == 1
    assert sum(line.strip().startswith("<!-- Template") for line in lines) == 1
    headings = [line for line in lines if line.startswith("##")]
    assert len(headings) == len(set(headings))
    assert all(re.fullmatch(r"## [A-Z][A-Za-z ]+", line) for line in headings)


@given(CONTENTS, st.sampled_from(["Active", "Superseded"]))
def test_the_plain_text_does_not_depend_on_the_time_scope(content: Content, status: str) -> None:
    assert render_plain(content) == render_plain(content._replace(time_scope=TimeScope("x", status)))


@given(TEXTS)
def test_any_text_is_read_or_named_as_broken(text: str) -> None:
    for form in (text, f"**Metadata:**\n{text}"):
        with contextlib.suppress(JobError):
            assert parse(form)


def test_backslashes_that_escape_nothing_stay_as_they_are() -> None:
    content = Content("T", "\\d+ matches\n\\\\server\\share", decisions=("\\w", "a \\# b"))
    text = render(content, METADATA)
    assert "\n\\d+ matches\n\\\\server\\share\n" in text
    assert "\n- \\w\n- a \\# b\n" in text
    assert enriched(text).content == content


def test_an_item_of_several_lines_is_continued_by_indentation() -> None:
    content = Content("T", "", decisions=("first\n\n  code\nlast", "second"))
    text = render(content, METADATA)
    assert "- first\n\n    code\n  last\n- second\n" in text
    assert enriched(text).content == content


def test_normalising_gives_one_line_topics_and_items_that_say_something() -> None:
    found = normalise(Content(" a\n b ", " x\r\ny \n", decisions=(" d ", "", "None", "n/a", "e\rf")))
    assert found == Content("a b", "x\ny", decisions=("d", "e\nf"))


# --- reading what others wrote ---


def test_the_order_of_sections_and_of_metadata_lines_is_free() -> None:
    head, *sections = TEXT.split("\n\n## ")
    block, title = head.split("**Metadata:**\n"), head.split("\n")[1]
    shuffled = "\n".join(reversed(block[1].split("\n")))
    tail = "\n\n## ".join(reversed([section.rstrip() for section in sections]))
    assert title in head
    assert parse(f"{block[0]}**Metadata:**\n\n{shuffled}\n\n## {tail}\n") == parse(TEXT)


def test_the_block_may_stand_below_the_sections() -> None:
    head, *sections = TEXT.split("\n\n## ")
    opening, block = head.split("**Metadata:**\n")
    text = opening + "\n\n## ".join(["", *(section.rstrip() for section in sections)])
    assert enriched(f"{text}\n\n**Metadata:**\n{block}").metadata == METADATA


def test_missing_sections_are_empty() -> None:
    assert enriched(TEXT.split("\n\n## Context")[0]).content == Content(CONTENT.topic, "")


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff\n" + t, str.rstrip])
def test_line_ends_of_windows_a_byte_order_mark_and_a_cut_end_do_not_matter(change: Callable[[str], str]) -> None:
    assert parse(change(TEXT)) == parse(TEXT)


def test_the_line_that_version_1_1_adds_is_read() -> None:
    text = TEXT.replace("v1.0", "v1.1").replace("- Created:", "- Source Created: 2025-11-01T08:00:00+01:00\n- Created:")
    found = enriched(text)
    assert found.version == "1.1"
    assert found.metadata == METADATA._replace(source_created_at="2025-11-01T07:00:00Z")


def test_a_block_without_the_comment_is_read_as_version_1_0() -> None:
    assert parse(TEXT.split("\n", 1)[1]) == parse(TEXT)


def test_sections_of_several_paragraphs_and_loose_lines_are_read_whole() -> None:
    text = TEXT.replace("Moving summaries to a structured form.\n", "One.\n\n### Detail\n- two\n").replace(
        "- Ranking needs dates\n", "Loose\n- a\nlazy\n  * sub\n\n  later\n\nnew\n-\n- None\n"
    )
    content = enriched(text).content
    assert content.context == "One.\n\n### Detail\n- two"
    assert content.rationale == ("Loose", "a\nlazy\n* sub\n\nlater", "new")


def test_text_that_belongs_to_no_section_is_kept_at_the_end_of_the_context() -> None:
    text = TEXT.replace("\n**Metadata:**", "Preface\n\n**Metadata:**").replace(
        "- Updated: ", "- Tags: a, b\n- Updated: "
    )
    text += "\n## Notes\n- remember\n"
    content = enriched(text).content
    assert content.context == "Moving summaries to a structured form.\n\n- Tags: a, b\nPreface\n\n## Notes\n- remember"
    assert content.time_scope == CONTENT.time_scope
    assert enriched(render(content, METADATA)).content == content


def test_a_heading_that_comes_twice_adds_up() -> None:
    content = enriched(TEXT + "\n## Context\nMore.\n\n## Key Decisions\n- Third\n").content
    assert content.context == "Moving summaries to a structured form.\n\nMore."
    assert content.decisions[2] == "Third"


VALUES = [
    (f"- Topic ID: {UUID}", "topic_id", UUID),
    ("- Topic ID: v2.ranking_notes", "topic_id", "v2.ranking_notes"),
    ("- Topic ID: bad topic", "topic_id", "bad-topic"),
    ("- Session ID:", "session_id", None),
    ("- Session ID: Monday morning ", "session_id", "Monday morning"),
    ("- Plan ID: None", "plan_id", None),
    ("- Plan ID: 014-some-title", "plan_id", "014-some-title"),
    ("- Status: Final", "status", "Active"),
    ("- Status: Draft", "status", "Draft"),
    ("- Status: DecisionRecord", "status", "DecisionRecord"),
    ("- Status: Superseded (by 015)", "status", "Superseded"),
    ("- Status: n/a", "status", None),
    ("- Created: 2025-11-17T16:30:00.123456Z", "created_at", "2025-11-17T16:30:00.123Z"),
    ("- Created: 2025-11-17T16:30:00+05:30", "created_at", "2025-11-17T11:00:00Z"),
    ("- Created: 2025-11-17 16:30", "created_at", "2025-11-17T16:30:00Z"),
    ("- Created: 2025-11-17T16:30:00Z (about)", "created_at", "2025-11-17T16:30:00Z"),
    ("- Created: 2025-99-99", "created_at", None),
    ("- Created: 0001-01-01T00:00:00Z", "created_at", None),
    ("- Updated: N/A", "updated_at", None),
    ("   - Updated:   2025-11-17   ", "updated_at", "2025-11-17T00:00:00Z"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "field", "value"), VALUES)
def test_a_metadata_value_is_read(line: str, field: str, value: str | None) -> None:
    name = line.strip().split(":")[0]
    text = re.sub(rf"(?m)^{name}:.*$", lambda _: line, TEXT)
    assert getattr(enriched(text).metadata, field) == value


def test_of_two_metadata_lines_with_one_name_the_first_counts() -> None:
    text = TEXT.replace("- Status: Active\n", "- Status: Active\n- Status: Draft\n")
    assert enriched(text).metadata.status == "Active"


# --- what is broken ---


BROKEN_LINES = [
    ("- Topic ID: plan-014-structured-summaries", "- Topic ID: Not a slug", 5),
    ("- Status: Active", "- Status: Sometimes", 8),
    ("- Created: 2025-11-17T16:30:00Z", "- Created: yesterday", 9),
    ("- Updated: 2025-11-17T16:31:00.250Z", "- Updated: in May", 10),
    ("- Topic ID: ", "- Topic: ", 5),
    ("- Plan ID: N/A", "* Plan ID: N/A", 7),
    ("- Status: Active", "- Status Active", 8),
]


@pytest.mark.parametrize(("old", "new", "line"), BROKEN_LINES)
def test_a_broken_metadata_line_is_named_with_its_number(old: str, new: str, line: int) -> None:
    with pytest.raises(JobError, match="METADATA_BROKEN") as caught:
        parse(TEXT.replace(old, new))
    assert caught.value.details["line"] == line
    assert caught.value.details["text"].startswith(new)
    assert f"Line {line} " in caught.value.message
    assert new in caught.value.message


@pytest.mark.parametrize("name", ["Topic ID", "Session ID", "Plan ID", "Status", "Created", "Updated"])
def test_a_missing_metadata_line_is_named_at_the_start_of_the_block(name: str) -> None:
    with pytest.raises(JobError, match=f"no line '- {name}: …'") as caught:
        parse(re.sub(rf"(?m)^- {name}:.*\n", "", TEXT))
    assert caught.value.details == {"line": 4, "text": "**Metadata:**"}


def test_a_long_offending_line_is_cut() -> None:
    with pytest.raises(JobError) as caught:
        parse(TEXT.replace("Active", "x" * 500))
    assert len(caught.value.details["text"]) == 120
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("version", ["1.2", "2.0", "10", "9" * 50])
@pytest.mark.parametrize("text", [TEXT, RECORD_TEXT, "<!-- Template: v1.0 -->\n\nNo block"])
def test_a_newer_template_is_refused_and_not_guessed_at(text: str, version: str) -> None:
    with pytest.raises(JobError, match="newer version") as caught:
        parse(text.replace("v1.0", f"v{version}"))
    assert caught.value.code == "METADATA_BROKEN"
    assert caught.value.details["line"] == 1


# --- whatever the first readers accepted ---

TOPIC_ID = r"- Topic ID: ([a-f0-9\-]+)"
SESSION_ID = r"- Session ID: ([a-f0-9\-]+|N/A)"
PLAN_ID = r"- Plan ID: ([\w\-]+|N/A)"
STATUS = r"- Status: (Active|Superseded|Draft)"
CREATED = r"- Created: ([\d\-T:Z]+)"
UPDATED = r"- Updated: ([\d\-T:Z]+)"
FIELDS = (TOPIC_ID, SESSION_ID, PLAN_ID, STATUS, CREATED, UPDATED)
TAILS = st.one_of(st.just(""), st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=6))
SECTIONS = {
    "context": r"## Context\n(.+?)(?=\n##|$)",
    "decisions": r"## Key Decisions\n(.+?)(?=\n##|$)",
    "rationale": r"## Rationale\n(.+?)(?=\n##|$)",
    "open_questions": r"## Open Questions\n(.+?)(?=\n##|$)",
    "next_steps": r"## Next Steps\n(.+?)(?=\n##|$)",
}


def group(pattern: str, text: str) -> str:
    return re.search(pattern, text)[1]


@given(
    st.from_regex(r"<!-- Template: v(0(\.\d{1,3})?|1(\.0(\.\d)?)?|\.) -->", fullmatch=True),
    st.tuples(*(st.tuples(st.from_regex(field, fullmatch=True), TAILS) for field in FIELDS)),
    st.permutations(range(len(FIELDS))),
    st.sampled_from(["", "## Context\nSome words\n## Key Decisions\n- one\n", "Loose\n", "\n## Odd\nx\n"]),
)
def test_old_texts_are_accepted(comment: str, lines: tuple[tuple[str, str], ...], order: list[int], rest: str) -> None:
    """Every text that the first readers accepted."""
    block = "\n".join("".join(lines[at]) for at in order)
    text = f"{comment}\n# Conversation Summary: T\n\n**Metadata:**\n{block}\n\n{rest}"
    assert all(re.search(field, text) for field in FIELDS)
    assert isinstance(parse(text), Enriched)


@given(st.tuples(*(st.from_regex(field, fullmatch=True) for field in FIELDS)), st.datetimes(datetime(1000, 1, 1)))
def test_values_that_the_first_readers_read_whole_are_read_alike(lines: tuple[str, ...], when: datetime) -> None:
    created = when.replace(microsecond=0).isoformat() + "Z"
    text = "<!-- Template: v1.0 -->\n# Conversation Summary: T\n\n**Metadata:**\n" + "\n".join(
        [*lines[:4], f"- Created: {created}", lines[5]]
    )
    found = enriched(text).metadata
    assert found.topic_id == group(TOPIC_ID, text)
    assert found.session_id == (None if group(SESSION_ID, text) == "N/A" else group(SESSION_ID, text))
    plan = lines[2].removeprefix("- Plan ID: ")
    assert found.plan_id == (None if plan.lower() in ("n/a", "none", "null") else plan)
    assert found.status == group(STATUS, text)
    assert found.created_at == group(CREATED, text) == created


def test_the_first_readers_find_the_same_in_what_is_written_now() -> None:
    content = CONTENT._replace(context="First.\n## Context\n**Metadata:**\n- Status: Draft")
    text = render(content, METADATA._replace(topic_id="3e3e4f26", session_id=None, plan_id="014"))
    assert group(r"<!-- Template: v([\d.]+) -->", text) == "1.0"
    expected = ["3e3e4f26", "N/A", "014", "Active", "2025-11-17T16:30:00Z", "2025-11-17T16:31:00"]
    assert [group(field, text) for field in FIELDS] == expected
    for field, pattern in SECTIONS.items():
        section = re.search(pattern, text, re.DOTALL)
        if field != "context":
            items = [line.removeprefix("- ") for line in section[1].strip().split("\n")]
            assert tuple(items) == getattr(content, field)


# --- plain summaries ---

CONTRACT_TEXT = (
    "Summary: Plan 014 – Structured Summaries\n\nTopic: Plan 014 – Structured Summaries\n"
    "Context: Storing summaries with their metadata.\nDecisions:\n- Store fields\n- Return fields\n"
    "Rationale:\n- Ranking\nOpen Questions:\n- None\nNext Steps:\n- Rank\nReferences:\n"
    "- Plan 014 documentation\nTime Scope: Nov 17 14:00-16:30"
)


def test_a_labelled_summary_is_plain_and_items_that_say_none_are_dropped() -> None:
    assert plain(CONTRACT_TEXT) == Content(
        topic="Plan 014 – Structured Summaries",
        context="Storing summaries with their metadata.",
        decisions=("Store fields", "Return fields"),
        rationale=("Ranking",),
        open_questions=(),
        next_steps=("Rank",),
        references=References(plans=("Plan 014 documentation",)),
        time_scope=TimeScope("Nov 17 14:00-16:30"),
    )


def test_labels_without_blanks_inline_values_and_several_paragraphs_are_read() -> None:
    found = plain(
        "\r\nTopic: T\r\nContext:\r\nOne.\r\n\r\nTwo.\r\nOpenQuestions: Why?\r\nNextSteps: None\r\n"
        "Decisions:\r\n- a\r\n  b\r\nTimeScope: N/A"
    )
    assert found == Content("T", "One.\n\nTwo.", decisions=("a\nb",), open_questions=("Why?",))


def test_what_stands_below_a_title_is_kept_in_the_context() -> None:
    assert plain("Summary: T\nWe talked.\n\nDecisions:\n- a").context == "We talked."


def test_the_summary_line_is_the_topic_where_no_other_is_given() -> None:
    assert plain("Summary: T\nContext: c\nTopic:").topic == "T"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=20))
def test_the_text_that_is_indexed_can_be_read_as_a_plain_summary(word: str) -> None:
    content = normalise(Content(word, f"{word}.", decisions=(f"Use {word}",), next_steps=("Go",)))
    assert plain(render_plain(content)) == content


LEGACY = [
    "",
    "We decided to remove the limit.",
    "Summary: a talk about limits",
    "Topic:\nContext: nothing has a title",
    "Notes\nTopic: T\nContext: c",
    "We wrote **Metadata:** in a line\nand - Topic ID: abc below",
    "<!-- Template: v1.0 -->\n# Conversation Summary: T\n\n## Context\nNo block.",
]


@pytest.mark.parametrize("text", LEGACY)
def test_any_other_text_is_legacy_and_stays_as_it_came(text: str) -> None:
    assert parse(text) == Legacy(text)


# --- conversation turns ---


def test_a_turn_is_read_with_its_facts() -> None:
    text = (
        "User asked: Why?\nReally.\n\nAssistant answered: Because.\n\nIt is so."
        "\n\nMetadata: timestamp={}, importance={}"
    )
    expected = Conversation("Why?\nReally.", "Because.\n\nIt is so.", "2025-11-17T16:30:00Z", 0.8)
    assert parse_conversation(text.format("2025-11-17T16:30:00+00:00", 0.8)) == expected
    assert parse_conversation(text.format("2025-11-17T16:30:00", "0.8").replace("\n", "\r\n")) == expected
    for timestamp, importance in (("None", "None"), ("", ""), ("N/A", "nan"), ("then", "7")):
        found = parse_conversation(text.format(timestamp, importance))
        assert found == expected._replace(timestamp=None, importance=None)


def test_a_turn_without_facts_is_a_turn() -> None:
    assert parse_conversation("User asked: a\n\nAssistant answered: b") == Conversation("a", "b")


NO_TURNS = ["", "User asked: a", "Assistant answered: b", "So\n\nUser asked: a\n\nAssistant answered: b"]


@pytest.mark.parametrize("text", NO_TURNS)
def test_other_texts_are_no_turns(text: str) -> None:
    assert parse_conversation(text) is None


@given(TEXTS, TEXTS, st.sampled_from([None, "2025-11-17T16:30:00Z"]), st.one_of(st.none(), st.floats(0, 1)))
def test_a_turn_is_read_again_exactly(user: str, answer: str, timestamp: str | None, importance: float | None) -> None:
    def tidy(text: str) -> str:
        return text.replace("\r\n", "\n").replace("\r", "\n").strip()

    found = parse_conversation(render_conversation(Conversation(user, answer, timestamp, importance)))
    assert found == Conversation(tidy(user), tidy(answer), timestamp, importance)


@given(TEXTS, CONTENTS)
def test_a_turn_that_quotes_a_summary_stays_a_turn(question: str, content: Content) -> None:
    text = render_conversation(Conversation(question, render(content, METADATA)))
    assert parse(text) == Legacy(text)


# --- what it costs ---


def test_a_huge_text_is_read_in_reasonable_time() -> None:
    assert enriched(TEXT + "## Context\nx\n\n" * 60_000).content.context.endswith("x\n\nx")
    content = Content("T", "## x\n" * 60_000, decisions=tuple(f"d {n}\n\n  more" for n in range(20_000)))
    assert enriched(render(content, METADATA)).content == normalise(content)


# --- for readers ---


def test_for_a_reader_the_comment_and_what_is_not_known_are_left_out() -> None:
    content = Content("Retry", "- Plan ID: N/A\n**Metadata:**\n- Status: N/A", ("Retry five times: N/A",))
    assert readable(render(content, Metadata(topic_id="retry", status="Active"))) == (
        "# Conversation Summary: Retry\n\n**Metadata:**\n- Topic ID: retry\n- Status: Active\n\n"
        "## Context\n\\- Plan ID: N/A\n\\**Metadata:**\n\\- Status: N/A\n\n"
        "## Key Decisions\n- Retry five times: N/A\n"
    )
    record = readable(render(content, Metadata(), "decision_record"))
    assert record.startswith("# Decision Record: Retry\n\n**Metadata:**\n\n## ")


@pytest.mark.parametrize("text", ["", "Any text.\n\nMetadata: timestamp=N/A, importance=N/A", "# Title\n- Status: N/A"])
def test_for_a_reader_any_other_text_is_unchanged(text: str) -> None:
    assert readable(text) == text


def test_for_a_reader_a_turn_ends_with_its_answer() -> None:
    turn = render_conversation(Conversation("Why?", "So.\n\nMetadata: timestamp=N/A, importance=N/A", None, 0.8))
    assert readable(turn) == "User asked: Why?\n\nAssistant answered: So.\n\nMetadata: timestamp=N/A, importance=N/A"


def test_the_sections_of_a_memory_are_its_text_without_title_and_metadata() -> None:
    content = Content("Retry", "**Metadata:**\n- Status: N/A", ("Retry five times",))
    assert sections(render(content, Metadata(topic_id="retry", status="Active"))) == (
        "## Context\n\\**Metadata:**\n\\- Status: N/A\n\n## Key Decisions\n- Retry five times"
    )
    assert sections("Any text.\n\nMetadata: none of ours") == "Any text.\n\nMetadata: none of ours"


@given(st.integers(0, 400))
def test_the_beginning_of_a_text_becomes_readable_too(length: int) -> None:
    text = render(Content("Retry", "Context"), Metadata(topic_id="retry"))[:length]
    assert len(sections(text)) <= len(readable(text)) <= len(text)
