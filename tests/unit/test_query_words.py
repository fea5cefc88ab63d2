"""The words of a query in a text."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from bridge.text.query_words import QueryWords


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("who may renew a token", "Only the tray helper renews tokens.", ["renews", "tokens"]),
        ("why are people logged out", "The app logs everybody out.", ["logs"]),
        ("running the policies", "A run keeps each policy.", ["run", "policy"]),
        ("What does FW-UPD-207 mean?", "FW-UPD-207 says so.", ["FW", "UPD", "207"]),
        ("发票号会重复吗", "规则: 发票号每年重新开始", ["发票号"]),
        ("Größe", "Die GRÖSSE, die Größe", ["GRÖSSE", "Größe"]),
        ("to be or not to be", "to be", ["to", "be"]),
        ("?!", "what?!", []),
    ],
)  # fmt: skip
def test_the_words_of_a_query_are_found_in_other_forms(query: str, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in QueryWords(query).spans(text)] == found


def test_the_share_counts_each_word_of_the_query_once() -> None:
    words = QueryWords("who may renew a token")
    assert words.share_in("Nothing.") == 0.0
    assert words.share_in("tokens, tokens, tokens") == pytest.approx(1 / 2)
    assert words.share_in("Renewing a token.") == 1.0
    assert QueryWords("发票号").share_in("发票号每年") == 1.0
    assert QueryWords("?!").share_in("what?!") == 0.0


@given(st.text(max_size=40), st.text(max_size=80))
def test_the_spans_are_in_order_and_inside_the_text(query: str, text: str) -> None:
    spans = QueryWords(query).spans(text)
    ends = [0, *(at for span in spans for at in span), len(text)]
    assert ends == sorted(ends)
    assert all(start < end for start, end in spans)
    assert 0.0 <= QueryWords(query).share_in(text) <= 1.0
