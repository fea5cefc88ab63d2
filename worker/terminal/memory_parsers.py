"""The parsers of the memory's commands, in four groups: remember, recall, look, tidy up."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from bridge.interface.arguments import (
    Words,
    add_explain_options,
    add_ingest_options,
    add_keep_both,
    add_list_filters,
    add_question_options,
)
from jobs.kinds import PAIR_VERDICTS, VERDICTS

from .capture_parsers import capture
from .command_line import CommandLineBuilder, limit, waiting


def _job(
    builder: CommandLineBuilder, name: str, text: str, examples: Sequence[str], more: str = ""
) -> argparse.ArgumentParser:
    """Add a command that submits a job and, by default, waits for its end; returns its parser."""
    parser = builder.add(name, text, examples, more=more, needs="starts")
    waiting(parser, default=True)
    return parser


def _question(parser: argparse.ArgumentParser, name: str, text: str, nargs: str = "+") -> None:
    parser.add_argument(name, action=Words, nargs=nargs, metavar="QUESTION", help=f"{text}; quotes are not necessary")


# --- remember ---


def ingest(builder: CommandLineBuilder) -> None:
    """Add ``ingest``."""
    parser = builder.add(
        "ingest",
        "submit a conversation or a summary, and return at once",
        [
            'cognee-memory ingest "Which database?" "PostgreSQL: it has row-level security."',
            'cognee-memory ingest --topic Database --context "Which one?" --decision "PostgreSQL." --wait',
            "cognee-memory ingest --summary-json summary.json --wait",
        ],
        needs="starts",
    )
    parser.add_argument(
        "messages", nargs="*", metavar="MESSAGE", help="the user's message and the assistant's message, or a summary"
    )
    add_ingest_options(parser)
    waiting(parser, default=False)


def cognify(builder: CommandLineBuilder) -> None:
    """Add ``cognify``."""
    parser = _job(
        builder,
        "cognify",
        "find entities and relations in raw texts with the language model",
        ["cognee-memory cognify", "cognee-memory cognify --memory 12 13"],
        more="It calls the configured language model, whose provider may charge for it.",
    )
    parser.add_argument(
        "texts", nargs="*", metavar="TEXT", help="raw texts (default: all raw memories not yet processed)"
    )
    parser.add_argument(
        "--path", dest="paths", metavar="FILE", nargs="+", action="extend", help="files in the workspace"
    )
    parser.add_argument(
        "--memory", dest="memory_ids", metavar="ID", nargs="+", action="extend", help="ids or numbers of memories"
    )


def migrate(builder: CommandLineBuilder) -> None:
    """Add ``migrate``."""
    parser = _job(
        builder,
        "migrate",
        "migrate the memories of earlier versions from cognee's own store",
        ["cognee-memory migrate --dry-run", "cognee-memory migrate"],
    )
    parser.add_argument("--dry-run", action="store_true", help="show what each text would become, and change nothing")
    parser.add_argument("--limit", type=int, metavar="N", help="migrate at most N texts, the oldest first")
    parser.add_argument("--undo", metavar="RECEIPT", help="undo a migration; its result names the receipt")


def import_(builder: CommandLineBuilder) -> None:
    """Add ``import``."""
    parser = _job(
        builder,
        "import",
        "import the memories of an export",
        ["cognee-memory import backup.jsonl", "cognee-memory import - < backup.jsonl"],
        more="Memories that are already stored do not change.",
    )
    parser.add_argument("path", metavar="FILE", help="a file that cognee-memory export wrote; - for standard input")


# --- recall ---


def retrieve(builder: CommandLineBuilder) -> None:
    """Add ``retrieve``."""
    parser = builder.add(
        "retrieve",
        "find the memories that match a query, best first",
        [
            'cognee-memory retrieve "Which database do we use?"',
            'cognee-memory retrieve "deployment" --since 2026-10-01 --max-results 10',
            'cognee-memory retrieve "deployment" --text',
        ],
    )
    _question(parser, "query", "the query, as a sentence or as words")
    parser.add_argument("--text", action="store_true", help="show the whole text of each hit, not its best passages")
    passages = "with --json, also the passages of each hit that match best"
    parser.add_argument("--best-passages", action="store_true", help=passages)
    add_question_options(parser, "token budget of the answer (default: none; with --json 2000)")


def explain(builder: CommandLineBuilder) -> None:
    """Add ``explain``."""
    parser = builder.add(
        "explain",
        "show why memories are found: the parts of their scores",
        ['cognee-memory explain "Which database do we use?"', "cognee-memory explain --id 12 13"],
    )
    _question(parser, "query", "the query that found the memories", nargs="*")
    add_explain_options(parser)


def context(builder: CommandLineBuilder) -> None:
    """Add ``context``."""
    parser = builder.add(
        "context",
        "make a block for a prompt: matching notes within a token budget",
        ['cognee-memory context "Which database do we use?" --max-tokens 800'],
    )
    _question(parser, "query", "the query, as a sentence or as words")
    add_question_options(parser)


def ask(builder: CommandLineBuilder) -> None:
    """Add ``ask``."""
    parser = _job(
        builder,
        "ask",
        "ask the knowledge graph a question",
        ['cognee-memory ask "How do the services depend on each other?"'],
        more="With a language model, it answers in prose; without one, it returns the context from the graph.",
    )
    _question(parser, "question", "the question")
    parser.add_argument(
        "--top-k",
        "--limit",
        type=int,
        metavar="N",
        help="number of results to take from the graph (default 10, 1 to 100)",
    )


def mcp(builder: CommandLineBuilder) -> None:
    """Add ``mcp``."""
    builder.add(
        "mcp",
        "serve agents over stdin and stdout with the Model Context Protocol",
        ["cognee-memory mcp --workspace ~/project"],
        json=False,  # stdout carries the protocol
    )


# --- look ---


def memories(builder: CommandLineBuilder) -> None:
    """Add ``memories`` with its subcommands."""
    verbs = builder.nested(
        "memories",
        "list and show memories, what they left open, or set their status",
        ["cognee-memory memories list --topic-id auth", "cognee-memory memories show 12"],
    )
    listing = builder.add(
        "list",
        "list the memories, newest first",
        ["cognee-memory memories list", "cognee-memory memories list --status Draft --limit 10"],
        parent=verbs,
    )
    listing.add_argument("--topic-id", metavar="TOPIC", help="only this topic: its id or its exact title")
    listing.add_argument("--status", metavar="WORD", help="only this status: Active, DecisionRecord, Superseded, Draft")
    add_list_filters(listing)
    limit(listing, "memories")
    listing.add_argument("--after", metavar="NUMBER", type=int, help="continue after this number: only older memories")
    still_open = builder.add(
        "open",
        "list open questions and next steps that no later memory has closed, by topic",
        ["cognee-memory memories open", "cognee-memory memories open --topic-id auth"],
        parent=verbs,
    )
    still_open.add_argument("--topic-id", metavar="TOPIC", help="only this topic: its id or its exact title")
    limit(still_open, "open questions and next steps")
    show = builder.add("show", "show one memory completely", ["cognee-memory memories show 12"], parent=verbs)
    show.add_argument("memory", metavar="ID|NUMBER", help="the memory's id or number")
    change = builder.add(
        "set-status",
        "change a memory's status",
        ["cognee-memory memories set-status 12 Superseded"],
        needs="starts",
        parent=verbs,
    )
    change.add_argument("memory_id", metavar="ID|NUMBER", help="the memory's id or number")
    words = ["Active", "Final", "Draft", "Superseded"]
    change.add_argument("status", metavar="STATUS", choices=words, help=", ".join(words))
    waiting(change, default=True)


def topics(builder: CommandLineBuilder) -> None:
    """Add ``topics``."""
    parser = builder.add(
        "topics",
        "list the topics, largest first, and which are worth compacting",
        ["cognee-memory topics"],
        more="A topic with five or more active summaries is worth compacting.",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="maximum number of topics to show (default: all)")


def history(builder: CommandLineBuilder) -> None:
    """Add ``history``."""
    parser = builder.add(
        "history",
        "list the compactions, newest first, with their conflicts",
        ["cognee-memory history --topic-id auth"],
    )
    parser.add_argument("--topic-id", metavar="TOPIC", help="only this topic: its id or its exact title")
    limit(parser, "compactions")


def graph(builder: CommandLineBuilder) -> None:
    """Add ``graph``."""
    parser = _job(
        builder,
        "graph",
        "draw the knowledge graph as a page to open in a browser",
        ["cognee-memory graph --out graph.html"],
    )
    parser.add_argument("--out", metavar="FILE", help="the output file (default: in the workspace's memory folder)")


def export(builder: CommandLineBuilder) -> None:
    """Add ``export``."""
    parser = builder.add(
        "export",
        "write all memories as text, for a backup or another workspace",
        ["cognee-memory export --out backup.jsonl", "cognee-memory export --topic-id auth --out auth.jsonl"],
    )
    parser.add_argument(
        "--topic-id", action="append", metavar="TOPIC", help="only this topic: its id or exact title; repeatable"
    )
    parser.add_argument("--out", metavar="FILE", help="the output file (default: standard output)")


# --- tidy up ---


def compact(builder: CommandLineBuilder) -> None:
    """Add ``compact``."""
    parser = _job(
        builder,
        "compact",
        "merge a topic's summaries into one decision record",
        [
            "cognee-memory compact auth --preview",
            "cognee-memory compact auth --preview --keep-both 1f2e3d4c",
            "cognee-memory compact auth --preview-digest DIGEST",
        ],
        more="A preview shows the result and changes nothing. With its digest, exactly that preview is applied.",
    )
    parser.add_argument("topic_id", action=Words, metavar="TOPIC", nargs="*", help="the topic's id or its exact title")
    parser.add_argument("--topic-id", dest="named_topic", metavar="ID", help="the same, as an option")
    parser.add_argument("--preview", action="store_true", help="show the result, and change nothing")
    parser.add_argument("--preview-digest", metavar="DIGEST", help="apply exactly this preview")
    add_keep_both(parser)


def restore(builder: CommandLineBuilder) -> None:
    """Add ``restore``."""
    parser = _job(
        builder,
        "restore",
        "undo a compaction: restore its summaries, withdraw its record",
        ["cognee-memory restore 12"],
    )
    parser.add_argument("decision_record_id", metavar="RECORD", help="the decision record's id or number")


def forget(builder: CommandLineBuilder) -> None:
    """Add ``forget``."""
    parser = _job(
        builder,
        "forget",
        "delete memories permanently from every file of the workspace",
        ["cognee-memory forget 12 13", "cognee-memory forget --topic-id auth --yes"],
        more="This cannot be undone.",
    )
    parser.add_argument("memory_ids", nargs="*", metavar="ID", help="ids or numbers of memories")
    parser.add_argument("--topic-id", metavar="TOPIC", help="all memories of a topic: its id or its exact title")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def rebuild(builder: CommandLineBuilder) -> None:
    """Add ``rebuild``."""
    parser = _job(
        builder,
        "rebuild",
        "rebuild the search index or the knowledge graph from memory.db",
        ["cognee-memory rebuild --what index"],
    )
    parser.add_argument("--what", choices=["index", "graph", "both"], default="both", help="default: both")


def purge(builder: CommandLineBuilder) -> None:
    """Add ``purge``."""
    parser = builder.add(
        "purge",
        "remove this workspace's memory: all memories, jobs and the graph",
        ["cognee-memory purge --dry-run", "cognee-memory purge", "cognee-memory purge --yes --json"],
        more="It stops the worker, removes the four folders and takes the workspace from the list of your workspaces."
        " This cannot be undone.",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would be removed, and change nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def feedback(builder: CommandLineBuilder) -> None:
    """Add ``feedback``."""
    parser = _job(
        builder,
        "feedback",
        "say whether a memory helped, or is wrong",
        ["cognee-memory feedback 12 helpful", 'cognee-memory feedback 12 wrong --note "We use SQLite now."'],
        more="A later feedback of the same person replaces it; withdrawn takes it back. The memory itself stays.",
    )
    parser.add_argument("memory_id", metavar="ID|NUMBER", help="the memory's id or number")
    parser.add_argument("verdict", metavar="VERDICT", choices=VERDICTS, help=", ".join(VERDICTS))
    parser.add_argument("--note", metavar="TEXT", help="why, in a few words")
    parser.add_argument("--query", metavar="QUESTION", help="the question for which it was found")
    parser.add_argument("--by", metavar="NAME", help="who gives it (default: person)")


def review(builder: CommandLineBuilder) -> None:
    """Add ``review``."""
    parser = _job(
        builder,
        "review",
        "list decisions that may contradict each other, and say which holds",
        [
            "cognee-memory review",
            'cognee-memory review 1/2 both --reason "Two sites."',
            'cognee-memory review 12.2 14.1 newer --reason "Loans last four weeks."',
        ],
        more="A pair is named by the numbers of its two memories, two other decisions by memory and place: 12.2 is the"
        " second decision that memories show 12 prints. The newer one is the one with the later date. A later verdict"
        " replaces an earlier one; the memories themselves stay.",
    )
    parser.add_argument("pair", metavar="PAIR", nargs="?", help="the pair, as the list names it (default: list them)")
    parser.add_argument("other", metavar="DECISION", nargs="?", help="the other one, if PAIR names one decision")
    parser.add_argument("verdict", metavar="VERDICT", nargs="?", choices=PAIR_VERDICTS, help=", ".join(PAIR_VERDICTS))
    parser.add_argument("--reason", metavar="TEXT", help="why, in a few words")
    parser.add_argument("--by", metavar="NAME", help="who says it (default: person)")
    parser.add_argument("--all", action="store_true", help="list also what was replaced, and what was settled")


REMEMBER: dict[str, Callable[[CommandLineBuilder], None]] = {
    "ingest": ingest,
    "cognify": cognify,
    "capture": capture,
    "migrate": migrate,
    "import": import_,
}
RECALL: dict[str, Callable[[CommandLineBuilder], None]] = {
    "retrieve": retrieve,
    "explain": explain,
    "context": context,
    "ask": ask,
    "mcp": mcp,
}
LOOK: dict[str, Callable[[CommandLineBuilder], None]] = {
    "memories": memories,
    "topics": topics,
    "history": history,
    "graph": graph,
    "export": export,
}
TIDY: dict[str, Callable[[CommandLineBuilder], None]] = {
    "review": review,
    "feedback": feedback,
    "compact": compact,
    "restore": restore,
    "forget": forget,
    "rebuild": rebuild,
    "purge": purge,
}
