"""What a hit shows of its memory."""

from pathlib import Path

import pytest
from shelf import Shelf, legacy, summary

from bridge.memory import Memory
from bridge.search.best_passages import best_passages
from bridge.search.prompt_note import prompt_note
from bridge.text.passages import passages
from bridge.text.query_words import QueryWords

DECISIONS = ("A loan lasts 14 days.", "A reader renews twice.")
LOANS = summary("loans", "Readers asked how long they may keep a book.", topic="Loans", decisions=DECISIONS)
TURN = (
    "User asked: Why a display?\n\nAssistant answered: It opens a window. {}\n\nMetadata: timestamp=N/A, importance=0.8"
)


def best(memory: Memory, query: str, **meanings: float) -> list[str]:
    """The best passages if the passages that begin with these words have these cosines, and the others none."""
    cosines = [
        next((value for word, value in meanings.items() if passage.text.startswith(word)), 0.0)
        for passage in passages(memory)
    ]
    return best_passages(memory, QueryWords(query), cosines)


def test_a_decision_is_chosen_by_meaning_and_by_words() -> None:
    assert best(LOANS, "novel", **{"A loan": 0.3, "A reader": 0.2}) == ["A loan lasts 14 days."]
    assert best(LOANS, "who renews") == ["A reader renews twice."]
    assert best_passages(LOANS, QueryWords("who renews"), []) == ["A reader renews twice."], "without vectors"


def test_a_decision_that_matches_nearly_as_well_is_shown_too() -> None:
    nearly = best(LOANS, "novel", **{"A loan": 0.3, "A reader": 0.35})
    assert nearly == ["A reader renews twice.", "A loan lasts 14 days."]


def test_a_better_sentence_follows_the_decision() -> None:
    asked = best(LOANS, "how long may I keep a novel", Readers=0.9, **{"A loan": 0.3})
    assert asked == ["A loan lasts 14 days.", "Readers asked how long they may keep a book."]


def test_a_sentence_that_the_shown_decision_has_is_not_shown_again() -> None:
    both = "A loan lasts 14 days. It was seven."
    assert best(summary("x", both, topic="Loans", decisions=[both]), "novel", **{"A loan lasts 14 days.": 0.9}) == [
        both
    ]


TURNS = [
    (TURN.format("Nothing else does."), "a display", ["It opens a window."]),
    (TURN.format("Nothing else does."), "what else", ["Nothing else does."]),
    ("Tests need a display.", "display", ["Tests need a display."]),
    ("Tests need a display. Or not.", "display", ["Tests need a display."]),
]


@pytest.mark.parametrize(("text", "query", "shown"), TURNS)
def test_of_a_conversation_only_the_answer_is_shown(text: str, query: str, shown: list[str]) -> None:
    assert best(legacy("turn", text), query) == shown


PRICES = summary(
    "prices", "Merged from 2 memories, 2026-05-01 to 2026-07-29.", topic="Prices", decisions=(
        "Invoices go out on Mondays (2026-05-01, #3)",
        "[Later] The Starter plan costs 19 EUR (2026-07-29, #16) supersedes The plan is 29 EUR (2026-05-01, #3)",
        "[Earlier] The plan is 29 EUR (2026-05-01, #3)",
    ),
)._replace(kind="decision_record")  # fmt: skip


def test_a_records_earlier_decision_is_not_shown_and_what_replaced_it_answers_in_its_place() -> None:
    invoices, starter, earlier = PRICES.content.decisions
    matching = {"[Earlier]": 0.9, "[Later]": 0.2, "Invoices": 0.3}
    assert best(PRICES, "price", **matching) == [starter]
    assert best(PRICES, "invoices", Invoices=0.9) == [invoices]
    only = PRICES._replace(content=PRICES.content._replace(decisions=(earlier,)))
    assert best(only, "price", **matching) == [earlier]


def test_of_a_record_of_before_what_holds_comes_first_in_a_hit_and_in_a_note() -> None:
    """Its lines have no dates and are in order of time alone."""
    assert PRICES.content is not None
    lines = ("[Earlier] The plan is 29 EUR.", "[Later] The plan is 19 EUR. supersedes The plan is 29 EUR.")
    before = PRICES._replace(content=PRICES.content._replace(decisions=lines))
    assert best(before, "plan", **{"[Earlier]": 0.9}) == [lines[1]]
    note = prompt_note(before).text
    assert note.index(lines[1]) < note.index(lines[0])


def test_the_day_and_number_of_a_records_decision_are_shown_and_not_searched() -> None:
    assert PRICES.content is not None
    searched = [passage.text for passage in passages(PRICES)]
    assert "Invoices go out on Mondays" in searched
    assert not any("2026-05-01, #3" in text or "#16" in text for text in searched)
    quoting = PRICES._replace(kind="summary")
    assert "Invoices go out on Mondays (2026-05-01, #3)" in [passage.text for passage in passages(quoting)]


def test_a_hit_has_its_best_passages_only_if_they_are_asked_for(tmp_path: Path) -> None:
    with_them = Shelf(tmp_path).add(LOANS).retrieve("A loan lasts", best_passages=True)
    assert [hit["best_passages"] for hit in with_them["results"]] == [["A loan lasts 14 days."]]
    without = Shelf(tmp_path).retrieve("A loan lasts")
    assert "best_passages" not in without["results"][0]
    del with_them["results"][0]["best_passages"]
    assert with_them == without
