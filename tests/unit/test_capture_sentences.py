"""Which parts of a turn are sentences."""

from __future__ import annotations

import pytest

from bridge.capture.sentences import MAX_CHARACTERS, sentences


def test_sentences_are_split_at_stops_also_before_small_letters_but_not_at_abbreviations() -> None:
    assert list(sentences("we keep it. the lock is slow, e.g. on Windows! Really? yes it is")) == [
        "we keep it.",
        "the lock is slow, e.g. on Windows!",
        "Really?",
        "yes it is",
    ]


def test_a_fragment_of_a_person_stays_with_the_sentence_before_it_unless_one_of_them_asks() -> None:
    assert list(sentences("I don't want another service for this. postgres then. store only the hash", joins=True)) == [
        "I don't want another service for this. postgres then. store only the hash"
    ]
    assert list(sentences("24 hours is too short for the weekend. 72 hours. rest is fine", joins=True)) == [
        "24 hours is too short for the weekend. 72 hours. rest is fine"
    ]
    assert list(sentences("Which store shall we take? Postgres then.", joins=True)) == [
        "Which store shall we take?",
        "Postgres then.",
    ]


def test_items_of_a_list_are_sentences_without_their_bullets_and_lines_of_a_paragraph_are_joined() -> None:
    assert list(sentences("The plan\nin short:\n- write the reader\n2. test the writer")) == [
        "The plan in short:",
        "write the reader",
        "test the writer",
    ]


@pytest.mark.parametrize(
    "noise",
    [
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
    ],
)
def test_code_output_and_private_parts_are_no_sentences(noise: str) -> None:
    assert list(sentences(f"Before it is said.\n\n{noise}\n\n# End\n")) == ["Before it is said."]


def test_prose_after_a_patch_is_prose_again() -> None:
    patch = "diff --git a/x b/x\n@@ -1 +1 @@\n-one thing\n+another thing\n\n"
    assert list(sentences(f"{patch}Please explain this change.")) == ["Please explain this change."]


def test_a_long_sentence_is_cut_into_parts_that_stand_in_it() -> None:
    long = ", ".join(f"the part number {number} of a sentence" for number in range(40))
    parts = list(sentences(long))
    assert all(len(part) <= MAX_CHARACTERS for part in parts)
    assert " ".join(parts) == long


def test_a_long_text_without_blanks_ends() -> None:
    assert all(len(part) <= MAX_CHARACTERS for part in sentences("x" * 10_000))
