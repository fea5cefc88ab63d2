"""The command lines of the scripts: positional as the source documents have them, and named."""

from __future__ import annotations

import argparse
import os
from functools import cache
from typing import Any, NoReturn

from jobs.errors import JobError

from .defaults import ARGUMENTS


class Help(argparse.HelpFormatter):
    """argparse makes one for each option that it is told of, and asks a module for the terminal's width that takes
    longer to import than all our options take to make."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_help_width())


@cache
def _help_width() -> int:
    try:
        return max(40, os.get_terminal_size().columns - 2)
    except OSError:
        return 100


class Parser(argparse.ArgumentParser):
    """Reports wrong usage as an error of ours instead of ending the process without an answer."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help, **options})

    def error(self, message: str) -> NoReturn:
        raise JobError(
            "ARGUMENT_INVALID", f"{message[:1].upper()}{message[1:]}.", remediation=f"See {self.prog} --help."
        )


def add_workspace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workspace",
        "--workspace-path",
        dest="workspace",
        metavar="PATH",
        help="the folder that is open in the editor (default: the nearest parent with a .cognee_jobs or .git)",
    )


_QUESTION_NAMED = (
    ("--max-results", "N", "most hits (default 5, 1 to 1000)"),
    ("--max-tokens", "N", "token budget of the answer (default 2000)"),
    ("--half-life-days", "DAYS", "half-life of recency (default 7, 0.5 to 90)"),
    ("--status", "WORD", "only memories of this status: Active, DecisionRecord, Superseded, Draft"),
    ("--topic-id", "ID", "only this topic"),
    ("--plan-id", "ID", "only this plan; 014, plan-014 and 014-some-title are the same"),
    ("--since", "TIME", "only memories from this time on"),
    ("--until", "TIME", "only memories from before this time"),
    ("--relevance-floor", "SHARE", "lowest relevance of a hit, 0 to 1 (default 0.2)"),
    ("--recency-floor", "SHARE", "lowest share that age leaves of a score (default 0)"),
    ("--alpha", "WEIGHT", "weight of relevance in the blend (default 0.8, 0.6 to 0.95)"),
    ("--as-of", "TIME", "compute ages at this time instead of now"),
)


def add_question_options(parser: argparse.ArgumentParser) -> None:
    """The named options of a question. Values stay text: ranges and forms are checked in one place."""
    for flag, metavar, text in _QUESTION_NAMED:
        parser.add_argument(flag, metavar=metavar, help=text)
    parser.add_argument(
        "--include-superseded",
        nargs="?",
        const="true",
        metavar="true|false",
        help="show superseded memories as well",
    )
    parser.add_argument("--preset", metavar="contract|long-lived", help="half-life and floor by name")
    parser.add_argument("--ranking-mode", metavar="product|blend", help="how the factors are combined")
    parser.add_argument("--legacy", metavar="mixed|append", help="legacy memories among the rest or behind")


def question_values(parsed: argparse.Namespace) -> dict[str, Any]:
    """The arguments of a question, those that were not given as None."""
    return {name: getattr(parsed, name) for name in ARGUMENTS}


def add_explain_options(parser: argparse.ArgumentParser) -> None:
    """What explaining has beside a question's options."""
    parser.add_argument("--id", dest="ids", metavar="N", type=_id, nargs="+", action="extend", help="memories' numbers")
    parser.add_argument("--include-pack-context", action="store_true", help="say what of each goes into a prompt")
    parser.add_argument("--limit", metavar="N", help="most memories that the question finds (default 10, 1 to 50)")
    parser.add_argument("--project", metavar="PATH|NAME", help="the workspace that is meant, to make sure")


def _id(text: str) -> int | str:
    """A number; what is none stays text, and is told of beside the answer to the rest."""
    try:
        return int(text)
    except ValueError:
        return text


def explain_values(parsed: argparse.Namespace) -> dict[str, Any]:
    own = {name: getattr(parsed, name) for name in ("ids", "include_pack_context", "limit", "project")}
    return question_values(parsed) | own


