"""Builds the golden examples: files as the program writes them, at fixed times and with fixed ids.

The real functions build everything except what differs between runs: process ids, clocks, and the measurements of a
model.
"""

from __future__ import annotations

import json
from typing import Any

from bridge.search import reader
from jobs.errors import JobError
from jobs.layout import Workspace

from .examples_answers import PROJECT, context_mixed, explain_mixed, retrieval_mixed, templates
from .examples_jobs import digests, in_the_spool, job_files, records


def files() -> dict[str, str]:
    """The text of every example, by file name."""
    jobs = job_files()
    values: dict[str, Any] = {
        **{f"job-{name}": value for name, value in jobs.items()},
        **{f"record-{name}": record.as_dict() for name, record in records(jobs).items()},
        **in_the_spool(jobs),
        "retrieval-mixed": retrieval_mixed(),
        "retrieval-error": reader.failure("retrieve", JobError("QUERY_EMPTY")),
        "explain-mixed": explain_mixed(),
        "explain-error": reader.failure("explain", JobError("QUERY_EMPTY"), {"query": ""}, Workspace(PROJECT)),
        "context-mixed": context_mixed(),
        "context-error": reader.failure("context", JobError("QUERY_EMPTY")),
        "digest": digests(jobs),
    }
    texts = {f"{name}.json": json.dumps(v, indent=2, ensure_ascii=False) + "\n" for name, v in values.items()}
    return texts | templates()
