"""The entry point of the command line ``cognee-memory``: from arguments to an exit code.

``terminal/command_table`` names the functions that run a command and print its answer. stdout carries only the answer;
with ``--json`` it is one object. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no worker, 4 rejected, 5 timed out
waiting.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.interface import envelope
from jobs.errors import JobError

from .terminal.command_line import CommandLineBuilder
from .terminal.command_table import run
from .terminal.memory_parsers import LOOK, RECALL, REMEMBER, TIDY
from .terminal.queue_parsers import QUEUE, START, TEAM

if TYPE_CHECKING:
    from .terminal.output import Envelope

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
_COMMANDS = {name: make for group in GROUPS.values() for name, make in group.items()}
_OF_THE_MEMORY = {*REMEMBER, *RECALL, *LOOK, *TIDY, "status"} - {"mcp"}  # mcp has it in its instructions
# These must be fast, so the process ends without Python's finalisation.
_QUESTIONS = ("retrieve", "explain", "context")


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, or of one command only, which takes a fraction of the time."""
    return made(only).top


def made(only: str | None = None) -> CommandLineBuilder:
    """The builder with the parsers of all commands, or of one command only."""
    making = CommandLineBuilder()
    for name, make in _COMMANDS.items():
        if only in (None, name):
            make(making)
    if only is None:
        making.top.epilog = _overview(making.texts)
    return making


def _overview(texts: Mapping[str, str]) -> str:
    lines: list[str] = []
    for title, group in GROUPS.items():
        lines += [f"{title}:", *(f"  {name:10} {texts[name]}" for name in group), ""]
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


def _is_completing() -> bool:
    """Whether a shell requests completions; it does so without arguments."""
    from bridge.settings import is_completing

    return is_completing()


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
    try:
        return _main(argv)
    except KeyboardInterrupt:
        return envelope.INTERRUPTED


def _main(argv: Sequence[str] | None) -> int:
    arguments = sys.argv[1:] if argv is None else list(argv)
    if not arguments and _is_completing():
        from .terminal.completion import complete

        complete(parser())
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    if arguments and arguments[0] in OTHER_NAMES:
        arguments[:1] = OTHER_NAMES[arguments[0]].split()
    as_json = "--json" in arguments
    given = argparse.Namespace(command=None, verb=None)
    note = None
    answer: Envelope
    try:
        top = parser(arguments[0] if arguments and arguments[0] in _COMMANDS else None)
        given = top.parse_args(arguments)
        if given.version:
            from .version import VERSION

            answer = envelope.success(version=VERSION)
        elif given.command is None:
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
    if as_json:
        envelope.send(answer)
    else:
        from .terminal import display

        if isinstance(sys.stdout, io.TextIOWrapper):  # the console's encoding may lack a memory's characters
            sys.stdout.reconfigure(errors="replace")
        try:
            display.show(given, answer)
            sys.stdout.flush()
        except BrokenPipeError:  # as with "| head"
            _stdout_is_gone()
    if note is not None:
        from .terminal.output import warn

        warn(f"Note: {note}")
    status = envelope.exit_code(answer)
    if argv is None and given.command in _QUESTIONS:
        envelope.exit_now(status)
    return status


if __name__ == "__main__":
    sys.exit(main())
