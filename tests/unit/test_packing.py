"""Fitting hits into a token budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bridge.memory import Memory, Metadata
from bridge.packing import CUT_MARKER, cut, pack
from bridge.ranking import Factors, Relevance

FACTORS = Factors(Relevance(0.5, 0.5, 0.5), 1.0, 1.0, None, 0.5)


def words(text: str) -> int:
    return len(text.split())


def ranked(*texts: str) -> list[tuple[Memory, Factors]]:
    return [
        (Memory(str(number), number, "legacy", Metadata(), "2026-11-01T00:00:00Z", text=text), FACTORS)
        for number, text in enumerate(texts)
    ]


def packed(budget: int, *texts: str) -> list[tuple[str, int]]:
    found = pack(ranked(*texts), lambda memory: memory.text, words, budget)
    return [(text, tokens) for _, _, text, tokens in found]


def test_hits_are_taken_in_order_while_they_fit() -> None:
    assert packed(5, "one two", "three four", "five") == [("one two", 2), ("three four", 2), ("five", 1)]


def test_packing_stops_at_the_first_hit_that_does_not_fit() -> None:
    """A smaller one further down may not overtake it."""
    assert packed(4, "one two", "three four five", "six") == [("one two", 2)]


def test_a_first_hit_that_does_not_fit_is_cut_with_a_visible_mark() -> None:
    ((text, tokens),) = packed(20, " ".join(f"w{number}" for number in range(100)), "more")
    assert text.startswith("w0 w1 ")
    assert text.endswith(CUT_MARKER)
    assert tokens == words(text) <= 20


def test_nothing_to_pack_gives_nothing() -> None:
    assert packed(100) == []


def test_a_budget_smaller_than_the_mark_still_gives_a_first_hit() -> None:
    ((text, _),) = packed(1, "alpha beta gamma")
    assert text.startswith("a")
    assert text.endswith(CUT_MARKER)


@given(st.text(alphabet="ab \n", max_size=300), st.integers(8, 60))
def test_what_is_cut_fits_the_budget(text: str, budget: int) -> None:
    found = cut(text, len, budget + len(CUT_MARKER))
    assert found.endswith(CUT_MARKER)
    assert len(found) <= budget + len(CUT_MARKER)
    assert text.startswith(found.removesuffix(CUT_MARKER))


@given(st.lists(st.text(alphabet="ab ", min_size=1), max_size=8), st.integers(1, 40))
def test_the_budget_is_kept_whatever_comes(texts: list[str], budget: int) -> None:
    found = pack(ranked(*texts), lambda memory: memory.text, words, budget)
    whole = [entry for entry in found if not entry[2].endswith(CUT_MARKER)]
    assert sum(tokens for *_, tokens in whole) <= budget
    assert [memory.id for memory, *_ in found] == [str(number) for number in range(len(found))]
