"""The commands that list, show and export what is stored: ``memories``, ``topics``, ``history`` and ``export``."""

from __future__ import annotations

from typing import Any, get_args

from bridge.interface import envelope
from bridge.interface.arguments import add_list_filters
from bridge.memory import LABELS, LIST_FILTERS, STATUS_WORDS, Status
from bridge.search import about_file, following, listing, waiting_jobs
from bridge.text.template import readable
from jobs import clock, files
from jobs.errors import JobError
from jobs.layout import Workspace

from ..calls import memories as calls
from ..calls.call import Scope
from ..wording import age, counted, cut, shortened
from .command_line import Given, added, command, group, limit, named_topic, option, topic, verb
from .hits import feedback_counts
from .output import Envelope, facts, notes, say, table, warn
from .process_commands import require_positive, target, writing

_EXCERPT = 120  # characters of a memory in a list
_MOST_NAMED = 3  # topics in a line

group("memories", ["memories list auth", "memories show 12"])


def show_about(answer: Envelope) -> None:
    """Print the decisions below the title of their memory; of a memory without any, how it begins."""
    if _is_empty(answer, "memories", f"Nothing is remembered about {answer['file']}."):
        return
    now = clock.now()
    for memory in answer["memories"]:
        doubt = "" if memory["is_certain"] else ", perhaps another file of that name"
        say(f"#{memory['memory_number']} {memory['title']} ({age(memory['date'], now)}{doubt})")
        lines = [f"{one['text']}{one['remark'] and ' [' + one['remark'] + ']'}" for one in memory["decisions"]]
        for line in lines or [memory["excerpt"]]:
            say(f"  {line}")
    notes([*cut(len(answer["memories"]), answer["total"], "--limit", ()), *answer["warnings"]])


@command(
    "about",
    ["about src/upload/retry.ts", "about retry.ts --json"],
    more="The newest memories that name the file come first, with what they decided.",
    show=show_about,
)
@option("file FILE", "its path, the end of its path, or its name; it need not exist")
@limit("memories")
def about(args: Given) -> Envelope:
    """The memories that name a file, the newest first: each as in a list, with its decisions, and whether it
    certainly means that file. Raises JobError: ARGUMENT_INVALID."""
    workspace = _memory_of(args)
    require_positive(args.limit)
    found = about_file.about(workspace, args.file)
    shown = found[: args.limit]
    lines = listing.lines_of(workspace, [each.memory for each in shown])
    memories = [
        {
            **line,
            "date": each.memory.dated_at,
            "is_certain": each.is_certain,
            "decisions": [one._asdict() for one in each.decisions],
        }
        for each, line in zip(shown, lines, strict=True)
    ]
    warnings = waiting_jobs.warnings(workspace)
    return envelope.success(file=args.file, memories=memories, total=len(found), warnings=warnings)


def _is_empty(answer: Envelope, name: str, none: str) -> bool:
    """Whether an answer's list is empty; then ``none`` is printed, and the answer's warnings."""
    if not answer[name]:
        say(none)
        notes(answer["warnings"])
    return not answer[name]


def _memory_of(args: Given) -> Workspace:
    """The workspace whose memories a command reads. In a team, what its copy here may lack is said on stderr.

    Raises JobError as ``trust.open_workspace`` and ``following.note``.
    """
    if (note := following.note(args.place, clock.now())) is not None:
        warn(f"Note: {note}")
    return args.place


def _list_of(args: Given) -> tuple[Scope, dict[str, Any]]:
    """The scope of a list, with its topic and its limit. Raises JobError: ARGUMENT_INVALID for a wrong limit."""
    workspace = _memory_of(args)
    require_positive(args.limit)
    named = named_topic(args)
    topic_id = None if named is None else listing.topic_id_of(workspace, named)
    return Scope(workspace), {"topic_id": topic_id, "limit": args.limit}


