"""The command ``compact``: submits the job and prints the preview, or the decision record that was made."""

from __future__ import annotations

import argparse
from typing import Any

from bridge.interface.arguments import add_keep_both
from bridge.search import listing
from jobs.errors import JobError

from ...documents import compact as document
from ...wording import counted
from ..command_line import CommandLineBuilder, in_markdown, named_topic, topic
from ..job_commands import add_job_command, submit_for_target, without_none
from ..output import Envelope, notes, say, show_blocks
from ..process_commands import workspace_and_settings

_MOST_NAMED = 20  # memories in one line


def add_compact(builder: CommandLineBuilder) -> None:
    """Add ``compact``."""
    parser = add_job_command(
        builder,
        "compact",
        [
            "cognee-memory compact auth --preview",
            "cognee-memory compact auth --preview --keep-both 1f2e3d4c",
            "cognee-memory compact auth --preview-digest DIGEST",
        ],
        more="A preview shows the result and changes nothing. With its digest, exactly that preview is applied.",
        run=run,
    )
    topic(parser, "the topic")
    parser.add_argument("--preview", action="store_true", help="show the result, and change nothing")
    parser.add_argument("--preview-digest", metavar="DIGEST", help="apply exactly this preview")
    add_keep_both(parser)
    in_markdown(parser)


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope.

    Raises JobError: ARGUMENT_INVALID when no topic or two topics are named; and as ``submit_for_target``.
    """
    workspace, settings = workspace_and_settings(args)
    if (named := named_topic(args)) is None:
        raise JobError("ARGUMENT_INVALID", "Name the topic.", remediation="List them: cognee-memory topics.")
    payload = {
        "topic_id": listing.topic_id_of(workspace, named),
        "preview": args.preview,
        "preview_digest": args.preview_digest,
        "keep_both": args.keep_both,
    }
    return submit_for_target(args, workspace, settings, "compact", without_none(payload))


def show(answer: Envelope) -> None:
    """Print the preview, or the result of an applied compaction."""
    result = answer["result"]
    if "decision_record" in result:
        _preview(result)
    else:
        count = len(result["superseded"])
        what = f"{counted(count, 'memory')} of {result['topic_id']}"
        say(f"Compacted {what} into the record #{result['memory_number']}.")
        say(f"  record      {result['decision_record_id']}")
        numbers = result["superseded_numbers"]
        more = f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else ""
        merged = [f"#{numbers[each]}" if each in numbers else each for each in result["superseded"]]
        say(f"  superseded  {', '.join(merged[:_MOST_NAMED])}{more}")
        say(f"  conflicts   {len(result['conflicts'])}")
        show_blocks(document.conflicts(result, ids=True))
        notes(result["warnings"])
        say(f"Undo: cognee-memory restore {result['memory_number']}")


def _preview(result: Any) -> None:
    record, count = result["decision_record"], counted(len(result["summaries"]), "memory")
    say(f"{count} of {record['topic_id']} would become one decision record.")
    show_blocks(document.record(result))
    show_blocks(document.conflicts(result, ids=True))
    notes(result["warnings"])
    command = f"cognee-memory compact {record['topic_id']}"
    if result["conflicts"]:
        ids = " ".join(f"--keep-both {each['conflict_id']}" for each in (*result["kept_both"], result["conflicts"][0]))
        say(f"Where both hold, reject the conflict by its id: {command} --preview {ids}")
    say(f"Nothing was changed. Apply it: {command} --preview-digest {result['preview_digest']}")
