"""The receipts of captures and migrations: what became of each session or text, written before any memory is stored.

They hold ids, digests and numbers, never a text or a title. A receipt has the id of its job, so a retry writes the same
one. It is *begun* (``finished_at`` is null) until its job has stored everything. It is a file; of a team's jobs, a row
of the team's database, so that any pool can go on with the job or undo it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jobs import files, plain_files, steps
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.spelling import nearest

from . import Task, attachments

if TYPE_CHECKING:
    from ..graph.open_stores import Stores
    from .attachments import Line

FORMAT = 1

_LIMIT = 256 * 1024 * 1024
_NEAREST = 5


def write(stores: Stores, receipt: Mapping[str, Any]) -> None:
    """Write or replace a receipt, durably."""
    content = {"format": FORMAT, **receipt}
    with steps.fault_point("receipt.write"):
        if (host := stores.host) is not None:
            host.keep_receipt(stores.store.workspace_id, content)
            return
        data = json.dumps(content, ensure_ascii=False, indent=1).encode()
        files.make_folder(stores.workspace.receipts, parents=False)
        files.replace(stores.workspace.receipt(receipt["receipt"]), data)


def load(stores: Stores, receipt_id: str) -> dict[str, Any]:
    """A receipt by its id.

    Raises JobError: RECEIPT_NOT_FOUND, with the nearest ids, FILE_UNSAFE, FILE_TOO_LARGE.
    """
    known_ids = ids(stores)
    if receipt_id not in known_ids:
        raise _not_found(receipt_id, known_ids)
    host = stores.host
    found = _read(stores.workspace, receipt_id) if host is None else host.receipt(stores.store.workspace_id, receipt_id)
    if found is None or found.get("format") != FORMAT or found.get("receipt") != receipt_id:
        raise JobError("RECEIPT_NOT_FOUND", f"The receipt {receipt_id!r} cannot be read.")
    return found


def _read(workspace: Workspace, receipt_id: str) -> dict[str, Any] | None:
    """A file that is there: only ids of existing receipts are used as file names."""
    try:
        return dict(json.loads(plain_files.read_own(workspace.receipt(receipt_id), _LIMIT)))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def load_for(task: Task[Any], receipt_id: str, stores: Stores, kind: str) -> dict[str, Any]:
    """The receipt of a job of this kind that a job undoes: in a team perhaps the file of the job's machine, from before
    it was shared. Raises as ``load``; RECEIPT_NOT_FOUND also for a receipt of another kind."""
    given = iter(()) if stores.host is None or receipt_id in ids(stores) else attachments.lines(task, stores)
    found = [line for line in given if line.get("format") == FORMAT and line.get("receipt") == receipt_id]
    receipt = found[0] if found else load(stores, receipt_id)
    if (of := receipt.get("made_by", "migrate")) != kind:
        undo = {"capture": "capture undo", "migrate": "migrate --undo"}[of]
        remedy = f"Undo it: cognee-memory {undo} {receipt_id}."
        raise JobError("RECEIPT_NOT_FOUND", f"The receipt {receipt_id!r} is of the job {of}.", remediation=remedy)
    return receipt


def read_files(stores: Stores, receipt_id: str) -> Iterator[Line]:
    """The receipt as a file of this machine, if there is one."""
    if receipt_id in _files(stores.workspace):
        yield load(stores, receipt_id)


def ids(stores: Stores) -> list[str]:
    """The ids of all receipts, sorted."""
    host = stores.host
    return _files(stores.workspace) if host is None else host.receipts(stores.store.workspace_id)


def _files(workspace: Workspace) -> list[str]:
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