def show_memories(answer: Envelope) -> None:
    """Print a page of memories."""
    if _is_empty(answer, "memories", "No memories." if not answer["total"] else "No more memories."):
        return
    now = clock.now()
    rows = [
        (str(m["memory_number"]), shortened(m["excerpt"] or m["title"], _EXCERPT) + _values(m), m["topic_id"] or "-",
         m["status"] or "[Legacy]", age(m["source_created_at"] or m["created_at"] or m["stored_at"], now),
         m["memory_id"])
        for m in answer["memories"]
    ]  # fmt: skip
    columns = ("#", "memory", "topic", "status", "age", "id")
    code = [[m["in_code"]["remark"]] if "in_code" in m else [] for m in answer["memories"]]
    table(columns, rows, right=("#", "age"), wraps=("memory", "topic"), optional_columns=("id", "age"), below=code)
    if answer["next"] is not None:
        say(f"{counted(answer['total'], 'memory')} in all; older ones: --after {answer['next']}")
    notes(answer["warnings"])


@verb(
    "memories list", "list the memories, newest first", ["list", "list --status Draft --limit 10"], show=show_memories
)
@topic()
@option("--status WORD", "only this status: Active, DecisionRecord, Superseded, Draft")
@added(add_list_filters)
@option("--stale", "only those of which something is no longer in the code")
@limit("memories")
@option("--after NUMBER", "continue after this number: only older memories", type=int)
def memories_list(args: Given) -> Envelope:
    """A page of memories, newest first. ``next`` is the value of ``--after`` for the next page.

    Raises JobError: ARGUMENT_INVALID when the limit or the status is wrong.
    """
    scope, asked = _list_of(args)
    if args.stale:
        return _stale(scope.workspace, args)
    words = {word.lower(): status for word, status in STATUS_WORDS.items()}
    status = None if args.status is None else words.get(args.status.lower())
    if args.status is not None and status is None:
        raise JobError("ARGUMENT_INVALID", f"There is no status {args.status!r}; one of {', '.join(get_args(Status))}.")
    values = {name: getattr(args, name) for name in LIST_FILTERS}
    return calls.memories(scope, status=status, type=None, after=args.after, **asked, **values)


def _stale(workspace: Workspace, args: Given) -> Envelope:
    """The memories of which something is no longer in the code. Raises JobError: ARGUMENT_INVALID with a filter."""
    given = [named_topic(args), args.status, args.after, *(getattr(args, name) for name in LIST_FILTERS)]
    if any(each is not None for each in given):
        raise JobError("ARGUMENT_INVALID", "--stale lists them all: it goes with --limit alone.")
    found, total, uncertain = listing.stale(workspace, args.limit)
    said = f"nothing is certain of {counted(uncertain, 'further memory')} with anchors"
    warnings = [*cut(len(found), total, "--limit", ()), *([said] if uncertain else [])]
    return envelope.success(memories=found, total=total, next=None, warnings=warnings)


def show_open_items(answer: Envelope) -> None:
    """Print the open questions and next steps below the title of their topic."""
    none = "Nothing is open: no memory has an open question or a next step that no later one closed."
    if _is_empty(answer, "items", none):
        return
    now, topic = clock.now(), None
    for item in answer["items"]:
        if item["topic_id"] != topic:
            topic = item["topic_id"]
            say(f"{item['title']} ({topic})")
        sign = "?" if item["kind"] == "question" else "→"
        say(f"  {sign} {item['text']}  #{item['memory_number']}, {age(item['date'], now)}")
    notes([*cut(len(answer["items"]), answer["total"], "--limit", ()), *answer["warnings"]])


@verb(
    "memories open",
    "list open questions and next steps that no later memory has closed, by topic",
    ["open", "open auth"],
    show=show_open_items,
)
@topic()
@limit("open questions and next steps")
def memories_open(args: Given) -> Envelope:
    """The open questions and next steps, by topic. Raises JobError: ARGUMENT_INVALID, TOPIC_NOT_FOUND."""
    scope, asked = _list_of(args)
    return calls.open_items(scope, **asked)


