"""Attachments: what a job needs of the files of the machine on which it was dropped, and receipts of what it did.

A machine attaches first, and posts the job then: so a job that waits has all that it needs. Attaching twice is
attaching once. Of two different readings, the one that was complete last stays. A job that ends leaves nothing; what
was attached to a job that never came goes after ``retention.ATTACHMENTS_DAYS``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .fields import Digest, Id, JobId, Part, PartCount, PartNumber

if TYPE_CHECKING:
    from .server import Connection

_ATTACH = """
INSERT INTO job_attachments (workspace_id, job_id, digest, part, parts, data) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""
_IS_POSTED = "SELECT 1 FROM jobs WHERE workspace_id = %s AND job_id = %s AND state <> 'ended'"
_WHOLE = """
SELECT digest, parts FROM job_attachments WHERE workspace_id = %s AND job_id = %s
GROUP BY digest, parts HAVING count(*) = parts
"""


def attach(
    connection: Connection,
    workspace_id: Id,
    job_id: JobId,
    digest: Digest,
    part: PartNumber,
    parts: PartCount,
    data: Part,
) -> bool:
    """Keep a part of what is attached to a job, unless that is posted already. Returns whether all of it is here."""
    which = (workspace_id, job_id)
    with connection.transaction():
        if connection.execute(_IS_POSTED, which).fetchone():
            return True
        connection.execute(_ATTACH, (*which, digest, part, parts, data))
        if (digest, parts) not in connection.execute(_WHOLE, which).fetchall():
            return False
        connection.execute(
            "DELETE FROM job_attachments WHERE workspace_id = %s AND job_id = %s AND (digest, parts) <> (%s, %s)",
            (*which, digest, parts),
        )
        return True


def whole(connection: Connection, workspace_id: str, job_id: str) -> tuple[str, int] | None:
    """The digest of what is attached to the job, and the number of its parts; None unless all of it is here."""
    return connection.execute(_WHOLE, (workspace_id, job_id)).fetchone()


def part(connection: Connection, workspace_id: str, job_id: str, digest: str, number: int) -> bytes:
    """A part; empty if it is not there any more."""
    found = connection.execute(
        "SELECT data FROM job_attachments WHERE workspace_id = %s AND job_id = %s AND digest = %s AND part = %s",
        (workspace_id, job_id, digest, number),
    ).fetchone()
    return b"" if found is None else bytes(found[0])


def drop(connection: Connection, workspace_id: str, job_ids: Sequence[str]) -> None:
    """Remove what is attached to these jobs."""
    connection.execute(
        "DELETE FROM job_attachments WHERE workspace_id = %s AND job_id = ANY(%s)", (workspace_id, list(job_ids))
    )


def keep_receipt(connection: Connection, workspace_id: str, receipt: dict[str, Any]) -> None:
    """Write or replace a receipt."""
    connection.execute(
        "INSERT INTO receipts VALUES (%s, %s, %s) ON CONFLICT (workspace_id, receipt_id)"
        " DO UPDATE SET receipt = excluded.receipt",
        (workspace_id, receipt["receipt"], json.dumps(receipt)),
    )


def receipts(connection: Connection, workspace_id: str) -> list[str]:
    """The ids of all receipts, sorted."""
    found = connection.execute(
        "SELECT receipt_id FROM receipts WHERE workspace_id = %s ORDER BY receipt_id", (workspace_id,)
    )
    return [receipt_id for (receipt_id,) in found]


def receipt(connection: Connection, workspace_id: str, receipt_id: str) -> dict[str, Any] | None:
    """A receipt by its id; None without one."""
    found = connection.execute(
        "SELECT receipt FROM receipts WHERE workspace_id = %s AND receipt_id = %s", (workspace_id, receipt_id)
    ).fetchone()
    return None if found is None else found[0]
