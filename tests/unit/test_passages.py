"""What of a memory is embedded."""

from hypothesis import given, strategies as st

from bridge.memory import Content, Memory, Metadata
from bridge.text.passages import MAX_PASSAGES, Passage, decisions, passages, sentences, whole_text


def summary(**fields: object) -> Memory:
    content = Content(**{"topic": "Ranking", "context": "Hits are ordered.", **fields})  # type: ignore[arg-type]
    return Memory("id", 1, "summary", Metadata(status="Active"), "2026-11-01T00:00:00Z", content)


def legacy(text: str) -> Memory:
    return Memory("id", 1, "legacy", Metadata(), "2026-11-01T00:00:00Z", text=text)


def test_a_summary_gives_its_whole_topic_sentences_decisions_and_details() -> None:
    memory = summary(
        context="Hits are ordered. By a product.",
        decisions=("Use a product", "Round it"),
        rationale=("It can be explained",),
        open_questions=("Which half-life?",),
        next_steps=("Measure",),
    )
    assert passages(memory) == [
        Passage("whole", whole_text(memory)),
        Passage("topic", "Ranking"),
        Passage("sentence", "Hits are ordered."),
        Passage("sentence", "By a product."),
        Passage("decision", "Use a product"),
        Passage("decision", "Round it"),
        Passage("detail", "It can be explained"),
        Passage("detail", "Which half-life?"),
        Passage("detail", "Measure"),
    ]


def test_a_legacy_memory_gives_its_text_and_its_sentences() -> None:
    found = passages(legacy("First thing. Second thing.\n\n- third"))
    assert [passage.kind for passage in found] == ["whole", "sentence", "sentence", "sentence"]
    assert [passage.text for passage in found[1:]] == ["First thing.", "Second thing.", "- third"]


def test_the_same_words_are_one_passage_which_is_a_decision_if_one_of_them_is() -> None:
    found = passages(summary(topic="Use a product", context="Use a product", decisions=("Use a product",)))
    assert [passage.kind for passage in found if passage.text == "Use a product"] == ["decision"]
    found = passages(summary(topic="Measure", context="Measure", next_steps=("Measure",)))
    assert [passage.kind for passage in found if passage.text == "Measure"] == ["topic"]


def test_a_decision_that_the_context_says_too_is_a_statement_of_the_memory() -> None:
    said = summary(topic="Loans", context="Asked again. Loans last two weeks.", decisions=("Loans last two weeks.",))
    assert [line.text for line in decisions(said).values()] == ["Loans last two weeks."]


def test_sentences_of_other_scripts_are_told_apart_as_well() -> None:
    expected = ["Wir warten.", "Über Nacht läuft er.", "ältere Fälle."]
    assert sentences("Wir warten. Über Nacht läuft er. ältere Fälle.") == expected
    assert sentences("Он ждёт. Ночью работает.") == ["Он ждёт.", "Ночью работает."]
    assert sentences("夜は待つ。朝に動く。本当？") == ["夜は待つ。", "朝に動く。", "本当？"]


def test_a_short_legacy_text_is_one_passage() -> None:
    assert passages(legacy("One line")) == [Passage("whole", "One line")]


def test_a_very_long_legacy_text_gives_a_bounded_number_of_passages() -> None:
    found = passages(legacy("\n".join(f"Line {number} of the log" for number in range(500))))
    assert len(found) == MAX_PASSAGES


def test_the_whole_text_says_nothing_of_status_and_dates() -> None:
    """A change of status must not need another embedding."""
    memory = summary()
    assert "Active" not in whole_text(memory)
    assert "2026" not in whole_text(memory)


def test_sentences_end_at_marks_and_at_line_ends() -> None:
    text = 'It works (see "A."). Then it stops! Why?\nNobody knows... or v1.2 of it.'
    assert sentences(text) == ['It works (see "A.").', "Then it stops!", "Why?", "Nobody knows... or v1.2 of it."]


@given(st.text())
def test_no_sentence_is_empty_and_none_is_invented(text: str) -> None:
    for sentence in sentences(text):
        assert sentence
        assert sentence == sentence.strip()
        assert sentence in text


@given(st.text(min_size=1).filter(str.strip))
def test_the_whole_comes_first_and_no_passage_twice(text: str) -> None:
    """Relevance takes the first row of a memory for its whole."""
    found = passages(legacy(text))
    assert found[0].kind == "whole"
    words = [passage.text.strip() for passage in found]
    assert len(words) == len(set(words))
