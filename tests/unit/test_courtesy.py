"""Words of courtesy around a question, and an answer that leaves them out."""

from __future__ import annotations

import pytest

from bridge.search.question import parse_question
from bridge.text.courtesy import without_courtesy
from jobs import clock


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("could you please tell me which database we chose, thank you", "which database we chose"),
        ("Hi there! Can you remind me why the cache is per process? Thanks a lot.", "why the cache is per process"),
        ("I'd like to know what renews the token", "what renews the token"),
        ("I was wondering, please help me understand the retry rule", "the retry rule"),
        ("do you remember why we left MongoDB?", "why we left MongoDB?"),
        ("tell me about the retry policy; please", "about the retry policy"),
    ],
)
def test_courtesy_is_left_out(query: str, rest: str) -> None:
    assert without_courtesy(query) == rest


@pytest.mark.parametrize(
    "query",
    [
        "which database did we choose?",
        "Do we retry a failed upload?",
        "Can you sign in without a network?",
        "the thank you page",
        "can you tell me",
        "please",
        "tell me why",
        "Good names for modules",
        "I need to rename max_job_bytes",
        "   ",
        "warum nehmen wir bitte SQLite",
    ],
)
def test_what_is_looked_for_is_kept(query: str) -> None:
    assert without_courtesy(query) == query


def test_a_question_keeps_what_was_asked() -> None:
    question = parse_question({"query": "Could you tell me which database we chose?"}, clock.now())
    assert question.query == "which database we chose?"
    assert question.asked == "Could you tell me which database we chose?"
