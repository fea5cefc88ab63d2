"""Which references are files, plans, branches and issues."""

import time

import pytest
from hypothesis import given, strategies as st

from bridge.memory import References
from bridge.text.references import classify, flatten, plan_of, split
from bridge.text.sections import tidy_items

UNLABELLED = [
    ("#12", "issues"),
    ("#12: the worker hangs", "issues"),
    ("issue 12", "issues"),
    ("PR #7", "issues"),
    ("GH-12", "issues"),
    ("ABC-123", "issues"),
    ("owner/repo#12", "issues"),
    ("vercel/next.js#9", "issues"),
    ("https://github.com/a/b/issues/12", "issues"),
    ("https://github.com/a/b/pull/12#discussion_r1", "issues"),
    ("https://gitlab.com/a/b/-/merge_requests/3", "issues"),
    ("https://github.com/a/b/issues", "files"),
    ("https://docs.python.org/3/library/re.html", "files"),
    ("plan-014", "plans"),
    ("PLAN-014", "plans"),
    ("Plan 014", "plans"),
    ("Plan 014 documentation", "plans"),
    ("plan_7", "plans"),
    ("014-some-title", "plans"),
    ("plan-014-some-title", "plans"),
    ("plan-014.md", "files"),
    ("plan-014/notes", "files"),
    ("plans/014-some-title.md", "files"),
    ("014-some-title.md", "files"),
    ("Planning meeting 3", "files"),
    ("2025-11-17", "files"),
    ("feature/ranking", "branches"),
    ("fix/thing-12", "branches"),
    ("release/1.2", "branches"),
    ("refs/heads/anything.py", "branches"),
    ("fix/thing.py", "files"),
    ("feature/", "files"),
    ("fix/a and fix/b", "files"),
    ("src/fix/thing.py", "files"),
    ("src/feature/ranking", "files"),
    ("docs/readme", "files"),
    ("extension/bridge/retrieve.py:12", "files"),
    ("C:\\work\\fix\\thing.py", "files"),
    ("file:///home/me/a.txt", "files"),
    ("The design meeting", "files"),
]


@pytest.mark.parametrize(("text", "kind"), UNLABELLED)
def test_a_reference_without_a_label_is_of_the_kind_that_its_form_says(text: str, kind: str) -> None:
    assert classify(f"  {text} ") == (kind, text)


LABELLED = [
    ("branch: main", "branches", "main"),
    ("Branch:main", "branches", "main"),
    ("plan: roadmap", "plans", "roadmap"),
    ("issue: 77", "issues", "77"),
    ("file: #12", "files", "#12"),
    ("File: branch: odd", "files", "branch: odd"),
    ("branch:", "files", "branch:"),
]


@pytest.mark.parametrize(("text", "kind", "value"), LABELLED)
def test_a_label_decides_the_kind_and_is_not_part_of_the_value(text: str, kind: str, value: str) -> None:
    assert classify(text) == (kind, value)


def test_splitting_keeps_every_reference_and_the_order_within_a_kind() -> None:
    found = split(["b.py", "#2", "Plan 014 documentation", "", "a.py", "fix/x", "  ", "#1"])
    assert found == References(("b.py", "a.py"), ("Plan 014 documentation",), ("fix/x",), ("#2", "#1"))
    assert found.flat == ("b.py", "a.py", "Plan 014 documentation", "fix/x", "#2", "#1")


def test_a_value_that_looks_like_another_kind_is_labelled_in_the_flat_list() -> None:
    assert flatten(References(("#12",), ("014",), ("main", "fix/x"))) == (
        "file: #12",
        "plan: 014",
        "branch: main",
        "fix/x",
    )


VALUES = st.one_of(
    st.text(max_size=12),
    st.from_regex(r"(file|plan|branch|issue|Plan|#|fix/|014-)[:\s]*[a-z#/.0-9-]{0,6}", fullmatch=True),
)
LISTS = st.lists(VALUES, max_size=4).map(tidy_items)


@given(st.builds(References, LISTS, LISTS, LISTS, LISTS))
def test_a_flat_list_is_taken_apart_into_the_same_again(references: References) -> None:
    assert split(flatten(references)) == references


@given(st.lists(VALUES, max_size=6))
def test_splitting_loses_no_reference(texts: list[str]) -> None:
    assert len(split(texts).flat) == sum(bool(text.strip()) for text in texts)


FIRST_PLANS = [
    (["a.py", "Plan 014 documentation", "plan-015"], "014"),
    (["014-some-title"], "014"),
    (["plan-014"], "014"),
    (["plan: Roadmap"], "roadmap"),
    (["plans/014-x.md", "#14"], None),
    ([], None),
]


@pytest.mark.parametrize(("texts", "plan"), FIRST_PLANS)
def test_the_first_plan_that_is_named_gives_the_plan_id(texts: list[str], plan: str | None) -> None:
    assert plan_of(split(texts)) == plan


HUGE = ["/" * 200_000 + " x", "plan " + "1" * 200_000 + "x", "a." * 100_000, "fix/" + "a." * 100_000 + " "]


@pytest.mark.parametrize("text", HUGE)
def test_a_huge_reference_is_classified_in_no_time(text: str) -> None:
    began = time.process_time()
    classify(text)
    assert time.process_time() - began < 5
