"""The entry point of the command line ``cognee-memory``: from arguments to an exit code.

A command's declaration, its function and its view are in a module of ``terminal``, which ``GROUPS`` names. stdout
carries only the answer; with ``--json`` it is one object. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no worker, 4
rejected, 5 timed out waiting.
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bridge.interface import envelope
from jobs.errors import JobError

from .terminal.command_line import CommandLineBuilder

if TYPE_CHECKING:
    from .terminal.output import Envelope


class Command(NamedTuple):
    """A command without its subcommands."""

    module: str
    """Below ``worker.terminal``: it declares the command. Several, with a blank between them, have its subcommands."""
    text: str
    """What it does, in a sentence without its full stop."""


START = {
    "demo": Command("program", "see it work: drop jobs, run them, and query the memories"),
    "setup": Command("program", "verify the embedding model; fetch one that you chose"),
    "status": Command("worker", "summarise worker, queue and memory; suggest what to do next"),
    "open": Command("open_page", "open the page in the browser, signed in"),
    "doctor": Command("doctor_command", "check everything that can be wrong, and say what to do"),
    "model": Command("model_command", "see the embedding models, and change to another one"),
    "settings": Command("program", "show every setting, its value and its source; or set one"),
    "trust": Command("program", "confirm that this workspace's jobs, memories and settings are yours"),
    "worker": Command("worker", "run, start or stop the process that runs jobs, and see its log"),
    "completion": Command("program", "complete commands, options, job ids and more in your shell"),
}
REMEMBER = {
    "ingest": Command("kinds.ingest", "submit a conversation or a summary, and return at once"),
    "cognify": Command("kinds.graph", "find entities and relations in raw texts with the language model"),
    "capture": Command(
        "capture_commands kinds.capture", "make memories of the sessions that other tools keep on this machine"
    ),
    "migrate": Command("kinds.transfer", "migrate the memories of earlier versions from cognee's own store"),
    "import": Command("kinds.transfer", "import the memories of an export"),
}
RECALL = {
    "retrieve": Command("questions", "find the memories that match a query, best first"),
    "explain": Command("questions", "show why memories are found: the parts of their scores"),
    "about": Command("memories", "show what was decided about a file"),
    "context": Command("questions", "make a block for a prompt: matching notes within a token budget"),
    "ask": Command("kinds.graph", "ask the knowledge graph a question"),
    "mcp": Command("program", "serve agents over stdin and stdout with the Model Context Protocol"),
}
LOOK = {
    "memories": Command("memories kinds.memories", "list and show memories, what they left open, or set their status"),
    "topics": Command("memories", "list the topics, largest first, and which are worth compacting"),
    "history": Command("memories", "list the compactions, newest first, with their conflicts"),
    "graph": Command("kinds.graph", "draw the knowledge graph as a page to open in a browser"),
    "export": Command("memories", "write all memories as text, for a backup or another workspace"),
}
TIDY = {
    "review": Command("kinds.resolve", "list decisions that may contradict each other, and say which holds"),
    "feedback": Command("kinds.memories", "say whether a memory helped, or is wrong"),
    "compact": Command("kinds.topics", "merge a topic's summaries into one decision record"),
    "restore": Command("kinds.topics", "undo a compaction: restore its summaries, withdraw its record"),
    "forget": Command("kinds.memories", "delete memories permanently from every file of the workspace"),
    "rebuild": Command("kinds.graph", "rebuild the search index or the knowledge graph from memory.db"),
    "purge": Command("purge", "remove this workspace's memory: all memories, jobs and the graph"),
}
QUEUE = {
    "submit": Command("job_commands", "submit a job file, or - for standard input"),
    "jobs": Command("jobs job_requests", "inspect the queue and its failures; retry, cancel or pause jobs"),
}
TEAM = {
    "team": Command("team_command", "share this workspace's memories with a team, over PostgreSQL"),
    "serve": Command("team_command", "run a gateway of a team: HTTPS for machines that have a token"),
    "pool": Command("team_command", "run workers for all workspaces of a team"),
}
GROUPS = {
    "set up and monitor": START,
    "remember": REMEMBER,
    "recall": RECALL,
    "inspect": LOOK,
    "maintain": TIDY,
    "the queue": QUEUE,
    "a team": TEAM,
}
# What other programs call a command. Only whole words: the rest of the line is that command's.
OTHER_NAMES = {
    "add": "ingest",
    "remember": "ingest",
    "search": "retrieve",
    "query": "retrieve",
    "recall": "retrieve",
    "list": "memories list",
    "show": "memories show",
    "delete": "forget",
}
# The subcommands, so that a wrong command is answered with what is near it without the modules of all commands.
VERBS = {
    "model": "list use add compare status",
    "settings": "set",
    "worker": "run start stop restart status logs",
    "capture": "preview run enable disable install uninstall status list forget undo",
    "memories": "list open show set-status",
    "jobs": "list causes show watch wait cancel retry dismiss pause resume drain prune",
    "team": "share join leave status dismiss database person persons remove-person member remove-member token tokens"
    " revoke give list",
}
_COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}
_OF_THE_MEMORY = {*REMEMBER, *RECALL, *LOOK, *TIDY, "status"} - {"mcp"}  # mcp has it in its instructions
_QUESTIONS = ("retrieve", "explain", "context")  # these must be fast


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, or of one command only, which takes a fraction of the time."""
    return builder(only).top


