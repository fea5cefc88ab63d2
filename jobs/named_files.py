"""The files that a job names, and that another machine which ran the job would take for its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import JobError
from .kinds import FILES, Kind


def named_in(kind: Kind, sent: Mapping[str, Any]) -> list[str]:
    """The paths in a valid payload as it was sent; empty for a job that any machine of a team may run, or that only its
    own machine runs."""
    return [path for name in FILES.get(kind, ()) for path in sent.get(name) or ()]


def require_none(kind: Kind, sent: Mapping[str, Any]) -> None:
    """Raises JobError: ARGUMENT_INVALID for a payload, which need not be valid, that names such files."""
    if any(sent.get(name) for name in FILES.get(kind, ())):
        message = (
            "A job of a team may not name files: they would be read on the machine that runs it. Nothing was read."
        )
        raise JobError("ARGUMENT_INVALID", message, remediation="Give the texts instead of the paths.")
