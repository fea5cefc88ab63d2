"""The receipts of migrations: files that record what became of each text, written before any memory is stored.

They hold ids, digests and numbers, never a text or a title. A receipt has the id of its job, so a retry writes the same
one. It is *begun* (``finished_at`` is null) until its job has stored everything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jobs import files, plain_files, steps
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.spelling import nearest

FORMAT = 1

_LIMIT = 256 * 1024 * 1024
_NEAREST = 5


def write(workspace: Workspace, receipt: Mapping[str, Any]) -> None:
    """Write or replace a receipt, durably."""
    files.make_folder(workspace.receipts, parents=False)
    data = json.dumps({"format": FORMAT, **receipt}, ensure_ascii=False, indent=1).encode()
    with steps.fault_point("receipt.write"):
        files.replace(workspace.receipt(receipt["receipt"]), data)


def load(workspace: Workspace, receipt_id: str) -> dict[str, Any]:
    """A receipt by its id.

    Raises JobError: RECEIPT_NOT_FOUND, with the nearest ids, FILE_UNSAFE, FILE_TOO_LARGE.
    """
    known_ids = ids(workspace)
    if receipt_id in known_ids:  # only ids of existing receipts are used as file names
        try:
            receipt = json.loads(plain_files.read_own(workspace.receipt(receipt_id), _LIMIT))
            if receipt["format"] == FORMAT and receipt["receipt"] == receipt_id:
                return dict(receipt)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            pass
        raise JobError("RECEIPT_NOT_FOUND", f"The receipt {receipt_id!r} cannot be read.")
    raise _not_found(receipt_id, known_ids)


def ids(workspace: Workspace) -> list[str]:
    """The ids of all receipts, sorted."""
    try:
        return sorted(path.stem for path in workspace.receipts.iterdir() if path.suffix == ".json")
    except (FileNotFoundError, NotADirectoryError):
        return []


def _not_found(receipt_id: str, there: Sequence[str]) -> JobError:
    """The error RECEIPT_NOT_FOUND, with similar ids or the last ones."""
    near = nearest(receipt_id, there, _NEAREST, 0.5) or list(there[-_NEAREST:])
    hint = f" There are: {', '.join(near)}." if near else " There is none: nothing was migrated here yet."
    return JobError(
        "RECEIPT_NOT_FOUND", f"There is no receipt {receipt_id[:100]!r}.{hint}", details={"suggestions": near}
    )
