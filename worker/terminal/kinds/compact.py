"""The command ``compact``: submits the job and prints the preview, or the decision record that was made."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from bridge.interface.arguments import add_keep_both
from bridge.search import listing
from jobs.errors import JobError

from ...wording import counted
from ..command_line import CommandLineBuilder, named_topic, topic
from ..job_commands import add_job_command, submit_for_target, without_none
from ..output import Envelope, notes, say, table
from ..process_commands import workspace_and_settings

_MOST_NAMED = 20  # memories in one line
_RECORD_LISTS = {
    "consolidated_decisions": "Decisions",
    "consolidated_rationale": "Rationale",
    "key_open_questions": "Open questions",
    "next_steps": "Next steps",
}


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
        _conflicts(result["conflicts"])
        _kept_both(result["kept_both"])
        notes(result["warnings"])
        say(f"Undo: cognee-memory restore {result['memory_number']}")


def _preview(result: dict[str, Any]) -> None:
    record = result["decision_record"]
    rows = [
        (f"#{m['memory_number']}", (m["source_created_at"] or m["created_at"] or "-")[:10],
         "record" if m["memory_type"] == "decision_record" else "summary", m["topic"][:60], str(len(m["decisions"])))
        for m in result["summaries"]
    ]  # fmt: skip
    columns = ("memory", "of", "kind", "topic", "decisions")
    table(columns, rows, right=("memory", "decisions"), wraps=("topic",), optional_columns=("kind",))
    say()
    say(f"would become one record of {record['topic_id']}, {record['topic']}:")
    for name, title in _RECORD_LISTS.items():
        if record[name]:
            say(f"{title}:")
            for text in record[name]:
                say(f"  - {text}")
    say("Narrative:" if record["narrative_source"] == "template" else "Narrative, by the language model:")
    for line in record["summary_text"].splitlines():
        say(f"  {line}")
    conflicts, kept = result["conflicts"], result["kept_both"]
    _conflicts(conflicts)
    _kept_both(kept)
    notes(result["warnings"])
    command = f"cognee-memory compact {record['topic_id']}"
    if conflicts:
        ids = " ".join(f"--keep-both {each['conflict_id']}" for each in (*kept, conflicts[0]))
        say(f"Where both hold, reject the conflict by its id: {command} --preview {ids}")
    say(f"Nothing was changed. Apply it: {command} --preview-digest {result['preview_digest']}")


def _conflicts(answer: Sequence[dict[str, Any]]) -> None:
    if not answer:
        return
    say()
    is_later = all(each["earlier"]["date"] <= each["later"]["date"] for each in answer)  # else somebody said otherwise
    say(f"These conflict; the {'later' if is_later else 'second'} one holds:")
    rows = [
        (each["conflict_id"], each["kind"], _sure(each), _side(each["earlier"]), _side(each["later"]))
        for each in answer
    ]
    table(("id", "kind", "sure", "earlier", "later"), rows, right=("sure",), wraps=("earlier", "later"))


def _sure(conflict: dict[str, Any]) -> str:
    return "said" if conflict.get("judged_by") == "said" else f"{conflict['confidence']:.2f}"


def _kept_both(answer: Sequence[dict[str, Any]]) -> None:
    if not answer:
        return
    say()
    say("Both hold, as you said:")
    rows = [(each["conflict_id"], _side(each["earlier"]), _side(each["later"])) for each in answer]
    table(("id", "earlier", "later"), rows, wraps=("earlier", "later"))


def _side(side: dict[str, Any]) -> str:
    return f"#{side['memory_number']} {side['date'][:10]} {side['text']}"
