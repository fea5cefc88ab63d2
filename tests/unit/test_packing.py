"""Fitting hits into a token budget."""

import pytest
from hypothesis import given, strategies as st

from bridge.memory import Memory, Metadata
from bridge.search.hits import CUT_MARKER, SHORT_MARKER, cut, pack
from bridge.search.known_memories import KnownMemory
from bridge.search.ranking import Factors, Relevance

FACTORS = Factors(Relevance(0.5, 0.5, 0.5), 1.0, 1.0, None, 0.5)


def words(text: str) -> int:
    return len(text.split())


def ranked(*texts: str) -> list[tuple[Memory, Factors]]:
    return [
        (Memory(str(number), number, "legacy", Metadata(), "2026-11-01T00:00:00Z", text=text), FACTORS)
        for number, text in enumerate(texts)
    ]


def packed(budget: int, *texts: str) -> list[tuple[str, int]]:
    found = pack(ranked(*texts), KnownMemory, words, budget)
    return [(text, tokens) for _, _, text, tokens in found]


def test_hits_are_taken_in_order_while_they_fit() -> None:
    assert packed(5, "one two", "three four", "five") == [("one two", 2), ("three four", 2), ("five", 1)]


def test_a_hit_that_does_not_fit_hides_no_shorter_one_behind_it() -> None:
    assert packed(4, "one two", "three four five", "six") == [("one two", 2), ("six", 1)]


def test_a_first_hit_that_does_not_fit_is_cut_with_a_visible_mark() -> None:
    ((text, tokens),) = packed(20, " ".join(f"w{number}" for number in range(100)), "more")
    assert text.startswith("w0 w1 ")
    assert text.endswith(CUT_MARKER)
    assert tokens == words(text) <= 20


def test_nothing_to_pack_gives_nothing() -> None:
    assert packed(100) == []


SHORT_MARKS = [
    (0, "…"),
    (1, "…"),
    (2, "a…"),
    (2 * len(CUT_MARKER) - 1, "a" * (2 * len(CUT_MARKER) - 2) + "…"),
    (2 * len(CUT_MARKER), "a" * len(CUT_MARKER) + CUT_MARKER),
]


@pytest.mark.parametrize(("budget", "shown"), SHORT_MARKS)
def test_where_the_mark_would_take_most_of_the_room_a_short_one_does(budget: int, shown: str) -> None:
    assert cut("a" * 500, len, budget) == shown


@given(st.text(alphabet="ab \n", max_size=300), st.integers(1, 160))
def test_what_is_cut_fits_the_budget(text: str, budget: int) -> None:
    found = cut(text, len, budget)
    assert found.endswith((CUT_MARKER, SHORT_MARKER))
    assert 1 <= len(found) <= budget
    assert text.startswith(found.removesuffix(CUT_MARKER).removesuffix(SHORT_MARKER))


@given(st.lists(st.text(alphabet="ab ", min_size=1), max_size=8), st.integers(1, 40))
def test_the_budget_is_kept_whatever_comes(texts: list[str], budget: int) -> None:
    found = pack(ranked(*texts), KnownMemory, words, budget)
    assert sum(tokens for *_, tokens in found) <= budget
    numbers = [int(memory.id) for memory, *_ in found]
    assert numbers == sorted(numbers)
    if any(text.endswith((CUT_MARKER, SHORT_MARKER)) for _, _, text, _ in found):
        return
    left = budget - sum(tokens for *_, tokens in found)
    assert all(words(text) > left or not left for number, text in enumerate(texts) if number not in numbers)


def test_of_a_text_that_cannot_fit_only_a_beginning_is_counted() -> None:
    """Counting a megabyte takes a tokenizer a second, at every question that finds it."""
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return words(text)

    ((_, _, text, tokens),) = pack(ranked("w " * 500_000, "more"), KnownMemory, count, 100)
    assert text.endswith(CUT_MARKER)
    assert tokens <= 100
    assert max(counted) <= 64 * 100 + len(CUT_MARKER)
