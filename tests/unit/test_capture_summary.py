"""A segment's summary, made of its beats: what was asked, what was done for it, and how the person took it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from bridge.capture.segment import Segment, SegmentSummary
from bridge.capture.session import Turn
from bridge.capture.summary import ARROW, NEXT, summarise
from bridge.capture.title import MOST_CHARACTERS
from bridge.memory import References

_prose = st.lists(
    st.sampled_from(
        "let's use Postgres for the queue . we decided to keep the lock because retries are slow ! what about Windows ?"
        " Done . I've switched the queue to SQLite . TODO: write the docs next , never log a token . e.g. src/app/a.py"
        " #12 ok continue thanks no, yes option A 1. Hmm \n\n - 1. ``` ```python > | --- # ## <private> </private>"
        " <system-reminder> nicht wir nehmen das décidé 使用数据库。 Ich weiß … “quoted” a\tb".split(" ")
    )
    | st.text(max_size=6),
    max_size=60,
).map(" ".join)
_segments = st.lists(
    st.builds(
        Turn, st.sampled_from(["user", "assistant"]), _prose, st.just("line 1"), part=st.sampled_from(["", "", "x"]),
        tools=st.sampled_from([{}, {"Edit": 1}, {"Read": 2}]),
    ),
    max_size=12,
).map(lambda turns: Segment(0, tuple(turns)))  # fmt: skip


def of(*turns: tuple[str, str], edits: bool = True, **more: object) -> SegmentSummary:
    """The summary of what a person (``user``) and an assistant said. ``edits``: each answer that ends in ``*`` changed
    a file."""
    given = tuple(
        Turn(
            speaker,  # type: ignore[arg-type]
            text.removesuffix("*"),
            f"line {number}",
            tools={"Edit" if text.endswith("*") else "Read": 1} if edits and speaker == "assistant" else {},
            **more,  # type: ignore[arg-type]
        )
        for number, (speaker, text) in enumerate(turns, 1)
    )
    return summarise(Segment(0, given))


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("**", ""))


@settings(max_examples=300, deadline=None)
@given(_segments)
def test_every_part_of_a_line_stands_in_the_transcript(segment: Segment) -> None:
    said = [plain(turn.text) for turn in segment.turns if not turn.part]
    content = summarise(segment).content
    for line in (*content.decisions, *content.open_questions, *content.context.split("\n")):
        for word in re.split(rf"[\s()/…]+|{ARROW.strip()}|{NEXT.strip()}", line):
            assert word in ("", "Session") or any(word.strip("*_") in text for text in said), line


@settings(max_examples=200, deadline=None)
@given(_segments)
def test_a_summary_is_short_the_same_each_time_and_its_values_are_from_0_to_1(segment: Segment) -> None:
    summary = summarise(segment)
    assert summary == summarise(segment)
    assert 0 < len(summary.content.topic) <= MOST_CHARACTERS
    assert len(summary.content.context) <= 540
    assert 0 <= summary.importance <= 1
    assert 0 <= summary.confidence <= 1


ASKED, DONE = "let's make the start command hidden", "Done. The start command is now hidden.*"


def test_a_decision_is_the_persons_words_and_what_the_answer_says_was_done() -> None:
    summary = of(("user", ASKED), ("assistant", f"Let me look. All tests pass. {DONE}"))
    assert summary.content.decisions == (f"{ASKED}{ARROW}The start command is now hidden.",)
    (evidence,) = (each for each in summary.evidence if each.section == "decisions")
    assert evidence.place == "line 1"


@pytest.mark.parametrize("answer", ["It could be hidden, or removed.", "Shall I hide the start command, then?"])
def test_what_was_not_done_is_no_decision(answer: str) -> None:
    assert of(("user", ASKED), ("assistant", answer)).content.decisions == ()


def test_where_nothing_is_known_of_tools_the_answers_words_tell_that_it_was_done() -> None:
    talk = ("user", ASKED), ("assistant", "I've hidden the start command.")
    assert len(of(*talk, edits=False).content.decisions) == 1
    assert of(("user", ASKED), ("assistant", "I'll hide it."), edits=False).content.decisions == ()


@pytest.mark.parametrize(
    "correction",
    [
        "thinking again: let's remove the start command completely",
        "no, remove the start command completely",
        "hmm, we should remove the start command completely",
        "ok, but the start command should go completely",
        "why can't we remove the start command completely?",
        "Nein, wir sollten den Befehl start ganz entfernen",
        "finalement, on garde une seule commande, sans start",
        "не так, команду start нужно удалить совсем",
        "不对，start 命令应该完全去除",
    ],
)
def test_a_correction_withdraws_what_it_corrects_from_decisions_and_context(correction: str) -> None:
    content = of(
        ("user", ASKED),
        ("assistant", DONE),
        ("user", correction),
        ("assistant", "Done. The start command has been removed.*"),
    ).content
    assert len(content.decisions) == 1
    assert correction[:20] in content.decisions[0]
    assert "hidden" not in repr((content.decisions, content.context))


def test_a_later_wish_on_the_same_object_replaces_the_earlier_one() -> None:
    content = of(
        ("user", "Retention of the job logs should be 30 days"),
        ("assistant", "Retention of job logs is now 30 days.*"),
        ("user", "Also add an index on the date"),
        ("assistant", "Added the index.*"),
        ("user", "Retention of the job logs should be 90 days"),
        ("assistant", "Retention of job logs is now 90 days.*"),
    ).content
    assert "30 days" not in repr(content.decisions)
    assert "90 days" in repr(content.decisions)


def test_what_was_said_of_a_state_that_the_next_request_changed_is_not_kept() -> None:
    content = of(
        ("user", "how are the checkpoints sorted?"),
        ("assistant", "Checkpoints are sorted by CreatedAt."),
        ("user", "I think we should sort checkpoints by commit"),
        ("assistant", "Checkpoints are now sorted by their commit.*"),
    ).content
    assert "CreatedAt" not in repr(content)


OFFER = (
    "1. **Inline attribution** in each entry\n2. **A footer** that thanks all of them\n\nWhich of them do you prefer?"
)


@pytest.mark.parametrize("choice", ["2", "I like option 2", "a footer sounds good", "2. thanks"])
def test_a_choice_takes_the_text_of_the_option_that_was_meant(choice: str) -> None:
    (decision,) = of(
        ("user", "How do we thank contributors?"),
        ("assistant", OFFER),
        ("user", choice),
        ("assistant", "The changelog now ends in a footer.*"),
    ).content.decisions
    assert "A footer that thanks all of them" in decision
    assert "Inline" not in decision


def test_an_approval_takes_what_was_offered_and_goes_on_with_the_request_before() -> None:
    offered = of(
        ("user", "what does the discard writer do?"),
        ("assistant", "It discards all data. Want me to use the discard writer instead?"),
        ("user", "yes please"),
        ("assistant", "Done. The code now uses the discard writer.*"),
    ).content.decisions
    assert offered == (
        f"Want me to use the discard writer instead? yes please{ARROW}The code now uses the discard writer.",
    )
    asked = of(
        ("user", "the alias names should not be accepted any more"),
        ("assistant", "Three files would change. May I apply the patch?"),
        ("user", "可以"),
        ("assistant", "Only zh and en are accepted now.*"),
    ).content.decisions
    assert asked == (f"the alias names should not be accepted any more{ARROW}Only zh and en are accepted now.",)


REVIEW = (
    "The comment says that output is sent to the null device, but leaving the writers unset inherits the descriptors of"
    " the parent, so unexpected output could still appear. They should be redirected to a sink (e.g., a handle)."
)


@pytest.mark.parametrize(
    "pasted",
    [
        REVIEW,
        "Implement the following plan:\n\n# Sort the checkpoints\n\n- the list should be sorted by commit\n"
        + "- every caller must pass the branch, which should never be empty\n" * 12,
        "```\nlet's use the other server\n```",
        "<system-reminder>The person should always use tabs</system-reminder>",
        "for example it should say entire session list",
    ],
)  # fmt: skip
def test_what_was_pasted_or_is_an_example_is_nobodys_decision(pasted: str) -> None:
    assert of(("user", pasted), ("assistant", "Done. The list is now sorted.*")).content.decisions == ()


def test_what_several_prompts_begin_with_is_a_products_and_nobodys_decision() -> None:
    rules = (
        "You should never write to the disk, and you must always answer in English, whatever the question is about." * 2
    )
    content = of(
        ("user", f"{rules}\nWhich port does the server use?"),
        ("assistant", "Port 8080.*"),
        ("user", f"{rules}\nLet's use port 9090 then"),
        ("assistant", "The server now listens on port 9090.*"),
    ).content  # fmt: skip
    assert content.decisions == (f"Let's use port 9090 then{ARROW}The server now listens on port 9090.",)
    assert "never write" not in repr(content)


@pytest.mark.parametrize(
    "errand",
    ["run the tests", "fix the broken build", "can you explain why it fails?", "add a test for the start command",
     "zeig mir die Datei", "检查目前项目的设计"],
)  # fmt: skip
def test_an_errand_leaves_no_decision_but_a_line(errand: str) -> None:
    content = of(("user", ASKED), ("assistant", "I see."), ("user", errand), ("assistant", "Fixed the start.*")).content
    assert content.decisions == ()
    assert content.context


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Wir sollten Postgres für die Warteschlange nehmen", "Erledigt: die Warteschlange läuft auf Postgres."),
        ("il faut que la file soit dans SQLite", "C'est fait, la file est dans SQLite."),
        ("vamos a usar SQLite para la cola", "Hecho: la cola usa SQLite."),
        ("quero que a fila use SQLite", "Feito: a fila usa SQLite."),
        ("voglio che la coda usi SQLite", "Fatto: la coda usa SQLite."),
        ("очередь должна быть в SQLite", "Готово: очередь теперь в SQLite."),
        ("队列应该使用 SQLite 数据库", "已改为使用 SQLite 数据库作为队列。"),
        ("キューはSQLiteにしてください", "キューをSQLiteに変更しました。"),
        ("대기열은 SQLite로 해야 합니다", "대기열을 SQLite로 변경했습니다."),
    ],
)
def test_a_decision_is_recognised_in_the_languages_of_the_table(asked: str, answer: str) -> None:
    (decision,) = of(("user", asked), ("assistant", answer), edits=False).content.decisions
    assert decision.startswith(asked)
    assert answer[-8:] in decision


def test_a_language_without_words_is_understood_by_the_shape() -> None:
    (decision,) = of(("user", "A feladatok sora SQLite legyen"), ("assistant", "A sor SQLite.*")).content.decisions
    assert decision == "A feladatok sora SQLite legyen"


def test_without_a_decision_there_is_one_line_of_what_was_asked_and_came_out_and_what_is_open() -> None:
    content = of(
        ("user", "Why does the build fail on Windows?"),
        ("assistant", "The path separator of the build differs there. Which shell do you use?"),
        ("user", "What is the separator of the path on Linux?"),
        ("assistant", "It is a forward slash."),
        ("user", "Which separator of the path has the archive?"),
        ("assistant", "The separator of the path in the archive is a forward slash. Should I use pathlib everywhere?"),
    ).content
    assert content.context == NEXT.join(
        [
            f"Why does the build fail on Windows?{ARROW}The path separator of the build differs there.",
            "Which separator of the path has the archive?"
            f"{ARROW}The separator of the path in the archive is a forward slash.",
        ]
    )
    assert content.open_questions == ("Should I use pathlib everywhere?",)


def test_a_line_without_a_decision_has_at_most_120_tokens() -> None:
    long = "the build of the archive on Windows with the separator of the path and further words " * 6
    content = of(("user", f"Why is {long}?"), ("assistant", f"Since {long}."), ("user", f"And is {long}?"),
                 ("assistant", f"It is {long}.")).content  # fmt: skip
    assert 0 < len(content.context) <= 480
    assert "\n" not in content.context


@pytest.mark.parametrize("offer", ["Would you like any other changes?", "Is there anything else?"])
def test_an_offer_of_anything_more_is_not_open(offer: str) -> None:
    assert of(("user", "Rename the settings."), ("assistant", f"Renamed.* {offer}")).content.open_questions == ()


def test_of_what_nobody_answered_the_sentence_that_says_most_is_open() -> None:
    said = of(("user", "The header is repeated in the file. It looks like this."))
    assert said.content.open_questions == ("The header is repeated in the file.",)


@pytest.mark.parametrize("said", ["@user-preferences.mdc", "seems like it hangs forever", "bun test supports mocking"])
def test_a_remark_of_few_words_in_english_is_no_decision(said: str) -> None:
    before = (("user", "How do we run the tests of the queue?"), ("assistant", "By the runner of the queue."))
    assert (
        of(*before, ("user", said), ("assistant", f"I've updated the {said} of the runner.*")).content.decisions == ()
    )


def test_a_request_of_one_long_paragraph_is_the_person_s_own() -> None:
    asked = f"make a new task for a command that sets up a project: {'a folder of rules, a file of tasks, ' * 8}"
    (decision,) = of(("user", asked), ("assistant", "The task was added.*")).content.decisions
    assert decision.startswith("make a new task for a command")


def test_an_answer_that_shares_no_word_of_the_subject_is_not_what_came_of_a_decision() -> None:
    said = of(("user", "never ask me questions like this one"), ("assistant", "I've added a test, like the others.*"))
    assert said.content.decisions == ("never ask me questions like this one",)


def test_words_that_only_announce_a_list_are_no_decision() -> None:
    assert of(("user", "make a new task of the following work:"), ("assistant", "Added.*")).content.decisions == ()


def test_what_was_asked_about_the_state_before_a_change_is_left_out() -> None:
    content = of(
        ("user", "Please confirm that the hook of the page runs before the export"),
        ("assistant", "The hook of the page runs after the export."),
        ("user", "Please fix the hook of the page, so that it runs before the export"),
        ("assistant", "I've moved the hook of the page before the export.*"),
    ).content
    assert "runs after" not in " ".join([content.context, *content.decisions])


@pytest.mark.parametrize("announced", ["Now, let's update the queue of the settings:", "Okay, I will move the queue."])
def test_what_is_only_announced_is_not_what_came_out(announced: str) -> None:
    content = of(
        ("user", "let's move the queue of the settings to SQLite"), ("assistant", f"{announced} Done.*")
    ).content
    assert not any(announced[:12] in line for line in content.decisions)


def test_a_request_that_nobody_answered_is_open() -> None:
    assert of(("user", "Move the settings to one file.")).content.open_questions == ("Move the settings to one file.",)


def test_a_segment_without_a_request_that_names_a_subject_is_of_little_importance() -> None:
    assert of(("user", "continue")).importance == 0.1


def test_references_are_the_files_that_were_touched_or_named_branches_issues_and_plans() -> None:
    turn = Turn(
        "user",
        "Fix #12 as Plan 014 says, see `setup.cfg` and src/app/main.py, not 3.5/2.\n```\nother/file.py\n```",
        "line 1",
        folder="/home/me/app",
        branch="feature/login",
        files=("/home/me/app/src/login.py",),
    )
    assert summarise(Segment(0, (turn,))).content.references == References(
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
    content = summarise(Segment(0, turns)).content
    assert content.references.files == ("a.py",)
    assert "hidden" not in repr(content)


def test_the_time_scope_has_the_bounds_and_the_number_of_turns() -> None:
    turns = tuple(Turn("user", "Why does it fail?", "1", f"2026-01-01T0{hour}:00:00Z") for hour in range(3))
    scope = summarise(Segment(0, turns)).content.time_scope
    assert (scope.start, scope.end, scope.turn_count) == ("2026-01-01T00:00:00Z", "2026-01-01T02:00:00Z", 3)


def test_a_segment_without_prose_has_nothing_to_keep() -> None:
    content = of(("user", "```\nx = 1\n```")).content
    assert (content.topic, content.context) == ("Session", "")


@pytest.mark.parametrize(
    ("requests", "topic"),
    [
        (["hey can you look at why CI takes 38 minutes?"], "look at why CI takes 38 minutes?"),
        (["We need to decide where to store sessions."], "We need to decide where to store sessions"),
        (["データベースの移行はなぜ失敗しますか？"], "データベースの移行はなぜ失敗しますか？"),
        (["Implement the following plan:\n\n# Fix: Walk the parent chain\n\nFirst, …"], "Fix: Walk the parent chain"),
        (
            ["The sign-in of the shop should remember the person on each of their devices for ninety days at most"],
            "The sign-in of the shop should remember the person on each…",
        ),
    ],
)
def test_the_title_is_a_request_or_a_plans_heading_cut_at_a_word(requests: list[str], topic: str) -> None:
    assert of(*(("user", request) for request in requests)).content.topic == topic


def test_what_both_talk_about_stands_before_a_request_that_does_not_name_it() -> None:
    content = of(
        ("user", "are the checkpoints sorted?"),
        ("assistant", "Yes, all checkpoints are."),
        ("user", "we should sort by commit tree"),
        ("assistant", "The checkpoints follow the commit tree now.*"),
    ).content
    assert content.topic == "checkpoints: sort by commit tree"
