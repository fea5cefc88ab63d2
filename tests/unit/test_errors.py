"""The table of errors."""

import re

import pytest

from bridge.interface import envelope
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


def test_a_code_of_a_later_version_is_an_error_that_ends_a_job() -> None:
    """A record may have it after the return to an older version, and must not be a traceback for its reader."""
    error = JobError("OF_A_LATER_VERSION", "It went wrong.", remediation="Do this.")
    assert (error.code, error.message, error.remediation) == ("OF_A_LATER_VERSION", "It went wrong.", "Do this.")
    assert (error.reaction, error.retryable) == (Reaction.GIVE_UP, False)
    assert "OF_A_LATER_VERSION" in JobError("OF_A_LATER_VERSION").message
    assert envelope.exit_code(envelope.failure(error)) == envelope.FAILED
