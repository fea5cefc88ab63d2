"""What an agent can do about an error: it has tools, but no shell and no files of this project.

``jobs.errors`` has the remedies for people. This table has those that a tool provides. Any other remedy that needs a
command, a setting or a file is passed on as one for the user.
"""

from __future__ import annotations

import re

from jobs.errors import ERRORS

FOR_THE_USER = "For the user: "

REMEDIES = {
    "ARGUMENT_INVALID": "Correct the argument; the tool's input schema describes it.",
    "CANCELLED": "No action needed if the user intended this. Otherwise send the content again.",
    "EXPIRED": "Send the content again.",
    "JOB_ID_CONFLICT": "Leave job_id out, or use another one. The first job is unchanged.",
    "JOB_INVALID": "Correct the field that the message names; the tool's input schema describes it.",
    "JOB_NOT_FOUND": "Use the job_id that a tool returned. Records of old jobs are deleted.",
    "JOB_TIMEOUT": "Send less content.",
    "MEMORY_NOT_FOUND": "Find it with memory_retrieve, or list the newest with memory_recent.",
    "NOTHING_TO_COMPACT": "No action needed. Drafts and superseded memories do not count; memory_topics counts them.",
    "PLAN_NOT_FOUND": "Name one of the nearest, or leave plan_id out: each hit has its own.",
    "TOPIC_NOT_FOUND": "List the topics with memory_topics.",
    "TOPIC_TOO_LARGE": "Mark memories that no longer hold with memory_mark_outdated, and try again.",
    "WAIT_TIMEOUT": "The job continues. Ask memory_job_status later.",
    "WORKSPACE_NOT_CHOSEN": (
        "Nothing was read or stored. For the user: add --workspace and the project's path to the arguments of this"
        " server in the client's configuration."
    ),
}
"""By error code."""

_NEEDS_A_PERSON = re.compile(
    r"cognee-memory |\bCOGNEE_MEMORY_|\bLLM_|\bEMBEDDING_|\bdocs/|--[a-z]|\.cognee_|\.toml|\blog\b"
)


def remedy(code: str, remediation: str) -> str:
    """The remedy of an error, as an agent can use it.

    A remedy of the raising code stays if it needs nothing that an agent does not have.
    """
    needs_a_person = _NEEDS_A_PERSON.search(remediation) is not None
    if code in REMEDIES and (needs_a_person or remediation == ERRORS[code].remediation):
        return REMEDIES[code]
    return f"{FOR_THE_USER}{remediation}" if needs_a_person else remediation
