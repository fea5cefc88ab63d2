"""The table of errors."""

from __future__ import annotations

import re

import pytest

from jobs.errors import ERRORS, ErrorKind, JobError, Reaction


@pytest.mark.parametrize("kind", ERRORS.values(), ids=ERRORS.keys())
def test_every_error_says_what_happened_and_what_to_do(kind: ErrorKind) -> None:
    assert re.fullmatch(r"[A-Z]+(_[A-Z]+)*", kind.code)
    assert re.fullmatch(r"\S.*\.", kind.cause)
    assert re.fullmatch(r"\S.*\.", kind.remediation)


@pytest.mark.parametrize("code", ERRORS)
def test_an_error_of_a_record_holds_the_tables_words_unless_better_ones_are_given(code: str) -> None:
    plain = JobError(code).as_dict()
    assert plain == {
        "code": code,
        "message": ERRORS[code].cause,
        "remediation": ERRORS[code].remediation,
        "retryable": ERRORS[code].reaction in (Reaction.RETRY, Reaction.WAIT),
    }
    told = JobError(code, "It went wrong.", remediation="Mend it.", details={"line": 3}).as_dict()
    assert told == plain | {"message": "It went wrong.", "remediation": "Mend it.", "details": {"line": 3}}


def test_a_code_that_is_not_in_the_table_cannot_be_raised() -> None:
    with pytest.raises(KeyError):
        JobError("NO_SUCH_CODE")


def test_every_reaction_is_used() -> None:
    assert {kind.reaction for kind in ERRORS.values()} == set(Reaction)


def test_the_text_of_the_exception_names_the_code() -> None:
    assert str(JobError("QUERY_EMPTY")) == "QUERY_EMPTY: The query contains no text."