def show_memory(answer: Envelope) -> None:
    """Print one memory with its text."""
    memory = answer["memory"]
    facts(
        [
            ("memory", f"#{memory['memory_number']} {memory['memory_id']}"),
            ("status", memory["status"] or "[Legacy]"),
            *((label.shown, _joined(memory.get(name))) for name, label in LABELS.items() if label.shown),
            ("hidden", "It is stored, but queries do not return it." if memory["hidden"] else ""),
            ("made of", memory["migrated_from"] or ""),
            ("became", ", ".join(memory["migrated_to"])),
            ("feedback", feedback_counts(memory["feedback"])),
            ("said", " ".join(one["note"] for one in memory["feedback"]["given"] if one["note"])),
            ("merged", counted(len(memory["sources"]), "memory") if memory["sources"] else ""),
            ("captured", _captured_from(memory["captured_from"])),
            ("code", memory["in_code"]["remark"] if memory["in_code"] else ""),
        ]
    )
    for each in memory["standings"]:
        by, how = each["by"], "was replaced by" if each["state"] == "replaced" else "may contradict"
        day = f", {by['dated_at'][:10]}" if by["dated_at"] else ""
        say(f"“{each['statement']}” {how} “{by['statement']}” (#{by['memory_number']}{day}).")
    for each in memory["rests_on"]:
        replaced = f"#{each['memory_number']}, “{each['statement']}”, which was replaced by #{each['replaced_by']}"
        say(f"“{each['text']}” may rest on {replaced}.")
    say()
    say(readable(memory["summary_text"]).rstrip("\n"))


@verb("memories show", "show one memory completely", ["show 12"], show=show_memory)
@option("memory ID|NUMBER", "the memory's id or number")
def memories_show(args: Given) -> Envelope:
    """One memory with its text."""
    return calls.memory(Scope(_memory_of(args)), memory=args.memory)


def _values(memory: dict[str, Any]) -> str:
    """`` [a, b]``: the values of its properties that have several."""
    return "".join(f" [{_joined(memory[name])}]" for name in LIST_FILTERS if memory.get(name))


def _joined(value: str | list[str] | None) -> str:
    return ", ".join(value) if isinstance(value, list) else value or ""


def _captured_from(source: dict[str, Any] | None) -> str:
    """From which session and place a memory was captured; empty for any other memory."""
    if source is None:
        return ""
    places = f"{source['path']}, {source['first_place']} to {source['last_place']}"
    return f"{source['captured_at'][:10]} from {source['tool']} by {source['method']}: {places}"


# --- topics and compactions ---


def show_topics(answer: Envelope) -> None:
    """Print the topics, and which are worth compacting."""
    if _is_empty(answer, "topics", "No topics."):
        return
    now = clock.now()
    rows = [
        (t["topic_id"], shortened(t["title"], 48), str(t["active"]), str(t["decision_records"]),
         str(t["superseded"]), str(t["drafts"]), f"{t['characters']:,}", age(t["oldest"], now), age(t["newest"], now),
         "yes" if t["worth_compacting"] else "")
        for t in answer["topics"]
    ]  # fmt: skip
    columns = (
        "topic", "title", "active", "records", "superseded", "drafts", "characters", "oldest", "newest", "compact",
    )  # fmt: skip
    optional_columns = ("drafts", "characters", "superseded", "oldest", "records")
    table(columns, rows, right=columns[2:9], wraps=("topic", "title"), optional_columns=optional_columns)
    full = [t["topic_id"] for t in answer["topics"] if t["worth_compacting"]]
    if full:
        say(f"{counted(len(full), 'topic')} worth compacting: cognee-memory compact {full[0]} --preview")
    contradicting = [f"{counted(t['contradictions'], 'contradiction')} in {t['topic_id']}"
                     for t in answer["topics"] if t["contradictions"]]  # fmt: skip
    if contradicting:
        rest = len(contradicting) - _MOST_NAMED
        more = f", and {counted(rest, 'more topic')}" if rest > 0 else ""
        say(f"{', '.join(contradicting[:_MOST_NAMED])}{more}: cognee-memory review")
    notes(answer["warnings"])


