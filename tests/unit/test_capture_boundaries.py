"""Where a session is cut: stable while it grows, deterministic, bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from bridge.capture import words
from bridge.capture.boundaries import DEFAULTS, Limits, segments
from bridge.capture.session import Segment, Turn
from tests.fake_embedder import FakeEmbedder

EMBED = FakeEmbedder().embed
SMALL = Limits(turns=9, characters=900, prose=500, window=60, unlike=0.7, least=10)

BREAD = "the oven must be hot before the bread goes in, and the dough rests for an hour"
TOKENS = "our database migration fails since the token column of the session table is missing"

_words = st.lists(st.sampled_from(f"{BREAD} {TOKENS}".split()), min_size=1, max_size=30).map(" ".join)
_turns = st.lists(
    st.builds(
        lambda speaker, text, hours, part, marker: (speaker, text, hours, part, marker),
        st.sampled_from(["user", "assistant"]),
        _words,
        st.sampled_from([0, 0, 0, 0, 0, 0, 9]),
        st.sampled_from(["", "", "", "", "side-1", "side-2"]),
        st.sampled_from([None] * 12 + ["cleared"]),
    ),
    max_size=40,
)


def conversation(given: list[tuple[str, str, int, str, str | None]]) -> list[Turn]:
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


@settings(max_examples=150, deadline=None)
@given(_turns, st.integers(0, 40), st.sampled_from([DEFAULTS, SMALL]))
def test_a_session_that_grew_keeps_all_segments_but_the_last(
    told: list[tuple[str, str, int, str, str | None]], length: int, limits: Limits
) -> None:
    turns = conversation(told)
    before = cut(turns[:length], limits)
    assert cut(turns, limits)[: len(before) - 1] == before[:-1] if before else True


@settings(max_examples=100, deadline=None)
@given(_turns, st.integers(1, 40))
def test_a_last_turn_that_grew_changes_no_segment_before_the_last(
    told: list[tuple[str, str, int, str, str | None]], length: int
) -> None:
    turns = conversation(told)[:length]
    if turns:
        *earlier, last = turns
        before = cut([*earlier, replace(last, text=last.text[: len(last.text) // 2])], SMALL)
        assert cut(turns, SMALL)[: len(before) - 1] == before[:-1]


@settings(max_examples=100, deadline=None)
@given(_turns)
def test_every_turn_that_was_spoken_is_in_exactly_one_segment_in_order(
    told: list[tuple[str, str, int, str, str | None]],
) -> None:
    turns = conversation(told)
    found = cut(turns, SMALL)
    assert [turn for one in found for turn in one.turns if not turn.part] == [turn for turn in turns if not turn.part]
    assert [one.index for one in found] == list(range(len(found)))
    assert found == cut(turns, SMALL)


@settings(max_examples=100, deadline=None)
@given(_turns)
def test_a_segment_holds_no_more_than_the_limits(told: list[tuple[str, str, int, str, str | None]]) -> None:
    for one in cut(conversation(told), SMALL):
        spoken = [turn for turn in one.turns if not turn.part]
        assert len(spoken) <= SMALL.turns
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
    assert len(found) == count
    assert found[-1].cut == ("silence" if count == 2 else "start")


def test_a_marker_is_a_cut() -> None:
    turns = conversation([("user", BREAD, 0, "", None), ("user", BREAD, 0, "", "cleared")])
    assert [one.cut for one in cut(turns)] == ["start", "marker"]


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


def test_a_session_without_turns_has_no_segment() -> None:
    assert cut([]) == []


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


@settings(max_examples=100, deadline=None)
@given(_turns)
def test_every_segment_has_a_turn_that_was_spoken(told: list[tuple[str, str, int, str, str | None]]) -> None:
    assert all(any(not turn.part for turn in one.turns) for one in cut(conversation(told), SMALL))


@pytest.mark.parametrize(
    ("text", "is_other"),
    [
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
    ],
)
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
