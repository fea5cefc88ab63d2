"""What a model or a terminal is shown: ordinary text as it is, and nothing that people do not see."""

import re
import unicodedata

import pytest
from harness import assert_linear
from hypothesis import given, strategies as st

from bridge.text.visible import visible, visible_value

NEVER = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028\u2029"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
ODD = (
    "\x00\x07\x08\t\n\x0b\r\x1b\x1b[\x1b]\\;0m\x7f\x85\x90\x9b\x9c\x9d \xad\u034f\u061c\u180b"
    "\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u202e\u2060\u2066\u20e3\u3164\ufe00\ufe0e\ufe0f\ufeff\U000e0001\U000e0041\U000e0100#1aمय्ᠠ漢👩❤🏽🚀"
)
texts = st.text(alphabet=st.one_of(st.sampled_from(ODD), st.characters()), max_size=60)


@given(texts)
def test_nothing_that_people_do_not_see_is_left(text: str) -> None:
    assert not NEVER.search(visible(text))


@given(texts)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    once = visible(text)
    assert visible(once) == once


@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "S", "Zs", "Mn", "Mc"), include_characters="\t\n")))
def test_letters_marks_figures_and_signs_of_all_scripts_stay(text: str) -> None:
    fillers = re.compile(
        "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
    )
    ordinary = fillers.sub("", text)  # Unicode counts them as letters and marks
    assert visible(ordinary) == ordinary


ORDINARY = [
    "می‌خواهم کتاب‌ها را",  # Persian with zero width non-joiners
    "क्‍ष और र्‌य, ശരിയായ അവന്‍",  # Hindi and Malayalam with joiners
    "ශ්‍රී ලංකාව",  # Sinhala
    "ᠮᠣᠩᠭᠣᠯ ᠠ᠋",  # Mongolian with a variation selector
    "שָׁלוֹם עוֹלָם, مرحبا بالعالم",
    "👨‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 🏴‍☠️ ❤️‍🔥 🐈‍⬛ 🙂‍↔️ 1️⃣ #️⃣ ☎︎",
    "naïve “quotes” – ½ × 3\tTab\nnew line",
    "数据库 発票 ガ か\u3099 각 각",
    "\U0001f1e9\U0001f1ea e\u0301 Z̸͓͝",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert visible(text) == text


HIDING = [
    ("visible" + "".join(chr(0xE0000 + ord(letter)) for letter in "obey"), "visible"),
    ("👍" + "".join(chr(0xE0100 + ord(letter)) for letter in "obey"), "👍"),
    ("👍" + "\ufe0f" * 9 + "\ufe00\ufe01", "👍\ufe0f"),
    ("a\u200cb\u200dc\ufe0fd", "abcd"),
    ("م\u200c\u200c\u200d\u200cم", "م\u200cم"),
    ("a\ufe0f\u200d❤", "a❤"),
    ("safe \u202eevil\u202c \u2066iso\u2069\u200f", "safe evil iso"),
    ("\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\ \x9b2Jc1", "red link c1"),
    ("half \x1b]0;a title without an end", "half ]0;a title without an end"),
    ("a\r\nb\rc\x0bd\u2028e\x85f", "a\nb c d e f"),
    ("s\xadh\u034fy\u3164\u180e\u115f", "shy"),
]


@pytest.mark.parametrize(("text", "shown"), HIDING)
def test_what_hides_goes_and_what_it_hid_in_stays(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_every_default_ignorable_character_alone_is_removed() -> None:
    for code in range(0x110000):
        if 0xD800 <= code <= 0xDFFF:
            continue
        letter = chr(code)
        if unicodedata.category(letter) == "Cf" and visible(f"x{letter}x") != "xx":
            # These are seen: signs above figures in Arabic and Kaithi, and controls of hieroglyphs and shorthand.
            assert re.match(
                "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f]", letter
            ), hex(code)


PARTS_OF_TEXT = ["\x1b", "\x1b]", "\x1b[", "\x9d", "\x9b0", "\u200d", "👩\u200d", "م\u200c", "\r", "\x1b]a", "0 "]


@pytest.mark.parametrize("part", PARTS_OF_TEXT)
def test_a_long_text_of_anything_takes_linear_time(part: str) -> None:
    assert_linear(lambda size: visible("\x1b]\x9b" + part * (size // len(part))), 16_384)


def test_a_value_is_cleaned_wherever_it_holds_text() -> None:
    value = {"a": ["x\u200b", {"b": "y\x1b[0m"}], "n": 1, "none": None, "t": True}
    assert visible_value(value) == {"a": ["x", {"b": "y"}], "n": 1, "none": None, "t": True}
