"""The command line of the memory: remembering, recalling, looking, tidying up."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from bridge.interface.arguments import add_explain_options, add_ingest_options, add_question_options

from .command_line import CommandLineBuilder, limit, waiting


def _job(
    making: CommandLineBuilder, name: str, text: str, examples: Sequence[str], more: str = ""
) -> argparse.ArgumentParser:
    """A command that submits a job and waits for its end."""
    made = making.add(name, text, examples, more=more, needs="starts")
    waiting(made, default=True)
    return made


# --- remember ---


def ingest(making: CommandLineBuilder) -> None:
    made = making.add(
        "ingest",
        "submit a conversation or a summary; returns at once",
        [
            'cognee-memory ingest "Which database?" "PostgreSQL: it has row-level security."',
            "cognee-memory ingest --summary-json summary.json --wait",
            'cognee-memory ingest --summary "$(cat summary.txt)" --topic-id db',
        ],
        needs="starts",
    )
    made.add_argument(
        "messages", nargs="*", metavar="MESSAGE", help="the user's message and the assistant's, or a summary"
    )
    add_ingest_options(made)
    waiting(made, default=False)


def cognify(making: CommandLineBuilder) -> None:
    made = _job(
        making,
        "cognify",
        "have cognee look into raw texts, by the language model",
        ["cognee-memory cognify", "cognee-memory cognify --memory 12 13"],
        more="This asks the language model that is configured, and costs what it costs.",
    )
    made.add_argument("texts", nargs="*", metavar="TEXT", help="default: all raw memories that it has not seen yet")
    made.add_argument("--path", dest="paths", metavar="FILE", nargs="+", action="extend", help="files of the workspace")
    made.add_argument(
        "--memory", dest="memory_ids", metavar="ID", nargs="+", action="extend", help="memories' ids or numbers"
    )


def migrate(making: CommandLineBuilder) -> None:
    made = _job(
        making,
        "migrate",
        "take over the memories of earlier versions from cognee's own store",
        ["cognee-memory migrate --dry-run", "cognee-memory migrate"],
    )
    made.add_argument("--dry-run", action="store_true", help="show what each would become, and change nothing")
    made.add_argument("--limit", type=int, metavar="N", help="take over N at most, the oldest first")
    made.add_argument("--undo", metavar="RECEIPT", help="take a migration back; its result names the receipt")


def import_(making: CommandLineBuilder) -> None:
    made = _job(
        making,
        "import",
        "take in the memories of an export",
        ["cognee-memory import backup.jsonl", "cognee-memory import - < backup.jsonl"],
        more="Memories that are there already stay as they are.",
    )
    made.add_argument("path", metavar="FILE", help="what cognee-memory export has written; - for standard input")


# --- recall ---


def retrieve(making: CommandLineBuilder) -> None:
    made = making.add(
        "retrieve",
        "the memories that fit a question, best first",
        [
            'cognee-memory retrieve "Which database do we use?"',
            'cognee-memory retrieve "deployment" --since 2026-10-01 --max-results 10',
        ],
    )
    made.add_argument("query", metavar="QUESTION", help="what is asked, in a sentence or in words")
    add_question_options(made)


def explain(making: CommandLineBuilder) -> None:
    made = making.add(
        "explain",
        "why memories are found: the parts of their scores",
        ['cognee-memory explain "Which database do we use?"', "cognee-memory explain --id 12 13"],
    )
    made.add_argument("query", metavar="QUESTION", nargs="?", help="the question that found them")
    add_explain_options(made)
    add_question_options(made)


def context(making: CommandLineBuilder) -> None:
    made = making.add(
        "context",
        "a block for a prompt: the notes that fit, under a token budget",
        ['cognee-memory context "Which database do we use?" --max-tokens 800'],
    )
    made.add_argument("query", metavar="QUESTION", help="what is asked, in a sentence or in words")
    add_question_options(made)


def ask(making: CommandLineBuilder) -> None:
    made = _job(
        making,
        "ask",
        "put a question to the knowledge graph",
        ['cognee-memory ask "How do the services depend on each other?"'],
        more="With a language model it answers; without one it gives what of the graph fits.",
    )
    made.add_argument("question", metavar="QUESTION", help="what is asked")
    made.add_argument("--top-k", type=int, metavar="N", help="how much of the graph to look at (default 10, 1 to 100)")


def mcp(making: CommandLineBuilder) -> None:
    making.add(
        "mcp",
        "serve agents over stdin and stdout, by the Model Context Protocol",
        ["cognee-memory mcp --workspace ~/project"],
        json=False,  # stdout carries the protocol
    )


# --- look ---


def memories(making: CommandLineBuilder) -> None:
    verbs = making.nested(
        "memories",
        "what is remembered: list, show, set-status",
        ["cognee-memory memories list --topic-id auth", "cognee-memory memories show 12"],
    )
    listing = making.add(
        "list",
        "memories, newest first",
        ["cognee-memory memories list", "cognee-memory memories list --status Draft --limit 10"],
        of=verbs,
    )
    listing.add_argument("--topic-id", metavar="ID", help="only this topic")
    listing.add_argument("--status", metavar="WORD", help="only this status: Active, DecisionRecord, Superseded, Draft")
    limit(listing, "memories")
    listing.add_argument("--after", metavar="NUMBER", type=int, help="go on behind this number: only older ones")
    show = making.add("show", "one memory whole", ["cognee-memory memories show 12"], of=verbs)
    show.add_argument("memory", metavar="ID|NUMBER", help="the memory's id or number")
    change = making.add(
        "set-status",
        "change a memory's status",
        ["cognee-memory memories set-status 12 Superseded"],
        needs="starts",
        of=verbs,
    )
    change.add_argument("memory_id", metavar="ID|NUMBER", help="the memory's id or number")
    words = ["Active", "Final", "Draft", "Superseded"]
    change.add_argument("status", metavar="STATUS", choices=words, help=", ".join(words))
    waiting(change, default=True)


def topics(making: CommandLineBuilder) -> None:
    making.add(
        "topics",
        "topics, the fullest first, and which are worth compacting",
        ["cognee-memory topics"],
        more="Five or more active summaries are worth compacting.",
    )


def history(making: CommandLineBuilder) -> None:
    made = making.add(
        "history",
        "compactions, newest first, with their conflicts",
        ["cognee-memory history --topic-id auth"],
    )
    made.add_argument("--topic-id", metavar="ID", help="only this topic")
    limit(made, "compactions")


def graph(making: CommandLineBuilder) -> None:
    made = _job(
        making,
        "graph",
        "draw the knowledge graph as a page to open in a browser",
        ["cognee-memory graph --out graph.html"],
    )
    made.add_argument("--out", metavar="FILE", help="where to (default: in the workspace's memory folder)")


def export(making: CommandLineBuilder) -> None:
    made = making.add(
        "export",
        "write all memories as text, for a backup or another workspace",
        ["cognee-memory export --out backup.jsonl"],
    )
    made.add_argument("--out", metavar="FILE", help="where to (default: standard output)")


# --- tidy up ---


def compact(making: CommandLineBuilder) -> None:
    made = _job(
        making,
        "compact",
        "merge a topic's summaries into one decision record",
        [
            "cognee-memory compact auth --preview",
            "cognee-memory compact auth --preview-digest DIGEST",
            "cognee-memory compact auth",
        ],
        more="A preview shows what it would give and changes nothing; its digest applies just that.",
    )
    made.add_argument("topic_id", metavar="TOPIC", nargs="?", help="the topic's id")
    made.add_argument("--topic-id", dest="named_topic", metavar="ID", help="the same by name")
    made.add_argument("--preview", action="store_true", help="show what it would give, and change nothing")
    made.add_argument("--preview-digest", metavar="DIGEST", help="apply this preview, and nothing else")


def restore(making: CommandLineBuilder) -> None:
    made = _job(
        making,
        "restore",
        "take a compaction back: the summaries again, the record withdrawn",
        ["cognee-memory restore 12"],
    )
    made.add_argument("decision_record_id", metavar="RECORD", help="the decision record's id or number")


def forget(making: CommandLineBuilder) -> None:
    made = _job(
        making,
        "forget",
        "delete memories for good, wherever they lie",
        ["cognee-memory forget 12 13", "cognee-memory forget --topic-id auth --yes"],
        more="This cannot be undone.",
    )
    made.add_argument("memory_ids", nargs="*", metavar="ID", help="memories' ids or numbers")
    made.add_argument("--topic-id", metavar="ID", help="all memories of a topic")
    made.add_argument("--yes", action="store_true", help="do not ask back")


def rebuild(making: CommandLineBuilder) -> None:
    made = _job(
        making,
        "rebuild",
        "make the search index or the knowledge graph anew from memory.db",
        ["cognee-memory rebuild --what index"],
    )
    made.add_argument("--what", choices=["index", "graph", "both"], default="both", help="default: both")


REMEMBER: dict[str, Callable[[CommandLineBuilder], None]] = {
    "ingest": ingest,
    "cognify": cognify,
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
    "compact": compact,
    "restore": restore,
    "forget": forget,
    "rebuild": rebuild,
}
