"""The commands that merge a topic's memories, and undo that: ``compact`` and ``restore``, and their views."""

from __future__ import annotations

from typing import Any

from bridge.interface.arguments import add_keep_both
from bridge.search import listing
from jobs.errors import JobError

from ...documents import conflicts, merged_record
from ...wording import counted, first_ones
from ..command_line import IN_MARKDOWN, Given, added, named_topic, option, topic
from ..job_commands import job
from ..output import Envelope, notes, say, show_blocks

_MOST_NAMED = 20  # memories in one line

_WHY_LEFT = {
    "forgotten": "it was forgotten",
    "status_changed": "its status was changed since",
    "merged": "another record in force has merged it as well",
}


@job(
    "compact",
    ["compact auth --preview", "compact auth --preview --keep-both 1f2e3d4c", "compact auth --preview-digest DIGEST"],
    more="A preview shows the result and changes nothing. With its digest, exactly that preview is applied.",
    checks=True,
)
@topic("the topic")
@option("--preview", "show the result, and change nothing")
@option("--preview-digest DIGEST", "apply exactly this preview")
@added(add_keep_both)
@IN_MARKDOWN
def compact(args: Given) -> dict[str, Any]:
    """Which topic, and how. Raises JobError: ARGUMENT_INVALID when no topic or two topics are named."""
    if (named := named_topic(args)) is None:
        raise JobError("ARGUMENT_INVALID", "Name the topic.", remediation="List them: cognee-memory topics.")
    options = {name: getattr(args, name) for name in ("preview", "preview_digest", "keep_both")}
    return {"topic_id": listing.topic_id_of(args.place, named), **options}


def show_compact(result: Envelope) -> None:
    """Print the preview, or the result of an applied compaction."""
    if "decision_record" in result:
        _preview(result)
    else:
        count = len(result["superseded"])
        what = f"{counted(count, 'memory')} of {result['topic_id']}"
        say(f"Compacted {what} into the record #{result['memory_number']}.")
        say(f"  record      {result['decision_record_id']}")
        say(f"  superseded  {_named(result['superseded'], result['superseded_numbers'])}")
        say(f"  conflicts   {len(result['conflicts'])}")
        show_blocks(conflicts(result, ids=True))
        notes(result["warnings"])
        say(f"Undo: cognee-memory restore {result['memory_number']}")


def _preview(result: Any) -> None:
    record, count = result["decision_record"], counted(len(result["summaries"]), "memory")
    say(f"{count} of {record['topic_id']} would become one decision record.")
    show_blocks(merged_record(result))
    show_blocks(conflicts(result, ids=True))
    notes(result["warnings"])
    command = f"cognee-memory compact {record['topic_id']}"
    if result["conflicts"]:
        ids = " ".join(f"--keep-both {each['conflict_id']}" for each in (*result["kept_both"], result["conflicts"][0]))
        say(f"Where both hold, reject the conflict by its id: {command} --preview {ids}")
    say(f"Nothing was changed. Apply it: {command} --preview-digest {result['preview_digest']}")


@job("restore", ["restore 12"], checks=True)
@option("decision_record_id RECORD", "the decision record's id or number")
def restore(args: Given) -> dict[str, str]:
    """Which record."""
    return {"decision_record_id": listing.id_of(args.place, args.decision_record_id)}


def show_restore(result: Envelope) -> None:
    """Print the withdrawn record, the restored memories and the skipped ones."""
    number = f" #{result['memory_number']}" if result["memory_number"] else ""
    back, are = counted(len(result["restored"]), "memory"), "is" if len(result["restored"]) == 1 else "are"
    say(f"The record{number} of {result['topic_id']} is withdrawn; {back} {are} back.")
    numbers = result.get("numbers", {})  # earlier versions did not say them
    if result["restored"]:
        say(f"  back  {_named(result['restored'], numbers)}")
    for skipped in result["skipped"]:
        say(f"  left  {_named([skipped['memory_id']], numbers)}: {_WHY_LEFT[skipped['reason']]}")


def _named(memory_ids: list[str], numbers: dict[str, int]) -> str:
    """The memories in one line, by number; by id if they were forgotten since."""
    return first_ones([f"#{numbers[each]}" if each in numbers else each for each in memory_ids], _MOST_NAMED)