@command("topics", more="A topic with five or more active summaries is worth compacting.", show=show_topics)
@option("--limit N", "maximum number of topics to show (default: all)", type=int)
def topics(args: Given) -> Envelope:
    """All topics, largest first, each with the title of its newest memory."""
    found = calls.topics(Scope(_memory_of(args)))
    if args.limit is None:
        return found
    require_positive(args.limit)
    shown = found["topics"][: args.limit]
    left = cut(len(shown), len(found["topics"]), "--limit", ())
    return {**found, "topics": shown, "warnings": [*left, *found["warnings"]]}


def show_history(answer: Envelope) -> None:
    """Print the compactions with their conflicts."""
    if not answer["compactions"]:
        say("Nothing was compacted yet.")
        return
    now = clock.now()
    rows = [
        (
            "-" if made["memory_number"] is None else f"#{made['memory_number']}",
            made["topic_id"],
            age(made["applied_at"], now),
            str(len(made["superseded"])),
            str(len(made["conflicts"])),
            made["narrative_source"],
            f"undone {age(made['restored_at'], now)} ago" if made["restored_at"] else "",
            made["decision_record_id"],
        )
        for made in answer["compactions"]
    ]
    columns = ("record", "topic", "age", "memories", "conflicts", "narrative", "", "id")
    right = ("record", "age", "memories", "conflicts")
    table(columns, rows, right=right, wraps=("topic", ""), optional_columns=("id", "narrative", "age"))
    for made in answer["compactions"]:
        numbers = made["superseded_numbers"]
        for conflict in made["conflicts"]:
            ids = [conflict[side]["memory_id"] for side in ("earlier", "later")]
            earlier, later = (f"#{numbers[each]}" if each in numbers else each for each in ids)
            judged = f"{conflict['confidence']:.2f} by {conflict['judged_by']}"
            say(f"{made['topic_id']}: {conflict['kind']} {judged}: {earlier} and {later}")


@command("history", ["history", "history auth"], show=show_history)
@topic()
@limit("compactions")
def history(args: Given) -> Envelope:
    """The compactions, newest first. Raises JobError: ARGUMENT_INVALID when the limit is wrong."""
    scope, asked = _list_of(args)
    return calls.history(scope, **asked)


# --- the export ---


def show_export(answer: Envelope) -> None:
    """Print what was exported."""
    counts = answer["counts"]
    if counts is not None:
        where = f" in {answer['out']}" if answer["out"] else ""
        parts = (("memory", "memory"), ("compaction", "compaction"), ("cognified", "finding"))
        say(f"{', '.join(counted(counts[name], noun) for name, noun in parts)}{where}")


@command("export", ["export --out backup.jsonl", "export --topic-id auth --out auth.jsonl"], show=show_export)
@option("--topic-id TOPIC", "only this topic: its id or exact title; repeatable", action="append")
@option("--out FILE", "the output file (default: standard output)")
def export(args: Given) -> Envelope:
    """Write the export to ``--out``; returns the counts.

    Without ``--out`` the export is on stdout, and messages go to stderr. Raises JobError: ARGUMENT_INVALID when the
    file cannot be written, or for ``--json`` without ``--out``; TOPIC_NOT_FOUND for a topic without memories.
    """
    from bridge.transfer import export as exports

    from ..version import VERSION

    workspace = _memory_of(args)
    now = clock.iso(clock.now())
    topics = [listing.topic_id_of(workspace, topic) for topic in args.topic_id] if args.topic_id else None
    if args.out in (None, "-"):
        if args.json:
            raise JobError("ARGUMENT_INVALID", "--json goes with --out: without it, the export itself is on stdout.")
        envelope.claim_stdout()
        try:
            return envelope.success(
                out=None, counts=exports.write(workspace, VERSION, now, envelope.write, topics=topics)
            )
        except BrokenPipeError:  # the reader has closed the pipe, such as "| head"
            return envelope.success(out=None, counts=None)
    out = target(workspace, args.out)
    with writing(out), files.replacing(out) as file:
        counts = exports.write(workspace, VERSION, now, file.write, topics=topics)
        size = file.tell()
    return envelope.success(out=str(out), counts=counts, bytes=size)
