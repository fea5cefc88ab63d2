"""What a language model reads of a segment, and what is kept of its answer."""

from typing import Any

import pytest

from bridge.capture.beats import beats
from bridge.capture.model_summary import MAX_CHARACTERS, ModelSummary, beats_text, estimated_tokens, summarise
from bridge.capture.session import Call, Segment, SegmentSummary, Turn
from bridge.capture.summary import summarise as by_rules

TALK = (
    ("user", "let's make the start command hidden"),
    ("assistant", "Done. The start command is hidden now.*"),
    ("user", "thinking again: let's completely remove the start command"),
    ("assistant", "Done. I've removed the start command.*"),
    ("user", "what does the discard writer do?"),
    ("assistant", "It discards all data. Want me to use the **discard writer** instead?"),
    ("user", "yes please"),
    ("assistant", "Done. The code now uses the discard writer.*"),
)
REMOVED = {"text": "There is no start command.", "quote": "completely remove the start command"}
HIDDEN = {"text": "The start command is hidden.", "quote": "make the start command hidden"}
OFFERED = {"text": "The code uses the discard writer.", "quote": "use the discard writer instead"}
REPORTED = {"text": "The start command went.", "quote": "I've removed the start command"}


def segment(*turns: tuple[str, str]) -> Segment:
    return Segment(
        0,
        tuple(
            Turn(speaker, text.removesuffix("*"), f"line {at}", tools={"Edit": 1} if text.endswith("*") else {})  # type: ignore[arg-type]
            for at, (speaker, text) in enumerate(turns, 1)
        ),
    )


def of(turns: tuple[tuple[str, str], ...] = TALK, **answer: Any) -> SegmentSummary:
    given = segment(*turns)
    whole = {"title": "", "request": "", "decided": [], **answer}
    return summarise(given, by_rules(given), lambda system, user, shape: ModelSummary(**whole))


def test_a_decision_is_kept_if_the_person_said_it_or_took_the_offer_and_did_not_take_it_back() -> None:
    made = of(request="Fewer commands.", decided=[REMOVED, HIDDEN, OFFERED, REPORTED])
    assert made.content.decisions == ("There is no start command.", "The code uses the discard writer.")
    places = {each.text: each.place for each in made.evidence if each.section == "decisions"}
    assert places == {"There is no start command.": "line 3", "The code uses the discard writer.": "line 5"}
    assert (made.method, made.confidence) == ("model", 0.5)


def test_the_context_is_the_request_what_was_done_and_what_was_learned_as_far_as_there_is_room() -> None:
    text = "It discards all that it is given. " * 7
    learned = [{"text": f"{text}{at}", "quote": "It discards all data"} for at in range(9)]
    content = of(request="Fewer commands.", completed=[REPORTED], learned=learned).content
    first, *rest = content.context.split("\n")
    assert first == "Fewer commands. → The start command went."
    assert 1 <= len(rest) <= 3
    assert len(content.context) <= 700


@pytest.mark.parametrize(
    "answer",
    [{}, {"nothing": True}, {"request": "Fine.", "decided": [{"text": "To Berlin.", "quote": "move to Berlin"}]}],
    ids=["empty", "nothing", "without a quote that stands"],
)  # fmt: skip
def test_an_answer_without_anything_supported_leaves_the_rules_decisions(answer: dict[str, Any]) -> None:
    assert of(**answer) == by_rules(segment(*TALK))


def test_where_nobody_decided_anything_the_model_may_say_that_nothing_is_worth_keeping() -> None:
    idle = (("user", "run the tests, please"), ("assistant", "All 14 tests pass."))
    assert of(idle, nothing=True).content.context == ""
    assert of(idle).content.context != "", "an empty answer is none"
    calls = (Call("make app", 2, "fatal error: zlib.h: No such file or directory"), Call("apt install zlib1g-dev"),
             Call("make app"))  # fmt: skip
    mended = Segment(0, (Turn("user", "build it", "line 1"), Turn("assistant", "It builds.", "line 2", calls=calls)))
    empty = ModelSummary(nothing=True, title="", request="", decided=[])
    assert summarise(mended, by_rules(mended), lambda *_: empty).content.context, "a failure with its fix is kept"


def test_the_model_reads_the_beats_and_is_told_what_was_taken_back_but_not_what_was_pasted() -> None:
    pasted = "I get this, why?\n```\n" + "frame of a trace()\n" * 60 + "```"
    shown = beats_text(beats(segment(*TALK, ("user", pasted), ("assistant", "A file lacks."), ("user", "2. ok")).turns))
    assert "1. Person: let's make the start command hidden\n   Assistant: The start command is hidden now." in shown
    assert "(files were changed, taken back later)" in shown
    assert "The person took: Want me to use the discard writer instead?" in shown
    assert ("Person: I get this, why?" in shown, "frame" in shown) == (True, False)
    assert "Person: 2. ok" in shown, "short turns are whole"


def test_a_long_segment_is_shortened_and_its_estimate_follows() -> None:
    long = segment(*[(("user", "assistant")[at % 2], f"Part {at} has many words in it. " * 40) for at in range(120)])
    assert len(beats_text(beats(long.turns))) < 4 * MAX_CHARACTERS
    assert estimated_tokens(segment(*TALK)) < estimated_tokens(long) < 14_000
