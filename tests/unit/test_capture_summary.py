"""From turns to summaries without a model: where a session is cut, which parts are sentences, and what is written."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from hypothesis import given, strategies as st

from bridge.anchors.words import words as anchored
from bridge.capture.boundaries import DEFAULTS, Limits, segments
from bridge.capture.sentences import MAX_CHARACTERS, sentences
from bridge.capture.session import Segment, SegmentSummary, Turn
from bridge.capture.summary import ARROW, NEXT, summarise
from bridge.capture.title import MOST_CHARACTERS
from bridge.memory import References
from bridge.text import turn_words as words

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


def of(*said: str, edits: bool = True, **more: Any) -> SegmentSummary:
    """The summary of what a person and an assistant said in turn; an empty text is no turn. ``edits``: each answer that
    ends in ``*`` changed a file."""
    turns = []
    for number, text in enumerate(said):
        speaker: Any = "assistant" if number % 2 else "user"
        tools = {"Edit" if text.endswith("*") else "Read": 1} if edits and number % 2 else {}
        turns.append(Turn(speaker, text.removesuffix("*"), f"line {number + 1}", tools=tools, **more))
    return summarise(Segment(0, tuple(turn for turn in turns if turn.text)))


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("**", ""))


@given(_segments)
def test_a_summary_is_of_words_of_the_transcript_short_and_the_same_each_time(segment: Segment) -> None:
    """Its values are from 0 to 1."""
    said = [plain(turn.text) for turn in segment.turns if not turn.part]
    summary = summarise(segment)
    content = summary.content
    for line in (*content.decisions, *content.open_questions, *content.context.split("\n")):
        for word in re.split(rf"[\s()/…]+|{ARROW.strip()}|{NEXT.strip()}", line):
            assert word in ("", "Session") or any(word.strip("*_") in text for text in said), line
    assert summary == summarise(segment)
    assert 0 < len(summary.content.topic) <= MOST_CHARACTERS
    assert len(summary.content.context) <= 940
    assert 0 <= summary.importance <= 1
    assert 0 <= summary.confidence <= 1


@pytest.mark.parametrize("part", ["a-", "1.", "---\n", "x@", "aA1"])
def test_a_very_long_word_or_many_equal_lines_are_read_in_a_moment(part: str) -> None:
    """A pattern that tries every way to divide them takes minutes, or does not end while anybody waits."""
    long = part * (60_000 // len(part))
    began = time.process_time()
    of(f"Please fix it. {long}", f"Done. {long}*", f"{long} no, use Redis", f"I use Redis. {long}*")
    anchored(f"Use a. {long}")
    assert time.process_time() - began < 8, "it is half a second"


ASKED, DONE = "let's make the start command hidden", "Done. The start command is now hidden.*"


def test_a_decision_is_the_persons_words_and_what_the_answer_says_was_done() -> None:
    summary = of(ASKED, f"Let me look. All tests pass. {DONE}")
    assert summary.content.decisions == (f"{ASKED}{ARROW}The start command is now hidden.",)
    (evidence,) = (each for each in summary.evidence if each.section == "decisions")
    assert evidence.place == "line 1"


@pytest.mark.parametrize("answer", ["It could be hidden, or removed.", "Shall I hide the start command, then?"])
def test_what_was_not_done_is_no_decision(answer: str) -> None:
    assert of(ASKED, answer).content.decisions == ()


def test_where_nothing_is_known_of_tools_the_answers_words_tell_that_it_was_done() -> None:
    talk = ASKED, "I've hidden the start command."
    assert len(of(*talk, edits=False).content.decisions) == 1
    assert of(ASKED, "I'll hide it.", edits=False).content.decisions == ()


CORRECTIONS = [
    "thinking again: let's remove the start command completely",
    "no, remove the start command completely",
    "hmm, we should remove the start command completely",
    "ok, but the start command should go completely",
    "why can't we remove the start command completely?",
    "Nein, wir sollten den Befehl start ganz entfernen",
    "finalement, on garde une seule commande, sans start",
    "не так, команду start нужно удалить совсем",
    "不对，start 命令应该完全去除",
]


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_a_correction_withdraws_what_it_corrects_from_decisions_and_context(correction: str) -> None:
    content = of(ASKED, DONE, correction, "Done. The start command has been removed.*").content
    assert len(content.decisions) == 1
    assert correction[:20] in content.decisions[0]
    assert "hidden" not in repr((content.decisions, content.context))
    reverted = of(ASKED, DONE, "The help looks empty now. Please revert that.", "I restored the command.*").content
    assert "hidden" not in repr((reverted.decisions, reverted.context))


def test_a_later_wish_on_the_same_object_replaces_the_earlier_one() -> None:
    content = of(
        "Retention of the job logs should be 30 days",
        "Retention of job logs is now 30 days.*",
        "Also add an index on the date",
        "Added the index.*",
        "Retention of the job logs should be 90 days",
        "Retention of job logs is now 90 days.*",
    ).content
    assert "30 days" not in repr(content.decisions)
    assert "90 days" in repr(content.decisions)


CHANGED = [
    (("how are the checkpoints sorted?", "Checkpoints are sorted by CreatedAt.",
      "I think we should sort checkpoints by commit", "Checkpoints are now sorted by their commit.*"), "CreatedAt"),
    (("Please confirm that the hook of the page runs before the export",
      "The hook of the page runs after the export.",
      "Please fix the hook of the page, so that it runs before the export",
      "I've moved the hook of the page before the export.*"), "runs after"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "changed"), CHANGED)
def test_what_was_said_of_a_state_that_a_next_request_changed_is_not_kept(said: tuple[str, ...], changed: str) -> None:
    assert changed not in repr(of(*said).content)


OFFER = "1. **Inline attribution** in each entry\n2. **A footer** that thanks all\n\nWhich of them do you prefer?"


@pytest.mark.parametrize("choice", ["2", "I like option 2", "a footer sounds good", "2. thanks"])
def test_a_choice_takes_the_text_of_the_option_that_was_meant(choice: str) -> None:
    said = of("How do we thank contributors?", OFFER, choice, "The changelog now ends in a footer.*")
    (decision,) = said.content.decisions
    assert "A footer that thanks all" in decision
    assert "Inline" not in decision


def test_an_approval_takes_what_was_offered_and_goes_on_with_the_request_before() -> None:
    offered = of(
        "what does the discard writer do?",
        "It discards all data. Want me to use the discard writer instead?",
        "yes please",
        "Done. The code now uses the discard writer.*",
    ).content.decisions
    assert offered == (
        f"yes please [offered: Want me to use the discard writer instead?]{ARROW}The code now uses the discard writer.",
    )
    asked = of(
        "the alias names should not be accepted any more",
        "Three files would change. May I apply the patch?",
        "可以",
        "Only zh and en are accepted now.*",
    ).content.decisions
    assert asked == (f"the alias names should not be accepted any more{ARROW}Only zh and en are accepted now.",)


REVIEW = (
    "The comment says that output is sent to the null device, but leaving the writers unset inherits the descriptors of"
    " the parent, so unexpected output could still appear. They should be redirected to a sink (e.g., a handle)."
)


PASTED_TEXTS = [
    REVIEW,
    "```\nlet's use the other server\n```",
    "<system-reminder>The person should always use tabs</system-reminder>",
    "for example it should say entire session list",
    "You must always sort the list. NEVER stop.\n\n1. LOAD the list\n2. READ it\n3. SORT it\n4. ASK what is next",
    "The list should be sorted\n\nImplement the plan as specified, it is attached for your reference.",
    f"{REVIEW}\n\nPlease use only your own list.",
    "你好\n\nYou should always sort the list of the files.",
    "Issue reproduced, please proceed.\n\nThe list should be sorted",
    "One concern:\n  5. **Order.** You should sort the list.\nI see it as you do. " + "It is late, you know. " * 20,
]  # fmt: skip


@pytest.mark.parametrize("pasted", PASTED_TEXTS)
def test_what_was_pasted_or_is_an_example_is_nobodys_decision(pasted: str) -> None:
    assert of(pasted, "Done. The list is now sorted.*").content.decisions == ()


def test_the_line_of_a_pasted_error_is_marked_beside_what_the_person_wrote() -> None:
    said = of("why do the lists fail, what is it?\n\n```\nKeyError: 'begin' is no list\n```", "The lists are empty.")
    assert said.content.context.startswith("why do the lists fail, what is it? [pasted: KeyError: 'begin' is no list]")


def test_what_several_prompts_begin_with_is_a_products_and_nobodys_decision() -> None:
    rules = "You should never write to the disk, and you must always answer in English, whatever it is about." * 2
    content = of(
        f"{rules}\nWhich port does the server use?",
        "Port 8080.*",
        f"{rules}\nLet's use port 9090 then",
        "The server now listens on port 9090.*"
    ).content  # fmt: skip
    assert content.decisions == (f"Let's use port 9090 then{ARROW}The server now listens on port 9090.",)
    assert "never write" not in repr(content)


@pytest.mark.parametrize(
    "errand",
    ["run the tests", "fix the broken build", "can you explain why it fails?", "add a test for the start command",
     "zeig mir die Datei", "检查目前项目的设计"],
)  # fmt: skip
def test_an_errand_leaves_no_decision_but_a_line(errand: str) -> None:
    content = of(ASKED, "I see.", errand, "Fixed the start.*").content
    assert content.decisions == ()
    assert content.context


IN_LANGUAGES = [
    ("Wir sollten Postgres für die Warteschlange nehmen", "Erledigt: die Warteschlange läuft auf Postgres."),
    ("il faut que la file soit dans SQLite", "C'est fait, la file est dans SQLite."),
    ("vamos a usar SQLite para la cola", "Hecho: la cola usa SQLite."),
    ("quero que a fila use SQLite", "Feito: a fila usa SQLite."),
    ("voglio che la coda usi SQLite", "Fatto: la coda usa SQLite."),
    ("очередь должна быть в SQLite", "Готово: очередь теперь в SQLite."),
    ("队列应该使用 SQLite 数据库", "已改为使用 SQLite 数据库作为队列。"),
    ("キューはSQLiteにしてください", "キューをSQLiteに変更しました。"),
    ("대기열은 SQLite로 해야 합니다", "대기열을 SQLite로 변경했습니다."),
]


@pytest.mark.parametrize(("asked", "answer"), IN_LANGUAGES)
def test_a_decision_is_recognised_in_the_languages_of_the_table(asked: str, answer: str) -> None:
    (decision,) = of(asked, answer, edits=False).content.decisions
    assert decision.startswith(asked)
    assert answer[-8:] in decision


def test_a_language_without_words_is_understood_by_the_shape() -> None:
    (decision,) = of("A feladatok sora SQLite legyen", "A sor SQLite.*").content.decisions
    assert decision == "A feladatok sora SQLite legyen"


def test_without_a_decision_there_is_one_line_of_what_was_asked_and_came_out_and_what_is_open() -> None:
    content = of(
        "Why does the build fail on Windows?",
        "The path separator of the build differs there. Which shell do you use?",
        "What is the separator of the path on Linux?",
        "It is a forward slash.",
        "Which separator of the path has the archive?",
        "The separator of the path in the archive is a forward slash. Should I use pathlib everywhere?",
    ).content
    first = f"Why does the build fail on Windows?{ARROW}The path separator of the build differs there."
    answer = "The separator of the path in the archive is a forward slash."
    last = f"Which separator of the path has the archive?{ARROW}{answer}"
    assert content.context == f"{first}{NEXT}{last}\nWhat is the separator of the path on Linux?"
    assert content.open_questions == ("Should I use pathlib everywhere?",)


def test_a_line_without_a_decision_has_at_most_120_tokens() -> None:
    long = "the build of the archive on Windows with the separator of the path and further words " * 6
    content = of(f"Why is {long}?", f"Since {long}.", f"And is {long}?",
                 f"It is {long}.").content  # fmt: skip
    assert 0 < len(content.context) <= 480
    assert "\n" not in content.context


@pytest.mark.parametrize("offer", ["Would you like any other changes?", "Is there anything else?"])
def test_an_offer_of_anything_more_is_not_open(offer: str) -> None:
    assert of("Rename the settings.", f"Renamed.* {offer}").content.open_questions == ()


def test_of_what_nobody_answered_the_sentence_that_says_most_is_open() -> None:
    said = of("The header is repeated in the file.\n\nIt looks like this.")
    assert said.content.open_questions == ("The header is repeated in the file.",)


@pytest.mark.parametrize("said", ["@user-preferences.mdc", "seems like it hangs forever", "bun test supports mocking"])
def test_a_remark_of_few_words_in_english_is_no_decision(said: str) -> None:
    before = ("How do we run the tests of the queue?", "By the runner of the queue.")
    assert of(*before, said, f"I've updated the {said} of the runner.*").content.decisions == ()


def test_a_request_of_one_long_paragraph_is_the_person_s_own() -> None:
    asked = f"make a new task for a command that sets up a project: {'a folder of rules, a file of tasks, ' * 8}"
    (decision,) = of(asked, "The task was added.*").content.decisions
    assert decision.startswith("make a new task for a command")


def test_an_outcome_that_the_next_turn_denies_is_not_told() -> None:
    talk = ("start both servers in run.py", "I started both servers in `run.py`.", "the servers are not working")
    assert "I started both" in of(*talk[:2]).content.context
    assert "I started both" not in of(*talk, "I see the reason in the log.").content.context


def test_further_requests_and_the_last_answer_s_report_have_lines_of_their_own() -> None:
    shown = ("owner of every gallery", "size of uploaded pictures", "menu in green colours", "newest guest on top")
    asked = [f"Show the {name}" for name in shown]
    talk = [said for one in asked for said in (one, f"{one.replace('Show', 'I added')}.*")]
    lines = of(*talk[:-1], f"I tried it.\n\n{talk[-1]}", report=1).content.context.split("\n")
    assert lines[-1] == f"→ {talk[-1][:-1]}"
    assert all(any(one in line for line in [*lines, *of(*talk).content.decisions]) for one in asked)
    for end in ("Shall I sort them too?", "Then thank you for it."):
        assert "→" not in [
            line[:1] for line in of(*talk, "Is the newest guest right?", end).content.context.split("\n")
        ]
    assert "\n→" not in of(*talk, "the newest guests are all wrong").content.context, "somebody said more after it"


def test_an_answer_that_shares_no_word_of_the_subject_is_not_what_came_of_a_decision() -> None:
    said = of("never ask me questions like this one", "I've added a test, like the others.*")
    assert said.content.decisions == ("never ask me questions like this one",)


def test_words_that_only_announce_a_list_are_no_decision() -> None:
    assert of("make a new task of the following work:", "Added.*").content.decisions == ()


@pytest.mark.parametrize("announced", ["Now, let's update the queue of the settings:", "Okay, I will move the queue."])
def test_what_is_only_announced_is_not_what_came_out(announced: str) -> None:
    content = of("let's move the queue of the settings to SQLite", f"{announced} Done.*").content
    assert not any(announced[:12] in line for line in content.decisions)


def test_a_request_that_nobody_answered_is_open() -> None:
    assert of("Move the settings to one file.").content.open_questions == ("Move the settings to one file.",)


def test_a_segment_without_a_request_that_names_a_subject_is_of_little_importance() -> None:
    assert of("continue").importance == 0.1


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
    content = of("```\nx = 1\n```").content
    assert (content.topic, content.context) == ("Session", "")


TITLES = [
    (["hey can you look at why CI takes 38 minutes?"], "look at why CI takes 38 minutes?"),
    (["We need to decide where to store sessions."], "We need to decide where to store sessions"),
    (["データベースの移行はなぜ失敗しますか？"], "データベースの移行はなぜ失敗しますか？"),
    (["Implement the following plan:\n\n# Fix: Walk the parent chain\n\nFirst, …"], "Fix: Walk the parent chain"),
    (["My token is [REDACTED:token].", "List all the stores by country."], "List all the stores by country"),
    (
        ["The sign-in of the shop should remember the person on each device for ninety days"],
        "The sign-in of the shop should remember the person on each…",
    ),
]


@pytest.mark.parametrize(("requests", "topic"), TITLES)
def test_the_title_is_a_request_or_a_plans_heading_cut_at_a_word(requests: list[str], topic: str) -> None:
    assert of(*(text for request in requests for text in (request, ""))).content.topic == topic


def test_what_both_talk_about_stands_before_a_request_that_does_not_name_it() -> None:
    asked = "are the checkpoints sorted?", "Yes, all checkpoints are.", "we should sort by commit tree"
    content = of(*asked, "The checkpoints follow the commit tree now.*").content
    assert content.topic == "checkpoints: sort by commit tree"


# --- capture sentences ---


def test_sentences_are_split_at_stops_also_before_small_letters_but_not_at_abbreviations() -> None:
    said = ["we keep it.", "the lock is slow, e.g. on Windows!", "Really?", "yes it is"]
    assert list(sentences(" ".join(said))) == said


def test_a_short_turn_stays_whole_since_a_sentence_of_it_may_say_the_contrary() -> None:
    turned = "실행 결과 밑에 n개의 테스트 케이스에서 실패했습니다. 이런 문구 안 나오게 해주고"
    assert list(sentences(turned, joins=True)) == [turned]
    assert len(list(sentences(turned * 5, joins=True))) > 1


def test_items_of_a_list_are_sentences_without_their_bullets_and_lines_of_a_paragraph_are_joined() -> None:
    found = list(sentences("The plan\nin short:\n- write the reader\n2. test the writer"))
    assert found == ["The plan in short:", "write the reader", "test the writer"]


NOISE = [
    "```python\nvalue = compute everything here\n```",
    "~~~\nnothing of this is said\n~~~",
    "```\nan unfinished block of code",
    "# A heading of the answer",
    "| a table | of two columns |",
    "> what somebody else had said",
    "$ make test and wait for it",
    'Traceback (most recent call last):\n  File "a.py", line 3, in main\n    raise ValueError(text)',
    "at Object.run (/srv/app/index.js:3:14)",
    "2026-01-01 12:00:00 INFO the worker has started",
    "[21:28:04.005] Compiled successfully in seconds",
    "diff --git a/x.py b/x.py\n@@ -1 +1 @@\n unchanged words\n-before it was so\n+now it is so",
    "src/app/main.py",
    "tests/unit/test_a.py, tests/unit/test_b.py",
    "const answer = await fetch(address);",
    "    12→the contents of a file with numbers",
    "<private>the password is in the drawer</private>",
    "<system-reminder>The person has opened a file\nin the editor</system-reminder>",
    "[Request interrupted by user]",
]


@pytest.mark.parametrize("noise", NOISE)
def test_code_output_and_private_parts_are_no_sentences(noise: str) -> None:
    assert list(sentences(f"Before it is said.\n\n{noise}\n\n# End\n")) == ["Before it is said."]


def test_prose_after_a_patch_is_prose_again() -> None:
    patch = "diff --git a/x b/x\n@@ -1 +1 @@\n-one thing\n+another thing\n\n"
    assert list(sentences(f"{patch}Please explain this change.")) == ["Please explain this change."]


def test_a_long_sentence_is_cut_into_parts_that_stand_in_it() -> None:
    long = ", ".join(f"the part number {number} of a sentence" for number in range(40))
    assert all(len(part) <= MAX_CHARACTERS for part in [*sentences(long), *sentences("x" * 10_000)])
    assert " ".join(sentences(long)).replace("… …", " ") == long


# --- capture boundaries ---


EMBED = FakeEmbedder().embed
SMALL = Limits(turns=9, characters=900, prose=500, window=60, unlike=0.7, least=10)

BREAD = "the oven must be hot before the bread goes in, and the dough rests for an hour"
TOKENS = "our database migration fails since the token column of the session table is missing"

Told = list[tuple[str, str, int, str, str | None]]
_words = st.lists(st.sampled_from(f"{BREAD} {TOKENS}".split()), min_size=1, max_size=30).map(" ".join)
_turns = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant"]),
        _words,
        st.sampled_from([0, 0, 0, 0, 0, 0, 9]),
        st.sampled_from(["", "", "", "", "side-1", "side-2"]),
        st.sampled_from([None] * 12 + ["cleared"]),
    ),
    max_size=40,
)


def conversation(given: Told) -> list[Turn]:
    """Turns a minute apart, besides the given hours."""
    turns, minutes = [], 0
    for number, (speaker, text, hours, part, marker) in enumerate(given):
        minutes += 1 + 60 * hours
        at = f"2026-01-{1 + minutes // 1440:02}T{minutes // 60 % 24:02}:{minutes % 60:02}:00Z"
        turns.append(Turn(speaker, text, f"line {number}", at, part=part, marker=marker))  # type: ignore[arg-type]
    return turns


def talk(*subjects: tuple[str, int]) -> list[Turn]:
    """Exchanges about each subject, so many of each."""
    return [
        turn
        for text, count in subjects
        for number in range(count)
        for turn in (Turn("user", f"{text}?", f"line {number}"), Turn("assistant", f"Answer {number}: {text}.", ""))
    ]


def cut(turns: list[Turn], limits: Limits = DEFAULTS) -> list[Segment]:
    return list(segments(turns, EMBED, limits))


@given(_turns, st.integers(0, 40), st.sampled_from([DEFAULTS, SMALL]))
def test_a_session_that_grew_keeps_all_segments_but_the_last(told: Told, length: int, limits: Limits) -> None:
    turns = conversation(told)
    before = cut(turns[:length], limits)
    assert cut(turns, limits)[: len(before) - 1] == before[:-1] if before else True


@given(_turns, st.integers(1, 40))
def test_a_last_turn_that_grew_changes_no_segment_before_the_last(told: Told, length: int) -> None:
    turns = conversation(told)[:length]
    if turns:
        *earlier, last = turns
        before = cut([*earlier, replace(last, text=last.text[: len(last.text) // 2])], SMALL)
        assert cut(turns, SMALL)[: len(before) - 1] == before[:-1]


@given(_turns)
def test_every_turn_that_was_spoken_is_in_exactly_one_segment_in_order_within_the_limits(told: Told) -> None:
    turns = conversation(told)
    found = cut(turns, SMALL)
    assert [turn for one in found for turn in one.turns if not turn.part] == [turn for turn in turns if not turn.part]
    assert [one.index for one in found] == list(range(len(found)))
    assert found == cut(turns, SMALL)
    for one in found:
        spoken = [turn for turn in one.turns if not turn.part]
        assert 0 < len(spoken) <= SMALL.turns
        assert len(spoken) == 1 or sum(len(turn.text) for turn in spoken) <= SMALL.characters


def test_no_more_than_a_segment_and_a_turn_is_read_ahead() -> None:
    read = 0

    def endless() -> Iterator[Turn]:
        nonlocal read
        while True:
            read += 1
            yield Turn("user" if read % 2 else "assistant", f"{BREAD} {read}", f"line {read}")

    first = next(segments(endless(), EMBED, SMALL))
    assert read <= len(first.turns) + SMALL.turns + 1


def test_a_change_of_subject_is_a_cut() -> None:
    found = cut(talk((BREAD, 12), (TOKENS, 12)), replace(DEFAULTS, unlike=0.6))
    assert [(len(one.turns), one.cut) for one in found] == [(24, "start"), (24, "subject")]


def test_one_subject_is_one_segment() -> None:
    assert len(cut(talk((BREAD, 12)))) == 1


@pytest.mark.parametrize(("hours", "count"), [(3, 1), (5, 2)])
def test_silence_of_more_than_four_hours_is_a_cut(hours: int, count: int) -> None:
    turns = conversation([("user", BREAD, 0, "", None), ("user", BREAD, hours, "", None)])
    found = cut(turns)
    assert (len(found), found[-1].cut) == (count, ("silence" if count == 2 else "start"))


def test_a_marker_is_a_cut() -> None:
    turns = conversation([("user", BREAD, 0, "", None), ("user", BREAD, 0, "", "cleared")])
    assert [one.cut for one in cut(turns)] == ["start", "marker"]
    turns = conversation([("user", BREAD, 0, "", None), ("user", "keep doing", 0, "", "compacted")])
    assert [one.cut for one in cut(turns)] == ["start"], "it names no subject of its own"


def test_a_size_cut_says_so_and_keeps_exchanges_whole() -> None:
    found = cut(talk((BREAD, 30)), replace(DEFAULTS, prose=1000))
    assert {one.cut for one in found[1:]} == {"size"}
    assert all(one.turns[0].speaker == "user" for one in found)


def test_a_side_chain_keeps_its_files_and_counts_but_no_text_and_is_no_cut() -> None:
    turns = [
        Turn("user", BREAD, "line 1"),
        Turn("assistant", TOKENS, "line 2", part="agent", files=("a.py",), tools={"Read": 2}, marker="compacted"),
        Turn("assistant", TOKENS, "line 3", part="agent", files=("b.py", "a.py"), tools={"Read": 1}),
        Turn("assistant", "It is done.", "line 4"),
    ]
    (one,) = cut(turns)
    side = one.turns[1]
    assert (side.text, side.files, side.tools, side.marker) == ("", ("a.py", "b.py"), {"Read": 3}, None)
    assert len(one.turns) == 3


def test_an_unreadable_time_is_no_silence() -> None:
    turns = [Turn("user", BREAD, "1", "2026-01-01T00:00:00Z"), Turn("user", BREAD, "2", "yesterday")]
    assert len(cut(turns)) == 1


def test_a_long_answer_stays_with_its_question() -> None:
    long = ". ".join(f"{TOKENS} {number}" for number in range(40))
    turns = [
        *talk((BREAD, 4)),
        Turn("user", f"{TOKENS}?", "1"),
        Turn("assistant", long, "2"),
        Turn("user", f"{BREAD}?", "3"),
    ]
    found = cut(turns, replace(DEFAULTS, prose=1500))
    assert [[turn.place for turn in one.turns][-2:] for one in found[-2:]] == [["1", "2"], ["3"]]


def test_a_side_chain_alone_is_no_segment_and_belongs_to_what_follows() -> None:
    side = Turn("assistant", TOKENS, "1", part="agent", files=("a.py",))
    assert cut([side]) == []
    (one,) = cut([side, Turn("user", BREAD, "2", marker="cleared")])
    assert [turn.place for turn in one.turns] == ["1", "2"]


CHANGES_OF_SUBJECT = [
    ("unrelated: bump the node version to 22", True),
    ("ok great, now something else: which database shall billing use?", True),
    ("New topic: the invoices", True),
    ("Thanks. A different question, how do we deploy?", True),
    ("Let's move on to the importer.", True),
    ("Anderes Thema: die Rechnungen", True),
    ("换个话题，发票怎么办？", True),
    ("The unrelated test fails, why?", False),
    ("Use another task queue", False),
    ("We need a new question type in the form", False),
    ("Is there something else that fails?", False),
    ("let's switch it off", False),
]


REPORTS = "Done: it retries five times.|I renamed it to UPLOAD_SECONDS.|The limit is in place.|Теперь лимит равен пяти."
NO_REPORTS = """DONE tasks: #001|The requirements are now clear.|Until now, it only saw the name.|Now it should work.
|It has `time.Now()` in it.|I've launched seven agents.|Do it now or later.|However, the limit has been removed.
|The error is now a different one.|Guests cannot see which limit is now set.|I also need to move it, it is now old.
|Limited upload check - Using one size only.|The form is now fully checked.|All forms now use it."""


def test_a_report_says_what_was_done_and_not_what_may_be_so() -> None:
    assert "|".join(filter(words.is_report, f"{REPORTS}|{NO_REPORTS}".split("|"))) == REPORTS
    content = of("Make the export page stream its rows", "The export page streams its rows in chunks.*").content
    assert content.decisions == ("Make the export page stream its rows → The export page streams its rows in chunks.",)


@pytest.mark.parametrize(("text", "is_other"), CHANGES_OF_SUBJECT)
def test_a_person_can_say_that_the_subject_changes(text: str, is_other: bool) -> None:
    assert words.changes_subject(text) is is_other


def test_where_a_person_says_so_a_segment_ends_however_short_it_is() -> None:
    turns = [
        Turn("user", "Why do the invoices lack umlauts?", "1"),
        Turn("assistant", "The font has none.", "2"),
        Turn("user", "unrelated: bump the node version to 22", "3"),
        Turn("assistant", "It is at 22 now.", "4"),
    ]
    found = list(segments(turns, FakeEmbedder().embed))
    assert [[turn.place for turn in segment.turns] for segment in found] == [["1", "2"], ["3", "4"]]
    assert found[1].cut == "marker"


def test_of_a_plan_that_was_given_and_done_the_heading_is_the_decision() -> None:
    plan = "Implement the following plan:\n\n# Plan: Sort the checkpoints\n\n- the list should be sorted by commit\n"
    plan += "- every caller must pass the branch, which should never be empty\n" * 12
    assert of(plan, "Done. The checkpoints are now sorted.*").content.decisions == (
        f"[plan: Sort the checkpoints]{ARROW}The checkpoints are now sorted.",
    )
    assert of(plan, "Done. The list has been shown.*").content.decisions == ("[plan: Sort the checkpoints]",)
    assert of(plan, "Which order?").content.decisions == ()


def test_what_came_out_is_told_by_what_was_said_after_the_last_call() -> None:
    said = "The uploads have been split into parts.\n\nThe uploads were retried and are now kept in the queue.*"
    wish = "let's retry uploads instead of dropping them"
    turns = [Turn("user", wish, "1"), Turn("assistant", said, "2", tools={"Edit": 1}, report=1)]
    decisions = summarise(Segment(0, tuple(turns))).content.decisions
    assert decisions == (f"{wish}{ARROW}The uploads were retried and are now kept in the queue.",)


def test_what_the_last_answer_says_is_left_to_do_is_a_next_step() -> None:
    answer = "Updated the upload.\n\nThe remaining task is to fix the progress bar."
    left = of("let's retry uploads", answer, edits=False).content.next_steps
    assert left == ("The remaining task is to fix the progress bar.",)
    assert of("let's retry uploads", answer, "thanks", "You are welcome.", edits=False).content.next_steps == ()
    for none in ("Let me fix the remaining progress bar.", "Removed the remaining progress bar of the upload."):
        assert of("let's retry uploads", f"Updated it.\n\n{none}", edits=False).content.next_steps == (), none


FORMAT = "Should the export be one file, or a file for each year?"


def test_an_answer_to_a_tools_question_is_a_decision_and_its_work_goes_on() -> None:
    content = of(
        "/plan the export of invoices",
        "I have a question.",
        f"{FORMAT} → A file for each year\nWhat would you like to do next? → Begin\nWhich limit? → You decide",
        "The export writes `invoices-2025.csv` now.*",
    ).content
    assert content.decisions == (f"{FORMAT}{ARROW}A file for each year",)
    assert "Begin" not in content.topic


@pytest.mark.parametrize("answer", ["what is faster?", "hmmm, that depends on the size"])
def test_an_answer_that_asks_or_doubts_decides_nothing(answer: str) -> None:
    assert of("", "A question.", f"{FORMAT} → {answer}").content.decisions == ()


def test_who_takes_an_offer_and_adds_a_wish_decided_what_was_offered_too() -> None:
    offered = f"{DONE[:-1]} Want me to rename `entire` to `begin` as well?*"
    wish = "yes, and the tests should mention it"
    (decision,) = of(ASKED, offered, wish, "Done. The tests mention the new name now.*").content.decisions[-1:]
    assert decision.startswith(f"{wish} [offered: Want me to rename `entire` to `begin` as well?]")


def test_what_the_assistant_is_about_to_do_is_no_outcome() -> None:
    answer = "Now commit and push the hidden command. Now the start command is hidden.*"
    assert of(ASKED, answer).content.decisions == (f"{ASKED}{ARROW}Now the start command is hidden.",)
    again = of(ASKED, answer, "the command is still there", "Removed the start command from the help.*").content
    assert again.decisions == (f"{ASKED}{ARROW}Removed the start command from the help.",), "the first did not help"
