"""The windows of a long text."""

import pytest

from bridge.text.windows import LONGEST_WHOLE, STEP, WINDOW, windows

LONG = 3 * LONGEST_WHOLE + 17


@pytest.mark.parametrize("text", ["", "one two", " ".join(["word"] * LONGEST_WHOLE), "a" * 90_000])
def test_a_text_of_ordinary_length_is_its_own_window_byte_for_byte(text: str) -> None:
    assert windows(text) == [text]


@pytest.mark.parametrize("blank", [" ", "\n", ",", " | ", "_"])
def test_every_run_of_words_up_to_a_step_lies_whole_in_a_window(blank: str) -> None:
    words = [f"w{number}" for number in range(LONG)]
    found = [window.replace(blank, " ").split() for window in windows(blank.join(words))]
    assert max(map(len, found)) == WINDOW
    assert found[0][0] == words[0]
    assert found[-1][-1] == words[-1]
    assert len(found[-1]) >= STEP
    runs = {tuple(window[at : at + STEP]) for window in found for at in range(len(window) - STEP + 1)}
    assert all(tuple(words[at : at + STEP]) in runs for at in range(LONG - STEP + 1))


def test_a_character_of_a_script_without_blanks_counts_as_a_word() -> None:
    text = "状态机怎么工作" * LONGEST_WHOLE
    found = windows(text)
    assert {len(window) for window in found[:-1]} == {WINDOW}
    assert "".join(window[:STEP] for window in found[:-1]) + found[-1] == text
