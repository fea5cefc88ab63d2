"""The texts of the files that a job names, in their place, before the job is posted to a team."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bridge.privacy import redaction
from jobs import paths
from jobs.errors import JobError
from jobs.kinds import FILES
from jobs.model import Job
from jobs.named_files import named_in
from jobs.parse import payload_of

MOST_BYTES = 4 * 1024 * 1024  # of the files of one job together


def with_texts(job: Job, root: Path, *, redacts: bool) -> Job:
    """The job with the texts of the files of the workspace at ``root`` in their place, and with the same digest.

    ``redacts``: without likely secrets. Raises JobError: FILE_TOO_LARGE for files of more than MOST_BYTES together, and
    as ``paths.text_inside``; OSError.
    """
    wanted = named_in(job.kind, job.sent)
    if not wanted:
        return job
    texts, left = [], MOST_BYTES
    for path in wanted:
        try:
            text = paths.text_inside(root, path, left)
        except JobError as error:
            if error.code != "FILE_TOO_LARGE":
                raise
            message = f"The files have more than {MOST_BYTES:,} bytes together, which is the most that a team takes."
            raise JobError("FILE_TOO_LARGE", message, remediation="Name fewer files in one job.") from error
        left -= len(text.encode())
        texts.append(text)
    sent = {name: value for name, value in job.sent.items() if name not in FILES[job.kind]} | {"texts": texts}
    job = replace(job, sent=sent, payload=payload_of(job.kind, sent))
    return redaction.without_secrets(job) if redacts else job
