"""The command lines of the scripts: positional as the source documents have them, and named."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from jobs.errors import JobError


class Parser(argparse.ArgumentParser):
    """Reports wrong usage as an error of ours instead of ending the process without an answer."""

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


_RETRIEVE_NAMED = (
    ("--max-results", "N", "most hits (default 5, 1 to 1000)"),
    ("--max-tokens", "N", "token budget of the answer (default 2000)"),
    ("--half-life-days", "DAYS", "half-life of recency (default 7, 0.5 to 90)"),
    ("--status", "WORD", "only memories of this status: Active, DecisionRecord, Superseded, Draft"),
    ("--topic-id", "ID", "only this topic"),
    ("--plan-id", "ID", "only this plan; 014, plan-014 and 014-some-title are the same"),
    ("--recency-floor", "SHARE", "lowest share that age leaves of a score (default 0)"),
    ("--alpha", "WEIGHT", "weight of relevance in the blend (default 0.8, 0.6 to 0.95)"),
    ("--as-of", "TIME", "compute ages at this time instead of now"),
)


def add_retrieve_options(parser: argparse.ArgumentParser) -> None:
    """The named options of retrieval. Values stay text: ranges and forms are checked in one place."""
    for flag, metavar, text in _RETRIEVE_NAMED:
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


_RETRIEVE_NAMES = (
    "query", "max_results", "max_tokens", "half_life_days", "include_superseded", "status", "topic_id",
    "plan_id", "recency_floor", "alpha", "as_of", "preset", "ranking_mode", "legacy",
)  # fmt: skip


def retrieve_values(parsed: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(parsed, name) for name in _RETRIEVE_NAMES}


def retrieve_arguments(argv: list[str]) -> tuple[str | None, dict[str, Any]]:
    """The workspace's path and the question's raw arguments. A positional wins over its named twin."""
    parser = Parser(
        prog="retrieve.py",
        description="Print the memories that fit a question, best first, as one JSON object.",
    )
    add_workspace(parser)
    parser.add_argument("--query", metavar="TEXT", help="the question")
    add_retrieve_options(parser)
    parser.add_argument(
        "positional",
        nargs="*",
        metavar="WORKSPACE QUERY [MAX_RESULTS [MAX_TOKENS [HALF_LIFE_DAYS [INCLUDE_SUPERSEDED]]]]",
        help="the same by position",
    )
    names = ("workspace", "query", "max_results", "max_tokens", "half_life_days", "include_superseded")
    parsed = _parse(parser, argv, names)
    return parsed.workspace, retrieve_values(parsed)


def _parse(parser: Parser, argv: list[str], names: tuple[str, ...]) -> argparse.Namespace:
    """Parse, and give the positional arguments the names of their places."""
    parsed = parser.parse_intermixed_args(argv)
    if len(parsed.positional) > len(names):
        parser.error(f"at most {len(names)} positional arguments are understood")
    for name, value in zip(names, parsed.positional, strict=False):
        setattr(parsed, name, value)
    return parsed


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
