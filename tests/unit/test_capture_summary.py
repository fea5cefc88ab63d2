"""A segment's summary: every sentence stands in the transcript, in a budget, with decisions only by their cues."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from bridge.capture.segment import Segment, SegmentSummary
from bridge.capture.session import Turn
from bridge.capture.summary import TOPIC_CHARACTERS, summarise
from bridge.memory import References
from tests.fake_embedder import FakeEmbedder

EMBED = FakeEmbedder().embed

_prose = st.lists(
    st.sampled_from(
        "let's use Postgres for the queue . we decided to keep the lock because retries are slow ! what about Windows ?"
        " I went with SQLite rather than files . TODO: write the docs next , never log a token . e.g. src/app/main.py"
        " #12 ok continue thanks \n\n - 1. ``` ```python > | --- # ## <private> </private> <system-reminder>"
        " nicht wir nehmen das décidé 使用数据库。 Ich weiß … “quoted” a\tb".split(" ")
    )
    | st.text(max_size=6),
    max_size=60,
).map(" ".join)
_segments = st.lists(
    st.builds(
        Turn, st.sampled_from(["user", "assistant"]), _prose, st.just("line 1"), part=st.sampled_from(["", "", "x"])
    ),
    max_size=12,
).map(lambda turns: Segment(0, tuple(turns)))


def of(*turns: tuple[str, str], **more: object) -> SegmentSummary:
    """The summary of what a person (``user``) and an assistant said."""
    given = tuple(
        Turn(speaker, text, f"line {number}", **more)  # type: ignore[arg-type]
        for number, (speaker, text) in enumerate(turns, 1)
    )
    return summarise(Segment(0, given), EMBED)


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def sections(summary: SegmentSummary) -> list[str]:
    content = summary.content
    lists = (content.decisions, content.rationale, content.open_questions, content.next_steps)
    return [*content.context.split("\n"), *(item for items in lists for item in items)]


@settings(max_examples=300, deadline=None)
@given(_segments)
def test_every_sentence_of_a_summary_stands_in_the_transcript(segment: Segment) -> None:
    spoken = [turn for turn in segment.turns if not turn.part]
    # List items and quotations lose their marks, and lines of a paragraph are one line.
    said = [plain(turn.text) for turn in spoken]
    summary = summarise(segment, EMBED)
    for evidence in summary.evidence:
        words = evidence.text.split(" ")
        assert any(_in_order(words, text) for text in said), evidence
    for line in sections(summary):
        if line != "Session":
            assert _are_evidence(line, [evidence.text for evidence in summary.evidence]), line
    topic = summary.content.topic.removesuffix("…")
    assert summary.content.topic == "Session" or any(topic in evidence.text for evidence in summary.evidence)


def _in_order(words: list[str], text: str) -> bool:
    """Whether all words are in the text, in this order."""
    at = 0
    for word in words:
        at = text.find(word, at) + len(word)
        if at < len(word):
            return False
    return True


def _are_evidence(line: str, evidence: list[str]) -> bool:
    """Whether a line is made of sentences that are evidence."""
    for text in sorted(evidence, key=len, reverse=True):
        line = line.replace(text, "")
    return not line.strip()


@settings(max_examples=100, deadline=None)
@given(_segments, st.integers(30, 400))
def test_the_context_keeps_its_budget_and_the_topic_its_length(segment: Segment, budget: int) -> None:
    content = summarise(segment, EMBED, budget).content
    longest = max((len(one.text) for one in summarise(segment, EMBED).evidence), default=0)
    assert len(content.context) <= max(budget, 25, min(longest, 320))
    assert 0 < len(content.topic) <= TOPIC_CHARACTERS


@settings(max_examples=100, deadline=None)
@given(_segments)
def test_the_same_segment_gives_the_same_summary_with_values_from_0_to_1(segment: Segment) -> None:
    summary = summarise(segment, EMBED)
    assert summary == summarise(segment, EMBED)
    assert 0 <= summary.importance <= 1
    assert 0 <= summary.confidence <= 1


def test_the_topic_is_the_first_request_that_names_a_subject() -> None:
    summary = of(
        ("user", "hi there"),
        ("assistant", "Hello! How can I help?"),
        ("user", "ok continue"),
        ("user", "Could you please tell me why the sign-in fails on Windows?"),
    )
    assert summary.content.topic == "why the sign-in fails on Windows?"


def test_a_segment_without_a_request_that_names_a_subject_is_of_little_importance() -> None:
    assert of(("user", "continue"), ("assistant", "The tests pass on all platforms.")).importance == 0.1


def test_what_the_person_decided_is_a_decision_and_what_was_only_considered_is_none() -> None:
    summary = of(
        ("user", "Which queue should we take? Maybe we could use Redis. Let's use SQLite for the queue."),
        ("assistant", "If you want, we'll use WAL mode."),
        ("user", "We decided to keep one writer because locks are slow."),
    )
    assert summary.content.decisions == (
        "Let's use SQLite for the queue.",
        "We decided to keep one writer because locks are slow.",
    )


@pytest.mark.parametrize(
    ("said", "is_decided"),
    [
        ("We decided that a loan may be renewed twice.", True),
        ("We have agreed to ask later whether readers want it.", True),
        ("Agreed: we decided that either format is fine.", True),
        ("Perhaps we decided that once.", False),
        ("Have we decided that a loan may be renewed?", False),
        ("We have not decided that yet, but it may be renewed.", False),
    ],
)
def test_what_follows_decided_that_may_be_anything(said: str, is_decided: bool) -> None:
    assert (said in of(("user", said), ("assistant", "Noted.")).content.decisions) is is_decided


def test_what_the_person_rejected_is_no_decision() -> None:
    told = ("assistant", "I chose a global lock because it is simple.")
    question = ("user", "How do we protect the file?")
    assert of(question, told, ("user", "No, that is too slow.")).content.decisions == ()
    assert of(question, told, ("user", "Looks good to me.")).content.decisions == (told[1],)


@pytest.mark.parametrize(
    "decision",
    [
        "Wir nehmen Postgres für die Warteschlange.",
        "On garde SQLite pour la file des tâches.",
        "Vamos a usar SQLite para la cola de trabajos.",
    ],
)
def test_common_forms_of_decisions_are_known_in_three_more_languages(decision: str) -> None:
    assert of(("user", decision)).content.decisions == (decision,)


def test_a_language_without_cues_still_gets_a_topic_and_a_context() -> None:
    content = of(("user", "データベースの移行はなぜ失敗しますか？"), ("assistant", "列がないためです。")).content
    assert content.topic == "データベースの移行はなぜ失敗しますか？"
    assert "列がないためです。" in content.context


def test_an_unanswered_question_is_open_and_a_step_for_later_is_next() -> None:
    content = of(
        ("user", "Move the settings to one file."),
        ("assistant", "It is one file. We still need to write the migration. Should old files be deleted?"),
    ).content
    assert content.next_steps == ("We still need to write the migration.",)
    assert content.open_questions == ("Should old files be deleted?",)


def test_references_are_the_files_that_were_touched_or_named_branches_issues_and_plans() -> None:
    turn = Turn(
        "user",
        "Fix #12 as Plan 014 says, see `setup.cfg` and src/app/main.py, not 3.5/2.\n```\nother/file.py\n```",
        "line 1",
        folder="/home/me/app",
        branch="feature/login",
        files=("/home/me/app/src/login.py",),
    )
    assert summarise(Segment(0, (turn,)), EMBED).content.references == References(
        files=("src/login.py", "setup.cfg", "src/app/main.py"),
        plans=("Plan 014",),
        branches=("feature/login",),
        issues=("#12",),
    )


def test_a_side_chain_gives_files_but_no_sentence() -> None:
    turns = (
        Turn("user", "Why does the build fail on Linux?", "1"),
        Turn("assistant", "Let's use a hidden thing instead.", "2", part="agent", files=("a.py",)),
    )
    content = summarise(Segment(0, turns), EMBED).content
    assert content.references.files == ("a.py",)
    assert "hidden" not in repr(content)


def test_the_time_scope_has_the_bounds_and_the_number_of_turns() -> None:
    turns = tuple(Turn("user", "Why does it fail?", "1", f"2026-01-01T0{hour}:00:00Z") for hour in range(3))
    scope = summarise(Segment(0, turns), EMBED).content.time_scope
    assert (scope.start, scope.end, scope.turn_count) == ("2026-01-01T00:00:00Z", "2026-01-01T02:00:00Z", 3)


def test_a_segment_without_prose_has_nothing_to_keep() -> None:
    content = of(("user", "```\nx = 1\n```")).content
    assert (content.topic, content.context) == ("Session", "")


def test_what_the_assistant_proposed_is_a_decision_once_the_person_accepts_it() -> None:
    proposal = "I suggest revoking all other sessions of the user on a password change."
    asked = ("user", "What happens with sessions on a password change?")
    assert proposal in of(asked, ("assistant", proposal), ("user", "ok, do that")).content.decisions
    for answer in ("no, keep them", "why would that help?", "ok, but only for admins"):
        assert proposal not in of(asked, ("assistant", proposal), ("user", answer)).content.decisions
    assert proposal not in of(asked, ("assistant", proposal)).content.decisions


def test_a_plan_for_next_week_is_a_next_step_and_a_limit_is_a_decision() -> None:
    said = of(
        ("user", "Deliveries pile up on Mondays, look at the numbers."),
        ("user", "limit concurrency per endpoint to 5 and total to 200"),
        ("user", "next week we should look at an export for customers"),
    ).content
    assert said.decisions == ("limit concurrency per endpoint to 5 and total to 200",)
    assert said.next_steps == ("next week we should look at an export for customers",)


@pytest.mark.parametrize(
    ("request_", "topic"),
    [
        ("hey can you look at why CI takes 38 minutes?", "look at why CI takes 38 minutes?"),
        ('"How many sessions may one user have?"', "How many sessions may one user have?"),
        ("We need to decide where to store sessions.", "We need to decide where to store sessions"),
        ("Hi Anna", "Hi Anna"),
        ("Say “hello” to “all” of them", "Say “hello” to “all” of them"),
    ],
)
def test_a_topic_is_a_title_without_greeting_quotation_marks_and_full_stop(request_: str, topic: str) -> None:
    assert of(("user", request_), ("assistant", "I looked at it.")).content.topic == topic
