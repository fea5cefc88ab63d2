"""What may rest on a decision that was replaced: seldom missed, and never said where a reader would laugh at it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bridge.memory import Content, Memory, Metadata
from bridge.search.rests import of_memory, rests
from bridge.store.catalogue import Replacement
from bridge.text.passages import decisions

CASES = Path(__file__).resolve().parents[1] / "data" / "rests.jsonl"
FELL, HOLDS = "Loans last two weeks", "Loans last four weeks"
RESTING = "Remind readers on day 12, since loans last two weeks"


def cases(part: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    return [row for row in rows if row["part"] == part]


@pytest.mark.parametrize(("part", "found"), [("made with", 17), ("unseen", 5)])
def test_what_rests_on_a_replaced_decision_is_found_and_no_near_miss_is(part: str, found: int) -> None:
    said = {row["text"]: rests(row["text"], row["fell"], row["holds"]) for row in cases(part)}
    assert [row["text"] for row in cases(part) if said[row["text"]] and not row["rests"]] == []
    assert sum(said[row["text"]] for row in cases(part) if row["rests"]) >= found


def memory(number: int, day: str, *said: str, rationale: Sequence[str] = (), status: str = "Active") -> Memory:
    known = Metadata(topic_id=f"t{number}", status=status, created_at=f"{day}T12:00:00Z")  # type: ignore[arg-type]
    content = Content(f"Topic {number}", "Said.", said, rationale=tuple(rationale))
    return Memory(f"m{number}", number, "summary", known, "2026-11-01T00:00:00Z", content)


def remarks(one: Memory, probability: float = 0.95) -> list[tuple[str, int, int]]:
    fell, holds = memory(1, "2026-09-01", FELL), memory(3, "2026-10-01", HOLDS)
    (at,), (by,) = decisions(fell), decisions(holds)
    there = {1: fell, 3: holds, one.number: one}
    found = of_memory(one, [Replacement(1, at, 3, by, probability, 1.0)], there.get)
    return [(each["text"], each["memory_number"], each["replaced_by"]) for each in found]


def test_a_decision_or_a_reason_from_before_the_replacement_is_remarked() -> None:
    assert remarks(memory(2, "2026-09-10", RESTING)) == [(RESTING, 1, 3)]
    assert remarks(memory(2, "2026-09-10", "Send a mail", rationale=[RESTING])) == [(RESTING, 1, 3)]


UNREMARKED = [
    (memory(2, "2026-10-02", RESTING), 0.95),  # said after it
    (memory(2, "2026-09-10", RESTING), 0.75),  # only disputed
    (memory(2, "2026-09-10", RESTING, status="Superseded"), 0.95),
    (memory(1, "2026-09-01", FELL), 0.95),  # the replaced one itself
    (memory(3, "2026-10-01", HOLDS), 0.95),
]


@pytest.mark.parametrize(("one", "probability"), UNREMARKED)
def test_nothing_is_remarked_of_what_knew_it_or_does_not_count(one: Memory, probability: float) -> None:
    assert remarks(one, probability) == []