def retrieve_arguments(argv: list[str]) -> tuple[str | None, dict[str, Any]]:
    """The workspace's path and the question's raw arguments. A positional wins over its named twin."""
    parser = Parser(
        prog="retrieve.py",
        description="Print the memories that fit a question, best first, as one JSON object.",
    )
    add_workspace(parser)
    parser.add_argument("--query", metavar="TEXT", help="the question")
    add_question_options(parser)
    parser.add_argument(
        "positional",
        nargs="*",
        metavar="WORKSPACE QUERY [MAX_RESULTS [MAX_TOKENS [HALF_LIFE_DAYS [INCLUDE_SUPERSEDED]]]]",
        help="the same by position",
    )
    names = ("workspace", "query", "max_results", "max_tokens", "half_life_days", "include_superseded")
    parsed = _parse(parser, argv, names)
    return parsed.workspace, question_values(parsed)


def _parse(parser: Parser, argv: list[str], names: tuple[str, ...]) -> argparse.Namespace:
    """Parse, and give the positional arguments the names of their places."""
    parsed = parser.parse_intermixed_args(argv)
    if len(parsed.positional) > len(names):
        parser.error(f"at most {len(names)} positional arguments are understood")
    for name, value in zip(names, parsed.positional, strict=False):
        setattr(parsed, name, value)
    return parsed


def migrate_arguments(argv: list[str]) -> argparse.Namespace:
    """The arguments of ``migrate_summaries.py``."""
    parser = Parser(
        prog="migrate_summaries.py", description="Take over the memories of earlier versions from cognee's own store."
    )
    add_workspace(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what each would become, and change nothing")
    parser.add_argument("--limit", type=int, metavar="N", help="most memories to take over")
    parser.add_argument("--undo", metavar="RECEIPT", help="take a migration back")
    parser.add_argument("--no-wait", dest="wait", action="store_false", help="print the job's id and return at once")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait (default: until it ends)")
    parser.add_argument("--no-start", action="store_true", help="do not start a worker")
    return parser.parse_args(argv)


def add_ingest_options(parser: argparse.ArgumentParser) -> None:
    for flag, metavar, text in (
        ("--summary-json", "JSON|FILE|-", "a structured summary: JSON text, a file, or - for standard input"),
        ("--topic-id", "ID", "with --summary: the topic's id (default: from the text or its title)"),
        ("--session-id", "ID", "with --summary: the chat session"),
        ("--plan-id", "ID", "with --summary: the plan"),
        ("--status", "WORD", "with --summary: Active (or Final), Draft, Superseded"),
        ("--timestamp", "TIME", "of a conversation: when it took place"),
        ("--job-id", "ID", "the job's id (default: a new UUIDv7)"),
    ):
        parser.add_argument(flag, metavar=metavar, help=text)
    parser.add_argument("--no-start", action="store_true", help="do not start a worker")


def compact_arguments(argv: list[str]) -> argparse.Namespace:
    """The arguments of ``compact.py``."""
    parser = Parser(
        prog="compact.py", description="Merge a topic's summaries into one decision record, or show what that gives."
    )
    add_workspace(parser)
    parser.add_argument("--topic-id", required=True, metavar="ID", help="the topic's id")
    parser.add_argument("--preview", action="store_true", help="show what it would give, and change nothing")
    parser.add_argument("--preview-digest", metavar="DIGEST", help="apply this preview, and nothing else")
    parser.add_argument("--no-wait", dest="wait", action="store_false", help="print the job's id and return at once")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait (default: until it ends)")
    parser.add_argument("--no-start", action="store_true", help="do not start a worker")
    return parser.parse_args(argv)


def ingest_arguments(argv: list[str]) -> argparse.Namespace:
    """The arguments of ``ingest.py``: workspace, user message, assistant message, importance."""
    parser = Parser(
        prog="ingest.py", description="Submit a conversation or a summary to the memory; print the job's id."
    )
    add_workspace(parser)
    add_ingest_options(parser)
    parser.add_argument("--summary", action="store_true", help="the assistant message is the text of a summary")
    parser.add_argument("--importance", metavar="SHARE", help="0 to 1")
    parser.add_argument("--wait", action="store_true", help="wait until the job has ended")
    parser.add_argument(
        "positional",
        nargs="*",
        metavar="WORKSPACE USER_MESSAGE ASSISTANT_MESSAGE [IMPORTANCE]",
        help="by position",
    )
    parser.set_defaults(user_message=None, assistant_message=None)
    return _parse(parser, argv, ("workspace", "user_message", "assistant_message", "importance"))
