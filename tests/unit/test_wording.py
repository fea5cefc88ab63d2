"""Counts, times and sizes as they read in a sentence."""

from datetime import UTC, datetime

import pytest

from worker import wording

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


COUNTS = [
    (1, "memory", "1 memory"), (2, "memory", "2 memories"), (0, "job", "0 jobs"), (12_000, "key", "12,000 keys"),
    (1, "other text", "1 other text"),
]  # fmt: skip


@pytest.mark.parametrize(("count", "noun", "text"), COUNTS)
def test_counts_bend(count: int, noun: str, text: str) -> None:
    assert wording.counted(count, noun) == text


def test_times_and_sizes_are_in_the_largest_unit_that_gives_one() -> None:
    seconds = (0, 59.9, 119, 7199, 100_000, 259_000)
    assert [wording.span(each) for each in seconds] == ["0 s", "59 s", "1 min", "1 h", "27 h", "2 d"]
    assert [wording.size(count) for count in (5, 2048, 3 << 30, 5 << 40)] == ["5 bytes", "2 KiB", "3 GiB", "5.0 TiB"]
    assert wording.age(None, NOW) == "-"
    assert wording.local("2026-11-20T11:59:00Z", NOW).endswith("(1 min ago)")
    assert wording.local("2026-11-20T12:00:30Z", NOW).endswith("(in 30 s)")


def test_a_long_value_is_cut_to_a_line() -> None:
    assert wording.shortened("a\nb  c", 10) == "a b c"
    assert wording.shortened("x" * 20, 10) == "x" * 9 + "…"
    assert [wording.first_ones(["a", "b", "c"], most) for most in (3, 1)] == ["a, b, c", "a and 2 more"]
