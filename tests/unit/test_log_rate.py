"""How much of a talkative process gets into the log: a burst whole, then a trickle, and what is missing is counted."""

from hypothesis import given, strategies as st

from worker.log import _BURST, _PER_SECOND, RateLimiter


def passing(flood: RateLimiter, lines: int, now: float) -> int:
    return sum(flood.passes(now)[0] for _ in range(lines))


def test_what_is_not_much_passes_whole() -> None:
    flood = RateLimiter()
    assert passing(flood, int(_BURST), 0) == _BURST
    assert all(flood.passes(second)[0] for second in range(1, 1000))


def test_of_a_flood_the_first_lines_pass_then_a_trickle_and_after_a_rest_a_burst_again_and_no_more() -> None:
    flood = RateLimiter()
    assert passing(flood, 1_000_000, 0) == _BURST
    assert passing(flood, 100_000, 1) == _PER_SECOND
    assert passing(flood, 100_000, 3) == 2 * _PER_SECOND
    assert passing(flood, 10_000, 1_000_000) == _BURST


def test_how_many_lines_are_missing_is_said_once_with_the_next_that_passes() -> None:
    flood = RateLimiter()
    passing(flood, int(_BURST) + 7, 0)
    assert flood.passes(0) == (False, 0)
    assert flood.passes(1) == (True, 8)
    assert flood.passes(1) == (True, 0)


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(0, 2000)), max_size=15))
def test_nothing_passes_uncounted_and_never_more_than_the_bucket_gives(bursts: list[tuple[float, int]]) -> None:
    flood, now, passed, said, lines = RateLimiter(), 0.0, 0, 0, 0
    for pause, number in bursts:
        now += pause
        for _ in range(number):
            passes, missed = flood.passes(now)
            passed, said, lines = passed + passes, said + missed, lines + 1
            assert passes or missed == 0
    passes, missed = flood.passes(now + _BURST)  # whatever was missed is said with the next
    assert passes
    assert passed + said + missed == lines
    assert passed <= _BURST + now * _PER_SECOND + 1
