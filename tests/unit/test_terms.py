"""Which words are indexed of a text, and which are asked for in a query."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.terms import STOP_WORDS, Term, indexed, query_terms


def asked(query: str) -> list[str]:
    return [" ".join(term.words) for term in query_terms(query)]


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("queue", ["queue"]),
        ("Queue queue QUEUE", ["queue"]),
        ("why does the queue wait", ["queue", "wait"]),
        ("parseJobFile", ["parsejobfile", "parse", "job", "file"]),
        ("max_job_bytes", ["max job bytes", "max", "job", "bytes"]),
        ("src/app/main.py", ["src app main py", "src", "app", "main", "py"]),
        ("E1042", ["e1042", "e", "1042"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("FW-UPD-207", ["fw upd 207", "fw", "upd", "207"]),
        ("café über", ["café", "über"]),
        ("状态机", ["状态机"]),
        ("???", []),
        ("", []),
    ],
)
def test_a_query_asks_for_whole_identifiers_and_for_their_parts(query: str, terms: list[str]) -> None:
    assert asked(query) == terms


def test_a_query_of_nothing_but_common_words_keeps_them() -> None:
    assert asked("who is it") == ["who", "is", "it"]


def test_common_words_inside_an_identifier_stay_in_its_phrase() -> None:
    assert asked("is_not_there queue") == ["is not there", "queue"]


def test_common_words_are_lower_case() -> None:
    assert {word.lower() for word in STOP_WORDS} == STOP_WORDS


def test_what_is_indexed_holds_the_text_and_the_parts_of_its_identifiers() -> None:
    assert indexed("call parseJobFile now") == "call parseJobFile now\nparse Job File"
    assert indexed("nothing special") == "nothing special"


def test_a_term_is_a_quoted_phrase_for_the_full_text_index() -> None:
    assert Term(("max", "job")).match == '"max job"'


@given(st.text())
def test_no_query_whatever_is_a_syntax_error_for_the_full_text_index(query: str) -> None:
    """Users paste code, quotes, emoji and operators."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (body, tokenize = 'porter unicode61')")
        for term in query_terms(query):
            connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", (term.match,)).fetchone()
    finally:
        connection.close()


@given(st.from_regex(r"[a-z]{2,8}([A-Z][a-z]{2,8}){1,3}", fullmatch=True))
def test_each_part_of_a_camel_case_name_finds_the_text_that_holds_it(name: str) -> None:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (body, tokenize = 'porter unicode61')")
        connection.execute("INSERT INTO words VALUES (?)", (indexed(f"see {name} there"),))
        for term in query_terms(name):
            found = connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", (term.match,)).fetchone()
            assert found == (1,), term
    finally:
        connection.close()
