"""What a memory says in a line of a list: its first decision that holds, never the template."""

import pytest

from bridge.memory import Content, Memory, Metadata
from bridge.text.conversation import Conversation, render_conversation
from bridge.text.gist import MOST_CHARACTERS, gist
from bridge.text.template import render


def summary(kind: str = "summary", **fields: object) -> Memory:
    content = Content(**{"topic": "Plans", "context": "We met in the weekly round. It took long.", **fields})  # type: ignore[arg-type]
    return Memory("id", 1, kind, Metadata(status="Active"), "2026-11-01T00:00:00Z", content)  # type: ignore[arg-type]


def legacy(text: str) -> Memory:
    return Memory("id", 1, "legacy", Metadata(), "2026-11-01T00:00:00Z", text=text)


EARLIER = "[Earlier] It costs 29 EUR (2026-05-01, #3)"
LATER = "[Later] It costs 19 EUR (2026-07-29, #16) supersedes It costs 29 EUR (2026-05-01, #3)"


FIRST_THAT_HOLDS = [
    (summary(decisions=("Use blue.", "Use red.")), "Use blue."),
    (summary(), "We met in the weekly round."),
    (summary(context="A line of its own, not short\nand another"), "A line of its own, not short"),
    (summary("decision_record", decisions=(EARLIER, LATER)), "It costs 19 EUR"),
    (summary("decision_record", decisions=(EARLIER,)), "We met in the weekly round."),
    (legacy("\n  All lamps of the hall burn blue. They are new.\n"), "All lamps of the hall burn blue."),
    (
        legacy(render_conversation(Conversation("Is it so?", "No. It is fixed, since May. Ask."))),
        "No. It is fixed, since May.",
    ),
    (legacy(""), ""),
]


@pytest.mark.parametrize(("memory", "says"), FIRST_THAT_HOLDS)
def test_it_is_the_first_decision_that_holds_else_the_first_sentence(memory: Memory, says: str) -> None:
    assert gist(memory) == says


REPLACED = [
    ({"Use blue.": "replaced by #2"}, "Use red."),
    ({"Use blue.": "replaced by #2", "Use red.": "replaced by #3"}, "[replaced by #2] Use blue."),
    ({"Use blue.": "disputed by #2"}, "[disputed by #2] Use blue."),
]


@pytest.mark.parametrize(("became", "says"), REPLACED)
def test_a_decision_that_was_replaced_comes_last_and_says_what_became_of_it(became: dict[str, str], says: str) -> None:
    assert gist(summary(decisions=("Use blue.", "Use red.")), became) == says


def test_a_legacy_text_in_the_template_shows_no_line_of_the_template() -> None:
    memory = summary(decisions=("Use blue.",))
    assert gist(legacy(render(memory.content, memory.metadata))) == "Use blue."


def test_it_is_one_line_that_is_cut() -> None:
    assert gist(summary(decisions=("a\nb " * 200,))) == ("a b " * 200)[: MOST_CHARACTERS - 1] + "…"
