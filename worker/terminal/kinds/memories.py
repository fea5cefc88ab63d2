"""The commands that change single memories: ``feedback``, ``forget`` and ``memories set-status``, and their views."""

from __future__ import annotations

from bridge.search import listing
from jobs.errors import JobError
from jobs.kinds import VERDICTS

from ...wording import counted
from .. import output as terminal
from ..command_line import YES, Given, option
from ..job_commands import job, require_targets, submit_job, submits, without_none
from ..output import Envelope, notes, say
from .ingest import show_ingest

show_set_status = show_ingest


@job(
    "set_status",
    ["memories set-status 12 Superseded"],
    name="memories set-status",
    text="change a memory's status",
    checks=True,
)
@option("memory_id ID|NUMBER", "the memory's id or number")
@option("status STATUS", "Active, Final, Draft, Superseded", choices=["Active", "Final", "Draft", "Superseded"])
def set_status(args: Given) -> dict[str, str]:
    """Which memory, and its new status."""
    return {"memory_id": listing.id_of(args.place, args.memory_id), "status": args.status}


@job(
    "feedback",
    ["feedback 12 helpful", 'feedback 12 wrong --note "We use SQLite now."'],
    more="A later feedback of the same person replaces it; withdrawn takes it back. The memory itself stays.",
    checks=True,
)
@option("memory_id ID|NUMBER", "the memory's id or number")
@option("verdict VERDICT", ", ".join(VERDICTS), choices=VERDICTS)
@option("--note TEXT", "why, in a few words")
@option("--query QUESTION", "the question for which it was found")
@option("--by NAME", "who gives it (default: person)")
def feedback(args: Given) -> dict[str, str | None]:
    """Which memory, and what was said of it."""
    given = {"verdict": args.verdict, "query": args.query, "note": args.note, "by": args.by}
    return {"memory_id": listing.id_of(args.place, args.memory_id), **given}


def show_feedback(result: Envelope) -> None:
    """Print the counts of the memory's feedback."""
    counts = result["feedback"]
    say(f"#{result['memory_number']}: {counts['helpful']} helpful, {counts['wrong']} wrong.")


@submits("forget", ["forget 12 13", "forget --topic-id auth --yes"], more="This cannot be undone.")
@option("memory_ids ID", "ids or numbers of memories", nargs="*")
@option("--topic-id TOPIC", "all memories of a topic: its id or its exact title")
@YES
def forget(args: Given) -> Envelope:
    """Submit the job after the user has confirmed it; returns its envelope.

    Raises JobError: ARGUMENT_INVALID unless either memories or a topic are named, NOT_CONFIRMED; and as
    ``require_targets``.
    """
    if bool(args.memory_ids) == (args.topic_id is not None):
        raise JobError("ARGUMENT_INVALID", "Name the memories, or with --topic-id a topic; not both.")
    ids = [listing.id_of(args.place, wanted) for wanted in args.memory_ids]
    topic_id = None if args.topic_id is None else listing.topic_id_of(args.place, args.topic_id)
    payload = without_none({"memory_ids": ids or None, "topic_id": topic_id})
    require_targets(args.place, "forget", payload)
    if not args.yes:
        titles = listing.titles(args.place, ids, topic_id)
        unconfirmed = "Forgetting cannot be undone; not confirmed."
        terminal.confirm(args.json, titles, "memory", "Forget for good, wherever they lie?", unconfirmed)
    return submit_job(args, "forget", payload)


def show_forget(result: Envelope) -> None:
    """Print the counts of what was forgotten, rebuilt and removed."""
    say(f"{counted(len(result['forgotten']), 'memory')} forgotten")
    for name, noun, what in (
        ("records_rebuilt", "decision record", "rebuilt from the remaining memories"),
        ("records_removed", "decision record", "removed, of which too little remained"),
        ("revived", "memory", "given the former status again"),
    ):
        if result[name]:
            say(f"{counted(len(result[name]), noun)} {what}")
    its = "its" if result["jobs_scrubbed"] == 1 else "their"
    say(f"{counted(result['jobs_scrubbed'], 'job')} lost {its} texts,"
        f" {counted(result['jobs_ended'], 'waiting job')} ended,"
        f" {counted(result['files_removed'], 'file')} removed")  # fmt: skip
    notes(result["warnings"])
