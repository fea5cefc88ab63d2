"""The table of errors."""

import re

from bridge.interface import envelope
from jobs.errors import ERRORS, JobError, Reaction


def test_every_error_says_what_happened_and_what_to_do() -> None:
    for kind in ERRORS.values():
        assert re.fullmatch(r"[A-Z]+(_[A-Z]+)*", kind.code)
        assert re.fullmatch(r"\S.*\.", kind.cause), kind.code
        assert re.fullmatch(r"\S.*\.", kind.remediation), kind.code


def test_an_error_of_a_record_holds_the_tables_words_unless_better_ones_are_given() -> None:
    for code, kind in ERRORS.items():
        plain = JobError(code).as_dict()
        words = {"code": code, "message": kind.cause, "remediation": kind.remediation}
        assert plain == words | {"retryable": kind.reaction in (Reaction.RETRY, Reaction.WAIT)}
        told = JobError(code, "It went wrong.", remediation="Mend it.", details={"line": 3}).as_dict()
        assert told == plain | {"message": "It went wrong.", "remediation": "Mend it.", "details": {"line": 3}}


def test_a_code_of_a_later_version_is_an_error_that_ends_a_job() -> None:
    """A record may have it after the return to an older version, and must not be a traceback for its reader."""
    error = JobError("OF_A_LATER_VERSION", "It went wrong.", remediation="Do this.")
    assert (error.code, error.message, error.remediation) == ("OF_A_LATER_VERSION", "It went wrong.", "Do this.")
    assert (error.reaction, error.retryable) == (Reaction.GIVE_UP, False)
    assert "OF_A_LATER_VERSION" in JobError("OF_A_LATER_VERSION").message
    assert envelope.exit_code(envelope.failure(error)) == envelope.FAILED
