"""The commands that take memories over: ``import`` and ``migrate``, and their views."""

from __future__ import annotations

import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from bridge import trust
from jobs import files, paths
from jobs.errors import JobError
from jobs.ids import new_job_id
from jobs.layout import Workspace

from ...documents import migrated_texts, migration_counts
from ...wording import counted
from ..command_line import IN_MARKDOWN, Given, option
from ..job_commands import job, submit_job, submits
from ..output import Envelope, notes, say, show_blocks

_AT_ONCE = 1024 * 1024  # bytes of a copy, before the free space is looked at again


def reachable(args: Given, name: str, job_id: str, number: int = 0) -> str:
    """The workspace-relative path of a file that the job can open: the file itself, or a new copy of it.

    ``name`` is a path of this process, or ``-`` for standard input; ``number`` tells several files of a job apart. A
    file in the workspace is not copied. The workspace's folders must exist. Raises JobError: ARGUMENT_INVALID when the
    file cannot be read or copied, DISK_FULL when its copy would leave less disk space than is kept free.
    """
    workspace, path = args.place, Path(name).absolute()
    if name != "-":
        try:
            paths.open_inside(workspace.root, str(path)).close()
            inside = path.relative_to(Path(workspace.root).resolve()).as_posix()
            inside.encode()  # a job can name no file whose name is not UTF-8, so that one is copied
            return inside
        except (JobError, OSError, ValueError):
            pass  # outside, or not readable for a job; for a missing file, opening it below reports the error
        if path.exists() and not path.is_file():  # a pipe without a writer would wait for ever
            how = "Give a file, or - for standard input."
            raise JobError("ARGUMENT_INVALID", f"{name} is no plain file.", remediation=how)
    copy = workspace.imported(f"{job_id}+{number}" if number else job_id)
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else path.open("rb") as source:
            files.make_folder(workspace.imports)
            with files.replacing(copy) as target:
                left = 0 if name == "-" else path.stat().st_size
                while chunk := source.read(_AT_ONCE):
                    left = max(left, len(chunk))
                    if shutil.disk_usage(copy.parent).free - left < args.settings.min_free_bytes:
                        raise JobError("DISK_FULL", f"A copy of {name} would fill the disk.")
                    left -= target.write(chunk)
    except OSError as error:
        code = "DISK_FULL" if files.is_no_space(error) else "ARGUMENT_INVALID"
        raise JobError(code, f"{name} cannot be copied in: {error.strerror}.") from error
    return copy.relative_to(workspace.root).as_posix()


def begin(args: Given) -> str:
    """A new job's id, once the workspace's folders are there, which a copy needs."""
    trust.adopt(args.place, args.settings.config_folder)
    return new_job_id()


def submit_with_copies(args: Given, kind: str, payload: dict[str, Any], job_id: str) -> Envelope:
    """As ``submit_job``. The copies that were made for the job are removed when it succeeded, or when its file is
    invalid."""
    try:
        answer = submit_job(args, kind, payload, job_id=job_id)
    except JobError as error:
        if error.code == "IMPORT_INVALID":  # another attempt with this copy would fail too
            discard(args.place, job_id)
        raise
    if answer.get("state") == "succeeded":
        discard(args.place, job_id)
    return answer


def discard(workspace: Workspace, job_id: str) -> None:
    """Remove the copies that were made for a job, if there are any."""
    for copy in (workspace.imported(job_id), *workspace.imports.glob(f"{job_id}+*.jsonl")):
        files.remove(copy)


@submits(
    "import", ["import backup.jsonl", "import - < backup.jsonl"], more="Memories that are already stored do not change."
)
@option("path FILE", "a file that cognee-memory export wrote; - for standard input")
def import_(args: Given) -> Envelope:
    """Submit the job; returns its envelope. The copy is removed when the job succeeded or the file is invalid."""
    job_id = begin(args)
    return submit_with_copies(args, "import", {"path": reachable(args, args.path, job_id)}, job_id)


def show_import(result: Envelope) -> None:
    """Print the counts of memories by outcome, the details and the warnings."""
    names = ("added", "unchanged", "duplicates", "conflicts", "forgotten", "failed")
    parts = [f"{result[name]} {name}" for name in names if result[name] or name == "added"]
    say(f"{counted(result['memories'], 'memory')} in the file: {', '.join(parts)}.")
    others = ("renumbered", "kept", "compactions", "findings", "feedback", "verdicts")  # former jobs lack the last two
    more = [f"{result[name]} {name}" for name in others if result.get(name)]
    if more:
        say(f"Besides: {', '.join(more)}.")
    if count := result["renumbered"]:
        say(f"{counted(count, 'memory')} got another number here, since theirs was taken; the ids are the same.")
    for detail in result["details"]:
        if detail["what"] != "renumbered":
            say(f"  line {detail['line']}: {detail['what']}: {detail['note']}")
    notes(result["warnings"])


@job("migrate", ["migrate --dry-run", "migrate"])
@option("--dry-run", "show what each text would become, and change nothing")
@option("--limit N", "migrate at most N texts, the oldest first", type=int)
@IN_MARKDOWN
@option("--undo RECEIPT", "undo a migration; its result names the receipt")
def migrate(args: Given) -> dict[str, bool | int | str | None]:
    """What of them, or the undo."""
    return {"dry_run": args.dry_run, "limit": args.limit, "undo": args.undo}


def show_undone(result: Envelope, done: str) -> None:
    """Print how many memories an undo has removed, ``done``, and those that it left."""
    say(f"{counted(result['undone'], 'memory')} {done}.")
    for kept in result["kept"]:
        say(f"  left  {kept['memory_id']}: {kept['reason']}")


def show_migrate(result: Any) -> None:
    """Print the outcome of each text, the failures first, or the result of an undo."""
    if "undone" in result:
        show_undone(result, "undone")
        return
    show_blocks(migrated_texts(result))
    say(migration_counts(result))
    notes(result["warnings"])
    if result["dry_run"]:
        more = " Take them over: cognee-memory migrate" if result["migrated"] else ""
        say(f"Nothing was changed.{more}")
    elif result["migrated"]:
        say(f"Undo: cognee-memory migrate --undo {result['receipt']}")
