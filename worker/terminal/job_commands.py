"""The commands that submit a job. Each waits for its end unless it is told not to; ingesting is fire and forget."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bridge import trust
from bridge.interface.submission import payload_of, read_json_argument, submit
from bridge.search import listing
from bridge.settings import Settings
from jobs import files
from jobs.errors import JobError
from jobs.ids import new_job_id
from jobs.layout import Workspace
from jobs.model import SCHEMA_VERSION

from . import output as terminal
from .process_commands import Envelope, opened, target
from .progress import Progress


def ingest(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    given.user_message, given.assistant_message = [*given.messages, None, None][:2]
    payload = payload_of(given)
    return _submit(given, workspace, found, "ingest", payload, job_id=given.job_id)


def submit_file(given: argparse.Namespace) -> Envelope:
    from jobs.check import check
    from jobs.payloads import JobFile

    workspace, found = opened(given)
    job = read_json_argument(given.file)
    if job.keys().isdisjoint(("job_id", "jobId")):
        job["job_id"] = new_job_id()
    if job.keys().isdisjoint(("schema_version", "schemaVersion")):
        job["schema_version"] = SCHEMA_VERSION
    fields = check(JobFile, job).model_dump(exclude_none=True, exclude={"schema_version"})
    return _submit(given, workspace, found, fields.pop("kind"), fields.pop("payload"), **fields)


def rebuild(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    return _submit(given, workspace, found, "rebuild", {"what": given.what})


def set_status(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    payload = {"memory_id": listing.id_of(workspace, given.memory_id), "status": given.status}
    return _submit(given, workspace, found, "set_status", payload)


def _submit(
    given: argparse.Namespace,
    workspace: Workspace,
    found: Settings,
    kind: str,
    payload: dict[str, Any],
    **fields: Any,
) -> Envelope:
    fields.setdefault("submitted_by", "cli")
    if given.correlation_id is not None:
        fields["correlation_id"] = given.correlation_id
    fields["job_id"] = fields.get("job_id") or new_job_id()
    with Progress(workspace.spool, fields["job_id"]) as seen:
        return submit(
            workspace, found, kind, payload,
            start=not given.no_start, wait=given.wait, wait_seconds=given.timeout, seen=seen, **fields,
        )  # fmt: skip


def cognify(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    payload: dict[str, Any] = {"texts": given.texts or None}
    if given.paths:
        payload["paths"] = [_inside(workspace, path) for path in given.paths]
    if given.memory_ids:
        payload["memory_ids"] = [listing.id_of(workspace, wanted) for wanted in given.memory_ids]
    if sum(value is not None for value in payload.values()) > 1:
        raise JobError("ARGUMENT_INVALID", "Give texts, or --path, or --memory; not several of them.")
    return _submit(given, workspace, found, "cognify", _given(payload))


def _inside(workspace: Workspace, path: str) -> str:
    """A path that a person gives from where they stand, as the workspace has it."""
    root, meant = Path(os.path.realpath(workspace.root)), Path.cwd() / path
    there = meant.parent.resolve() / meant.name  # a link itself stays one, and is refused by the job
    return str(there.relative_to(root)) if there.is_relative_to(root) else path


def migrate(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    payload = {"dry_run": given.dry_run, "limit": given.limit, "undo": given.undo}
    return _submit(given, workspace, found, "migrate", _given(payload))


def compact(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    topic_id = given.named_topic or given.topic_id
    if given.named_topic and given.topic_id:
        raise JobError("ARGUMENT_INVALID", "Name one topic: by itself, or with --topic-id.")
    if topic_id is None:
        raise JobError("ARGUMENT_INVALID", "Name the topic.", remediation="List them: cognee-memory topics.")
    payload = {"topic_id": topic_id, "preview": given.preview, "preview_digest": given.preview_digest}
    return _submit(given, workspace, found, "compact", _given(payload))


def restore(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    payload = {"decision_record_id": listing.id_of(workspace, given.decision_record_id)}
    return _submit(given, workspace, found, "restore", payload)


def forget(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    if bool(given.memory_ids) == (given.topic_id is not None):
        raise JobError("ARGUMENT_INVALID", "Name the memories, or with --topic-id a topic; not both.")
    ids = [listing.id_of(workspace, wanted) for wanted in given.memory_ids]
    if not given.yes:
        titles = listing.titles(workspace, ids, given.topic_id)
        unconfirmed = "What is forgotten cannot be brought back, and nobody has said yes."
        terminal.confirm(given.json, titles, "memory", "Forget for good, wherever they lie?", unconfirmed)
    payload = {"memory_ids": ids or None, "topic_id": given.topic_id}
    return _submit(given, workspace, found, "forget", _given(payload))


def ask(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    return _submit(given, workspace, found, "ask", _given({"question": given.question, "top_k": given.top_k}))


def graph(given: argparse.Namespace) -> Envelope:
    workspace, found = opened(given)
    if given.out is None:
        return _submit(given, workspace, found, "graph", {})
    out = target(workspace, given.out)
    if not given.wait or not out.parent.is_dir():
        why = "--out needs the picture, so wait for it." if not given.wait else f"{out} is no place for a file."
        raise JobError("ARGUMENT_INVALID", why)
    done = _submit(given, workspace, found, "graph", {})
    try:
        files.replace(out, workspace.picture.read_bytes())
    except OSError as error:
        raise JobError("ARGUMENT_INVALID", f"{out} cannot be written: {error.strerror}.") from error
    return {**done, "out": str(out)}


def import_(given: argparse.Namespace) -> Envelope:
    from . import import_copy

    workspace, found = opened(given)
    trust.adopt(workspace, found.config_folder)  # a copy needs a folder to lie in
    job_id = new_job_id()
    path = import_copy.reachable(workspace, given.path, job_id)
    try:
        answer = _submit(given, workspace, found, "import", {"path": path}, job_id=job_id)
    except JobError as error:
        if error.code == "IMPORT_INVALID":  # no further try of this copy can help
            import_copy.discard(workspace, job_id)
        raise
    if answer.get("state") == "succeeded":
        import_copy.discard(workspace, job_id)
    return answer


def _given(payload: dict[str, Any]) -> dict[str, Any]:
    """What was given of a payload; null equals absent."""
    return {name: value for name, value in payload.items() if value is not None}


COMMANDS: dict[str, Callable[[argparse.Namespace], Envelope]] = {
    "ingest": ingest,
    "submit": submit_file,
    "rebuild": rebuild,
    "memories set-status": set_status,
    "cognify": cognify,
    "migrate": migrate,
    "compact": compact,
    "restore": restore,
    "forget": forget,
    "ask": ask,
    "import": import_,
    "graph": graph,
}
