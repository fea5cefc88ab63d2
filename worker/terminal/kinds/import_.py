"""The command ``import``: submits the job and prints the counts. A file from outside the workspace is copied into it
first."""

from __future__ import annotations

import argparse

from bridge import trust
from jobs.errors import JobError
from jobs.ids import new_job_id

from ...wording import counted
from .. import import_copy
from ..command_line import CommandLineBuilder
from ..job_commands import add_job_command, submit_job
from ..output import Envelope, notes, say
from ..process_commands import workspace_and_settings


def add_import(builder: CommandLineBuilder) -> None:
    """Add ``import``."""
    parser = add_job_command(
        builder,
        "import",
        ["cognee-memory import backup.jsonl", "cognee-memory import - < backup.jsonl"],
        more="Memories that are already stored do not change.",
        run=run,
    )
    parser.add_argument("path", metavar="FILE", help="a file that cognee-memory export wrote; - for standard input")


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope. The copy is removed when the job succeeded or the file is invalid."""
    workspace, settings = workspace_and_settings(args)
    trust.adopt(workspace, settings.config_folder)  # creates the workspace's folders, which the copy needs
    job_id = new_job_id()
    path = import_copy.reachable(workspace, args.path, job_id)
    try:
        answer = submit_job(args, workspace, settings, "import", {"path": path}, job_id=job_id)
    except JobError as error:
        if error.code == "IMPORT_INVALID":  # another attempt with this copy would fail too
            import_copy.discard(workspace, job_id)
        raise
    if answer.get("state") == "succeeded":
        import_copy.discard(workspace, job_id)
    return answer


def show(answer: Envelope) -> None:
    """Print the counts of memories by outcome, the details and the warnings."""
    result = answer["result"]
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