def builder(only: str | None = None) -> CommandLineBuilder:
    """The builder with the parsers of all commands, or of one command only."""
    parsers = CommandLineBuilder({name: command.text for name, command in _COMMANDS.items()})
    for name, command in _COMMANDS.items():
        if only in (None, name):
            for module in command.module.split():
                import_module(f"{__package__}.terminal.{module}")
            parsers.add(name, VERBS.get(name, "").split())
    if only is None:
        parsers.top.epilog = _overview()
    return parsers


def _names() -> argparse.ArgumentParser:
    """A parser that knows the names of the commands alone, without their modules."""
    parsers = CommandLineBuilder({})
    for name in _COMMANDS:
        parsers.commands.add_parser(name)
    parsers.top.epilog = _overview()
    return parsers.top


def _near_names() -> argparse.ArgumentParser:
    """A parser that says of an unknown command what is near: a command, what other programs call it, a subcommand."""
    parsers = CommandLineBuilder({})
    for name in (*OTHER_NAMES, *_COMMANDS):
        verbs = parsers.commands.add_parser(name).add_subparsers()
        for verb in VERBS.get(name, "").split():
            verbs.add_parser(verb)
    parsers.top.epilog = _overview()  # for --help before an option with a value
    return parsers.top


def _parser_for(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser that these arguments need: of one command, or of names alone."""
    named = next((word for word in words if not word.startswith("-")), None)
    if named is None:
        return _names()
    return parser(named) if named in _COMMANDS else _near_names()


def _overview() -> str:
    lines: list[str] = []
    for title, group in GROUPS.items():
        lines += [f"{title}:", *(f"  {name:10} {command.text}" for name, command in group.items()), ""]
    return "\n".join(
        [
            *lines,
            "other names:",
            *(f"  {name:10} {meant}" for name, meant in OTHER_NAMES.items()),
            "",
            "Start with: cognee-memory demo. Help: cognee-memory COMMAND --help.",
            "",
            "exit codes:",
            "  0 done, 1 failed, 2 wrong usage, 3 no worker, 4 rejected, 5 timed out waiting,",
            "  130 ended by Ctrl-C",
        ]
    )


def run(given: argparse.Namespace) -> Envelope:
    """Run the parsed command; returns its envelope. Raises the command's JobError."""
    answer: Envelope = given.run(given)
    return answer


def _complete() -> None:
    """End the process with completions, if a shell asks for them; it does so without arguments."""
    from bridge.settings import completed_line

    if (line := completed_line()) is not None:
        from .terminal.completion import complete

        words = line.split(" ")[1:]  # the last one is not complete
        complete(_parser_for(words) if len(words) > 1 else _names())


def _open_streams() -> None:
    """Open the standard streams that the process was started without. A store's file would get their number else, and
    what a library prints would be written into it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _stdout_is_gone() -> None:
    """Redirect stdout to the null device, so that Python does not flush into the closed pipe at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _worktree_note(given: argparse.Namespace) -> str | None:
    """The note of ``terminal/worktree_note``, made before a command that may start a memory."""
    if given.command not in _OF_THE_MEMORY or given.workspace is not None:
        return None
    from jobs.layout import find_workspace

    from .terminal.worktree_note import worktree_note

    try:
        return worktree_note(find_workspace(None, Path.cwd(), anywhere=True))
    except OSError:  # the command says what is wrong with the folder
        return None


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command (default: the process's arguments). Returns the exit code."""
    _open_streams()
    try:
        return _main(argv)
    except KeyboardInterrupt:
        return envelope.INTERRUPTED


def _main(argv: Sequence[str] | None) -> int:
    arguments = sys.argv[1:] if argv is None else list(argv)
    if not arguments:
        _complete()
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    named = next((place for place, word in enumerate(arguments) if not word.startswith("-")), None)
    if named is not None and arguments[named] in OTHER_NAMES:
        arguments[named : named + 1] = OTHER_NAMES[arguments[named]].split()
    if arguments[:1] and arguments[0] in _QUESTIONS and argv is None:
        gc.disable()  # what the imports make stays until the end, which comes soon
    as_json = "--json" in arguments
    given = argparse.Namespace(command=None, verb=None)
    note = None
    answer: Envelope
    try:
        top = _parser_for(arguments)
        given = top.parse_args(arguments)
        if given.version:
            from .version import VERSION

            answer = envelope.success(version=VERSION)
        elif given.command is None:
            if as_json:
                raise JobError("ARGUMENT_INVALID", "No command is named.")
            top.print_help()
            return envelope.USAGE
        else:
            if as_json:
                envelope.claim_stdout()
            note = _worktree_note(given)
            answer = run(given)
    except JobError as error:
        answer = envelope.failure(error)
    except BrokenPipeError:  # the reader of a stream of answers has closed the pipe
        _stdout_is_gone()
        return envelope.DONE
    except Exception as error:
        answer = envelope.failure(envelope.unexpected(error))
    status = envelope.exit_code(answer)
    try:
        if as_json:
            envelope.send(answer)
        else:
            _show(given, answer)
    except BrokenPipeError:  # as with "| head"
        _stdout_is_gone()
    except OSError as error:  # such as a full disk
        _stdout_is_gone()
        note, status = f"the answer could not be written: {error}. What the command did is done.", envelope.FAILED
    if note is not None:
        from .terminal.output import warn

        warn(f"Note: {note}")
    if argv is None:
        envelope.exit_now(status)
    return status


def _show(given: argparse.Namespace, answer: Envelope) -> None:
    """Print the answer for a person. Raises OSError when it cannot be written."""
    from .terminal import output

    if isinstance(sys.stdout, io.TextIOWrapper):  # the console's encoding may lack a memory's characters
        sys.stdout.reconfigure(errors="replace")
    output.show(given, answer)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
