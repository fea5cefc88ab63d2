"""Telling whether a file quotes a memory, in whatever form it does."""

import json

import pytest
from hypothesis import given, strategies as st

from bridge.forgetting.leftovers import Quotes, texts
from bridge.memory import Content, Memory, Metadata

AT = "2026-11-20T12:00:00Z"
SAID = 'The zebra "Ünal" is fed at six\nin the morning, says C:\\new\\plan.md, by the keeper of the north.'


def memory(context: str = SAID, topic: str = "Zoo", **fields: tuple[str, ...]) -> Memory:
    return Memory("m", 1, "summary", Metadata(), AT, Content(topic, context, **fields))


FORMS_OF_IT = [
    SAID.encode(),
    json.dumps({"x": SAID}).encode(),
    json.dumps({"x": SAID}, ensure_ascii=False).encode(),
    json.dumps(json.dumps({"x": SAID})).encode(),
    SAID.replace(" ", "\n  - ").encode(),
    SAID.upper().encode(),
    SAID.encode("utf-16"),
    SAID.encode("utf-16-be"),
    f"He wrote: fed at six in the morning, and left{chr(0xFFFF)}".encode(),
    b"\xff\xfe broken " + SAID.encode()[:70],
]


@pytest.mark.parametrize("data", FORMS_OF_IT)
def test_it_is_told_in_any_form(data: bytes) -> None:
    assert Quotes(texts(memory())).are_in(data)


ANY_LETTERS = [
    "\u00dcnal f\u00fcttert \u00e4ltere Gr\u00fcnflossen t\u00e4glich",
    "\u0437\u0435\u0431\u0440\u0430 \u0435\u043b\u0430 \u0442\u0430\u043c \u0443 \u0434\u043e\u043c\u0430",
    "\u8a2d\u5b9a\u306f\u74b0\u5883\u5909\u6570\u304b\u3089\u8aad\u307f\u8fbc\u3080",
]


@pytest.mark.parametrize("form", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("said", ANY_LETTERS)
def test_words_of_any_letters_are_told_in_utf_8_and_16_and_a_few_of_their_letters_are_not(said: str, form: str) -> None:
    assert Quotes([said]).are_in(said.encode(form))
    assert Quotes([said]).are_in(json.dumps({"x": said}, ensure_ascii=False).encode(form))
    assert not Quotes([said]).are_in(said[:3].encode(form))
    assert not Quotes([said]).are_in("Lakes are deep in the north, \u00dcnal.".encode(form))


def test_a_field_counts_from_twelve_characters_on() -> None:
    for said, is_told in (("Zebra plan", False), ("Zebra plans", False), ("Zebra plans2", True)):
        assert Quotes([said]).are_in(said.encode()) == is_told


def test_a_few_words_in_common_tell_nothing() -> None:
    assert not Quotes(texts(memory())).are_in(b"The zebra is fed. In the morning, says the keeper.")


def test_a_short_field_tells_as_a_whole_unless_it_is_too_short() -> None:
    quotes = Quotes(texts(memory("Lakes.", "Quokka islands", decisions=("Use SQLite",))))
    assert quotes.are_in(b'{"topic": "quokka  islands"}')
    assert not quotes.are_in(b"We use SQLite. Lakes.")


def test_what_another_says_as_well_is_nobody_s() -> None:
    other = json.dumps({"context": "fed at six in the morning"})
    assert not Quotes(texts(memory("It is fed at six in the morning")), [other]).are_in(b"fed at six in the morning")
    assert not Quotes([]).are_in(SAID.encode())


def test_a_time_or_an_id_is_nobody_s_words() -> None:
    quotes = Quotes([AT, "0193c7a2-1111-5222-8333-444455556666"])
    assert not quotes.are_in(json.dumps({"accepted_at": AT, "id": "0193c7a2-1111-5222-8333-444455556666"}).encode())


@given(st.text(min_size=0, max_size=300))
def test_whoever_quotes_it_whole_in_json_is_told(text: str) -> None:
    found = memory(f"{text} and five words more besides", "T")
    quotes = Quotes(texts(found))
    assert texts(found) == ["T", f"{text} and five words more besides"]
    assert quotes.are_in(json.dumps({"context": f"{text} and five words more besides"}).encode())
